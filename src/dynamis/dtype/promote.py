"""Promotion between scalars: the lattice, and which conversions lose nothing."""

from collections.abc import Iterable
from typing import Final, overload

from dynamis.dtype.environment import default_float, sum_dtype
from dynamis.dtype.errors import DtypeError
from dynamis.dtype.ptr import Dtype, Ptr
from dynamis.dtype.scalar import SCALARS, Scalar, scalar_of_name
from dynamis.dtype.val import Val, int32, uint32

_FP8 = ("fp8e4m3", "fp8e5m2", "fp8e4m3fnuz", "fp8e5m2fnuz")

# From each scalar the next ones up. void and the wide helpers have no edges.
_EDGES: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("weakint",),
    "weakint": ("int8", "uint8"),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("uint64",),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": _FP8,
    **dict.fromkeys(_FP8, ("float16", "bfloat16")),
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "float32": ("float64",),
}


def _reachable(scalar: Scalar) -> frozenset[Scalar]:
    seen = {scalar}
    stack = [scalar]
    while stack:
        for name in _EDGES.get(stack.pop().name, ()):
            up = scalar_of_name(name)
            if up not in seen:
                seen.add(up)
                stack.append(up)
    return frozenset(seen)


_ANCESTORS: Final[dict[Scalar, frozenset[Scalar]]] = {s: _reachable(s) for s in SCALARS}

_SMALL: Final[dict[str, tuple[str, ...]]] = {
    "weakint": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "float64": (
        "float32", "float16", "bfloat16", *_FP8,
        "uint32", "uint16", "uint8", "int32", "int16", "int8",
    ),
    "float32": ("float16", "bfloat16", *_FP8, "uint16", "uint8", "int16", "int8"),
    "float16": (*_FP8, "uint8", "int8"),
    "uint64": ("uint32", "uint16", "uint8"),
    "uint32": ("uint16", "uint8"),
    "uint16": ("uint8",),
    "int64": ("uint32", "uint16", "uint8", "int32", "int16", "int8"),
    "int32": ("uint16", "uint8", "int16", "int8"),
    "int16": ("uint8", "int8"),
}  # fmt: skip


@overload
def least_upper_dtype(dtypes: Iterable[Val]) -> Val: ...


@overload
def least_upper_dtype(dtypes: Iterable[Dtype]) -> Dtype: ...


def least_upper_dtype(dtypes: Iterable[Dtype]) -> Dtype:
    """The smallest dtype that every one of `dtypes` promotes to; the result has one lane.

    The first image among them wins over everything.
    Raises DtypeError when there is none, for other pointers, or when `dtypes` is empty.
    """
    given = tuple(dtypes)
    if not given:
        raise DtypeError("no dtype to promote")
    vals: list[Val] = []
    for dtype in given:
        if isinstance(dtype, Val):
            vals.append(dtype)
        elif dtype.is_image:
            return dtype
    if len(vals) != len(given):
        raise DtypeError("a pointer does not promote")
    common = frozenset.intersection(*(_ANCESTORS[v.scalar] for v in vals))
    if not common:
        raise DtypeError(f"no common dtype of {', '.join(map(str, vals))}")
    return Val.of_scalar(min(common, key=lambda s: s.order))


@overload
def least_upper_float(dtype: Val) -> Val: ...


@overload
def least_upper_float(dtype: Dtype) -> Dtype: ...


def least_upper_float(dtype: Dtype) -> Dtype:
    """`dtype` with one lane when it is a float, else its join with the default float.

    An image is a float, and stays what it is. Raises DtypeError for any other pointer.
    """
    if isinstance(dtype, Ptr):
        if not dtype.is_image:
            raise DtypeError("a pointer does not promote")
        return dtype
    return dtype.scalarize() if dtype.is_float else least_upper_dtype((dtype, default_float))


def can_lossless_cast(source: Val, target: Val) -> bool:
    """Whether every value of `source` is a value of `target`; lane counts are ignored."""
    a, b = source.scalar, target.scalar
    return a is b or a.is_bool or a.name in _SMALL.get(b.name, ())


def sum_acc_dtype(dtype: Val) -> Val:
    """The dtype a sum of `dtype` values accumulates in; one lane.

    At least uint32 for unsigned, int32 for other integers and bool, SUM_DTYPE for floats.
    """
    if dtype.is_unsigned:
        return least_upper_dtype((dtype, uint32))
    if dtype.is_int or dtype.is_bool:
        return least_upper_dtype((dtype, int32))
    return least_upper_dtype((dtype, sum_dtype()))


def compare(a: Dtype, b: Dtype) -> int:
    """-1, 0 or 1: the total order of dtypes. Every value dtype is before every pointer.

    Values by priority, width, declaration, lanes; pointers by priority, base scalar, base lanes,
    address space, pointer lanes, size, image.
    """
    return bool(a.order > b.order) - bool(a.order < b.order)
