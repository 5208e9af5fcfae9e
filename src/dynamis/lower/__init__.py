"""Kernel IR to Uop kernel AST."""

from .host import CallClass
from .kernel import KernelAst, lower
from .supported import UnsupportedKernel, require_supported, unsupported

__all__ = [
    "CallClass",
    "KernelAst",
    "UnsupportedKernel",
    "lower",
    "require_supported",
    "unsupported",
]
