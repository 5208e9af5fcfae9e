"""Wrong kernels get a KernelError at the exact place, which says what to write instead.

The programs are in ``wrong_programs.py``.
"""

from __future__ import annotations

import ast
import traceback
from pathlib import Path
from types import FunctionType

import pytest

from dynamis.errors import DynamisError
from dynamis.frontend import KernelError, compile_kernel, surface
from tests.frontend.support import load
from tests.frontend.wrong_programs import CASES, HEAD, Wrong


def error_of(text: str, folder: Path) -> KernelError:
    kernel = load(HEAD + text, folder).kernel
    assert isinstance(kernel, FunctionType)
    with pytest.raises(KernelError) as caught:
        compile_kernel(kernel)
    return caught.value


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_wrong_program_points_at_its_fault_and_says_what_to_write(
    case: Wrong, tmp_path: Path
) -> None:
    before, rest = case.text.split("«")
    marked, after = rest.split("»")
    error = error_of(before + marked + after, tmp_path)
    line = (HEAD + before).count("\n") + 1
    column = len(before.rpartition("\n")[2])
    found = (error.line, error.column, error.end_column)
    assert found == (line, column, column + len(marked)), str(error)
    assert error.file.startswith(str(tmp_path))
    assert case.message in error.message, str(error)
    assert case.hint in error.hint, str(error)
    assert error.hint, str(error)
    rows = str(error).split("\n")
    assert rows[0] == f"{error.file}:{error.line}:{column + 1}: {error.message}"
    assert rows[1] == "    " + (HEAD + before + marked + after).split("\n")[line - 1]
    assert rows[2] == " " * (4 + column) + "^" * len(marked)


@pytest.mark.parametrize(
    "path", sorted(Path(surface.__file__).parent.glob("*.py")), ids=lambda p: p.stem
)
def test_every_error_of_the_frontend_says_what_to_write_instead(path: Path) -> None:
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("fail", "KernelError")
    ]
    silent = [c.lineno for c in calls if "hint" not in {k.arg for k in c.keywords}]
    assert silent == []


def test_the_error_shows_no_frame_of_the_compiler(tmp_path: Path) -> None:
    text = "def f(a):\n    return a + b\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n"
    error = error_of(text, tmp_path)
    frames = traceback.extract_tb(error.__traceback__)
    assert [f.name for f in frames if "/dynamis/" in f.filename] == ["entry"]
    assert error.__suppress_context__


def test_a_recursion_error_names_the_cycle(tmp_path: Path) -> None:
    text = (
        "def f(x):\n    return g(x)\ndef g(x):\n    return h(x)\ndef h(x):\n    return f(x)\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n"
    )
    assert error_of(text, tmp_path).found == "f -> g -> h -> f"


def test_an_error_about_two_places_shows_both(tmp_path: Path) -> None:
    text = "def kernel(n: i32 = 1) -> Grid[f32]:\n    if n > 0:\n        y = 1.0\n    return y\n"
    error = error_of(text, tmp_path)
    (note,) = error.notes
    assert (note.place.span.line, note.place.span.column) == (error.line - 1, 8)
    assert "            y = 1.0\n            ^" in str(error)
    text = "def kernel(n: i32 = 1) -> Grid[i32]:\n    a = n\n    a = 2.0\n    return a\n"
    (note,) = error_of(text, tmp_path).notes
    assert note.place.text == "    a = n"


def test_a_tab_before_the_fault_stays_a_tab_above_the_caret(tmp_path: Path) -> None:
    text = "def kernel(n: i32 = 1) -> Grid[f32]:\n\treturn y\n"
    assert str(error_of(text, tmp_path)).split("\n")[2] == "    \t       ^"


def test_a_function_without_source_says_so() -> None:
    names: dict[str, object] = {}
    exec("def kernel(x): return x", names)
    kernel = names["kernel"]
    assert isinstance(kernel, FunctionType)
    with pytest.raises(KernelError, match="its source cannot be found") as caught:
        compile_kernel(kernel)
    assert "put the function in a .py file" in caught.value.hint
    assert caught.value.file == "<string>"


def test_a_lambda_is_no_kernel() -> None:
    kernel = lambda x: x  # noqa: E731
    with pytest.raises(KernelError, match="it is a lambda"):
        compile_kernel(kernel)


def test_an_async_function_is_no_kernel(tmp_path: Path) -> None:
    text = "async def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return x\n"
    error = error_of(text, tmp_path)
    assert (error.message, error.column) == ("a kernel cannot be async", 0)


def test_a_file_edited_since_its_import_is_noticed(tmp_path: Path) -> None:
    text = HEAD + "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return x\n"
    module = load(text, tmp_path)
    Path(str(module.__file__)).write_text(HEAD + "def other(x): return x\n" * 3)
    with pytest.raises(KernelError, match="its file has changed since it was imported"):
        compile_kernel(module.kernel)


def test_blocks_that_nest_too_deeply_are_an_error_not_a_crash(tmp_path: Path) -> None:
    lines = ["def kernel(n: i32 = 1) -> Grid[i32]:"]
    lines += [f"{'    ' * (k + 1)}if n > {k}:" for k in range(70)]
    text = "\n".join([*lines, "    " * 71 + "n = 0", "    return n", ""])
    assert "blocks nest deeper" in error_of(text, tmp_path).message


def test_an_expression_that_nests_too_deeply_is_an_error_not_a_crash(tmp_path: Path) -> None:
    text = f"def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return {'dy.floor(' * 110}x{')' * 110}\n"
    error = error_of(text, tmp_path)
    assert "nests more than 100 deep" in error.message
    assert error.column == len("    return ") + 100 * len("dy.floor(")
    assert "a line of its own" in error.hint


def test_what_is_no_function_and_a_wrong_budget_are_refused() -> None:
    with pytest.raises(DynamisError, match="a function defined with def"):
        compile_kernel(print)  # type: ignore[arg-type]
    with pytest.raises(DynamisError, match="budget must be from 1"):
        compile_kernel(error_of, budget=0)  # type: ignore[arg-type]
    with pytest.raises(DynamisError, match="name@version"):
        compile_kernel(error_of, id="blur")  # type: ignore[arg-type]
