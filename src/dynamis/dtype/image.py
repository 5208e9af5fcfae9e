"""Image pointers: two-dimensional storage of four-channel texels in 16 or 32 bits."""

import platform
from collections.abc import Iterable

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.ptr import AddrSpace, ImageKind, Ptr, image_pointer
from dynamis.dtype.val import Val

_CHANNELS = 4
_MACOS_ALIGNMENT = 256  # in texels: a row of a Metal texture starts on it


class Image:
    """Makes image pointers, and reads what only they have.

    Every reader raises DtypeError for a pointer that is no image.
    """

    @staticmethod
    def imageh(shape: Iterable[int]) -> Ptr:
        """An image of 16-bit floats. Raises DtypeError for a negative side."""
        return _make(ImageKind.IMAGEH, shape)

    @staticmethod
    def imagef(shape: Iterable[int]) -> Ptr:
        """An image of 32-bit floats. Raises DtypeError for a negative side."""
        return _make(ImageKind.IMAGEF, shape)

    @staticmethod
    def kind(p: Ptr) -> ImageKind:
        """IMAGEH or IMAGEF."""
        kind = p.image_kind
        if kind is None:
            raise DtypeError(f"{p} is no image")
        return kind

    @staticmethod
    def shape(p: Ptr) -> tuple[int, ...]:
        """The sides: height, width, channels."""
        Image.kind(p)
        return p.image_shape or ()

    @staticmethod
    def base(p: Ptr) -> Val:
        """The dtype read: float32, in the pointer's base lanes."""
        Image.kind(p)
        return p.base

    @staticmethod
    def size(p: Ptr) -> int:
        """The number of elements: the product of the sides."""
        Image.kind(p)
        return p.size

    @staticmethod
    def addrspace(p: Ptr) -> AddrSpace:
        """GLOBAL."""
        Image.kind(p)
        return p.addrspace

    @staticmethod
    def vec(p: Ptr, n: int) -> Ptr:
        """The image with `n` pointer lanes. Raises as `Ptr.vec`."""
        Image.kind(p)
        return p.vec(n)

    @staticmethod
    def pitch(p: Ptr) -> int:
        """Bytes from a row to the next: width x 4 channels x texel bytes.

        On macOS the width is first rounded up to 256. Raises DtypeError below two sides.
        """
        shape = Image.shape(p)
        if len(shape) < 2:
            raise DtypeError(f"{p} has no rows")
        width = shape[1]
        if platform.system() == "Darwin":
            width = -(-width // _MACOS_ALIGNMENT) * _MACOS_ALIGNMENT
        return width * _CHANNELS * p.itemsize


def _make(kind: ImageKind, shape: Iterable[int]) -> Ptr:
    sides = tuple([int(s) for s in shape])
    if any(s < 0 for s in sides):
        raise DtypeError(f"an image has no negative side: {sides}")
    return image_pointer(kind, sides)
