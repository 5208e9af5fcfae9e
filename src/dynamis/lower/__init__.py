"""Kernel IR to Uop kernel AST."""

from .host import SIDES, CallClass
from .kernel import KernelAst, lower
from .supported import UnsupportedKernel, require_supported, unsupported

__all__ = [
    "SIDES",
    "CallClass",
    "KernelAst",
    "UnsupportedKernel",
    "lower",
    "require_supported",
    "unsupported",
]
