"""Graphs as bytes: `export` writes one, `import_` reads it back, in this process or another.

The form: eight bytes that name it and its version, the length of what follows, its checksum, then
a table of dtypes and the nodes, sources first. Nothing in it is code: a reader makes dtypes,
payloads and nodes out of tables, and anything else is an error.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from dynamis.dtype import SCALARS, AddrSpace, Dtype, Image, ImageKind, Ptr, Val
from dynamis.errors import DynamisError
from dynamis.uop.build import fresh_internal_slot, reserve_internal_slot
from dynamis.uop.codec import Reader, Writer, full_toposort, integer, number
from dynamis.uop.contract import misfit
from dynamis.uop.errors import ImportGraphError, UopError
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import ALL, Ops
from dynamis.uop.payload import ParamArg
from dynamis.uop.semantic import internal_slots, with_slot

_MAGIC: Final = b"dynuop\x00\x01"  # the last byte is the version of the format
_DIGEST: Final = 16
_HEADER: Final = len(_MAGIC) + 8 + _DIGEST
_SPACES: Final = (AddrSpace.GLOBAL, AddrSpace.LOCAL, AddrSpace.REG, AddrSpace.ALU)
_IMAGES: Final = (ImageKind.IMAGEH, ImageKind.IMAGEF)
_VAL, _PTR, _IMAGE = range(3)


def export(u: Uop) -> bytes:
    """The graph under `u`, for `import_`.

    Sources and the nodes held by payloads (kernel estimates, program variables and launch sizes)
    are in it, shared ones once; `node_tag` is, side metadata is not. Internal (negative) BUFFER
    slots are numbered by first appearance.

    Raises UopError for a gradient callback, which is code, and for a node that does not have the
    payload or the number of sources of its op (made by `replace`).
    """
    order = full_toposort(u)
    return seal(_body(order))


def seal(body: bytes) -> bytes:
    """`body` with name, version, length and checksum before it."""
    return _MAGIC + len(body).to_bytes(8, "little") + _checksum(body) + body


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()


def _body(order: list[Uop]) -> bytes:
    slots = internal_slots(order)
    place = {u: i for i, u in enumerate(order)}
    dtypes: dict[Dtype, int] = {}

    def dtype_number(dtype: Dtype) -> bytes:
        return number(dtypes.setdefault(dtype, len(dtypes)))

    writer = Writer(lambda n: number(place[n]), dtype_number, _refuse)
    rows: list[bytes] = []
    for i, u in enumerate(order):
        reason = misfit(u.op, u.arg, len(u.src))
        if reason is not None:
            raise UopError(f"{u!r} is not exported: {reason}")
        row = [number(u.op.ordinal), dtype_number(u.dtype), number(len(u.src))]
        row += [number(i - place[s] - 1) for s in u.src]
        row += [writer.value(with_slot(u, slots)), writer.value(u.node_tag)]
        rows.append(b"".join(row))
    table = b"".join([_dtype(d) for d in dtypes])
    return number(len(dtypes)) + table + number(len(rows)) + b"".join(rows)


def _refuse(callback: Any) -> bytes:
    raise UopError("a gradient callback is code: a graph that holds one is not exported")


def _dtype(dtype: Dtype) -> bytes:
    base = number(dtype.scalar.ordinal) + number(dtype.count)
    if isinstance(dtype, Val):
        return bytes([_VAL]) + base
    if dtype.image_kind is None:
        place = number(dtype.addrspace.ordinal) + integer(dtype.size)
        return bytes([_PTR]) + base + place + number(dtype.v)
    shape = dtype.image_shape or ()
    sides = b"".join([integer(s) for s in shape])
    kind = number(dtype.image_kind.ordinal) + number(len(shape)) + sides
    return bytes([_IMAGE]) + base + kind + number(dtype.v)


def import_(data: bytes, *, keep_slots: bool = False) -> Uop:
    """The graph in `data`, which `export` wrote.

    A node that is equal to one of this process is that node. Internal (negative) BUFFER slots,
    which are names of this process, get fresh ones, unless `keep_slots`; equal ones stay equal.

    Raises ImportGraphError for anything that is no such graph: wrong name or version, truncated
    or damaged data, and data that was made to look right and is not.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ImportGraphError(f"a graph is read from bytes, not from {type(data).__name__}")
    reader = Reader(_opened(bytes(data)))
    try:
        return _graph(reader, keep_slots)
    except ImportGraphError:
        raise
    except (DynamisError, ValueError) as error:
        raise ImportGraphError(f"the data holds what cannot be: {error}") from None


def _opened(data: bytes) -> bytes:
    if data[: len(_MAGIC) - 1] != _MAGIC[:-1]:
        raise ImportGraphError("this is no exported graph")
    if data[: len(_MAGIC)] != _MAGIC:
        raise ImportGraphError("the graph was exported by another version")
    body = data[_HEADER:]
    length = int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + 8], "little")
    if len(data) < _HEADER or length != len(body):
        raise ImportGraphError(f"{len(body)} bytes of {length}")
    if _checksum(body) != data[len(_MAGIC) + 8 : _HEADER]:
        raise ImportGraphError("the checksum is wrong")
    return body


def _graph(reader: Reader, keep_slots: bool) -> Uop:
    reader.dtypes = [_read_dtype(reader) for _ in range(reader.count())]
    fresh: dict[int, int] = {}
    nodes = reader.nodes
    for _ in range(reader.count()):
        op = reader.pick(ALL, "op")
        dtype = reader.pick(reader.dtypes, "dtype")
        src = tuple([_source(reader) for _ in range(reader.count())])
        arg, tag = reader.value(), reader.value()
        reason = misfit(op, arg, len(src))
        if reason is not None:
            raise ImportGraphError(reason)
        if tag is not None and not isinstance(tag, str):
            raise ImportGraphError("a node's tag is text")
        if op is Ops.CONST and arg.dtype is not dtype:
            raise ImportGraphError("a constant has its payload's dtype")
        if op is Ops.BUFFER and arg.slot < 0 and not keep_slots:
            if arg.slot not in fresh:
                fresh[arg.slot] = fresh_internal_slot()
            arg = ParamArg(fresh[arg.slot], *arg.values()[1:])
        elif op is Ops.BUFFER and arg.slot < 0:
            reserve_internal_slot(arg.slot)
        nodes.append(node(op, dtype, src, arg, tag))
    if not nodes or reader.left:
        raise ImportGraphError("the data holds no graph, or more than one")
    return nodes[-1]


def _source(reader: Reader) -> Uop:
    back = reader.number()
    if back >= len(reader.nodes):
        raise ImportGraphError("a source is not before its node")
    return reader.nodes[-1 - back]


def _read_dtype(reader: Reader) -> Dtype:
    kind = reader.byte()
    base = Val.of_scalar(reader.pick(SCALARS, "scalar")).vec(reader.number())
    if kind == _VAL:
        return base
    if kind == _PTR:
        space, size = reader.pick(_SPACES, "address space"), reader.integer()
        return Ptr.create_v(base, addrspace=space, size=size, v=reader.number())
    if kind != _IMAGE:
        raise ImportGraphError(f"there is no kind of dtype {kind}")
    image = reader.pick(_IMAGES, "kind of image")
    shape = [reader.integer() for _ in range(reader.count())]
    made = (Image.imageh if image is ImageKind.IMAGEH else Image.imagef)(shape)
    v = reader.number()
    if base.count != 1 or base.scalar is not made.base.scalar:
        raise ImportGraphError("an image is of float32")
    return made if v == 1 else made.vec(v)
