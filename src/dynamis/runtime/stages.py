"""The stages a kernel goes through, in order, each of which can be printed."""

STAGES = ("kernel", "uop", "program", "llvm", "asm")
"""Kernel IR, kernel AST, linear program, LLVM IR, assembly."""
