"""Pictures: the text given to Graphviz, and what happens where Graphviz is, and is not."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from dynamis.dtype import int32
from dynamis.uop import (
    AxisType,
    UopError,
    const_int,
    custom,
    end_,
    index,
    load,
    range_,
    sink,
    store,
)
from dynamis.uop.picture import NOTEBOOK_NODES, notebook_svg, to_dot, to_svg
from tests.uop.graphs import leaf, memory

a, b = leaf("a"), leaf("b")


def fake_dot(folder: Path, script: str) -> None:
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_every_node_and_every_edge_is_in_the_dot_text() -> None:
    text = to_dot(a * b + a)
    assert text.startswith("digraph uops {")
    assert text.endswith("}\n")
    lines = [line.strip() for line in text.splitlines()]
    boxes = [line.partition("\\n")[0] for line in lines if "fillcolor" in line]
    ops = ["STACK", "PARAM", "PARAM", "MUL", "ADD"]
    assert boxes == [f'n{n} [label="{op}' for n, op in enumerate(ops)]
    edges = {line for line in lines if "->" in line}
    assert edges == {
        "n0 -> n1;", "n0 -> n2;", 'n1 -> n3 [label="0"];', 'n2 -> n3 [label="1"];',
        'n3 -> n4 [label="0"];', 'n1 -> n4 [label="1"];',
    }  # fmt: skip


def test_a_constant_is_drawn_beside_each_use() -> None:
    text = to_dot((a + 7) * 7)
    assert text.count('[label="7" shape=plaintext') == 2
    assert "CONST" not in text
    assert "CONST" in to_dot(const_int(7))  # alone, it is the picture


def test_the_dot_text_is_the_same_for_equal_graphs() -> None:
    r = range_(size=4, axis=0, kind=AxisType.LOOP, dtype=int32)
    at = index(ptr=memory(), idxs=[r])
    root = sink([end_(value=store(dst=at, value=load(src=at) * 2.0), ranges=[r])])
    assert to_dot(root) == to_dot(sink(list(root.src)))
    assert "RANGE" in to_dot(root)


def test_quotes_and_line_ends_of_payloads_are_escaped() -> None:
    text = to_dot(custom(fmt='say "\\n"\nnow', args=[]))
    label = next(line for line in text.splitlines() if "CUSTOM" in line)
    assert '\\"' in label
    assert label.count("CUSTOM") == 1


def test_an_svg_is_what_dot_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, 'echo "<svg>$1"; cat; echo "</svg>"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    svg = to_svg(a + b)
    assert svg == f"<svg>-Tsvg\n{to_dot(a + b)}</svg>\n"
    assert notebook_svg(a + b) == svg
    assert (a + b)._repr_svg_() == svg


def test_without_graphviz_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UopError, match="needs Graphviz"):
        to_svg(a + b)
    assert notebook_svg(a + b) is None
    assert (a + b)._repr_svg_() is None


def test_a_failure_of_dot_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "echo no room >&2; exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(UopError, match="did not lay the graph out: no room"):
        to_svg(a + b)


def test_a_notebook_does_not_draw_a_graph_that_no_one_could_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_dot(tmp_path, "cat")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    u = a
    for n in range(NOTEBOOK_NODES):
        u = u + b if n % 2 else u * b
    assert notebook_svg(u) is None
    assert to_svg(u)
