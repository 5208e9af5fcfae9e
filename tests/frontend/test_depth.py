"""How deep source may nest depends on the source alone, and what is too deep is told where."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import FunctionType

import pytest

from dynamis.frontend import KernelError, compile_kernel
from dynamis.frontend.depth import MAX_BRANCHES, MAX_CALL_DEPTH, MAX_EXPRESSION_DEPTH
from dynamis.frontend.room import with_room
from tests.frontend.support import load, run

HEAD = "from dynamis.frontend import surface as dy\nfrom dynamis.frontend.surface import *\n"
ARGUMENTS = "def kernel(n: i32 = 1, x: f32 = 2.0) -> Rows[i32]:\n"


def kernel_of(text: str, folder: Path) -> FunctionType:
    kernel = load(HEAD + text, folder).kernel
    assert isinstance(kernel, FunctionType)
    return kernel


def elif_chain(count: int, arm: str, other: str) -> str:
    lines = [f"    {'el' * (k > 0)}if n == {k}:\n        {arm.format(k=k)}\n" for k in range(count)]
    return "".join(lines) + f"    else:\n        {other}\n"


def helpers(count: int) -> str:
    inner = "".join(f"def g{k}(x):\n    return g{k + 1}(x) + 1\n" for k in range(count - 1))
    return f"{inner}def g{count - 1}(x):\n    return x + 1\n{ARGUMENTS}    return g0(n)\n"


def calls(count: int) -> str:
    return f"{ARGUMENTS}    return {'abs(' * count}n{')' * count}\n"


@pytest.mark.parametrize(
    ("arm", "other"),
    [
        ("y = {k} * 3", "y = -1"),
        ("return {k} * 3", "return -1"),
        ("y = {k} * 3 if x > 1.0 else 5", "y = -1"),
    ],
)
@pytest.mark.parametrize("count", [70, MAX_BRANCHES])
def test_a_long_elif_chain_means_what_it_means_in_python(
    count: int, arm: str, other: str, tmp_path: Path
) -> None:
    last = "" if arm.startswith("return") else "    return y\n"
    kernel = kernel_of(ARGUMENTS + elif_chain(count, arm, other) + last, tmp_path)
    for n in (0, 1, 31, 32, 33, 34, 61, 62, 69, count - 1, count, -5):
        assert run(kernel, n=n) == kernel(n), n


def test_a_long_chain_with_arms_that_leave_a_loop_means_what_it_means_in_python(
    tmp_path: Path,
) -> None:
    lines = [f"{'el' * (k > 0)}if (i * 7 + n) % 90 == {k}:" for k in range(80)]
    arms = ["y += 1", "break", "continue", "return y * 100 + i", "y = y * 2 + i"]
    body = "".join(f"        {s}\n            {arms[k % 5]}\n" for k, s in enumerate(lines))
    text = f"{ARGUMENTS}    y = 0\n    for i in range(20):\n{body}        y += 1000\n    return y\n"
    kernel = kernel_of(text, tmp_path)
    for n in range(0, 90, 4):
        assert run(kernel, n=n) == kernel(n), n


def test_later_tests_of_a_long_chain_run_only_where_no_branch_was_taken(tmp_path: Path) -> None:
    tests = elif_chain(70, "y = {k}", "y = -1").replace("n == 69", "7 // (n - 3) == 7")
    kernel = kernel_of(f"{ARGUMENTS}{tests}    return y\n", tmp_path)
    assert [run(kernel, n=n) for n in (3, 40, 100)] == [3, 40, -1]


def test_a_chain_of_too_many_branches_is_an_error_at_the_first_too_many(tmp_path: Path) -> None:
    text = ARGUMENTS + elif_chain(MAX_BRANCHES + 30, "return {k}", "return 0")
    with pytest.raises(KernelError, match=f"more than {MAX_BRANCHES} branches") as caught:
        compile_kernel(kernel_of(text, tmp_path))
    assert f"elif n == {MAX_BRANCHES}:" in caught.value.place.text
    assert "return" in caught.value.hint


def test_too_deep_a_chain_of_helpers_is_an_error_at_the_call_too_many(tmp_path: Path) -> None:
    assert run(kernel_of(helpers(MAX_CALL_DEPTH), tmp_path), n=1) == 1 + MAX_CALL_DEPTH
    with pytest.raises(KernelError, match=f"more than {MAX_CALL_DEPTH} deep") as caught:
        compile_kernel(kernel_of(helpers(MAX_CALL_DEPTH + 40), tmp_path))
    assert f"g{MAX_CALL_DEPTH}(x)" in caught.value.place.text
    assert "one helper do the work of several" in caught.value.hint


def test_a_sum_may_be_as_long_as_python_reads_it(tmp_path: Path) -> None:
    kernel = kernel_of(f"{ARGUMENTS}    return {' + '.join(['n'] * 2000)}\n", tmp_path)
    assert run(kernel, n=3) == 6000


def test_a_message_about_a_very_long_expression_does_not_quote_it(tmp_path: Path) -> None:
    kernel = kernel_of(f"{ARGUMENTS}    return ({' + '.join(['n'] * 2000)}) + x\n", tmp_path)
    with pytest.raises(KernelError, match=r"\+ cannot combine i32 and f32") as caught:
        compile_kernel(kernel)
    assert "f32(…)" in caught.value.hint


def _deep(levels: int, function: object) -> object:
    if levels:
        return _deep(levels - 1, function)
    assert callable(function)
    return function()


@pytest.mark.parametrize(
    "text",
    [
        helpers(MAX_CALL_DEPTH),
        calls(MAX_EXPRESSION_DEPTH - 1),
        ARGUMENTS + elif_chain(MAX_BRANCHES, "return {k}", "return 0"),
    ],
    ids=["helpers", "calls", "branches"],
)
def test_a_kernel_compiles_to_the_same_module_however_deep_the_caller_stands(
    text: str, tmp_path: Path
) -> None:
    kernel = kernel_of(text, tmp_path)
    here = compile_kernel(kernel)
    used = len(list(traceback.walk_stack(None)))
    room = sys.getrecursionlimit() - used - 80
    assert _deep(room, lambda: compile_kernel(kernel)) == here


def test_an_error_found_on_another_stack_is_raised_on_the_callers() -> None:
    def fails() -> None:
        raise KeyError("inner")

    with pytest.raises(KeyError, match="inner"):
        with_room(sys.getrecursionlimit(), fails)
    assert with_room(sys.getrecursionlimit(), lambda: 3) == 3
