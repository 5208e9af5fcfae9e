"""Ordered lists of rules, compiled to one Python function for each root op.

A pattern is spelled out into tests on local variables; equal tests of neighbouring rules are
written once. Functions are made when an op is first met.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.upat import UPat, dtype_in

Action = Callable[..., Uop | None]
Compiled = Callable[[Uop, Any], Uop | None]


class Rule(NamedTuple):
    """One rewrite: its algebra as text, the pattern, and what it makes of the bindings.

    The action is called with the bindings that its parameters name (`ctx` is the context). It
    returns None for "does not apply after all", and then the next binding is tried.
    """

    text: str
    pattern: UPat
    action: Action


class PatternMatcher:
    """Rules tried in order. The first that returns a node other than the given one wins.

    Rules are (pattern, action) or (text, pattern, action). Concatenate matchers with `+`.
    Raises UopError for a pattern without a root op, and for an action that wants a name its
    pattern does not bind.
    """

    def __init__(self, rules: Iterable[Rule | tuple[UPat, Action]]) -> None:
        self.rules = [r if isinstance(r, Rule) else Rule("", *r) for r in rules]
        self._by_op: dict[Op, list[Rule]] = {}
        self._compiled: dict[Op, Compiled | None] = {}
        for rule in self.rules:
            if rule.pattern.ops is None:
                raise UopError(f"a rule needs a root op: {rule.text!r}")
            unbound = set(_parameters(rule.action)) - _names(rule.pattern) - {"ctx"}
            if unbound:
                raise UopError(f"rule {rule.text!r} does not bind {', '.join(sorted(unbound))}")
            for op in rule.pattern.ops:
                self._by_op.setdefault(op, []).append(rule)

    def __add__(self, other: PatternMatcher) -> PatternMatcher:
        return PatternMatcher([*self.rules, *other.rules])

    def __call__(self, u: Uop) -> Uop | None:
        """What the rules make of `u`, or None when none applies."""
        return self.rewrite(u)

    def rewrite(self, u: Uop, ctx: object = None) -> Uop | None:
        """What the rules make of `u` in a context, or None when none applies."""
        try:
            compiled = self._compiled[u.op]
        except KeyError:
            compiled = self.function(u.op)
        return None if compiled is None else compiled(u, ctx)

    def which(self, u: Uop, ctx: object = None) -> tuple[Rule, Uop] | None:
        """The rule that rewrites `u` and its result, by the patterns' own meaning, uncompiled."""
        for rule in self._by_op.get(u.op, ()):
            names = _parameters(rule.action)
            for found in rule.pattern.match(u):
                made = rule.action(*[ctx if n == "ctx" else found[n] for n in names])
                if made is not None:
                    if made is not u:
                        return rule, made
                    break
        return None

    def function(self, op: Op) -> Compiled | None:
        """The compiled rules of `op`, or None when it has none."""
        rules = self._by_op.get(op)
        made = _compile(op, rules) if rules else None
        self._compiled[op] = made
        return made

    def source(self, op: Op) -> str:
        """The Python text that the rules of `op` are compiled from."""
        return _Writer(self._by_op.get(op, [])).text()


def _parameters(action: Action) -> tuple[str, ...]:
    code = action.__code__
    return code.co_varnames[: code.co_argcount]


def _names(pattern: UPat) -> set[str]:
    found = {pattern.name} if pattern.name is not None else set()
    src = pattern.src
    for s in (src,) if isinstance(src, UPat) else src or ():
        found |= _names(s)
    return found


def _compile(op: Op, rules: list[Rule]) -> Compiled:
    writer = _Writer(rules)
    scope = writer.constants
    exec(compile(writer.text(), f"<rules of {op.name}>", "exec"), scope)
    return scope["apply"]  # type: ignore[no-any-return]  # defined by the text


class _Block:
    """A test and what is under it, in order: blocks, or lines of an action."""

    __slots__ = ("inside", "test")

    def __init__(self, test: str) -> None:
        self.test = test
        self.inside: list[_Block | list[str]] = []


class _Writer:
    """Writes the text of one op's function.

    A node is a variable `n`, its sources `n_0`, `n_1`, ...; the text of a test is its identity.
    """

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self._names: dict[tuple[str, type, object], str] = {}
        self.constants: dict[str, Any] = {"dtype_in": dtype_in}
        self.constants.update(
            {f"OP_{name}": op for name, op in vars(Ops).items() if name[0] != "_"}
        )

    def text(self) -> str:
        root = _Block("")
        for k, rule in enumerate(self.rules):
            ways = list(self._ways(rule.pattern, "n", {}, root=True))
            for tests, bound in ways:
                leaf = self._action(k, rule, bound, len(ways) > 1)
                _insert(root, tests, leaf)
        lines = ["def apply(n, ctx):", "    done = 0"]
        _write(root, lines, 1)
        return "\n".join([*lines, "    return None", ""])

    def _action(self, k: int, rule: Rule, bound: dict[str, str], several: bool) -> list[str]:
        self.constants[f"act{k}"] = rule.action
        args = [n if n == "ctx" else bound[n] for n in _parameters(rule.action)]
        call = f"r = act{k}({', '.join(args)})"
        if not several:
            return [call, "if r is not None and r is not n: return r"]
        # a rule that answers with the node itself is done, whatever bindings are left
        return [
            f"if not done & {1 << k}:",
            f"    {call}",
            "    if r is not None:",
            "        if r is not n: return r",
            f"        done |= {1 << k}",
        ]

    def _ways(
        self, p: UPat, path: str, bound: dict[str, str], root: bool = False
    ) -> Iterator[tuple[list[str], dict[str, str]]]:
        """The ways to hold the pattern against a node: tests, and paths of the names."""
        tests = self._own_tests(p, path, root)
        if p.name is not None:
            if p.name in bound:
                tests.append(f"{path} is {bound[p.name]}")
            else:
                bound = {**bound, p.name: path}
        if p.src is None:
            yield tests, bound
            return
        if isinstance(p.src, UPat):
            yield self._each_source(p, path, tests, bound)
            return
        n = len(p.src)
        length = f"len({path}.src) {'>=' if p.allow_any_len else '=='} {n}"
        unpack = [f":{path}_{i} = {path}.src[{i}]" for i in range(n)]
        orders = itertools.permutations(p.src) if isinstance(p.src, list) else (p.src,)
        seen = set()
        for order in orders:
            for more, names in self._sources(tuple(order), path, 0, bound):
                if (key := (tuple(more), tuple(names.items()))) not in seen:
                    seen.add(key)
                    yield [*tests, length, *unpack, *more], names

    def _sources(
        self, order: tuple[UPat, ...], path: str, i: int, bound: dict[str, str]
    ) -> Iterator[tuple[list[str], dict[str, str]]]:
        if i == len(order):
            yield [], bound
            return
        for tests, names in self._ways(order[i], f"{path}_{i}", bound):
            for more, all_names in self._sources(order, path, i + 1, names):
                yield [*tests, *more], all_names

    def _each_source(
        self, p: UPat, path: str, tests: list[str], bound: dict[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        """One pattern for every source: held against them uncompiled. It binds no new name."""
        repeated = p.src
        assert isinstance(repeated, UPat)
        if _names(repeated):
            raise UopError("a pattern repeated over all sources binds no names")
        key = f"each{len(self.constants)}"
        self.constants[key] = lambda u: all(any(True for _ in repeated.match(s)) for s in u.src)
        return [*tests, f"{key}({path})"], bound

    def _own_tests(self, p: UPat, path: str, root: bool) -> list[str]:
        tests = []
        if p.ops is not None and not root:
            names = [f"OP_{op.name}" for op in p.ops]
            one = len(names) == 1
            tests.append(
                f"{path}.op {'is ' + names[0] if one else 'in (' + ', '.join(names) + ')'}"
            )
        if p.dtypes is not None:
            allowed = self._constant("dtypes", p.dtypes)
            if all(d.lane is d for d in p.dtypes):
                tests.append(f"{path}.dtype.lane in {allowed}")
            else:
                tests.append(f"dtype_in({path}.dtype, {allowed})")
        if p.value is not None:
            kind = f"{path}.dtype.is_bool and " if p.value.__class__ is bool else ""
            tests.append(f"{kind}{path}.arg.value == {self._constant('value', p.value)}")
        if p.arg is not None:
            tests.append(f"{path}.arg == {self._constant('arg', p.arg)}")
        return tests

    def _constant(self, kind: str, value: object) -> str:
        key = kind, type(value), value
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"{kind}{len(self.constants)}"
            self.constants[name] = value
        return name


def _insert(block: _Block, tests: list[str], leaf: list[str]) -> None:
    # only the last branch is shared, so the order of the rules stays what it was
    for test in tests:
        last = block.inside[-1] if block.inside else None
        if isinstance(last, _Block) and last.test == test:
            block = last
            continue
        fresh = _Block(test)
        block.inside.append(fresh)
        block = fresh
    block.inside.append(leaf)


def _write(block: _Block, lines: list[str], depth: int) -> None:
    pad = "    " * depth
    for part in block.inside:
        if isinstance(part, list):
            lines += [pad + line for line in part]
        elif part.test.startswith(":"):  # not a test: a variable
            lines.append(pad + part.test[1:])
            _write(part, lines, depth)
        else:
            lines.append(f"{pad}if {part.test}:")
            _write(part, lines, depth + 1)
