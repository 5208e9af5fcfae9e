"""From a Python function to a ``kernel.Module``, by its syntax tree; the function is never called.

``compile_kernel`` does it; ``KernelError`` says what is wrong with a kernel and where; ``surface``
holds the names kernels are written with; ``host_value`` makes kernel values of Python objects.
"""

from .diagnostics import KernelError
from .surface import HostValueError, OutsideKernelError
from .unit import compile_kernel
from .values import NotAConstant
from .values import constant_of as host_value

__all__ = [
    "HostValueError",
    "KernelError",
    "NotAConstant",
    "OutsideKernelError",
    "compile_kernel",
    "host_value",
]
