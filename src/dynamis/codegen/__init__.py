"""Kernel AST → linear program: ``compile_ast``, and the ``Options`` it takes; ``rows_at_once``: the
rows of a program's units."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .options import WIDTHS, OptionError, Options

if TYPE_CHECKING:
    from .pipeline import compile_ast
    from .split import rows_at_once

__all__ = ["WIDTHS", "OptionError", "Options", "compile_ast", "rows_at_once"]

__getattr__ = lazily(__name__, {"compile_ast": "pipeline", "rows_at_once": "split"})
