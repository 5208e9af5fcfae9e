"""Masks and NaNs of many lanes: whether there are any, as one bit to branch on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..dtype import int32, uint32
from ..uop import Ops, Uop
from ..uop.guards import guard
from .llvm_types import lanes_of, scalar_type, vector_type
from .values import Parts, Values

_EXTREMES = {
    (True, True): ("min", "lt"),  # x < c
    (True, False): ("max", "ge"),  # not x < c
    (False, True): ("max", "gt"),  # c < x
    (False, False): ("min", "le"),  # not c < x
}
"""For an order with a constant, by whether it comes second and whether the order is to hold: which
part's x decides, and how it is compared with the constant."""


class Masks(Values):
    """What many lanes say together."""

    def any_lane(self, gate: Uop) -> str:
        """Whether ``gate`` holds in any lane."""
        return self._test(gate, "or", "ne", 0) if lanes_of(gate) else self.scalar(gate)

    def every_lane(self, gate: Uop) -> str:
        """Whether ``gate`` holds in every lane."""
        return self._test(gate, "and", "eq", -1) if lanes_of(gate) else self.scalar(gate)

    def no_lane(self, gate: Uop) -> str:
        """Whether ``gate`` holds in no lane."""
        return self._test(gate, "or", "eq", 0)

    def any_quickly(self, gate: Uop) -> str:
        """``any_lane`` of a gate whose masks are seldom needed otherwise: integers are joined over
        the parts and compared once. Compares take the units that multiply, on some processors."""
        lanes = lanes_of(gate)
        per = self.part_lanes(int32, lanes)
        if lanes == per:
            return self.any_lane(gate)
        masks = [self._joined(u, lanes, per) for u in dict.fromkeys(self._alternatives(gate))]
        return self._compared(self._tree("or", vector_type("i1", per), masks), per, "ne", 0)

    def has_pairs(self, u: Uop) -> bool:
        """Whether a value has two parts or more."""
        return lanes_of(u) > self.part_lanes(u.dtype, lanes_of(u))

    def canonical(self, u: Uop) -> Parts:
        """``u``, which is another value with its NaNs made canonical: chosen only where there are
        some, which one comparison tells of two parts."""
        _, nan, x = u.src
        lanes = lanes_of(u)
        per = self.part_lanes(u.dtype, lanes)
        ty, mask = vector_type(scalar_type(u.dtype), per), vector_type("i1", per)
        words, quiet = self.use(x, lanes, per), self.use(nan, per, per)[0]
        pairs = zip(words[::2], words[1::2], strict=True)
        found = self._tree(
            "or", mask, [self.out.value(f"fcmp uno {ty} {a}, {b}") for a, b in pairs]
        )
        some, before = self._compared(found, per, "ne", 0), self.block
        rare, after = self.label("nan"), self.label("words")
        self.out.line(f"br i1 {some}, label %{rare}, label %{after}, !prof !1")
        self.start(rare)
        tests = [self.out.value(f"fcmp uno {ty} {a}, zeroinitializer") for a in words]
        made = [
            self.out.value(f"select {mask} {test}, {ty} {quiet}, {ty} {a}")
            for test, a in zip(tests, words, strict=True)
        ]
        self.out.line(f"br label %{after}")
        self.start(after)
        return [
            self.out.value(f"phi {ty} [ {new}, %{rare} ], [ {a}, %{before} ]")
            for new, a in zip(made, words, strict=True)
        ]

    def _test(self, gate: Uop, join: str, compare: str, bits: int) -> str:
        """The parts of a mask joined, and their bits compared."""
        parts = self.here(gate, self.names[gate])
        per = lanes_of(gate) // len(parts)
        return self._compared(self._tree(join, vector_type("i1", per), parts), per, compare, bits)

    def _compared(self, mask: str, per: int, compare: str, bits: int) -> str:
        """The bits of one mask of ``per`` lanes compared."""
        if not self.machine.mask_registers:  # test i32 lanes by their sign: one movmsk
            wide = self.out.value(f"sext <{per} x i1> {mask} to <{per} x i32>")
            mask = self.narrow(wide, per)
        word = self.out.value(f"bitcast <{per} x i1> {mask} to i{per}")
        return self.out.value(f"icmp {compare} i{per} {word}, {bits}")

    def _tree(self, join: str, ty: str, parts: Parts) -> str:
        """Parts of one type joined pairwise."""
        return _folded(parts, lambda a, b: self.out.value(f"{join} {ty} {a}, {b}"))

    def _joined(self, u: Uop, lanes: int, per: int) -> str:
        """A mask of ``per`` lanes: any of them is set if any lane of the mask ``u`` is."""
        (test, holds), ty = guard(u), vector_type("i32", per)
        if len(test.src) == 2 and test.src[0].dtype in (int32, uint32):
            first, second = test.src
            sign = "u" if first.dtype.is_unsigned else "s"
            if test.op is Ops.CMPLT and Ops.CONST in (first.op, second.op):
                bounded = second.op is Ops.CONST
                x, bound = (first, second) if bounded else (second, first)
                kind, predicate = _EXTREMES[bounded, holds]
                name, limit = sign + kind, self.use(bound, per, per)[0]
                extreme = _folded(
                    self.use(x, lanes, per),
                    lambda a, b: self.out.call(name, ty, [(ty, a), (ty, b)]),
                )
                return self.out.value(f"icmp {sign}{predicate} {ty} {extreme}, {limit}")
            if test.op is (Ops.CMPNE if holds else Ops.CMPEQ):
                pairs = zip(self.use(first, lanes, per), self.use(second, lanes, per), strict=True)
                differ = [self.out.value(f"xor {ty} {a}, {b}") for a, b in pairs]
                joined = self._tree("or", ty, differ)
                return self.out.value(f"icmp ne {ty} {joined}, zeroinitializer")
        return self._tree("or", vector_type("i1", per), self.use(u, lanes, per))

    def _alternatives(self, u: Uop) -> Iterator[Uop]:
        """The masks that ``u`` is the OR of."""
        if u.op is Ops.OR and self._fused(u) is None:
            for s in u.src:
                yield from self._alternatives(s)
        else:
            yield u


def _folded(parts: Parts, join: Callable[[str, str], str]) -> str:
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [*(join(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)), *odd]
    return parts[0]
