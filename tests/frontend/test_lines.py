"""Finding the lines of a definition: by indentation where that is enough, else by tokens."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from types import FunctionType

import pytest

from dynamis.frontend.lines import indented_block, lines_from, whole_block


def definitions(text: str) -> list[tuple[list[str], list[str]]]:
    """For each definition of a module: the lines from it on, and its own lines by the parser."""
    lines = text.splitlines(keepends=True)
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            assert node.end_lineno is not None
            found.append((lines[first - 1 :], lines[first - 1 : node.end_lineno]))
    return found


def parsed(lines: list[str]) -> str | None:
    try:
        return ast.dump(ast.parse(textwrap.dedent("".join(lines))).body[0])
    except SyntaxError:
        return None


@pytest.mark.parametrize("module", [inspect, argparse, ast, textwrap])
def test_a_block_by_indentation_is_the_definition_or_does_not_parse(module: object) -> None:
    found = definitions(inspect.getsource(module))  # type: ignore[arg-type]
    assert len(found) > 10
    quick = 0
    for rest, own in found:
        block = indented_block(rest)
        if parsed(block) is not None:
            assert parsed(block) == parsed(own)
            quick += 1
    assert quick >= 0.9 * len(found)


ODD = {
    "a signature of several lines": "def f(\n    a,\n) -> int:\n    return a\n",
    "a decorator of several lines": '@kernel(\n    "a@1"\n)\ndef f(a):\n    return a\n',
    "comments further out": "def f(a):\n    x = a\n# here\n    return x\n",
    "one line": "def f(a): return a\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_what_indentation_can_tell(text: str) -> None:
    rest = [*text.splitlines(keepends=True), "\n", "# after\n", "\n", "after = 1\n"]
    assert "".join(indented_block(rest)) == text


BEYOND = {
    "a string with text further out": 'def f(a):\n    """\nouter\n    """\n    return a\n',
    "an expression with a line further out": "def f(a):\n    return (a +\na)\n",
    "a backslash": "def f(a):\n    return a + \\\na\n",
}


@pytest.mark.parametrize("text", BEYOND.values(), ids=BEYOND)
def test_what_it_cannot_tell_does_not_parse_and_goes_by_tokens(text: str) -> None:
    rest = [*text.splitlines(keepends=True), "after = 1\n"]
    assert parsed(indented_block(rest)) is None
    assert "".join(whole_block(rest)) == text


def test_lines_are_those_of_the_file_as_it_is_now() -> None:
    assert isinstance(lines_from, FunctionType)
    lines, first = lines_from(lines_from)
    assert lines[0].startswith("def lines_from(")
    assert first == lines_from.__code__.co_firstlineno


def test_a_function_of_no_file_has_no_lines() -> None:
    names: dict[str, FunctionType] = {}
    exec("def f(): return 1", names)
    with pytest.raises(OSError, match="no source for f in <string>"):
        lines_from(names["f"])
