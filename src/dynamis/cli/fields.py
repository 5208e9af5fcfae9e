"""Files to a kernel's inputs and its outputs to files, by the file's suffix and the port's type.

A ``.npy`` file goes in and out as it is. A picture is read for a Grid port as

====================  ========================================================
``vec4``, ``vec3``    RGBA, or RGB with alpha dropped, 0…1
``f32``               luma 0.2126 R + 0.7152 G + 0.0722 B, 0…1
``bool``              whether luma is at least one half
``ivec4``, ``ivec3``  the bytes 0…255
``i32``               luma times 255, rounded
====================  ========================================================

and written back the same way round: see ``runtime/images.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..kernel.module import Port, Shape
from ..kernel.types import Type
from ..runtime.arrays import Array
from ..runtime.images import (
    encode_unorm8,
    picture_format,
    read_image,
    read_npy,
    write_image,
    write_npy,
)
from ..runtime.names import spell_port
from .values import UsageError

_LUMA = (0.2126, 0.7152, 0.0722)  # Rec. ITU-R BT.709


def check_target(port: Port, path: Path) -> None:
    """Refuse an output file that could not hold this output, before anything runs.

    Raises UsageError, or ArgumentValueError for a suffix that names no format."""
    if not path.parent.is_dir():
        raise UsageError("--output", f"there is no folder {path.parent}")
    if _is_npy(path):
        return
    picture_format(path)
    if port.shape is not Shape.GRID or port.element.lanes == 2:
        raise UsageError(
            "--output",
            f"output {port.name!r} ({spell_port(port)}) makes no picture: write a .npy file",
        )


def read_input(port: Port, path: Path) -> Array:
    """The array in a file, in the form that ``port`` takes. Raises FileError or UsageError."""
    if _is_npy(path):
        return read_npy(path)
    if port.shape is not Shape.GRID or port.element.lanes == 2:
        raise UsageError(
            "INPUT",
            f"{path}: input {port.name!r} ({spell_port(port)}) takes a .npy file, not a picture",
        )
    rgba = read_image(path)
    element = port.element
    values: Array = rgba[..., : element.lanes] if element.is_vector else _luma(rgba)
    if element.component == Type.INT:
        return encode_unorm8(values).astype(np.int32)
    return values >= np.float32(0.5) if element == Type.BOOL else values


def write_output(path: Path, array: Array) -> Path:
    """Write one output; returns the full path."""
    return write_npy(path, array) if _is_npy(path) else write_image(path, array)


def _luma(rgba: Array) -> Array:
    """In double, so that the luma of a gray pixel is that gray."""
    return np.asarray(rgba[..., :3].astype(np.float64) @ np.array(_LUMA), np.float32)


def _is_npy(path: Path) -> bool:
    return path.suffix.lower() == ".npy"
