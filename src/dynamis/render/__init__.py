"""Linear programs → source text of a backend."""

from .driver import CONTROL, RECORD_WORDS
from .llvm import parameters, render_llvm

__all__ = ["CONTROL", "RECORD_WORDS", "parameters", "render_llvm"]
