"""Kernel IR to Uop kernel AST."""

from .kernel import CallClass, KernelAst, lower

__all__ = ["CallClass", "KernelAst", "lower"]
