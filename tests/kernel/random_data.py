"""Random numbers, values and runs: mostly moderate, at times the edge of what a type holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

from dynamis.kernel.context import HostContext
from dynamis.kernel.encoding import ENCODINGS, Encoding
from dynamis.kernel.interpret import InputField
from dynamis.kernel.manifest import Port, Shape
from dynamis.kernel.module import Module
from dynamis.kernel.types import (
    Numeric,
    StructDef,
    Type,
    Value,
    bits_float,
    float_bits,
    word_types,
    words,
)

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
FLOAT_EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 3.0, -7.25, 1e-45, -1e-45, 1.1754944e-38, 1e-38,
    16777216.0, 16777217.0, -2147483648.0, 2147483648.0, 3.4028235e38, -3.4028235e38,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
DOUBLE_EDGES = (*FLOAT_EDGES, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53 + 1)
INT_EDGES = (0, 1, -1, 2, 3, -5, 7, 31, 32, 33, 255, 65536, INT_MAX, INT_MIN, INT_MAX - 1)
LONG_EDGES = (*INT_EDGES, 63, 64, 2**53 + 1, LONG_MAX, LONG_MIN, LONG_MAX - 1)


@dataclass(frozen=True)
class Run:
    """What ``interpret`` takes beside the module."""

    inputs: tuple[InputField, ...]
    params: tuple[Value, ...]
    extent: tuple[int, ...]
    context: HostContext = field(default_factory=HostContext)


def random_number(rng: Random, ty: Type) -> Numeric:
    """A number of a scalar type: mostly moderate, at times an edge value."""
    edge = rng.random() < 0.2
    if ty == Type.BOOL:
        return rng.random() < 0.5
    if ty == Type.INT:
        return rng.choice(INT_EDGES) if edge else rng.randint(-20, 100)
    if ty == Type.LONG:
        return rng.choice(LONG_EDGES) if edge else rng.randint(-(10**6), 10**6)
    moderate = rng.uniform(-9, 9) if rng.random() < 0.7 else rng.gauss(0, 1e3)
    if ty == Type.DOUBLE:
        return rng.choice(DOUBLE_EDGES) if edge else moderate
    x = rng.choice(FLOAT_EDGES) if edge else moderate
    return bits_float(float_bits(x))


def random_value(rng: Random, ty: Type, structs: Sequence[StructDef] = ()) -> Value:
    """A value of any type of the table ``structs``."""
    return Value.of(ty, [random_number(rng, word) for word in word_types(structs, ty)], structs)


def random_run(rng: Random, module: Module, most: int = 40, sized: bool = False) -> Run:
    """Inputs, parameters and an extent: one to ``most`` rows, fewer elements over a grid. Input 0
    has the extent of the domain where the mode, or ``sized``, asks for it."""
    manifest = module.manifest
    domain = manifest.domain
    extent = _extent(rng, domain, most)
    is_sized = sized or manifest.mode.kind.value not in ("map", "group")
    inputs = []
    for k, port in enumerate(manifest.inputs):
        same = port.shape is domain and (rng.random() < 0.6 or (k == 0 and is_sized))
        own = extent if same else _extent(rng, port.shape, most)
        inputs.append(InputField(own, _numbers(rng, port, module.structs, prod(own))))
    params = tuple(
        p.default if rng.random() < 0.5 else random_value(rng, p.ty, module.structs)
        for p in manifest.params
    )
    return Run(tuple(inputs), params, extent, random_context(rng))


def random_context(rng: Random) -> HostContext:
    """What a host may tell: at times nothing, as without one."""
    if rng.random() < 0.3:
        return HostContext()

    def pair() -> tuple[float, float]:
        return rng.uniform(-2, 900), rng.choice((0.0, 1.5, rng.uniform(-1, 1)))

    return HostContext(
        clock=rng.choice((0.0, rng.uniform(0, 1e6))),
        rate=48000.0,
        queued=rng.randint(0, 5000),
        pointer=pair(),
        buttons=frozenset(rng.sample((0, 1, 2), rng.randint(0, 3))),
        wheel=pair(),
        pads=rng.randint(0, 2),
        sticks={k: pair() for k in range(rng.randint(0, 3))},
        keys=frozenset(rng.sample(range(-5, 60), 12)),
        typed=rng.choice(("", "a", "é\U0001f600x")),
        window=pair(),
        scale=rng.choice((1.0, 2.0)),
    )


def _extent(rng: Random, shape: Shape, most: int) -> tuple[int, ...]:
    if shape is Shape.ROWS:
        return (rng.randint(1, most),)
    if shape is Shape.GRID:
        return (rng.randint(1, max(1, most // 8)), rng.randint(1, max(1, most // 4)))
    return (rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, max(1, most // 10)))


def _numbers(rng: Random, port: Port, structs: Sequence[StructDef], count: int) -> list[Numeric]:
    """The words of an input, as they are stored."""
    encoding = port.ty.encoding
    if encoding is None:
        kinds = word_types(structs, port.element)
        return [random_number(rng, word) for _ in range(count) for word in kinds]
    return [encoded_number(rng, encoding) for _ in range(count * words(structs, port.element))]


def encoded_number(rng: Random, encoding: Encoding) -> Numeric:
    """A stored word of the encoding: any bits that its words may have."""
    row = ENCODINGS[encoding]
    if row.bits >= 32:
        return random_number(rng, row.word)
    if encoding is Encoding.F16:
        return rng.choice((0, 0x8000, 0x3C00, 0xC500, 0x7C00, 0x7E00, 1, rng.randrange(0x7C00)))
    if encoding is Encoding.BF16:
        return float_bits(float(random_number(rng, Type.FLOAT))) >> 16
    low = -(1 << (row.bits - 1)) if row.is_signed else 0
    high = low + (1 << row.bits) - 1
    return rng.choice((low, high, 0, 1, rng.randint(low, high), rng.randint(0, 100)))
