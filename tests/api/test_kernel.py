"""The decorator and the kernel object: what it keeps, when it compiles, what it shows."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2
from dynamis.codegen.options import OptionError
from dynamis.frontend import surface
from dynamis.kernel import InvalidKernelId, parse
from dynamis.runtime.code_image import flat
from dynamis.runtime.errors import ArgumentError, ArgumentTypeError, ArgumentValueError


@dy.kernel("test.scale@3", budget=1000)
def scale(image: Grid[f32], by: f32 = 2.0) -> Grid[f32]:
    """Multiplies each element."""
    return image.sample() * by


@dy.kernel
def later(x: Rows[f32]) -> Rows[f32]:
    return defined_below(x.sample())


def defined_below(x: f32) -> f32:
    return x + 1.0


IMAGE = np.arange(6, dtype=np.float32).reshape(2, 3)
ROW = np.arange(3, dtype=np.float32)


def test_a_kernel_keeps_the_name_and_docstring_of_its_function():
    assert scale.__name__ == "scale"
    assert scale.__doc__ == "Multiplies each element."
    assert scale.__module__ == __name__
    assert repr(scale) == "<dynamis kernel scale>"
    assert list(inspect.signature(scale.__wrapped__).parameters) == ["image", "by"]


def test_a_kernel_carries_its_id_budget_and_manifest():
    assert str(scale.id) == "test.scale@3"
    assert scale.manifest.budget == 1000
    assert [p.name for p in scale.manifest.inputs] == ["image"]
    assert str(later.id) == "later@1"
    assert scale.module.manifest is scale.manifest


def test_the_ir_text_parses_back_to_the_module():
    assert parse(scale.ir) == scale.module


def test_a_helper_defined_after_its_kernel_is_found():
    assert later(ROW, backend="reference").tolist() == [1.0, 2.0, 3.0]


def test_decorating_compiles_nothing_and_a_failure_is_not_kept():
    @dy.kernel
    def uses(x: Rows[f32]) -> Rows[f32]:
        return _comes_later(x.sample())  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(dy.KernelError, match="_comes_later"):
        uses(ROW)
    globals()["_comes_later"] = defined_below
    try:
        assert uses(ROW, backend="reference").tolist() == [1.0, 2.0, 3.0]
    finally:
        del globals()["_comes_later"]


def test_show_returns_every_stage_as_text_a_repl_shows_as_it_is():
    for stage in ("kernel", "uop", "program", "llvm", "asm"):
        text = scale.show(stage)
        assert "\n" in text
        assert repr(text) == str(text)
    assert scale.show("kernel") == scale.ir
    assert "define" in scale.show("llvm")


def test_an_unknown_stage_is_refused_with_the_nearest_one():
    with pytest.raises(ArgumentValueError, match=r"stage 'asn'; did you mean 'asm'\? \(stages:"):
        scale.show("asn")


def test_options_give_another_kernel_with_the_same_results():
    narrow = scale.options(width=1)
    assert narrow is not scale
    assert narrow.__name__ == "scale"
    assert narrow.module is scale.module
    assert narrow(IMAGE).tobytes() == scale(IMAGE).tobytes()
    assert narrow.show("asm") != scale.show("asm")
    with pytest.raises(OptionError, match="width is 3"):
        scale.options(width=3)


def test_compile_seconds_grow_when_something_is_compiled():
    @dy.kernel
    def fresh(x: Rows[f32]) -> Rows[f32]:
        return x.sample() - 1.0

    assert fresh.compile_seconds == 0
    fresh(ROW, backend="reference")
    python = fresh.compile_seconds
    assert python > 0
    fresh(ROW)
    native = fresh.compile_seconds
    assert native > python
    fresh(ROW)
    assert fresh.compile_seconds == native


def test_timings_say_which_stage_took_the_seconds():
    @dy.kernel
    def fresh(x: Rows[f32]) -> Rows[f32]:
        return x.sample() - 1.0

    timings = fresh.timings
    assert list(timings) == ["front end", "import", "cache", "lowering", "LLVM", "load"]
    assert len(timings) == 6
    assert set(timings.values()) == {0.0}
    assert fresh.manifest.inputs
    assert timings["front end"] > 0 == timings["lowering"]
    fresh(ROW)
    assert min(timings["lowering"], timings["LLVM"]) > 0
    assert (timings["load"] > 0) is flat()  # LLVM's own linker loads as it links
    assert sum(timings.values()) == timings.total == fresh.compile_seconds
    assert timings.cache == "off: DYNAMIS_CACHE=off"
    assert repr(timings).startswith("<timings: front end ")
    assert repr(timings).endswith("; cache off: DYNAMIS_CACHE=off>")


@pytest.mark.parametrize("id", ["blur", "blur@", "blur@-1", "blur@01", "1blur@1", "a..b@1", ""])
def test_a_malformed_id_is_refused_at_once(id):
    with pytest.raises(InvalidKernelId, match="write name@version"):
        dy.kernel(id)


@pytest.mark.parametrize("budget", [0, -1, 2**30 + 1, 1.5, True, "9"])
def test_a_budget_out_of_range_is_refused_at_once(budget):
    with pytest.raises(ArgumentError, match="budget= takes a"):
        dy.kernel("k@1", budget=budget)


@pytest.mark.parametrize(
    ("target", "says"),
    [(print, "builtin_function"), (dict, "not a type"), (scale, "scale is a kernel already")],
)
def test_only_functions_can_be_kernels(target, says):
    with pytest.raises(ArgumentTypeError, match=says):
        dy.kernel(target)
    with pytest.raises(ArgumentTypeError, match=says):
        dy.kernel("k@1")(target)


def test_an_id_that_is_no_text_is_refused():
    with pytest.raises(ArgumentTypeError, match="takes an id such as"):
        dy.kernel(3)  # type: ignore[call-overload]


def test_a_kernel_is_pickled_and_copied_by_name():
    assert pickle.loads(pickle.dumps(scale)) is scale
    assert copy.deepcopy(scale) is scale


def test_many_threads_may_use_a_fresh_kernel_at_once():
    @dy.kernel
    def shared(x: Rows[i32]) -> Rows[i32]:
        return x.sample() * 3

    data = np.arange(1000, dtype=np.int32)
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = []

    def work() -> None:
        barrier.wait()
        results.append(shared(data))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 8
    assert all(np.array_equal(r, data * 3) for r in results)


def test_every_name_of_the_surface_language_is_exported():
    assert set(surface.__all__) <= set(dy.__all__)
    assert all(getattr(dy, name) is getattr(surface, name) for name in surface.NAMES)
    assert all(hasattr(dy, name) for name in dy.__all__)


def test_every_error_is_a_dynamis_error():
    for name in ("KernelError", "KernelFault", "ArgumentError", "FileError", "OutsideKernelError"):
        assert issubclass(getattr(dy, name), dy.DynamisError)


def test_importing_loads_no_compiler_no_pictures_no_command_line_and_starts_no_thread():
    code = (
        "import sys, threading, dynamis\n"
        "bad = {'llvmlite', 'PIL', 'typer', 'rich', 'platformdirs'} & set(sys.modules)\n"
        "assert not bad, bad\n"
        "assert threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_reference_backend_needs_no_compiler(tmp_path):
    file = tmp_path / "k.py"
    file.write_text(
        "import sys, numpy as np, dynamis as dy\n"
        "@dy.kernel\n"
        "def k(x: dy.Rows[dy.f32]) -> dy.Rows[dy.f32]:\n"
        "    return x.sample() + 1.0\n"
        "assert k(np.zeros(2, np.float32), backend='reference').tolist() == [1, 1]\n"
        "assert 'llvmlite' not in sys.modules\n"
    )
    subprocess.run([sys.executable, str(file)], check=True)


def test_a_vector_default_is_a_host_value():
    @dy.kernel
    def shift(x: Rows[f32], by: vec2 = vec2(1, 2)) -> Rows[f32]:
        return x.sample() + by.x - by.y

    assert shift(ROW, backend="reference").tolist() == [-1.0, 0.0, 1.0]
    assert shift(ROW, by=vec2(5, 1), backend="reference").tolist() == [4.0, 5.0, 6.0]


def test_a_star_import_leaves_pythons_own_functions_alone():
    names: dict[str, object] = {}
    exec("from dynamis import *", names)
    assert not vars(builtins).keys() & (names.keys() - {"__builtins__"})
    assert {"floor", "vec4", "kernel"} <= names.keys()
    assert all(callable(getattr(dy, name)) for name in ("abs", "max", "min", "round"))


@pytest.mark.parametrize("width", [2, 8])
def test_a_kernel_with_options_is_pickled_by_name_and_options(width):
    with_options = scale.options(width=width)
    again = pickle.loads(pickle.dumps(with_options))
    assert again is not scale
    assert again.show("uop") == scale.show("uop")
    assert again.show("llvm") == with_options.show("llvm")
    assert np.array_equal(again(IMAGE), scale(IMAGE))
    assert pickle.loads(pickle.dumps(scale)) is scale


def test_a_copy_of_a_kernel_with_options_runs():
    def local(a: Rows[f32]) -> Rows[f32]:
        return a.sample() * 2.0

    for kernel in (scale.options(width=2), dy.kernel(local), dy.kernel(local).options(width=2)):
        given = IMAGE if kernel.__name__ == "scale" else ROW
        assert np.array_equal(copy.deepcopy(kernel)(given), given * 2)
