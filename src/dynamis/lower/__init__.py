"""Kernel IR to Uop kernel AST."""

from .host import CallClass
from .kernel import KernelAst, lower

__all__ = ["CallClass", "KernelAst", "lower"]
