"""Kernel IR to Uop kernel AST."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .call_class import SIDES, CallClass
from .supported import UnsupportedKernel, require_supported, unsupported

if TYPE_CHECKING:
    from .kernel import KernelAst, lower

__all__ = [
    "SIDES",
    "CallClass",
    "KernelAst",
    "UnsupportedKernel",
    "lower",
    "require_supported",
    "unsupported",
]

__getattr__ = lazily(__name__, {"KernelAst": "kernel", "lower": "kernel"})
