"""Loops, branches and ways out mean what they mean in Python: the same functions run as both."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamis.frontend.surface import Rows, i32
from dynamis.kernel.fault import FaultKind
from tests.frontend.support import fault_of, load, run

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def first_divisor(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    for d in range(2, n):
        if n % d == 0:
            return d
    return n


def search(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    for d in range(2, n):
        if n % d == 0:
            found = d
            break
    else:
        found = -1
    return found


def skip_and_stop(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    total = 0
    for i in range(20):
        if i % 3 == 1:
            continue
        if i > n:
            break
        for j in range(i):
            if j == m:
                break
            if (i + j) % 2 == 0:
                continue
            total += j
        else:
            total += 100
        if total > 500:
            return -total
        total += i
    return total


def collatz(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def while_else(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    k = n
    while k < 30:
        k += 7
        if k == m:
            break
        if k == 21:
            continue
        k += 1
    else:
        k = k * 100
    return k


def forever(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    k = 0
    while True:
        k += 1
        if k > n:
            if k * k > m:
                break
            continue
        if k == 13:
            return -13
    return k


def last_value(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    i = -7
    for i in range(n, m, 3):
        if i == 6:
            break
    return i


def last_value_after_leading_break(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    for i in range(100):
        if i * i > n:
            break
    for j in range(5):
        m += j
    return i * 1000 + j + m


def reassigned_variable(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    total = 0
    for i in range(n):
        total += i
        i = i * 2
        total += i
    return total


def guards(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    if n < 0:
        return -1
    if m < 0:
        if n == 3:
            return -2
        m = -m
    elif m == 0:
        return -3
    else:
        n += 1
    if n > 9:
        return n - m
    return n + m


def deep(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    for a in range(4):
        for b in range(4):
            k = a
            while k < 10:
                k += b + 1
                if k == n:
                    return a * 100 + b * 10 + k
                if k == m:
                    break
            if k > 11:
                continue
            if a + b > 5:
                return -1
    return -2


@pytest.mark.parametrize(
    "function",
    [
        first_divisor,
        search,
        skip_and_stop,
        collatz,
        while_else,
        forever,
        last_value,
        last_value_after_leading_break,
        reassigned_variable,
        guards,
        deep,
    ],
)
def test_control_flow_is_pythons(function: Callable[..., int]) -> None:
    for n in (-4, 0, 1, 3, 6, 7, 12, 25):
        for m in (-2, 0, 4, 9, 29):
            if function is forever and n > 20:
                continue
            assert run(function, n=n, m=m) == function(n, m), (n, m)


def count(a: i32 = 0, b: i32 = 0, s: i32 = 1) -> Rows[i32]:
    trips = 0
    last = 0
    for i in range(a, b, s):
        trips += 1
        last = i
        if trips == 40:
            break
    return trips * 1000 + last % 1000


EDGES = [INT_MIN, INT_MIN + 1, -5, -1, 0, 1, 2, 7, INT_MAX - 1, INT_MAX]


@pytest.mark.parametrize("s", [INT_MIN, INT_MIN + 1, -(2**30), -3, -1, 1, 2, 2**30, INT_MAX])
def test_a_run_time_range_counts_exactly_at_every_extreme(s: int) -> None:
    for a in EDGES:
        for b in EDGES:
            assert run(count, a=a, b=b, s=s) == count(a, b, s), (a, b, s)


@pytest.mark.parametrize(
    "arguments",
    ["n", "3, n", "-3, n", "n, 9", "n, m", "n, m, 2", "n, m, -2", "0, n, 3", "n, m, 7", "5, n, -1"]
    + ["0", "5", "-2, 3", "7, 2", "9, 1, -3", "1, 9, 3", f"{INT_MIN}, {INT_MAX}, {2**30}"],
)
def test_every_form_of_range_is_pythons(arguments: str, tmp_path: Path) -> None:
    text = f"""
from dynamis.frontend.surface import Rows, i32
def kernel(n: i32 = 0, m: i32 = 0) -> Rows[i32]:
    total = 1
    for i in range({arguments}):
        total = (total * 31 + i % 97) % 10007
        if i % 53 == 52:
            break
    return total
"""
    kernel = load(text, tmp_path).kernel
    for n in (-20, -1, 0, 1, 8, 50):
        for m in (-9, 0, 3, 70):
            assert run(kernel, n=n, m=m) == kernel(n, m), (n, m)


def long_range(n: i32 = 0) -> Rows[i32]:
    total = 0
    for i in range(0, 200000, 2):
        total += i % 3
    return total + i + n


def test_a_literal_range_past_the_largest_count_runs_whole() -> None:
    assert run(long_range, n=5) == long_range(5)


def endless(n: i32 = 0) -> Rows[i32]:
    while n >= 0:
        n = n ^ 1
    return n


def test_an_endless_loop_spends_its_budget() -> None:
    assert fault_of(endless, budget=5000).kind is FaultKind.BUDGET
    assert run(endless, budget=5000, n=-1) == -1


def huge_range(n: i32 = 0) -> Rows[i32]:
    total = 0
    for i in range(-2147483648, n):
        total = i
    return total


def test_a_range_too_long_to_count_in_an_int_is_stopped_by_the_budget() -> None:
    assert fault_of(huge_range, budget=5000, n=INT_MAX).kind is FaultKind.BUDGET
    assert run(huge_range, n=-(2**31)) == 0


def zero_step(s: i32 = 0) -> Rows[i32]:
    total = 0
    for i in range(5, 1, s):
        total += i
    return total


def test_a_range_of_step_zero_is_a_division_by_zero() -> None:
    fault = fault_of(zero_step)
    assert fault.kind is FaultKind.DIVISION_BY_ZERO
    assert fault.span is not None
    assert (fault.span.column, fault.span.end_column) == (13, 27)


class _Writer:
    """Writes random functions of nested loops, branches and ways out over four ints."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counters = 0
        self.budget = 22

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def condition(self) -> str:
        a, b = self.pick("a", "b", "c", "d"), self.pick("a", "b", "c", "d")
        return self.pick(
            f"{a} < {b}",
            f"{a} % 3 == {self.random.randrange(3)}",
            f"{a} <= {b} < {self.pick('a', 'b')} + 5",
            f"not {a} == {b}",
            f"{a} > 2 or {b} % 2 == 0",
            f"{a} % 2 == 1 and {b} > {self.random.randrange(-5, 9)}",
        )

    def statements(self, indent: int, loops: int) -> list[str]:
        out: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            self.budget -= 1
            out += self.statement(indent, loops)
        return out

    def statement(self, indent: int, loops: int) -> list[str]:
        pad = "    " * indent
        kind = self.random.random() if self.budget > 0 else 0.0
        if kind < 0.35:
            t, u = self.pick("a", "b", "c", "d"), self.pick("a", "b", "c", "d")
            value = self.pick(f"{u} + 1", f"({t} * 7 + {u}) % 23", f"{u} - {t}", f"{t} // 3", u)
            return [f"{pad}{t} = ({value}) % 101 - 17"]
        if kind < 0.45 and loops:
            return [pad + self.pick("break", "continue")]
        if kind < 0.5:
            return [f"{pad}return {self.pick('a', 'b', 'c + d')}"]
        if kind < 0.75 or loops > 2:
            out = [f"{pad}if {self.condition()}:", *self.statements(indent + 1, loops)]
            if self.random.random() < 0.3:
                out += [f"{pad}elif {self.condition()}:", *self.statements(indent + 1, loops)]
            if self.random.random() < 0.4:
                out += [f"{pad}else:", *self.statements(indent + 1, loops)]
            return out
        inner = self.statements(indent + 1, loops + 1)
        if kind < 0.9:
            name = self.pick("a", "i", "j")
            limits = self.pick("4", "d % 5", "b % 4, 6", "5, a % 3, -2", "c % 3, c % 7, d % 3 + 1")
            out = [f"{pad}for {name} in range({limits}):", *inner]
        else:
            self.counters += 1
            w = f"w{self.counters}"
            test = self.pick(f"{w} < 5", f"{w} < 4 and ({self.condition()})")
            out = [f"{pad}{w} = 0", f"{pad}while {test}:", f"{pad}    {w} += 1", *inner]
        if self.random.random() < 0.25:
            out += [f"{pad}else:", *self.statements(indent + 1, loops)]
        return out

    def text(self) -> str:
        head = [
            "from dynamis.frontend.surface import Rows, i32",
            "def kernel(a: i32 = 0, b: i32 = 0) -> Rows[i32]:",
            "    c = 3",
            "    d = a - b",
            "    i = j = 1",
        ]
        body = [line for _ in range(4) for line in self.statements(1, 0)]
        return "\n".join([*head, *body, "    return a + 10 * b + 100 * c + d + i - j"]) + "\n"


def compare_random_programs(seeds: range, folder: Path) -> None:
    for seed in seeds:
        text = _Writer(seed).text()
        kernel: Any = load(text, folder).kernel
        for a, b in ((0, 0), (3, -2), (-7, 11)):
            assert run(kernel, a=a, b=b, budget=9999) == kernel(a, b), (
                f"seed {seed} at {(a, b)}\n{text}"
            )


def test_random_control_flow_is_pythons(tmp_path: Path) -> None:
    compare_random_programs(range(50), tmp_path)
