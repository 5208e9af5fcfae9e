"""Pictures and ``.npy`` files to arrays and back.

Reading gives float32 RGBA of shape (height, width, 4): each 8-bit sample u as u / 255, rounded
once, row 0 at the top, EXIF orientation applied, alpha kept and not premultiplied. Writing
encodes round-half-even(clamp(x, 0, 1) * 255), NaN as 0. Colours are the file's own (gamma-encoded)
numbers: nothing is linearised, and colour profiles are not applied.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import public
from .arrays import Array, as_array, unorm8
from .errors import ArgumentTypeError, ArgumentValueError
from .files import FileError, write_atomically

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
}
"""The picture formats that can be written, by file suffix. Anything Pillow knows can be read."""

_SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_deflate"},
}


@public
def read_image(path: str | Path) -> npt.NDArray[np.float32]:
    """The picture at ``path`` as float32 RGBA, shape (height, width, 4), values 0…1.

    The first frame of an animation. Raises FileError for a missing file or one that is not a
    whole picture."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # a picture past half of Pillow's limit is only large; one past the limit is refused
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            file = Image.open(path)
        with file:
            image = ImageOps.exif_transpose(file)
            if image.mode.startswith("I") or image.mode == "F":
                return _gray(np.asarray(image))
            return unorm8(np.asarray(image.convert("RGBA")))
    except FileNotFoundError as error:
        raise FileError(f"cannot read {path}: there is no such file") from error
    except UnidentifiedImageError as error:
        raise FileError(f"cannot read {path}: it is not a picture that Pillow knows") from error
    except Image.DecompressionBombError as error:
        raise FileError(f"cannot read {path}: {error}") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's decoders raise any of these for a damaged file
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError(f"cannot read {path}: {reason}") from error


def _gray(samples: Array) -> npt.NDArray[np.float32]:
    """16-bit gray (0…65535) and float gray (as it is) as opaque RGBA."""
    gray = samples.astype(np.float32)
    if samples.dtype.kind in "iu":
        gray = np.divide(gray, np.float32(65535), dtype=np.float32)
    rgba = np.ones((*samples.shape, 4), np.float32)
    rgba[..., :3] = gray[..., None]
    return rgba


@public
def write_image(path: str | Path, array: object) -> Path:
    """Write an array as a picture, in the format of the suffix; returns the full path.

    ``array``: (height, width) gray, (height, width, 3) RGB or (height, width, 4) RGBA, of float32
    0…1, of integers 0…255, or of bool (black and white). The file is replaced whole or left as
    it was. JPEG is written at quality 95 and takes no transparency, WebP without loss.

    Raises ArgumentError for an array or suffix that makes no picture, FileError where the system
    refuses."""
    path = Path(path)
    kind = picture_format(path)
    octets = _encode(as_array("the picture", array))
    if kind == "JPEG" and octets.shape[-1] == 4 and octets.ndim == 3:
        if (octets[..., 3] != 255).any():
            raise ArgumentValueError(
                f"{path} would lose the picture's transparency: write a .png instead"
            )
        octets = octets[..., :3]
    if max(octets.shape[:2]) > 65500 and kind == "JPEG":
        raise ArgumentValueError(f"{path}: a JPEG side is at most 65500 long: write a .png instead")

    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(octets))

    def write(file: BinaryIO) -> None:
        try:
            image.save(file, format=kind, **_SAVE_OPTIONS.get(kind, {}))
        except (ValueError, SyntaxError) as error:  # a limit of the format, as Pillow says it
            raise FileError(f"cannot write {path}: {error}") from error

    return write_atomically(path, write)


def picture_format(path: Path) -> str:
    """Pillow's name of the format that the suffix of ``path`` asks for, or ArgumentValueError."""
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        known = " ".join([*FORMATS, ".npy"])
        raise ArgumentValueError(
            f"{path}: the suffix {path.suffix!r} names no format that can be written ({known})"
        )
    return kind


def encode_unorm8(values: Array) -> npt.NDArray[np.uint8]:
    """f32 as bytes: round-half-even(clamp(x, 0, 1) * 255), NaN as 0."""
    clamped = np.nan_to_num(np.clip(values, np.float32(0), np.float32(1)), nan=0.0)
    octets: npt.NDArray[np.uint8] = np.rint(clamped * np.float32(255)).astype(np.uint8)
    return octets


def _encode(array: Array) -> npt.NDArray[np.uint8]:
    channels = array.shape[2] if array.ndim == 3 else 1
    if array.ndim not in (2, 3) or (array.ndim == 3 and channels not in (3, 4)):
        raise ArgumentValueError(
            "a picture has shape (height, width), (height, width, 3) or (height, width, 4), "
            f"not {array.shape}: write a .npy file instead"
        )
    if 0 in array.shape:
        raise ArgumentValueError(f"a picture has at least one pixel, not shape {array.shape}")
    if array.dtype.kind == "f":
        return encode_unorm8(array.astype(np.float32))
    if array.dtype.kind == "b":
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if low < 0 or high > 255:
            raise ArgumentValueError(
                f"integers in a picture are 0…255, but these are {low}…{high}: "
                "scale them, or write a .npy file instead"
            )
        return array.astype(np.uint8)
    raise ArgumentTypeError(f"a picture is made of numbers or bools, not {array.dtype}")


def read_npy(path: str | Path) -> Array:
    """The array in a ``.npy`` file; never unpickles. Raises FileError."""
    try:
        with open(path, "rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except FileNotFoundError as error:
        raise FileError(f"cannot read {path}: there is no such file") from error
    except (OSError, ValueError, EOFError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError(f"cannot read {path} as .npy: {reason}") from error
    return np.asarray(array)


def write_npy(path: str | Path, array: object) -> Path:
    """Write any array as ``.npy``, replaced whole or left as it was; returns the full path."""
    values = as_array("the array", array)

    def write(file: BinaryIO) -> None:
        np.lib.format.write_array(file, values, allow_pickle=False)

    return write_atomically(Path(path), write)
