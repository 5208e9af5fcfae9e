"""What the cpu backend does not run is refused by name, and nothing else is."""

from __future__ import annotations

import pytest

from dynamis.errors import DynamisError
from dynamis.kernel.module import Module
from dynamis.kernel.validate import validate
from dynamis.lower import UnsupportedKernel, unsupported
from dynamis.runtime.native import NativeKernel
from tests.kernel.build import module
from tests.kernel.samples import samples

ZERO = "%0: Float = const 0.0\nreturn %0"
RECORD = ("R(x: Float)",)


@pytest.mark.parametrize("made", samples(), ids=lambda made: str(made.manifest.mode))
def test_every_sample_of_the_whole_ir_is_refused_by_name(made: Module) -> None:
    validated = validate(made)
    with pytest.raises(UnsupportedKernel, match="does not run .* yet; backend=") as raised:
        NativeKernel(validated)
    assert isinstance(raised.value, DynamisError)
    assert str(made.manifest.id) in str(raised.value)


@pytest.mark.parametrize(
    ("what", "made"),
    [
        ("prefix kernels", module("%0: Float = sample 0\nreturn %0", mode="prefix max")),
        ("group kernels", module(ZERO, mode="group 8")),
        ("f16 encodings", module(ZERO, inputs=("xs: Rows<Float, f16>",))),
        ("ports of struct types", module(ZERO, inputs=("x: Rows<Struct0>",), structs=RECORD)),
        ("Long values", module(ZERO, inputs=("xs: Rows<Long>",))),
        ("Mat2 values", module(ZERO, params=("m: Mat2 = Mat2(1.0, 0.0, 0.0, 1.0)",))),
        (
            "parameters of struct types",
            module(ZERO, params=("p: Struct0 = Struct0(1.0)",), structs=RECORD),
        ),
        ("arrays", module(ZERO, structs=("array Float 4",))),
        ("Long values", module(ZERO, structs=("R(x: Long)",))),
        (
            "constants of struct types",
            module(f"{ZERO[:22]}%1: Struct0 = const Struct0(1.0)\nreturn %0", structs=RECORD),
        ),
        (
            "Long values",
            module("%0: Long = const Long(0)\n%1: Float = const 0.0\nreturn %1"),
        ),
        (
            "the intrinsic popcount",
            module(
                "%0: Int = const 7\n%1: Int = popcount(%0)\n%2: Float = to_float(%1)\nreturn %2"
            ),
        ),
        ("the operation Part", module("%0: Float = part 0\nreturn %0")),
        ("Long values", module(ZERO, functions=("f(Long) { " + ZERO + " }",))),
    ],
)
def test_what_is_not_run_is_named(what: str, made: Module) -> None:
    validate(made)
    assert unsupported(made) == what


def test_a_map_over_floats_doubles_ints_and_records_of_them_is_run() -> None:
    assert unsupported(module(ZERO, structs=("R(x: Float, v: IVec2, d: Double)",))) is None
