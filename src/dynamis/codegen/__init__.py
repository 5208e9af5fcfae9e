"""Kernel AST → linear program: ``compile_ast``, and the ``Options`` it takes."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .options import WIDTHS, OptionError, Options

if TYPE_CHECKING:
    from .pipeline import compile_ast

__all__ = ["WIDTHS", "OptionError", "Options", "compile_ast"]

__getattr__ = lazily(__name__, {"compile_ast": "pipeline"})
