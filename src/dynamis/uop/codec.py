"""Payload values as bytes, and back: what `export` writes and `semantic_key` digests.

One byte says the kind of a value; counts, lengths and references are base-128 numbers. Reading is
total: every length is checked against the bytes that are left before anything is made of it, and
whatever is wrong is an ImportGraphError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

from dynamis.dtype import SCALARS, AddrSpace, Scalar, Val
from dynamis.uop.axis_type import AXIS_TYPES, AxisType
from dynamis.uop.const import INVALID, Const, Invalid
from dynamis.uop.errors import ImportGraphError, UopError
from dynamis.uop.node import Uop
from dynamis.uop.ops import ALL, Op
from dynamis.uop.opt import Opt
from dynamis.uop.payload import (
    CallInfo,
    DeviceIndex,
    Estimates,
    KernelInfo,
    Metadata,
    MultiDevice,
    OpDevice,
    ParamArg,
    Payload,
    ProgramInfo,
    RangeInfo,
    ReduceArg,
    ShapedWmmaInfo,
    SingleDevice,
    StageOpts,
    WmmaInfo,
)

# The order is part of the format: new classes go to the end.
PAYLOADS: Final[tuple[type[Payload], ...]] = (
    SingleDevice, MultiDevice, DeviceIndex, RangeInfo, ParamArg, ReduceArg, OpDevice, StageOpts,
    Metadata, CallInfo, Estimates, KernelInfo, ProgramInfo, WmmaInfo, ShapedWmmaInfo, Opt,
)  # fmt: skip
_PAYLOAD_NUMBER: Final = {cls: i for i, cls in enumerate(PAYLOADS)}
_ADDRSPACES: Final = (AddrSpace.GLOBAL, AddrSpace.LOCAL, AddrSpace.REG, AddrSpace.ALU)

(
    _NONE, _FALSE, _TRUE, _INT, _FLOAT, _STR, _BYTES, _TUPLE, _NODE, _CONST, _INVALID, _OP,
    _AXIS, _SPACE, _SCALAR, _PAYLOAD, _CALLBACK,
) = range(17)  # fmt: skip

_DEPTH: Final = 8  # payloads nest less deep than this


def number(n: int) -> bytes:
    """A natural number, 7 bits a byte, the lowest first."""
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def sized(data: bytes) -> bytes:
    """Bytes with their length before them."""
    return number(len(data)) + data


def integer(n: int) -> bytes:
    """An integer of any size, its length before it."""
    return sized(n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True))


def nodes_in(arg: Any) -> Iterator[Uop]:
    """The nodes that a payload holds, in the order of its fields."""
    if isinstance(arg, Uop):
        yield arg
    elif isinstance(arg, Payload):
        for value in arg.values():
            if isinstance(value, (Uop, Payload, tuple)):
                yield from nodes_in(value)
    elif isinstance(arg, tuple):
        for value in arg:
            yield from nodes_in(value)


def full_toposort(root: Uop) -> list[Uop]:
    """The nodes under `root`, those that payloads hold included; sources and held nodes first."""
    order: list[Uop] = []
    seen = {root}
    stack: list[tuple[Uop, Iterator[Uop]]] = [(root, _under(root))]
    while stack:
        n, rest = stack[-1]
        for s in rest:
            if s not in seen:
                seen.add(s)
                stack.append((s, _under(s)))
                break
        else:
            order.append(n)
            stack.pop()
    return order


def _under(u: Uop) -> Iterator[Uop]:
    yield from u.src
    if isinstance(u.arg, (Payload, tuple)):
        yield from nodes_in(u.arg)


class Writer:
    """Writes payload values. What stands for a node, dtype or callback is the user's choice."""

    def __init__(
        self,
        node: Callable[[Uop], bytes],
        dtype: Callable[[Val], bytes],
        callback: Callable[[Any], bytes],
    ) -> None:
        self.node = node
        self.dtype = dtype
        self.callback = callback

    def value(self, v: Any) -> bytes:
        """`v` as bytes. Raises UopError for what no payload holds."""
        if v is None:
            return bytes([_NONE])
        if isinstance(v, bool):
            return bytes([_TRUE if v else _FALSE])
        if isinstance(v, int):
            return bytes([_INT]) + integer(v)
        if isinstance(v, float):
            return bytes([_FLOAT]) + struct.pack("<d", float("nan") if v != v else v)
        if isinstance(v, str):
            return bytes([_STR]) + sized(v.encode("utf-8", "surrogatepass"))
        if isinstance(v, bytes):
            return bytes([_BYTES]) + sized(v)
        if isinstance(v, tuple):
            return bytes([_TUPLE]) + number(len(v)) + b"".join([self.value(x) for x in v])
        if isinstance(v, Uop):
            return bytes([_NODE]) + self.node(v)
        if isinstance(v, Const):
            return bytes([_CONST]) + self.dtype(v.dtype) + self.value(v.value)
        if isinstance(v, Payload):
            fields = b"".join([self.value(x) for x in v.values()])
            return bytes([_PAYLOAD, _PAYLOAD_NUMBER[type(v)]]) + fields
        if isinstance(v, Invalid):
            return bytes([_INVALID])
        for tag, kind in ((_OP, Op), (_AXIS, AxisType), (_SPACE, AddrSpace), (_SCALAR, Scalar)):
            if isinstance(v, kind):
                return bytes([tag]) + number(v.ordinal)
        if callable(v):
            return bytes([_CALLBACK]) + self.callback(v)
        raise UopError(f"no payload holds {v!r}")


class Reader:
    """Reads what `Writer` wrote, from bytes that may be anything.

    `nodes` are those read so far and `dtypes` the value dtypes: references go into them.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.nodes: list[Uop] = []
        self.dtypes: list[Any] = []

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self.data) - self.at

    def byte(self) -> int:
        """The next byte."""
        if self.at >= len(self.data):
            raise ImportGraphError("the data ends early")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, n: int) -> bytes:
        """The next `n` bytes."""
        if n > self.left:
            raise ImportGraphError("the data ends early")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self) -> int:
        """A natural number below 2**63."""
        n = shift = 0
        while True:
            b = self.byte()
            n |= (b & 0x7F) << shift
            if b < 0x80:
                return n
            shift += 7
            if shift > 56:
                raise ImportGraphError("a number is too long")

    def count(self) -> int:
        """How many items follow, each at least a byte: never more than there are bytes left."""
        n = self.number()
        if n > self.left:
            raise ImportGraphError("the data ends early")
        return n

    def pick(self, things: tuple[Any, ...] | list[Any], what: str) -> Any:
        """One of `things`, by its number."""
        n = self.number()
        if n >= len(things):
            raise ImportGraphError(f"there is no {what} {n}")
        return things[n]

    def text(self) -> str:
        """Text with its length before it."""
        try:
            return self.take(self.number()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ImportGraphError(f"text is not UTF-8: {error}") from None

    def integer(self) -> int:
        """An integer of any size."""
        return int.from_bytes(self.take(self.number()), "little", signed=True)

    def value(self, depth: int = 0) -> Any:
        """The next payload value."""
        tag = self.byte()
        if tag in (_NONE, _FALSE, _TRUE):
            return (None, False, True)[tag]
        if tag == _INT:
            return self.integer()
        if tag == _FLOAT:
            return struct.unpack("<d", self.take(8))[0]
        if tag == _STR:
            return self.text()
        if tag == _BYTES:
            return self.take(self.number())
        if tag == _INVALID:
            return INVALID
        if tag == _OP:
            return self.pick(ALL, "op")
        if tag == _AXIS:
            return self.pick(AXIS_TYPES, "axis type")
        if tag == _SPACE:
            return self.pick(_ADDRSPACES, "address space")
        if tag == _SCALAR:
            return self.pick(SCALARS, "scalar")
        if tag == _NODE:
            return self.pick(self.nodes, "node")
        if depth >= _DEPTH:
            raise ImportGraphError("values nest too deep")
        if tag == _TUPLE:
            return tuple([self.value(depth + 1) for _ in range(self.count())])
        if tag == _CONST:
            dtype = self.pick(self.dtypes, "dtype")
            if not isinstance(dtype, Val):
                raise ImportGraphError("a constant has a value dtype")
            return Const(dtype, self.value(depth + 1))
        if tag == _PAYLOAD:
            cls = self.pick(PAYLOADS, "payload")
            names = cls.__dataclass_fields__
            return cls(*[self.value(depth + 1) for _ in names])
        raise ImportGraphError(f"there is no kind of value {tag}")
