"""Dynamis: data-parallel kernels in Python, at native speed, with the same bits everywhere.

    import numpy as np, dynamis as dy
    from dynamis import Grid, vec4

    @dy.kernel
    def invert(image: Grid[vec4]) -> Grid[vec4]:
        c = image.sample()
        return vec4(1.0 - c.rgb, c.a)

    out = invert(pixels)  # float32, shape (height, width, 4), in and out

Here ``dynamis.kernel`` is the decorator; the Kernel IR lives in the package of the same name, which
``from dynamis.kernel import ...`` reaches.
"""

from .api import Kernel, kernel
from .errors import DynamisError
from .frontend import KernelError
from .frontend.surface import (
    Grid,
    HostValueError,
    OutsideKernelError,
    Rows,
    Volume,
    acos,
    add_wrap,
    asin,
    atan,
    atan2,
    bits,
    ceil,
    clamp,
    coord,
    cos,
    cosh,
    cross,
    distance,
    div,
    domain,
    dot,
    element,
    exp,
    exp2,
    f32,
    f64,
    floor,
    fma,
    fract,
    from_bits,
    i32,
    ivec2,
    ivec3,
    ivec4,
    length,
    log,
    log2,
    mix,
    mul_wrap,
    normalize,
    rem,
    sign,
    sin,
    sinh,
    smoothstep,
    sqrt,
    step,
    sub_wrap,
    tan,
    tanh,
    trunc,
    udiv,
    ult,
    urem,
    ushr,
    vec2,
    vec3,
    vec4,
)
from .frontend.surface import abs as abs
from .frontend.surface import max as max
from .frontend.surface import min as min
from .frontend.surface import pow as pow
from .frontend.surface import round as round
from .kernel.fault import KernelFault
from .runtime.arrays import unorm8
from .runtime.errors import ArgumentError
from .runtime.files import FileError
from .runtime.images import read_image, write_image

__version__ = "0.1.0"

# abs, max, min, pow, round: dy.abs … only, for "import *" would take Python's own from host code
__all__ = [
    # making and running kernels
    "kernel",
    "Kernel",
    # value types and ports
    "f32",
    "f64",
    "i32",
    "vec2",
    "vec3",
    "vec4",
    "ivec2",
    "ivec3",
    "ivec4",
    "Rows",
    "Grid",
    "Volume",
    # where an element is
    "coord",
    "element",
    "domain",
    # mathematics
    "floor",
    "ceil",
    "trunc",
    "fract",
    "sign",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "exp2",
    "log",
    "log2",
    "clamp",
    "mix",
    "step",
    "smoothstep",
    "fma",
    "dot",
    "length",
    "normalize",
    "cross",
    "distance",
    "div",
    "rem",
    "add_wrap",
    "sub_wrap",
    "mul_wrap",
    "ult",
    "udiv",
    "urem",
    "ushr",
    "bits",
    "from_bits",
    # host arrays and pictures
    "unorm8",
    "read_image",
    "write_image",
    # errors
    "DynamisError",
    "KernelError",
    "KernelFault",
    "ArgumentError",
    "FileError",
    "OutsideKernelError",
    "HostValueError",
    "__version__",
]
