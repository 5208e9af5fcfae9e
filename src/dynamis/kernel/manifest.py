"""The manifest of a kernel: identity, mode, ports, parameters, capabilities and budget.

It is the stable contract between a kernel and the runtime, and prints as the head of module text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ..errors import DynamisError
from .capability import Capabilities
from .encoding import Encoding
from .limits import DEFAULT_BUDGET, MAX_BUDGET
from .mode import Mode
from .types import StructDef, Type, Value, type_name


class InvalidKernelId(DynamisError, ValueError):
    """The text is not a valid ``name@version`` kernel id."""


_ID = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)@(0|[1-9]\d{0,9})\Z", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class KernelId:
    """Stable identity of a kernel, printed ``name@version`` (``image.blur@1``).

    Ordered by name, then version. Raises InvalidKernelId where the name is not dotted ASCII
    identifiers or the version does not fit in 32 bits."""

    name: str
    version: int

    def __post_init__(self) -> None:
        fits = 0 <= self.version < 2**32
        if not fits or _ID.match(f"{self.name}@{self.version}") is None:
            shown = f"{self.name}@{self.version}" if fits else f"{self.name}@…"
            raise InvalidKernelId(
                f"{shown!r} is not a kernel id: write name@version, like image.blur@1"
            )

    @staticmethod
    def new(name: str, version: int) -> KernelId:
        """An id from its parts. Raises InvalidKernelId."""
        return KernelId(name, version)

    @staticmethod
    def parse(text: str) -> KernelId:
        """The id that ``text`` spells. Raises InvalidKernelId."""
        match = _ID.match(text)
        if match is None:
            raise InvalidKernelId(
                f"{text!r} is not a kernel id: write name@version, like image.blur@1"
            )
        return KernelId(match[1], int(match[2]))

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Shape(Enum):
    """How a port's elements are addressed: by one index, by (column, row) or by (x, y, z)."""

    ROWS = "Rows"
    GRID = "Grid"
    VOLUME = "Volume"

    def __init__(self, spelling: str) -> None:
        self.rank = ("Rows", "Grid", "Volume").index(spelling) + 1
        """Axes of an extent: 1, 2 or 3."""


class ShapeIndex(Enum):
    """The index types of the shapes; the value is the type's spelling."""

    INT = "Int"
    VEC2 = "Vec2"
    VEC3 = "Vec3"

    @staticmethod
    def of(shape: Shape) -> ShapeIndex:
        """The index of a port of this shape."""
        return (ShapeIndex.INT, ShapeIndex.VEC2, ShapeIndex.VEC3)[shape.rank - 1]

    @property
    def ty(self) -> Type:
        """The value type of such an index."""
        return (Type.INT, Type.VEC2, Type.VEC3)[self.rank - 1]

    @property
    def rank(self) -> int:
        """Components of such an index."""
        return {"Int": 1, "Vec2": 2, "Vec3": 3}[self.value]


def index_type(shape: Shape) -> Type:
    """The type of an address into, and of the extent of, a port of this shape."""
    return ShapeIndex.of(shape).ty


def linear_index_type(shape: Shape) -> Type:
    """The type of an address between the elements of a port of this shape (see AtLinear)."""
    return Type.FLOAT if shape is Shape.ROWS else index_type(shape)


@dataclass(frozen=True, slots=True)
class PortType:
    """What a port carries: elements of one type in a shape, and how they are stored.

    Without an encoding the words themselves are stored."""

    element: Type
    shape: Shape
    encoding: Encoding | None = None

    def __str__(self) -> str:
        return self._spelled(str(self.element))

    def _spelled(self, element: str) -> str:
        stored = "" if self.encoding is None else f", {self.encoding.value}"
        return f"{self.shape.value}<{element}{stored}>"


def port_type_name(ty: PortType, structs: Sequence[StructDef]) -> str:
    """The spelling of ``ty`` with its struct's name: ``Grid<Vec4, unorm8>``, ``Rows<Particle>``."""
    return ty._spelled(type_name(ty.element, structs))


@dataclass(frozen=True, slots=True)
class Port:
    """A named, typed input or output."""

    name: str
    ty: PortType

    @property
    def element(self) -> Type:
        """The element type the entry produces or ``sample`` yields for this port."""
        return self.ty.element

    @property
    def shape(self) -> Shape:
        """How the port's elements are addressed."""
        return self.ty.shape


@dataclass(frozen=True, slots=True)
class Param:
    """A named parameter of any value type, with a default of that type."""

    name: str
    ty: Type
    default: Value


@dataclass(frozen=True, slots=True)
class Manifest:
    """The stable contract between a kernel and the runtime.

    ``memories``: names of ports that stand, with one type, at the end of both inputs and outputs,
    in this order; a scan writes them step by step with Put. ``budget``: loop iterations one element
    (a scan step, a merge) may run, nested loops included; past it the element fails."""

    id: KernelId
    mode: Mode
    requires: Capabilities
    inputs: tuple[Port, ...]
    params: tuple[Param, ...]
    outputs: tuple[Port, ...]
    memories: tuple[str, ...] = ()
    budget: int = DEFAULT_BUDGET

    @property
    def work_limit(self) -> int:
        """The most iterations an element may run: its budget, but reaching MAX_BUDGET always fails,
        since no loop with a run-time count goes further."""
        return min(self.budget, MAX_BUDGET - 1)

    def named(self, structs: Sequence[StructDef]) -> NamedManifest:
        """The manifest printed with a module's struct names."""
        return NamedManifest(self, tuple(structs))

    @property
    def results(self) -> tuple[Port, ...]:
        """The outputs that the entry's results go to: all but the memories, in order."""
        return self.outputs[: len(self.outputs) - len(self.memories)]

    @property
    def domain(self) -> Shape:
        """The shape of the domain: the results' of a map or group, input 0's of other modes."""
        ports = self.results if self.mode.kind.value in ("map", "group") else self.inputs
        return ports[0].shape

    def text(self, structs: Sequence[StructDef]) -> str:
        """As module text shows it: structs by number, their constants word by word."""
        ports = [str(port.ty) for port in (*self.inputs, *self.outputs)]
        params = [f"{p.ty} = {p.default.text(structs)}" for p in self.params]
        return _text(self, ports, params)

    def __str__(self) -> str:
        """As module text shows it, but the words of a struct's constant are hexadecimal."""
        return self.text(())


@dataclass(frozen=True, slots=True)
class NamedManifest:
    """A manifest beside the struct table its types are of, printed with the structs' names."""

    manifest: Manifest
    structs: tuple[StructDef, ...]

    def __str__(self) -> str:
        manifest, structs = self.manifest, self.structs
        both = (*manifest.inputs, *manifest.outputs)
        ports = [port_type_name(port.ty, structs) for port in both]
        params = []
        for param in manifest.params:
            name = type_name(param.ty, structs)
            default = param.default.text(structs)
            if param.ty.is_struct:
                default = name + default.removeprefix(str(param.ty))
            params.append(f"{name} = {default}")
        return _text(manifest, ports, params)


def _text(manifest: Manifest, ports: Sequence[str], params: Sequence[str]) -> str:
    """The lines of a manifest; ``ports`` spells the types of its inputs, then of its outputs,
    ``params`` each parameter's type and default."""
    taken, given = ports[: len(manifest.inputs)], ports[len(manifest.inputs) :]
    lines = [f"kernel {manifest.id}", f"  mode      {manifest.mode}"]
    lines += [f"  input     {p.name}: {t}" for p, t in zip(manifest.inputs, taken, strict=True)]
    lines += [f"  param     {p.name}: {t}" for p, t in zip(manifest.params, params, strict=True)]
    lines += [f"  output    {p.name}: {t}" for p, t in zip(manifest.outputs, given, strict=True)]
    lines += [f"  memory    {name}" for name in manifest.memories]
    requires = str(Capabilities(manifest.requires))
    return "\n".join([*lines, f"  requires  {requires}", f"  budget    {manifest.budget}"])
