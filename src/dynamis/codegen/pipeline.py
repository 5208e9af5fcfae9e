"""Kernel AST → linear program.

Each step is one function from one graph to the next: ``split_domain`` cuts the domain into blocks,
steps and lanes, ``loosen_loops`` drops what iterations that end their loop need not keep,
``order_networks`` writes minima and maxima as machines pick, ``vectorize`` replaces the lane range,
``roots_ahead`` computes roots an iteration early, ``prune_registers`` drops dead words,
``decompose`` writes out ops that machines lack, ``class_accesses`` finds strides, ``linearize``
puts the nodes in order.
"""

from __future__ import annotations

import os

from ..uop import Uop, collector_paused, simplify, spec_kernel, spec_program, type_verify
from .access import class_accesses
from .ahead import roots_ahead
from .decompose import decompose
from .linearize import linearize
from .loosen import loosen_loops
from .options import Options
from .order import order_networks
from .prune import prune_registers
from .split import bind_threads, rows_at_once, split_domain
from .vectorize import vectorize


@collector_paused()
def compile_ast(root: Uop, options: Options) -> Uop:
    """The LINEAR program of a kernel AST at ``options.width`` lanes.

    With ``DYNAMIS_VERIFY`` set in the environment the AST and the program are checked against
    their specs (the project's tests set it). Raises SpecError then.
    """
    verify = bool(os.environ.get("DYNAMIS_VERIFY"))
    if verify:
        type_verify(root, spec_kernel)
    rows = rows_at_once(root, options)
    root, lane = split_domain(root, options.width, rows=rows, streaming=options.streaming)
    root = loosen_loops(simplify(bind_threads(root)))
    if lane is not None:
        root = roots_ahead(vectorize(simplify(order_networks(root)), lane))
    root = prune_registers(simplify(decompose(root)))
    program = linearize(simplify(class_accesses(root)), rows)
    if verify:
        type_verify(program, spec_program)
    return program
