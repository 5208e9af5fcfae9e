"""Instruction selection: one Uop ALU node → LLVM instructions with its total meaning.

``Emitter`` gives fresh names and takes lines; every function here receives operand texts of
the same lanes and returns the text of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..dtype import Val, bool_
from ..uop import Op, Ops, Uop, UopError
from .known import interval
from .llvm_types import literal, scalar_type, splat_literal, vector_type


class Emitter:
    """Lines of one function, fresh value names, and the intrinsics it declares."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.count = 0

    def fresh(self, hint: str = "v") -> str:
        self.count += 1
        return f"%{hint}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        """A new value defined by the instruction ``text``."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def shuffle(self, ty: str, a: str, b: str, picked: Sequence[int]) -> str:
        """Lanes of ``a`` and ``b``, of vector type ``ty``, by number; b's follow a's."""
        mask = ", ".join(f"i32 {k}" for k in picked)
        return self.value(f"shufflevector {ty} {a}, {ty} {b}, <{len(picked)} x i32> <{mask}>")

    def call(self, intrinsic: str, result: str, args: list[tuple[str, str]]) -> str:
        """Call an LLVM intrinsic, overloaded on its result type."""
        name = f"@llvm.{intrinsic}.{_mangled(result)}"
        types = ", ".join(t for t, _ in args)
        self.declared[name] = f"declare {result} {name}({types})"
        operands = ", ".join(f"{t} {a}" for t, a in args)
        return self.value(f"call {result} {name}({operands})")


def _mangled(ty: str) -> str:
    scalar = ty.strip("<>").split(" x ")[-1]
    name = {"float": "f32", "double": "f64"}.get(scalar, scalar)
    return f"v{ty[1:].split(' ')[0]}{name}" if ty[0] == "<" else name


_PLAIN: dict[Op, tuple[str, str]] = {  # op: (float, integer) instruction
    Ops.ADD: ("fadd", "add"),
    Ops.SUB: ("fsub", "sub"),
    Ops.MUL: ("fmul", "mul"),
    Ops.FDIV: ("fdiv", ""),
    Ops.AND: ("", "and"),
    Ops.OR: ("", "or"),
    Ops.XOR: ("", "xor"),
}
_COMPARE: dict[Op, tuple[str, str, str]] = {  # op: (float, signed, unsigned) predicate
    Ops.CMPLT: ("olt", "slt", "ult"),
    Ops.CMPNE: ("une", "ne", "ne"),
    Ops.CMPEQ: ("oeq", "eq", "eq"),
}
_FLOAT_CALLS: dict[Op, str] = {
    Ops.SQRT: "sqrt",
    Ops.TRUNC: "trunc",
    Ops.MAX: "maximum",
    Ops.MULACC: "fma",
}


class Select:
    """Instructions for a node ``u`` over operand texts ``args`` of its lane count."""

    def __init__(self, out: Emitter, u: Uop, args: list[str], lanes: int):
        self.out, self.u, self.args, self.lanes = out, u, args, lanes
        source = u.src[-1] if u.op is Ops.WHERE else u.src[0]
        dtype = source.dtype
        assert isinstance(dtype, Val)
        self.dtype = dtype
        self.scalar = scalar_type(dtype)
        self.type = vector_type(self.scalar, self.lanes)

    def constant(self, value: float | int | bool, dtype: Val | None = None) -> str:
        """A literal in every lane, of the operands' dtype unless told."""
        dtype = dtype or self.dtype
        text, scalar = literal(dtype, value), scalar_type(dtype)
        return splat_literal(scalar, text) if self.lanes else text

    def emit(self) -> str:
        op, a = self.u.op, self.args
        is_float = self.dtype.is_float
        if op in _PLAIN and (name := _PLAIN[op][not is_float]):
            return self.out.value(f"{name} {self.type} {a[0]}, {a[1]}")
        if op in _COMPARE:
            return self.compare(_COMPARE[op])
        if op in _FLOAT_CALLS and is_float:
            return self.out.call(_FLOAT_CALLS[op], self.type, [(self.type, x) for x in a])
        rule = _RULES.get(op)
        if rule is None:
            raise UopError(f"no LLVM code is made for {op.name} of {self.dtype}")
        return rule(self)

    def compare(self, predicates: tuple[str, str, str]) -> str:
        is_float, signed = self.dtype.is_float, self.dtype.is_int and not self.dtype.is_unsigned
        kind = "fcmp" if is_float else "icmp"
        predicate = predicates[0 if is_float else 1 if signed else 2]
        return self.out.value(f"{kind} {predicate} {self.type} {self.args[0]}, {self.args[1]}")

    def select(self, condition: str, a: str, b: str, ty: str | None = None) -> str:
        ty = ty or self.type
        mask = vector_type("i1", self.lanes)
        return self.out.value(f"select {mask} {condition}, {ty} {a}, {ty} {b}")

    def where(self) -> str:
        return self.select(*self.args)

    def neg(self) -> str:
        if self.dtype.is_float:
            return self.out.value(f"fneg {self.type} {self.args[0]}")
        return self.out.value(f"sub {self.type} {self.constant(0)}, {self.args[0]}")

    def reciprocal(self) -> str:
        return self.out.value(f"fdiv {self.type} {self.constant(1.0)}, {self.args[0]}")

    def maximum(self) -> str:
        if self.dtype is bool_:
            return self.out.value(f"or {self.type} {self.args[0]}, {self.args[1]}")
        name = "umax" if self.dtype.is_unsigned else "smax"
        return self.out.call(name, self.type, [(self.type, x) for x in self.args])

    def multiply_add(self) -> str:
        product = self.out.value(f"mul {self.type} {self.args[0]}, {self.args[1]}")
        return self.out.value(f"add {self.type} {product}, {self.args[2]}")

    def shift(self) -> str:
        name = "shl"
        if self.u.op is Ops.SHR:
            name = "lshr" if self.dtype.is_unsigned else "ashr"
        bits = self.dtype.bitsize
        amount = self.u.src[1]
        count = self.args[1]
        if amount.op is not Ops.CONST or not 0 <= amount.arg.value < bits:
            count = self.out.value(f"and {self.type} {count}, {self.constant(bits - 1)}")
        return self.out.value(f"{name} {self.type} {self.args[0]}, {count}")

    def divide(self) -> str:
        """CDIV and CMOD: by zero 0 and the dividend; the least value by -1 wraps and gives 0."""
        a, b = self.args
        signed = not self.dtype.is_unsigned
        name = ("s" if signed else "u") + ("div" if self.u.op is Ops.CDIV else "rem")
        divisor = self.u.src[1]
        if divisor.vmin > 0 or (divisor.vmax < -1 and signed):
            return self.out.value(f"{name} {self.type} {a}, {b}")
        mask = vector_type("i1", self.lanes)
        zero = self.out.value(f"icmp eq {self.type} {b}, {self.constant(0)}")
        unsafe = zero
        if signed:
            least = self.constant(-(1 << (self.dtype.bitsize - 1)))
            at_least = self.out.value(f"icmp eq {self.type} {a}, {least}")
            minus = self.out.value(f"icmp eq {self.type} {b}, {self.constant(-1)}")
            both = self.out.value(f"and {mask} {at_least}, {minus}")
            unsafe = self.out.value(f"or {mask} {zero}, {both}")
        safe = self.select(unsafe, self.constant(1), b)
        result = self.out.value(f"{name} {self.type} {a}, {safe}")
        return self.select(zero, self.constant(0) if self.u.op is Ops.CDIV else a, result)

    def bitcast(self) -> str:
        assert isinstance(self.u.dtype, Val)
        to = vector_type(scalar_type(self.u.dtype), self.lanes)
        if to == self.type:
            return self.args[0]
        return self.out.value(f"bitcast {self.type} {self.args[0]} to {to}")

    def cast(self) -> str:
        target, a = self.u.dtype, self.args[0]
        assert isinstance(target, Val)
        source = self.dtype
        to = vector_type(scalar_type(target), self.lanes)
        if target is bool_:
            kind = "fcmp une" if source.is_float else "icmp ne"
            return self.out.value(f"{kind} {self.type} {a}, {self.constant(0)}")
        if source.is_float and target.is_float:
            name = "fpext" if target.bitsize > source.bitsize else "fptrunc"
        elif source.is_float:
            return self.float_to_int(target, to)
        elif target.is_float:
            signed = source.is_int and not source.is_unsigned
            name = "sitofp" if signed else "uitofp"
        elif target.bitsize == source.bitsize:
            return a
        elif target.bitsize < source.bitsize:
            name = "trunc"
        else:
            name = "sext" if source.is_int and not source.is_unsigned else "zext"
        return self.out.value(f"{name} {self.type} {a} to {to}")

    def float_to_int(self, target: Val, to: str) -> str:
        """Truncate and saturate, NaN 0, with the operand of the conversion always in range: by a
        clamp of its own, or as it is where its form says so."""
        a = self.args[0]
        low, high = int(target.min), int(target.max)
        name = "fptoui" if target.is_unsigned else "fptosi"
        known = interval(self.u.src[0])
        if known is not None and low <= known[0] and known[1] < float(high + 1):
            return self.out.value(f"{name} {self.type} {a} to {to}")
        number = self.out.value(f"fcmp uno {self.type} {a}, {a}")
        zero, least = self.constant(0.0), self.constant(float(low))
        limit = self.constant(float(high + 1))
        whole = self.select(number, zero, a)
        below = self.out.value(f"fcmp olt {self.type} {whole}, {least}")
        above = self.out.value(f"fcmp oge {self.type} {whole}, {limit}")
        whole = self.select(below, least, whole)
        whole = self.select(above, zero, whole)
        converted = self.out.value(f"{name} {self.type} {whole} to {to}")
        return self.select(above, self.constant(high, target), converted, to)


_RULES: dict[Op, Callable[[Select], str]] = {
    Ops.WHERE: Select.where,
    Ops.NEG: Select.neg,
    Ops.RECIPROCAL: Select.reciprocal,
    Ops.MAX: Select.maximum,
    Ops.MULACC: Select.multiply_add,
    Ops.SHL: Select.shift,
    Ops.SHR: Select.shift,
    Ops.CDIV: Select.divide,
    Ops.CMOD: Select.divide,
    Ops.CAST: Select.cast,
    Ops.BITCAST: Select.bitcast,
}
