"""Pointer dtypes: a base value dtype, an address space, an element count and pointer lanes."""

from typing import Any, ClassVar, Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.scalar import Scalar
from dynamis.dtype.val import Val


class AddrSpace:
    """An address space: GLOBAL memory, LOCAL (workgroup) memory, REG words, ALU values.

    Plain objects, ordered by `ordinal`: GLOBAL < LOCAL < REG < ALU.
    """

    __slots__ = ("name", "ordinal")

    GLOBAL: ClassVar["AddrSpace"]
    LOCAL: ClassVar["AddrSpace"]
    REG: ClassVar["AddrSpace"]
    ALU: ClassVar["AddrSpace"]

    def __init__(self, name: str, ordinal: int) -> None:
        self.name = name
        self.ordinal = ordinal

    def __str__(self) -> str:
        return self.name.lower()

    def __repr__(self) -> str:
        return f"AddrSpace.{self.name}"

    def __copy__(self) -> "AddrSpace":
        return self

    def __deepcopy__(self, memo: object) -> "AddrSpace":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (AddrSpace, self.name)


AddrSpace.GLOBAL = AddrSpace("GLOBAL", 0)
AddrSpace.LOCAL = AddrSpace("LOCAL", 1)
AddrSpace.REG = AddrSpace("REG", 2)
AddrSpace.ALU = AddrSpace("ALU", 3)


class Ptr:
    """A pointer dtype. Make one with `Ptr.create`; every `Ptr` is made once, compare with `is`.

    `base` is the pointed-to value dtype, `size` the number of elements (-1: unbounded), `v` the
    number of pointer lanes (at least 1). All `is_*` kind predicates are false.
    """

    __slots__ = ("addrspace", "base", "lane", "order", "size", "tables", "v")

    base: Val
    lane: "Ptr"  # itself: a pointer stands for no other dtype in a pattern
    addrspace: AddrSpace
    size: int
    v: int
    order: tuple[Any, ...]
    tables: dict[Any, dict[Any, Any]]

    is_ptr: Final = True
    is_bool: Final = False
    is_float: Final = False
    is_int: Final = False
    is_unsigned: Final = False

    @staticmethod
    def create(base: Val, *, addrspace: AddrSpace, size: int) -> "Ptr":
        """A pointer to `size` elements (-1: unbounded) of `base` in `addrspace`.

        Raises DtypeError when `size` is below -1.
        """
        return _intern(base, addrspace, size, 1)

    @staticmethod
    def create_v(base: Val, *, addrspace: AddrSpace, size: int, v: int) -> "Ptr":
        """`create` with `v` pointer lanes. Raises DtypeError when v < 1."""
        return _intern(base, addrspace, size, v)

    @property
    def scalar(self) -> Scalar:
        """The scalar of the base."""
        return self.base.scalar

    @property
    def count(self) -> int:
        """The lane count of the base."""
        return self.base.count

    @property
    def value(self) -> Val:
        """The dtype read through the pointer: base lanes times pointer lanes."""
        return self.base.scalarize().vec(self.base.count * self.v)

    @property
    def priority(self) -> int:
        """Promotion priority of the base scalar."""
        return self.base.scalar.priority

    @property
    def bitsize(self) -> int:
        """Width of one stored base value in bits, whatever `v`."""
        return self.base.bitsize

    @property
    def itemsize(self) -> int:
        """`bitsize` in whole bytes, rounded up."""
        return (self.bitsize + 7) // 8

    @property
    def nbytes(self) -> int:
        """Bytes pointed to. Raises DtypeError for an unbounded pointer."""
        if self.size == -1:
            raise DtypeError(f"{self} is unbounded: it has no byte count")
        return self.size * self.itemsize

    def scalarize(self) -> "Ptr":
        """The same pointer with one pointer lane and a one-lane base."""
        return _intern(self.base.scalarize(), self.addrspace, self.size, 1)

    def vec(self, n: int) -> "Ptr":
        """The same pointer with `n` pointer lanes.

        Raises DtypeError when n < 1 or the pointer is vectorised already.
        """
        if self.v != 1:
            raise DtypeError(f"{self} is vectorised already")
        return _intern(self.base, self.addrspace, self.size, n)

    def with_base(self, base: Val) -> "Ptr":
        """The same pointer to another base dtype."""
        return _intern(base, self.addrspace, self.size, self.v)

    def with_size(self, size: int) -> "Ptr":
        """The same pointer with another element count (-1: unbounded)."""
        return _intern(self.base, self.addrspace, size, self.v)

    def __str__(self) -> str:
        lanes = "" if self.v == 1 else f".vec({self.v})"
        return f"{self.base}*{lanes} [{self.addrspace}]"

    def __repr__(self) -> str:
        space = "" if self.addrspace is AddrSpace.GLOBAL else f", {self.addrspace!r}"
        lanes = "" if self.v == 1 else f".vec({self.v})"
        return f"{self.base!r}.ptr({self.size}{space}){lanes}"

    def __copy__(self) -> "Ptr":
        return self

    def __deepcopy__(self, memo: object) -> "Ptr":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _intern, (self.base, self.addrspace, self.size, self.v)


_PTRS: Final[dict[tuple[Val, AddrSpace, int, int], Ptr]] = {}


def _intern(base: Val, addrspace: AddrSpace, size: int, v: int) -> Ptr:
    key = (base, addrspace, size, v)
    found = _PTRS.get(key)
    if found is not None:
        return found
    if size < -1:
        raise DtypeError(f"a pointer's size is at least -1: {size}")
    if v < 1:
        raise DtypeError(f"a pointer has at least one lane: {v}")
    ptr = object.__new__(Ptr)
    ptr.base = base
    ptr.lane = ptr
    ptr.addrspace = addrspace
    ptr.size = int(size)
    ptr.v = int(v)
    ptr.order = (1, *base.scalar.order, base.count, addrspace.ordinal, ptr.v, ptr.size)
    ptr.tables = {}
    return _PTRS.setdefault((base, addrspace, ptr.size, ptr.v), ptr)


Dtype = Val | Ptr
