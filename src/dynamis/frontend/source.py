"""A Python function as the frontend reads it: its syntax tree, its places, the names it sees.

In: a function object (never called). Out: ``SourceFunction`` with the tree, ``place`` and ``span``
of any node in the file's own lines and columns, and ``lookup`` of global and closure names.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from types import FunctionType
from typing import NoReturn

from ..kernel.module import Span
from .diagnostics import KernelError, Note, Place
from .lines import indented_block, lines_from, whole_block
from .room import with_room

Node = ast.expr | ast.stmt | ast.arg | ast.keyword


class SourceFunction:
    """One function's source. Raises KernelError where the source cannot be had or read."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.file = function.__code__.co_filename
        self.name = function.__name__
        try:
            rest, self._first = lines_from(function)
        except (OSError, SyntaxError) as error:
            raise self._sourceless("its source cannot be found") from error
        try:
            self._lines = indented_block(rest)
            self.tree = self._definition(self._parse())
        except SyntaxError:
            try:
                self._lines = whole_block(rest)
                parsed = self._parse()
            except (SyntaxError, IndexError) as error:
                raise self._sourceless("its source cannot be read") from error
            self.tree = self._definition(parsed)

    def _parse(self) -> ast.AST:
        """The first statement of the lines. Raises SyntaxError."""
        text = "".join(self._lines)
        # An indented definition stands under an "if", so that the columns stay the file's.
        indented = text[:1] in (" ", "\t")
        self._offset = self._first - (2 if indented else 1)
        node: ast.AST = with_room(
            _parser_frames(self._lines),
            lambda: ast.parse("if 1:\n" + text if indented else text).body[0],
        )
        return node.body[0] if indented and isinstance(node, ast.If) else node

    def _definition(self, node: ast.AST) -> ast.FunctionDef:
        if isinstance(node, ast.AsyncFunctionDef):
            self.fail(node, "a kernel cannot be async", hint=f"def {node.name}(…)")
        if not isinstance(node, ast.FunctionDef) or node.name != self.function.__code__.co_name:
            if self.name == "<lambda>":
                raise self._sourceless("it is a lambda")
            raise self._sourceless("its file has changed since it was imported")
        return node

    def _sourceless(self, why: str) -> KernelError:
        place = Place(Span(self.file, self.function.__code__.co_firstlineno, 0, 1), "")
        return KernelError(
            f"{self.name} cannot be compiled: {why}",
            place,
            expected="a function defined with def in a file or a notebook cell",
            hint="put the function in a .py file (not the interactive prompt, exec or a lambda)",
        )

    def _text(self, line: int) -> str:
        at = line - self._first
        return self._lines[at].rstrip("\r\n") if 0 <= at < len(self._lines) else ""

    def _column(self, line: int, offset: int) -> int:
        """The character column of a UTF-8 byte offset in a line."""
        text = self._text(line)
        if text.isascii():
            return min(offset, len(text))
        return len(text.encode()[:offset].decode(errors="replace"))

    def span(self, node: Node) -> Span:
        """Where a node stands in the file; of a node of several lines, its first line's part."""
        line = node.lineno + self._offset
        end_line = (node.end_lineno or node.lineno) + self._offset
        column = self._column(line, node.col_offset)
        if end_line == line and node.end_col_offset is not None:
            return Span(self.file, line, column, self._column(line, node.end_col_offset))
        return Span(self.file, line, column, max(column + 1, len(self._text(line))))

    def quote(self, node: Node) -> str:
        """The text of a node as it is written; of a node of several lines, the first."""
        span = self.span(node)
        return self._text(span.line)[span.column : span.end_column]

    def attribute_span(self, node: Node) -> Span:
        """Where the name after the dot of an attribute stands; of other nodes, the whole."""
        if not isinstance(node, ast.Attribute) or node.end_col_offset is None:
            return self.span(node)
        line = (node.end_lineno or node.lineno) + self._offset
        end = self._column(line, node.end_col_offset)
        return Span(self.file, line, end - len(node.attr), end)

    def name_span(self) -> Span:
        """Where the function's own name stands."""
        span = self.span(self.tree)
        column = self._text(span.line).find(self.tree.name, span.column + len("def "))
        return Span(self.file, span.line, column, column + len(self.tree.name))

    def place(self, where: Node | Span) -> Place:
        """A node's span with the text of its line."""
        span = where if isinstance(where, Span) else self.span(where)
        return Place(span, self._text(span.line))

    def fail(
        self,
        where: Node | Span,
        message: str,
        *,
        found: str = "",
        expected: str = "",
        hint: str = "",
        note: tuple[str, Node | Span] | None = None,
    ) -> NoReturn:
        """Raises KernelError at ``where``; ``note`` is a second message and place."""
        notes = [Note(note[0], self.place(note[1]))] if note else []
        raise KernelError(
            message, self.place(where), found=found, expected=expected, hint=hint, notes=notes
        )

    def lookup(self, name: str) -> object:
        """What a name means outside the function's locals: closure, global or builtin.

        Raises KeyError where it means nothing.
        """
        closure = self.function.__closure__ or ()
        cells = dict(zip(self.function.__code__.co_freevars, closure, strict=True))
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]

    def visible(self) -> list[str]:
        """The names ``lookup`` knows, those of builtins apart."""
        return [*self.function.__code__.co_freevars, *self.function.__globals__]


def _parser_frames(lines: list[str]) -> int:
    """Frames that CPython's parser counts for a text: a third of the depth of its tree, which is
    at most its elif branches and the operators of its longest expression."""
    return 60 + (2 * len(lines) + max(map(len, lines))) // 3


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below ``node``, in source order; what has no place in the source (contexts,
    operators) is left out. Found once, and kept with the node: every analysis asks."""
    known: list[ast.AST] | None = node.__dict__.get(_CHILDREN)
    if known is not None:
        return known
    found: list[ast.AST] = []
    for name in node._fields:
        if name in _PLACELESS:
            continue
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    node.__dict__[_CHILDREN] = found
    return found


_CHILDREN = "dynamis_children"
_PLACELESS = frozenset(("ctx", "op", "ops"))

_LONGEST_QUOTE = 60
"""The deepest expression that a message quotes whole."""


def unparse(node: ast.AST) -> str:
    """The source text of a node, for a message; an ellipsis where it is too deep to be of use."""
    level = [node]
    for _ in range(_LONGEST_QUOTE):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return ast.unparse(node)
    return "…"


def attribute_of(owner: object, name: str) -> object:
    """Attribute ``name`` of a module. Raises KeyError where there is none, or it is no module."""
    if not inspect.ismodule(owner):
        raise KeyError(name)
    try:
        return getattr(owner, name)
    except AttributeError:
        raise KeyError(name) from None
