"""Linear programs → source text of a backend."""

from .driver import CONTROL, RECORD_WORDS
from .llvm import parameters, render_llvm
from .llvm_types import Machine

__all__ = ["CONTROL", "RECORD_WORDS", "Machine", "parameters", "render_llvm"]
