"""Kernel AST → linear program.

Each step is one function from one graph to the next: ``split_domain`` cuts the domain into
blocks, steps and lanes, ``vectorize`` replaces the lane range, ``prune_registers`` drops dead
words, ``decompose`` writes out ops that machines lack, ``class_accesses`` finds strides,
``linearize`` puts the nodes in order.
"""

from __future__ import annotations

from ..uop import Uop, simplify
from .access import class_accesses
from .decompose import decompose
from .linearize import linearize
from .options import WIDTHS, OptionError, Options
from .prune import prune_registers
from .split import bind_threads, split_domain
from .vectorize import vectorize

__all__ = ["WIDTHS", "OptionError", "Options", "compile_ast"]


def compile_ast(root: Uop, options: Options) -> Uop:
    """The LINEAR program of a kernel AST at ``options.width`` lanes."""
    root, lane = split_domain(simplify(root), options.width)
    root = bind_threads(root)
    if lane is not None:
        root = vectorize(root, lane)
    root = prune_registers(simplify(decompose(root)))
    return linearize(simplify(class_accesses(root)))
