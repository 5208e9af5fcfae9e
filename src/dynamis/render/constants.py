"""Constants that lie in memory as whole vectors.

LLVM would keep one lane of each, and every time that registers run out spread it over a vector
again. For vectors of 64 bytes Zen 4 needs one of the units that compute to do so, and none to load
all lanes.
"""

from __future__ import annotations

from ..dtype import Dtype
from .llvm_types import literal, scalar_type, splat_literal, vector_type

WHOLE_BYTES = 64
"""Bytes of the vectors that are kept whole."""


class Constants:
    """The constants of one function, loaded where it starts; LLVM moves that to where it pays."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def vector(self, dtype: Dtype, value: float | int | bool, lanes: int) -> str:
        """The operand text of a constant in so many lanes."""
        scalar = scalar_type(dtype)
        splat = splat_literal(scalar, literal(dtype, value))
        if dtype.bitsize * lanes != 8 * WHOLE_BYTES:
            return splat
        key = vector_type(scalar, lanes), splat
        return "%" + self._names.setdefault(key, f"constant{len(self._names)}")

    def definitions(self) -> list[str]:
        """Lines of the module."""
        lines = [
            f"@{name} = internal constant {ty} {splat}, align {WHOLE_BYTES}"
            for (ty, splat), name in self._names.items()
        ]
        return [*lines, "!2 = !{}"] if lines else []

    def loads(self) -> list[str]:
        """Lines at the start of the function."""
        return [
            f"  %{name} = load {ty}, ptr @{name}, align {WHOLE_BYTES}, !invariant.load !2"
            for (ty, _), name in self._names.items()
        ]
