"""Constants as whole vectors: where they lie, and for which machines."""

from __future__ import annotations

import pytest

from dynamis.codegen import Options, compile_ast
from dynamis.dtype import float32, int32
from dynamis.render import Machine, render_llvm
from dynamis.uop import Ops, Uop, alu_binary, const_like
from tests.programs import map_ast

WIDE = Machine(x86=True, mask_registers=True, vector_bytes=64)
NARROW = Machine(x86=True, mask_registers=False, vector_bytes=32)


def polynomial(x: Uop) -> Uop:
    return (x * 2.5 + 3.25) * x + 3.25


def text(body: object, dtype: object, machine: Machine, width: int) -> str:
    root = map_ast(body, [dtype], dtype)  # type: ignore[arg-type, list-item]
    return render_llvm(compile_ast(root, Options(width=width)), machine)


@pytest.mark.parametrize("width", [16, 64])
def test_each_constant_is_loaded_once_as_a_whole(width: int) -> None:
    found = text(polynomial, float32, WIDE, width)
    assert found.count(" = internal constant <16 x float> splat") == 2
    assert found.count("load <16 x float>, ptr @constant") == 2
    assert found.index("ptr @constant1") < found.index("loop")
    assert found.count("splat (float 0x400A000000000000)") == 1


@pytest.mark.parametrize(("machine", "width"), [(WIDE, 8), (WIDE, 1), (NARROW, 8), (NARROW, 64)])
def test_narrower_vectors_have_constants_where_they_are_used(machine: Machine, width: int) -> None:
    found = text(polynomial, float32, machine, width)
    assert "@constant" not in found


def test_what_has_a_form_of_its_own_for_a_constant_keeps_it() -> None:
    found = text(lambda x: (x << 3) ^ 0x55, int32, WIDE, 16)
    assert "splat (i32 3)" in found
    assert found.count("internal constant <16 x i32>") == 1
    found = text(lambda x: alu_binary(op=Ops.CDIV, lhs=x, rhs=const_like(x, 7)), int32, WIDE, 16)
    assert "sdiv <16 x i32>" in found
    assert "splat (i32 7)" in found
    assert "@constant" not in found
