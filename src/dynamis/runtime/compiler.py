"""A validated kernel → its programs: lowering, code generation, rendering, and LLVM.

The fast program is made from the optimised module and only decides whether a block faulted. The
search, one lane wide, is made from the module as it was written and finds the first failing
element, the place and the operands. Importing this module brings the whole compiler.
"""

from __future__ import annotations

from functools import cached_property

from ..codegen import Options, compile_ast, rows_at_once
from ..elementary import SINGLE
from ..kernel import Module, Validated, account, op, optimize
from ..kernel.limits import MAX_ELEMENTS
from ..kernel.tables import BinaryOp
from ..kernel.types import Type
from ..kernel.work import loops_over_inputs, typical_work_given, worst_work_given
from ..lower import CallClass, KernelAst, lower
from ..render import parameters, render_llvm
from ..uop.render import uops_to_string
from .explain import explain
from .jit import assembly, host
from .program import FaultSite, Program, Work
from .width import preferred_width

_FLOATS = (Type.FLOAT, Type.DOUBLE)
_REMAINDER = 100
"""Operations that a float remainder counts as."""
_DIVISION = 200
"""The same for an integer division, which vectors do lane by lane."""
_ELEMENTARY = 40
"""The same for an elementary function."""


class Compiler:
    """What is made of one kernel on its way to machine code."""

    def __init__(self, validated: Validated):
        self._validated = validated

    @cached_property
    def _module(self) -> Module:
        return account(self._validated.module)

    @cached_property
    def optimized(self) -> Module:
        """The optimised module, accounted."""
        return account(optimize(self._validated.module))

    def ast(self, call: CallClass, *, search: bool = False) -> KernelAst:
        """The kernel AST of the fast program, or of the fault search."""
        return lower(self._module if search else self.optimized, call, search=search)

    def program(self, call: CallClass, options: Options, *, search: bool) -> tuple[Program, str]:
        """A program and the LLVM module text of its code."""
        ast = self.ast(call, search=search)
        linear = compile_ast(ast.root, options)
        program = Program(
            tuple(
                int(u.arg.slot) if u.dtype.is_ptr else str(u.arg.name) for u in parameters(linear)
            ),
            tuple(
                FaultSite(site.function, site.instruction, site.kind, site.operand_types)
                for site in ast.sites
            ),
            self._work(),
            rows_at_once(ast.root, options),
        )
        return program, render_llvm(linear, host(), streaming=options.streaming)

    def stage(self, name: str, call: CallClass, options: Options) -> str:
        """The text of the fast program at a stage after the Kernel IR."""
        ast = self.ast(call).root
        if name == "uop":
            return uops_to_string(ast)
        linear = compile_ast(ast, options)
        if name == "program":
            return uops_to_string(list(linear.src))
        text = render_llvm(linear, host())
        return text if name == "llvm" else assembly(text)

    def explain(self, call: CallClass, options: Options) -> str:
        """How the fast program runs, in words."""
        return explain(self._module, self.optimized, call, options, host())

    def preferred_width(self) -> int:
        """The width at which the fast program should run fastest on this machine."""
        return preferred_width(self.optimized, host())

    def _work(self) -> tuple[Work, ...]:
        """``Program.work``: a table where loops run as often as an input has elements."""
        module, operations = self._module, _operations(self._module)
        limit = module.manifest.work_limit
        if loops_over_inputs(module):
            return tuple(
                Work(
                    typical_work_given(module, count=most),
                    (1 + min(worst_work_given(module, most), limit)) * operations,
                )
                for most in (2**k - 1 for k in range(MAX_ELEMENTS.bit_length() + 1))
            )
        iterations = limit if module.counts_work() else min(module.worst_work(), limit)
        return (Work(module.typical_work(), (1 + iterations) * operations),)


def _operations(module: Module) -> int:
    """About how many operations all instructions take that run once each."""
    total = 0
    for function in module.all_functions():
        for instruction in function.instructions():
            match instruction.op:
                case op.Binary(BinaryOp.REM) if instruction.ty.component in _FLOATS:
                    total += _REMAINDER * instruction.ty.lanes
                case op.Binary(BinaryOp.DIV | BinaryOp.REM) if instruction.ty.component == Type.INT:
                    total += _DIVISION * instruction.ty.lanes
                case op.Intrinsic(intrinsic) if intrinsic.value in SINGLE:
                    total += _ELEMENTARY * instruction.ty.lanes
                case _:
                    total += instruction.ty.lanes
    return total
