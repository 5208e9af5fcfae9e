"""Pictures of graphs: a graph → Graphviz `dot` text, and SVG where the `dot` program is present."""

from __future__ import annotations

from typing import Final

from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.render import arg_text
from dynamis.uop.traverse import toposort

NOTEBOOK_NODES: Final = 400
"""The largest graph that a notebook draws on its own."""
_SECONDS: Final = 60
"""How long the layout of a picture may take."""
_WIDEST: Final = 40
"""Characters of a payload shown in a picture; a listing shows all."""

_COLOURS: Final[dict[Op, str]] = {
    **dict.fromkeys((Ops.LOAD, Ops.STORE, Ops.INDEX, Ops.SLICE, Ops.STAGE), "#ffd9b3"),
    **dict.fromkeys((Ops.PARAM, Ops.BUFFER, Ops.SPECIAL, Ops.BIND), "#cfe8cf"),
    **dict.fromkeys((Ops.RANGE, Ops.END, Ops.BREAK, Ops.IF, Ops.ENDIF, Ops.REDUCE), "#cfdcf5"),
    **dict.fromkeys((Ops.SINK, Ops.LINEAR, Ops.PROGRAM, Ops.CALL, Ops.FUNCTION), "#e0d0ee"),
    **dict.fromkeys((Ops.AFTER, Ops.GROUP, Ops.BARRIER, Ops.WAIT, Ops.NOOP), "#e6e6e6"),
}


def to_dot(root: Uop) -> str:
    """The graph under `root` in Graphviz's language: an edge from each source to its user.

    Nodes are numbered as a listing numbers them. An edge into a node of several sources shows the
    source's place. A constant is drawn beside each use of it.
    """
    number = {u: n for n, u in enumerate(toposort(root))}
    lines = [
        "digraph uops {",
        '  node [shape=box style="rounded,filled" fontname="monospace" fontsize=10];',
        '  edge [fontname="monospace" fontsize=8 arrowsize=0.6];',
    ]
    for u, n in number.items():
        if u.op is not Ops.CONST or u is root:
            lines.append(f'  n{n} [label="{_label(u)}" fillcolor="{_colour(u.op)}"];')
    for u, n in number.items():
        for k, s in enumerate(u.src):
            name = f"n{number[s]}"
            if s.op is Ops.CONST:
                name = f"c{n}_{k}"
                lines.append(
                    f'  {name} [label="{_escaped(arg_text(s))}" shape=plaintext style=""];'
                )
            place = f' [label="{k}"]' if len(u.src) > 1 else ""
            lines.append(f"  {name} -> n{n}{place};")
    return "\n".join([*lines, "}"]) + "\n"


def to_svg(root: Uop) -> str:
    """The picture of the graph under `root`, laid out by Graphviz.

    Raises UopError where its `dot` program is not installed, or does not lay the graph out.
    """
    import subprocess  # slow to import, and few draw pictures

    program = _dot()
    if program is None:
        raise UopError("a picture needs Graphviz: its `dot` program is not installed")
    try:
        done = subprocess.run(
            [program, "-Tsvg"],
            input=to_dot(root),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UopError(f"`dot` did not lay the graph out: {error}") from error
    if done.returncode != 0:
        raise UopError(f"`dot` did not lay the graph out: {done.stderr.strip()}")
    return done.stdout


def notebook_svg(root: Uop) -> str | None:
    """The picture for a notebook; None without Graphviz and for graphs too large to read."""
    if _dot() is None or len(toposort(root)) > NOTEBOOK_NODES:
        return None
    return to_svg(root)


def _dot() -> str | None:
    import shutil  # slow to import too

    return shutil.which("dot")


def _label(u: Uop) -> str:
    lines = [u.op.name, str(u.dtype)]
    if u.arg is not None or u.node_tag is not None:
        text = arg_text(u)
        lines.append(text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…")
    return "\\n".join(map(_escaped, lines))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _colour(op: Op) -> str:
    if op in _COLOURS:
        return _COLOURS[op]
    return "#fff6bf" if op.is_elementwise else "#ffffff"
