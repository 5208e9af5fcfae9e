"""Linear programs → source text of a backend."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .driver import CONTROL, RECORD_WORDS

if TYPE_CHECKING:
    from .llvm import parameters, render_llvm
    from .llvm_types import Machine

__all__ = ["CONTROL", "RECORD_WORDS", "Machine", "parameters", "render_llvm"]

__getattr__ = lazily(
    __name__, {"parameters": "llvm", "render_llvm": "llvm", "Machine": "llvm_types"}
)
