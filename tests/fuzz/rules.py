"""Each check of the validator is taken away in turn, and a test must fail.

``python -m tests.fuzz.rules`` finds every statement of the validator's files that checks something
(a call of ``require`` or of a helper of its kind, a ``raise ValidationError``), runs the tests of
the validator with that one statement gone, and prints the checks that no test misses, by rule.
``--rules`` does the same for whole rules: all that checks rule N is gone at once.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from _pytest.runner import runtestprotocol

from dynamis.kernel import validate
from dynamis.kernel.validate import __doc__ as LISTED

ROOT = Path(__file__).parents[2]
TESTS = ("tests/kernel/test_validate.py",)
KERNEL = Path(inspect.getfile(validate)).parent
FILES = tuple(
    sorted(("validate.py", "violation.py", *(path.name for path in KERNEL.glob("check_*.py"))))
)
HELPERS = re.compile(r"_?(require|check)(_\w+)?\Z")
RULES = tuple(int(n) for n in re.findall(r"^ ?(\d+)\. ", LISTED or "", re.M))


@dataclass(frozen=True)
class Check:
    """One statement that checks something: the file's module, the line, the function it stands in,
    and the rule it names, None where it is given the rule."""

    module: str
    line: int
    function: str
    rule: int | None

    def __str__(self) -> str:
        rule = "the rule it is given" if self.rule is None else f"rule {self.rule}"
        return f"{self.module}.py:{self.line}, in {self.function}: {rule}"


def checks() -> list[Check]:
    """Every check of the validator."""
    found = []
    for name in FILES:
        module = name.removesuffix(".py")
        tree = ast.parse((KERNEL / name).read_text(encoding="utf-8"))
        for function, node in _statements(tree, ""):
            rule = _rule(node)
            if rule is not None:
                found.append(Check(module, node.lineno, function, rule or None))
    return found


def _statements(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.stmt]]:
    """Every statement with the qualified name of the function it stands in."""
    for child in ast.iter_child_nodes(node):
        name = owner
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name = f"{owner}.{child.name}" if owner else child.name
        if isinstance(child, ast.stmt):
            yield owner, child
        yield from _statements(child, name)


def _rule(node: ast.stmt) -> int | None:
    """The rule a statement checks: 0 where it is given one, None where it checks nothing."""
    call: ast.expr | None = None
    if isinstance(node, ast.Raise):
        call = node.exc
    elif isinstance(node, ast.Expr):
        call = node.value
    if not isinstance(call, ast.Call):
        return None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name != "ValidationError" and HELPERS.match(name) is None:
        return None
    numbers = [a.value for a in call.args[:2] if isinstance(a, ast.Constant)]
    return next((n for n in numbers if isinstance(n, int) and not isinstance(n, bool)), 0)


class _Without(ast.NodeTransformer):
    """Replaces the checks at some lines by nothing; of the others that are given their rule, those
    of rule ``rule``."""

    def __init__(self, lines: set[int], rule: int | None):
        self.lines = lines
        self.rule = rule

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, or what is left of it."""
        if not isinstance(node, (ast.Expr, ast.Raise)):
            return self.generic_visit(node)
        if node.lineno in self.lines and _rule(node) is not None:
            return ast.copy_location(ast.Pass(), node)
        given = _given_rule(node)
        if self.rule is None or given is None:
            return node
        other = ast.Compare(given, [ast.NotEq()], [ast.Constant(self.rule)])
        return ast.copy_location(ast.If(other, [node], []), node)


def _given_rule(node: ast.Expr | ast.Raise) -> ast.expr | None:
    """The expression of the rule that a check is given, where it names none."""
    call = node.exc if isinstance(node, ast.Raise) else node.value
    if _rule(node) != 0 or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    place = {"require": 1, "ValidationError": 0}.get(call.func.id)
    return None if place is None else call.args[place]


def _codes(code: CodeType) -> dict[str, CodeType]:
    """The code of every function in a code object, by qualified name."""
    found = {code.co_qualname: code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(_codes(constant))
    return found


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """The functions and methods that a module defines, by qualified name."""
    found: dict[str, FunctionType] = {}
    for value in vars(module).values():
        members = vars(value).values() if inspect.isclass(value) else (value,)
        for member in members:
            raw = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            raw = raw.fget if isinstance(raw, property) else raw
            if isinstance(raw, FunctionType) and raw.__module__ == module.__name__:
                found[raw.__qualname__] = raw
    return found


def without(
    module: ModuleType, lines: set[int], rule: int | None = None
) -> dict[FunctionType, CodeType]:
    """Takes the checks at some lines, and those given ``rule``, out of a module in place; what to
    put back."""
    source = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    tree = ast.fix_missing_locations(_Without(lines, rule).visit(ast.parse(source)))
    codes = _codes(compile(tree, inspect.getfile(module), "exec"))
    before: dict[FunctionType, CodeType] = {}
    for name, function in _functions(module).items():
        if name in codes and codes[name].co_freevars == function.__code__.co_freevars:
            before[function] = function.__code__
            function.__code__ = codes[name]
    return before


@dataclass(frozen=True)
class Removal:
    """What is taken away at once: some checks, and all that are given ``rule``."""

    checks: tuple[Check, ...]
    rule: int | None
    whole: bool

    def take(self) -> dict[FunctionType, CodeType]:
        """Takes it away; what to put back."""
        lines: dict[str, set[int]] = defaultdict(set)
        for check in self.checks:
            lines[check.module].add(check.line)
        files = [name.removesuffix(".py") for name in FILES] if self.whole else lines
        before: dict[FunctionType, CodeType] = {}
        for name in files:
            module = importlib.import_module(f"dynamis.kernel.{name}")
            before |= without(module, lines[name], self.rule if self.whole else None)
        return before


@dataclass
class _Session:
    """A pytest plugin that runs the collected tests once for each removal until one fails."""

    removals: dict[str, Removal]
    missed: list[str] = field(default_factory=list)
    caught: dict[str, str] = field(default_factory=dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Nothing else is run."""
        items = session.items
        failing = [item.nodeid for item in items if not _passes(item)]
        assert items and not failing, f"tests that fail as they are: {failing}"
        for name, removal in self.removals.items():
            word = re.compile(rf"\brule{removal.rule}-")
            # tests of that rule first, then those of one module, then those of many
            order = sorted(
                items, key=lambda i: (word.search(i.nodeid) is None, "[" not in i.nodeid)
            )
            before = removal.take()
            try:
                failed = next((item.nodeid for item in order if not _passes(item)), None)
            finally:
                for function, code in before.items():
                    function.__code__ = code
            if failed is None:
                self.missed.append(name)
            else:
                self.caught[name] = failed
        return True


def _passes(item: pytest.Item) -> bool:
    item._initrequest()  # type: ignore[attr-defined]  # an item is run more than once
    return all(report.passed for report in runtestprotocol(item, log=False, nextitem=None))


def remove_each(by_rule: bool) -> tuple[dict[str, str], list[str]]:
    """The test that failed without each check (or rule), by name, and those no test misses."""
    found = checks()
    if by_rule:
        named = {n: tuple(c for c in found if c.rule == n) for n in RULES}
        removals = {f"rule {n}": Removal(checks, n, True) for n, checks in named.items()}
    else:
        removals = {str(check): Removal((check,), check.rule, False) for check in found}
    session = _Session(removals)
    options = [
        "-qq",
        "--no-header",
        "--no-summary",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(ROOT),
    ]
    pytest.main([*options, *(str(ROOT / test) for test in TESTS)], [session])
    assert len(session.caught) + len(session.missed) == len(removals), "the tests did not run"
    return session.caught, session.missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints what no test misses; the exit status is 0 where there is nothing."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.rules", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--rules", action="store_true", help="remove whole rules, not single checks"
    )
    parser.add_argument("--list", action="store_true", help="print which test caught each")
    chosen = parser.parse_args(arguments)
    caught, missed = remove_each(chosen.rules)
    if chosen.list:
        for name, test in caught.items():
            print(f"{name}: {test}")
    for name in missed:
        print(f"{name}: no test fails without it")
    what = "rules" if chosen.rules else "checks"
    print(f"{len(caught) + len(missed)} {what} removed in turn, {len(caught)} noticed by a test")
    return 0 if not missed else 1


if __name__ == "__main__":
    sys.exit(main())
