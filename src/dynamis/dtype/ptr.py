"""Pointer dtypes: a base value dtype, an address space, an element count and pointer lanes.

An image pointer also has a kind and a shape; those are made by `Image` (image.py).
"""

import math
import threading
import weakref
from typing import Any, ClassVar, Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.scalar import Scalar
from dynamis.dtype.val import Val, float32


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


class ImageKind:
    """The texel of an image: IMAGEH of 16 bits, IMAGEF of 32. Plain objects, in that order."""

    __slots__ = ("bits", "name", "ordinal")

    IMAGEH: ClassVar["ImageKind"]
    IMAGEF: ClassVar["ImageKind"]

    def __init__(self, name: str, ordinal: int, bits: int) -> None:
        self.name = name
        self.ordinal = ordinal
        self.bits = bits

    def __str__(self) -> str:
        return self.name.lower()

    def __repr__(self) -> str:
        return f"ImageKind.{self.name}"

    def __copy__(self) -> "ImageKind":
        return self

    def __deepcopy__(self, memo: object) -> "ImageKind":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (ImageKind, self.name)


ImageKind.IMAGEH = ImageKind("IMAGEH", 0, 16)
ImageKind.IMAGEF = ImageKind("IMAGEF", 1, 32)

_IMAGE_PRIORITY: Final = 100  # above every scalar: an image wins a promotion


class Ptr:
    """A pointer dtype. Make one with `Ptr.create`; every `Ptr` is made once, compare with `is`.

    `base` is the pointed-to value dtype, `size` the number of elements (-1: unbounded), `v` the
    number of pointer lanes (at least 1). `image_kind` and `image_shape` are None unless it is an
    image. All `is_*` kind predicates are false, but `is_float` is true of images.
    """

    __slots__ = (
        "__weakref__", "addrspace", "base", "image_kind", "image_shape", "is_float", "order",
        "size", "tables", "v",
    )  # fmt: skip

    base: Val
    addrspace: AddrSpace
    size: int
    v: int
    image_kind: ImageKind | None
    image_shape: tuple[int, ...] | None
    order: tuple[Any, ...]
    tables: dict[Any, dict[Any, Any]]
    is_float: bool

    is_ptr: Final = True
    is_bool: Final = False
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
    def lane(self) -> "Ptr":
        """Itself: a pointer stands for no other dtype in a pattern."""
        return self

    @property
    def scalar(self) -> Scalar:
        """The scalar of the base."""
        return self.base.scalar

    @property
    def count(self) -> int:
        """The lane count of the base."""
        return self.base.count

    @property
    def vcount(self) -> int:
        """The number of pointer lanes; `Val.vcount` is its lane count."""
        return self.v

    @property
    def is_image(self) -> bool:
        """Whether this is an image."""
        return self.image_kind is not None

    @property
    def min(self) -> int | float:
        """-infinity for an image, 0 for any other pointer."""
        return -math.inf if self.is_image else 0

    @property
    def max(self) -> int | float:
        """Infinity for an image, 1 for any other pointer."""
        return math.inf if self.is_image else 1

    @property
    def value(self) -> Val:
        """The dtype read through the pointer: base lanes times pointer lanes."""
        return self.base.scalarize().vec(self.base.count * self.v)

    @property
    def priority(self) -> int:
        """Promotion priority: the base scalar's, 100 for an image."""
        return _IMAGE_PRIORITY if self.is_image else self.base.scalar.priority

    @property
    def bitsize(self) -> int:
        """Width of one stored base value in bits, whatever `v`; of an image, of its texels."""
        if self.image_kind is not None:
            return self.image_kind.bits * self.base.count
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
        image = self.image_kind, self.image_shape
        return _intern(self.base.scalarize(), self.addrspace, self.size, 1, *image)

    def vec(self, n: int) -> "Ptr":
        """The same pointer with `n` pointer lanes.

        Raises DtypeError when n < 1 or the pointer is vectorised already.
        """
        if self.v != 1:
            raise DtypeError(f"{self} is vectorised already")
        return _intern(self.base, self.addrspace, self.size, n, self.image_kind, self.image_shape)

    def with_base(self, base: Val) -> "Ptr":
        """The same pointer to another base dtype; no image any more, for those are float32."""
        return _intern(base, self.addrspace, self.size, self.v)

    def with_size(self, size: int) -> "Ptr":
        """The same pointer with another element count (-1: unbounded).

        An image is none any more when the count differs: its shape says its size.
        """
        if size == self.size:
            return self
        return _intern(self.base, self.addrspace, size, self.v)

    def __str__(self) -> str:
        lanes = "" if self.v == 1 else f".vec({self.v})"
        if self.image_kind is not None:
            sides = ", ".join(map(str, self.image_shape or ()))
            return f"{self.image_kind}({sides}){lanes}"
        return f"{self.base}*{lanes} [{self.addrspace}]"

    def __repr__(self) -> str:
        if self.image_kind is not None:
            lanes = "" if self.v == 1 else f".vec({self.v})"
            return f"dtypes.{self.image_kind}({self.image_shape}){lanes}"
        space = "" if self.addrspace is AddrSpace.GLOBAL else f", {self.addrspace!r}"
        lanes = "" if self.v == 1 else f".vec({self.v})"
        return f"{self.base!r}.ptr({self.size}{space}){lanes}"

    def __copy__(self) -> "Ptr":
        return self

    def __deepcopy__(self, memo: object) -> "Ptr":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        image = self.image_kind, self.image_shape
        return _intern, (self.base, self.addrspace, self.size, self.v, *image)


# Weak, for sizes and shapes are without number. A node table hangs on its dtype, and its nodes
# hold the dtype: a pointer dtype lives as long as a node or a caller uses it.
_PTRS: Final[weakref.WeakValueDictionary[tuple[Any, ...], Ptr]] = weakref.WeakValueDictionary()
_making: Final = threading.Lock()


def _intern(
    base: Val, addrspace: AddrSpace, size: int, v: int,
    kind: ImageKind | None = None, shape: tuple[int, ...] | None = None,
) -> Ptr:  # fmt: skip
    key = (base, addrspace, size, v, kind, shape)
    found = _PTRS.get(key)
    if found is not None:
        return found
    if size < -1:
        raise DtypeError(f"a pointer's size is at least -1: {size}")
    if v < 1:
        raise DtypeError(f"a pointer has at least one lane: {v}")
    ptr = object.__new__(Ptr)
    ptr.base = base
    ptr.addrspace = addrspace
    ptr.size = int(size)
    ptr.v = int(v)
    ptr.image_kind = kind
    ptr.image_shape = shape
    ptr.is_float = kind is not None
    image = (-1, ()) if kind is None else (kind.ordinal, shape)
    place = (addrspace.ordinal, ptr.v, ptr.size, image)
    ptr.order = (1, ptr.priority, *base.scalar.order, base.count, *place)
    ptr.tables = {}
    with _making:  # a weak dictionary's `setdefault` is no single step
        return _PTRS.setdefault((base, addrspace, ptr.size, ptr.v, kind, shape), ptr)


def image_pointer(kind: ImageKind, shape: tuple[int, ...]) -> Ptr:
    """The image pointer of a kind and shape; `Image.imageh` and `Image.imagef` call it."""
    return _intern(float32, AddrSpace.GLOBAL, math.prod(shape), 1, kind, shape)


Dtype = Val | Ptr
