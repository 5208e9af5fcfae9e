"""Programs as bytes."""

from __future__ import annotations

import pytest

from dynamis.kernel import FaultKind
from dynamis.kernel.types import Type
from dynamis.runtime.code_image import CodeImage
from dynamis.runtime.program import FaultSite, NotAProgram, Program, Work, from_bytes, to_bytes

SITES = (
    FaultSite(0, 3, FaultKind.OVERFLOW, (Type.INT, Type.INT)),
    FaultSite(1, 0, FaultKind.BUDGET, (Type.LONG,)),
    FaultSite(2, 7, FaultKind.DIVISION_BY_ZERO, ()),
)


@pytest.mark.parametrize("arguments", [(), (0, 1, "width", "größe.0")])
@pytest.mark.parametrize("sites", [(), SITES])
@pytest.mark.parametrize("code", [b"", b"\n\nsite \n", bytes(range(256))])
def test_a_program_reads_back_as_it_was(
    arguments: tuple[int | str, ...], sites: tuple[FaultSite, ...], code: bytes
) -> None:
    program = Program(arguments, sites, (Work(25, 2**70), Work(3, 4)), 2)
    image = CodeImage(code, {"run": 2848, "one": 0})
    assert from_bytes(to_bytes(program, image)) == (program, image)


@pytest.mark.parametrize(
    "text",
    ["array", "array x", "site 0 1 NOTHING", "site 0 1 OVERFLOW What", "entry run", "x y"],
)
def test_other_bytes_are_refused(text: str) -> None:
    with pytest.raises(NotAProgram):
        from_bytes(f"work 1 1\n{text}\n\ncode".encode())
