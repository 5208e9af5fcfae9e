"""How messages to Python users spell the Kernel IR's types: ``Grid[vec4]``, ``f32``."""

from __future__ import annotations

from ..frontend.surface import TYPE_SPELLINGS
from ..kernel.module import Port, Shape
from ..kernel.types import Type

AXES = {
    Shape.ROWS: ("n",),
    Shape.GRID: ("height", "width"),
    Shape.VOLUME: ("depth", "height", "width"),
}
"""What the axes of each shape are called, in NumPy order."""


def spell_type(ty: Type) -> str:
    """The surface language's name of a plain type."""
    return TYPE_SPELLINGS[ty]


def spell_port(port: Port) -> str:
    """The annotation a port has in the surface language."""
    return f"{port.shape.value}[{spell_type(port.element)}]"


class PortName:
    """What a message calls a port of a call: ``input 'image' (Grid[vec4])``. It is spelled when it
    is printed, for most calls print nothing."""

    __slots__ = ("_port", "_role")

    def __init__(self, role: str, port: Port):
        self._role, self._port = role, port

    def __str__(self) -> str:
        return f"{self._role} {self._port.name!r} ({spell_port(self._port)})"


def spell_extent(extent: tuple[int, ...]) -> str:
    """An extent in NumPy order: ``(480, 640)``."""
    return str(tuple(extent))


def spell_axes(shape: Shape, *lanes: int) -> str:
    """The shape an array of elements has: ``(n,)``, ``(height, width)``, ``(n, 3)``."""
    parts = [*AXES[shape], *map(str, lanes)]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
