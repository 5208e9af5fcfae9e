"""Statements: assignment, branches and ways out.

``break``, ``continue`` and ``return`` set flags that the compiler knows or carries as bools. What
follows a branch that may leave runs under the flag, or, where one arm always leaves, inside the
other arm, so that the usual guards (``if …: return``, ``if …: continue``) need no flag at all.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..kernel.tables import BinaryOp
from ..kernel.types import Type, vector_of
from .builder import NEST_LIMIT, RETURNED
from .calls import Calls
from .draft import Draft, Ref, Slot
from .flow import Flow, Leaves, leaves, loaded
from .operators import ARITHMETIC, SYMBOLS
from .signature import annotation, value_type
from .source import Node, SourceFunction, unparse
from .values import Operand, PortOperand, Several, Typed, describe, neighbour, spell

if TYPE_CHECKING:
    from .unit import Unit

_UNSUPPORTED: dict[str, tuple[str, str]] = {
    "FunctionDef": ("functions defined inside", "define the helper at module level"),
    "AsyncFunctionDef": ("async functions", "define a plain helper at module level"),
    "ClassDef": ("classes", "define it outside the kernel"),
    "Delete": ("del", "leave the name; nothing is kept after the kernel"),
    "With": ("with", "plain statements"),
    "AsyncWith": ("async with", "plain statements"),
    "AsyncFor": ("async for", "for i in range(…)"),
    "Try": ("try", "an if that tests for the case"),
    "TryStar": ("try", "an if that tests for the case"),
    "Raise": ("raise", "return a value that says so"),
    "Assert": ("assert", "an if that returns another value"),
    "Import": ("import", "import at the top of the file"),
    "ImportFrom": ("import", "import at the top of the file"),
    "Global": ("global", "return the value, or pass it as a parameter"),
    "Nonlocal": ("nonlocal", "return the value, or pass it as a parameter"),
    "Match": ("match", "if / elif / else"),
}


@dataclass(frozen=True, slots=True)
class LoopFlags:
    """The names of a loop's flags."""

    broke: str
    continued: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a function returns: types, whether in a tuple, outputs' names or where it is said."""

    types: tuple[Type, ...]
    several: bool
    names: tuple[str, ...] = ()
    place: Node | None = None

    def __str__(self) -> str:
        types = ", ".join(spell(t) for t in self.types)
        return f"a tuple ({types})" if self.several else types


def _to_next_exit(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements up to and with the first that may leave."""
    for k, s in enumerate(statements):
        if leaves([s]) is not Leaves.NEVER:
            return statements[: k + 1]
    return statements


def _elif(s: ast.If) -> ast.If | None:
    """The ``elif`` that follows a branch."""
    match s.orelse:
        case [ast.If() as following]:
            return following
    return None


class Statements(Calls):
    """Adds statements to expressions."""

    def __init__(
        self,
        unit: Unit,
        source: SourceFunction,
        flow: Flow,
        *,
        entry: bool,
        results: Results | None,
    ) -> None:
        super().__init__(unit, source, flow, entry=entry)
        self.loops: list[LoopFlags] = []
        self.results = results

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Writes statements in order; what follows a way out runs only where it was not taken."""
        rest = list(statements)
        while rest:
            left = self._left(rest[0])
            if left is True:
                return
            if left is not False:
                part = rest if self.depth < NEST_LIMIT else _to_next_exit(rest)
                self._guarded(rest[0], left, part)
                rest = rest[len(part) :]
                continue
            s = rest.pop(0)
            rest = self._if(s, rest) if isinstance(s, ast.If) else self.statement(s, rest)

    @abstractmethod
    def loop(self, s: ast.For | ast.While, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Writes a loop and gives the statements still to be written; ``loops.py`` has it."""

    def statement(self, s: ast.stmt, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Writes one statement that is no branch; gives the statements still to be written."""
        match s:
            case ast.Assign():
                operand = self.expression(s.value)
                for target in s.targets:
                    self.store(target, operand, s.value)
            case ast.AugAssign():
                self._augmented(s)
            case ast.AnnAssign():
                self._annotated(s)
            case ast.Return():
                self._return(s)
            case ast.Break() | ast.Continue():
                flags = self.loops[-1]
                self.env[flags.broke if isinstance(s, ast.Break) else flags.continued] = True
            case ast.For() | ast.While():
                return self.loop(s, rest)
            case ast.Expr():
                if not isinstance(s.value, ast.Constant) or isinstance(s.value.value, complex):
                    self.expression(s.value)
            case ast.Pass():
                pass
            case _:
                self._unsupported_statement(s)
        return rest

    def _unsupported_statement(self, s: ast.stmt) -> NoReturn:
        what, hint = _UNSUPPORTED.get(type(s).__name__, (type(s).__name__, ""))
        span = self.source.span(s)
        self.fail(span, f"kernels do not have {what}", found=what, hint=hint)

    # Assignment

    def store(self, target: ast.expr, operand: Operand, value_node: ast.expr) -> None:
        """Assigns ``operand`` to a name, a vector's components or a tuple of targets."""
        match target:
            case ast.Name():
                if isinstance(operand, Several):
                    self.fail(
                        value_node,
                        f"a tuple cannot be kept in {target.id}",
                        found=describe(operand),
                        hint=f"{', '.join('abcdefgh'[: len(operand.items)])} = …",
                    )
                self._bind(target, value_node, operand)
            case ast.Attribute():
                self._store_components(target, operand, value_node)
            case ast.Tuple() | ast.List():
                self._unpack(target, operand, value_node)
            case ast.Starred():
                self.unsupported(target)
            case _:
                self._not_a_target(target)

    def _bind(self, target: ast.Name, value_node: ast.expr, operand: Operand) -> None:
        name = target.id
        if name == "_" and not any(n.id == "_" for n in loaded([self.source.tree])):
            return
        if name in self.ports:
            self.fail(
                target,
                f"{name} is an input and cannot be assigned",
                found=f"{name} = …",
                hint="use another name",
            )
        if isinstance(operand, PortOperand):
            operand = self.typed(value_node, operand)
        self.assign(target, name, operand, value_node)

    def _not_a_target(self, target: ast.expr) -> NoReturn:
        text = unparse(target)
        hint = ""
        if isinstance(target, ast.Subscript):
            hint = "return the element of an output; v.x = … for a component of a vector"
        self.fail(
            target,
            f"{text} cannot be assigned",
            found=text,
            expected="a name, a vector's component (v.x), or a tuple of them",
            hint=hint,
        )

    def _unpack(self, target: ast.Tuple | ast.List, operand: Operand, value_node: ast.expr) -> None:
        for item in target.elts:
            if isinstance(item, ast.Starred):
                self.unsupported(item)
        items: Sequence[Operand]
        places: Sequence[ast.expr] = ()
        if isinstance(operand, Several):
            items, places = operand.items, operand.places
        else:
            value = self.typed(value_node, operand)
            if not value.ty.is_vector:
                self.fail(
                    value_node,
                    f"{spell(value.ty)} cannot be unpacked",
                    found=spell(value.ty),
                    expected="a tuple or a vector",
                    hint=f"{', '.join(unparse(t) for t in target.elts)} = …, … "
                    "(a value for each name)",
                )
            items = self.parts(value_node, value)
        if len(items) != len(target.elts):
            self.fail(
                target,
                f"{len(target.elts)} names for {len(items)} values",
                found=unparse(target),
                expected=f"{len(items)} names",
                hint=self._fitting(target, operand, value_node, len(items)),
            )
        nodes = places or [value_node] * len(items)
        for item, part, node in zip(target.elts, items, nodes, strict=True):
            self.store(item, part, node)

    def _fitting(
        self, target: ast.Tuple | ast.List, operand: Operand, value_node: ast.expr, count: int
    ) -> str:
        """An unpacking whose sides have equal length."""
        names = [unparse(t) for t in target.elts]
        if isinstance(operand, Typed) and 1 < len(names) < count:
            return f"{', '.join(names)} = {unparse(value_node)}.{'xyzw'[: len(names)]}"
        left = [*names[:count], *("_" for _ in range(count - len(names)))]
        return f"{', '.join(left)} = {unparse(value_node)}"

    def _store_components(
        self, target: ast.Attribute, operand: Operand, value_node: ast.expr
    ) -> None:
        base = target.value
        if not isinstance(base, ast.Name) or base.id not in self.flow.locals:
            text = unparse(target)
            self.fail(
                target,
                f"{text} cannot be assigned: only components of the kernel's own names can",
                found=text,
                hint="copy it into a name first",
            )
        whole = self.typed(base, self.expression(base))
        where = self.components(target, whole.ty, target.attr)
        if len(set(where)) < len(where):
            self.fail(
                target,
                "a component is assigned twice",
                found=f".{target.attr}",
                expected="letters that differ",
                hint=f"{unparse(base)}.{'xyzw'[: min(len(where), whole.ty.lanes)]} = …",
            )
        given: list[Ref]
        kind = whole.ty.component
        if len(where) == 1:
            given = [self.coerced(value_node, operand, kind, unparse(target)).ref]
        else:
            value = self.typed(value_node, operand, kind)
            if value.ty.component != kind or value.ty.lanes != len(where):
                self.fail(
                    value_node,
                    f"{unparse(target)} takes {len(where)} components of {spell(kind)}",
                    found=spell(value.ty),
                    hint=f"{spell(vector_of(kind, len(where)))}(…)",
                )
            given = [p.ref for p in self.parts(value_node, value)]
        refs = [p.ref for p in self.parts(target, whole)]
        for k, ref in zip(where, given, strict=True):
            refs[k] = ref
        self.assign(base, base.id, self.construct(target, whole.ty, refs))

    def _augmented(self, s: ast.AugAssign) -> None:
        if isinstance(s.target, ast.Subscript):
            self._not_a_target(s.target)
        old = self.expression(s.target)
        value = self.expression(s.value)
        given = neighbour([value])
        if isinstance(s.target, ast.Name) and isinstance(old, Typed) and given is not None:
            self._check_kept(s, s.target.id, old.ty, given)
        result = self.operate(s, s.op, old, value, (s.target, s.value))
        self.store(s.target, result, s.value)

    def _check_kept(self, s: ast.AugAssign, name: str, old: Type, value: Type) -> None:
        """Refuses ``name op= value`` where the result would be of a wider type than the name."""
        becomes = vector_of(value.component, max(old.lanes, value.lanes))
        widened = value.is_vector and old == value.component
        made_float = (old.component, value.component) == (Type.INT, Type.FLOAT)
        made_double = value == Type.DOUBLE and old in (Type.INT, Type.FLOAT)
        if not isinstance(s.op, ARITHMETIC) or not (widened or made_float or made_double):
            return
        start = f"{spell(becomes)}(0)" if becomes.is_vector else "0.0"
        self.fail(
            s,
            f"{name} is {spell(old)}, {SYMBOLS[type(s.op)]}= would make it {spell(becomes)}",
            found=spell(value),
            expected=spell(old),
            hint=f"start it as an f64: {name}: f64 = {start}"
            if made_double
            else f"start it as {spell(becomes)}: {name} = {start}",
            note=(f"{name} is first given its type here", self.first_assigned[name]),
        )

    def _annotated(self, s: ast.AnnAssign) -> None:
        if not isinstance(s.target, ast.Name):
            self._not_a_target(s.target)
        name = s.target.id
        ty = value_type(annotation(self.source, s.annotation))
        if ty is None:
            self.fail(
                s.annotation,
                f"{unparse(s.annotation)} is not a value type",
                found=unparse(s.annotation),
                expected="f32, f64, i32, bool, vec2 … vec4 or ivec2 … ivec4",
                hint=f"{name} = …, without a type: it has that of its value",
            )
        known = self.types.setdefault(name, ty)
        self.first_assigned.setdefault(name, self.source.span(s.target))
        if known != ty:
            self.retyped(s.target, name, ty, known)
        if s.value is not None:
            operand = self.expression(s.value)
            value = self.coerced(s.value, operand, ty, name)
            self.store(s.target, value, s.value)

    # Branches

    def _if(self, s: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        if self.depth >= NEST_LIMIT and _elif(s):
            self._flat_chain(s)
            return rest
        condition = self.condition(s.test)
        return self.branch(s, condition, s.body, s.orelse, rest)

    def _flat_chain(self, s: ast.If) -> None:
        """An if / elif chain without nesting: each test runs where no branch was taken before."""
        taken = self.fresh("taken", Type.BOOL)
        self.env[taken] = False
        chain: ast.If | None = s
        while chain is not None:
            self._flat_branch(chain, taken, chain.test, chain.body)
            last, chain = chain, _elif(chain)
        if last.orelse:
            self._flat_branch(s, taken, None, last.orelse)
        del self.env[taken]

    def _flat_branch(
        self, s: ast.If, taken: str, test: ast.expr | None, body: list[ast.stmt]
    ) -> None:
        """One branch of a chain: ``body`` where ``taken`` is not set and ``test`` holds."""
        flags = [*self._flags(), taken]
        before = self.env[taken]
        if isinstance(before, Draft | Slot):
            condition = self.inverse(s, before)
            if test is not None:
                condition = self.short_circuit(s, BinaryOp.AND, condition, self._later(test))
        else:  # the first branch
            assert test is not None
            condition = self.condition(test)

        def run() -> None:
            for flag in flags:  # no branch before was taken, so none left
                if flag in self.env:
                    self.env[flag] = False
            self.block(body)
            self.env[taken] = True

        self.choose(s, condition, run, lambda: None)

    def branch(
        self,
        node: Node,
        condition: Ref,
        then: list[ast.stmt],
        otherwise: list[ast.stmt],
        rest: list[ast.stmt],
    ) -> list[ast.stmt]:
        """An If over statements; ``rest`` goes into an arm where the other one always leaves."""
        one, two = leaves(then), leaves(otherwise)
        if rest and self.depth < NEST_LIMIT and (one is Leaves.ALWAYS) != (two is Leaves.ALWAYS):
            if one is Leaves.ALWAYS:
                otherwise = [*otherwise, *rest]
            else:
                then = [*then, *rest]
            rest = []
        self.choose(node, condition, lambda: self.block(then), lambda: self.block(otherwise))
        return rest

    def _flags(self) -> list[str]:
        """The flags that end the statements being written, when one is set."""
        inner = [self.loops[-1].broke, self.loops[-1].continued] if self.loops else []
        return [*inner, RETURNED]

    def _left(self, node: Node) -> bool | Ref:
        """Whether a way out was taken: known, or a Bool."""
        refs: list[Ref] = []
        for flag in self._flags():
            end = self.env.get(flag, False)
            if end is True:
                return True
            if isinstance(end, Draft | Slot):
                refs.append(end)
        return self.either(node, refs) if refs else False

    def _guarded(self, node: Node, left: Ref, rest: list[ast.stmt]) -> None:
        flags = self._flags()

        def taken() -> None:
            unknown = [f for f in flags if not isinstance(self.env.get(f, False), bool)]
            if len(unknown) == 1:
                self.env[unknown[0]] = True

        def not_taken() -> None:
            for flag in flags:
                if flag in self.env:
                    self.env[flag] = False
            self.block(rest)

        self.choose(node, left, taken, not_taken)

    def either(self, node: Node, refs: Sequence[Ref]) -> Ref:
        """Whether any of some Bools holds."""
        total = refs[0]
        for ref in refs[1:]:
            total = self.binary(node, BinaryOp.OR, total, ref, Type.BOOL)
        return total

    # Return

    def _returning(
        self, results: Results, operands: Sequence[Operand], nodes: Sequence[ast.expr]
    ) -> str:
        """A return of as many values as the function has results."""
        wanted = results.types
        texts = [unparse(n) for n in nodes[: len(wanted)]]
        texts += ["…"] * (len(wanted) - len(texts))
        comma = "," if results.several and len(texts) == 1 else ""
        hint = f"return {', '.join(texts)}{comma}"
        if not results.several and len(operands) == wanted[0].lanes:
            hint = f"return {spell(wanted[0])}({', '.join(unparse(n) for n in nodes)})"
        return hint

    def _return(self, s: ast.Return) -> None:
        if s.value is None:
            self.fail(s, "return needs a value", found="return", hint="return the result")
        operand = self.expression(s.value)
        several = isinstance(operand, Several)
        operands = operand.items if isinstance(operand, Several) else (operand,)
        nodes = [s.value] * len(operands)
        if isinstance(operand, Several) and operand.places:
            nodes = list(operand.places)
        if self.results is None:
            types = tuple(self.typed(n, o).ty for n, o in zip(nodes, operands, strict=True))
            self.results = Results(types, several, place=s.value)
        results = self.results
        note = None
        if results.place is not None and results.place is not s.value:
            note = ("the type of the result is given here", results.place)
        if len(operands) != len(results.types) or several != results.several:
            self.fail(
                s.value,
                f"{self.source.name} returns {results}",
                found=describe(operand),
                expected=str(results),
                hint=self._returning(results, operands, nodes),
                note=note,
            )
        for k, (node, part, ty) in enumerate(zip(nodes, operands, results.types, strict=True)):
            name = f"%result{k}"
            self.types[name] = ty
            what = f"output {results.names[k]}" if results.names else "the result"
            self.env[name] = self.coerced(node, part, ty, what, note).ref
        self.env[RETURNED] = True
