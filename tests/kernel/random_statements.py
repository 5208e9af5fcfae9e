"""What a random function does: arithmetic, reads, branches, loops, calls and writes.

In: a ``Body``. Out: ``Statements``, a body that grows by random statements. Its loops are short
when it runs, whatever their written counts, so that an element executes at most some thousand
instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from dynamis.kernel import op
from dynamis.kernel.layout import part_layout, part_types
from dynamis.kernel.limits import MAX_BUDGET, MAX_LOOP_COUNT
from dynamis.kernel.manifest import index_type
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.module import Block
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import Type, elements_of
from tests.kernel.random_body import B, Body, I
from tests.kernel.random_data import INT_MAX
from tests.kernel.scope import cells, forms

MAX_COST = 1500
"""About the most instructions that one element of a random module executes."""
MAX_NEST = 6
"""How deep blocks nest."""


class Statements(Body):
    """A function that grows by random statements."""

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        kinds: tuple[tuple[Callable[[], object], int], ...] = (
            (self.binary, 26), (self.unary, 4), (self.intrinsic, 32), (self.read, 14),
            (self.extract, 4), (self.subscript, 4), (self.part, 4), (self.branch, 5),
            (self.match, 3), (self.loop, 6), (self.while_loop, 2), (self.update_loop, 2),
            (self.call, 4), (self.write, 4), (self.exchange, 5),
        )  # fmt: skip
        self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()

    # Arithmetic.

    def binary(self) -> None:
        operation, types, result = self.form(BinaryOp)
        self.emit(result, op.Binary(operation, *self.operands(operation, types)))

    def unary(self) -> None:
        operation, types, result = self.form(UnaryOp)
        self.emit(result, op.Unary(operation, *self.operands(operation, types)))

    def intrinsic(self) -> None:
        operation, types, result = self.form(Intrinsic)
        self.emit(result, op.Intrinsic(operation, tuple(self.operands(operation, types))))

    def form(self, family: type) -> tuple:
        """An operation of a family at a random type, with its argument types and result."""
        scope = self.source.scope
        cell = self.rng.choice(cells(scope, family))
        return (cell[0], *self.rng.choice(forms(scope)[cell]))

    # Values and their parts.

    def read(self) -> None:
        self.new(self.source.any_type())

    def whole(self, fits: Callable[[Type], bool]) -> int | None:
        ids = [id for id in self.in_view() if fits(self.types[id])]
        return self.rng.choice(ids) if ids else None

    def extract(self) -> None:
        structs = self.source.structs
        id = self.whole(lambda ty: not ty.is_scalar)
        if id is None:
            return self.read()
        parts = part_types(structs, self.types[id])
        index = self.rng.randrange(len(parts))
        self.emit(parts[index], op.Extract(id, index))

    def subscript(self) -> None:
        id = self.whole(lambda ty: elements_of(self.source.structs, ty) is not None)
        if id is None or not self.may_hold(op.Subscript):
            return self.extract()
        found = elements_of(self.source.structs, self.types[id])
        assert found is not None
        self.emit(found[0], op.Subscript(id, self.value(I)))

    def part(self) -> None:
        """A part of an input's element, by a path of fields and indices."""
        source = self.source
        ports = [k for k, p in enumerate(source.manifest.inputs) if not p.element.is_scalar]
        if not ports or not self.may_hold(op.Part):
            return self.read()
        k = self.rng.choice(ports)
        port = source.manifest.inputs[k]
        ty, path = port.element, []
        while not ty.is_scalar and (not path or self.rng.random() < 0.7):
            parts, indexed = part_types(source.structs, ty), elements_of(source.structs, ty)
            if indexed is not None and self.rng.random() < 0.6:
                path.append(op.Step.Index(self.value(I)))
                ty = indexed[0]
            else:
                field = self.rng.randrange(len(parts))
                path.append(op.Step.Field(field))
                ty = parts[field]
        at = None
        own, anywhere = self.may_hold(op.Sample) and self.is_own(k), self.may_hold(op.At)
        if not own and not anywhere:
            return self.read()
        if anywhere and (not own or self.rng.random() < 0.6):
            at = self.value(index_type(port.shape))
        layout = part_layout(source.structs, port.element, path)
        assert layout is not None
        self.emit(layout.ty, op.Part(k, at, tuple(path)))

    # Control.

    def call(self) -> None:
        helpers = self.source.helpers
        fits = [
            k
            for k, h in enumerate(helpers)
            if self.callable(h) and self.cost + h.cost * self.times <= MAX_COST
        ]
        if not fits:
            return self.read()
        function = self.rng.choice(fits)
        args = tuple(self.value(ty) for ty in helpers[function].function.args)
        self.emit(helpers[function].result, op.Call(function, args))
        self.cost += helpers[function].cost * self.times

    def condition(self, ty: Type) -> int:
        """What a branch goes by: in a group, at times one that every lane agrees on."""
        if self.source.kind is ModeKind.GROUP and self.rng.random() < 0.5:
            return self.alike_value(ty)
        return self.value(ty)

    def arm(self, ty: Type, most: int) -> Block:
        self.open()
        if len(self.scopes) < MAX_NEST:
            self.statements(self.rng.randint(0, most))
        return self.close(self.recent(ty))

    def branch(self) -> None:
        ty = self.source.any_type()
        condition = self.condition(B)
        id = self.reserve(ty)
        outside = self.converged
        self.converged &= self.alike[condition]
        arms = [self.arm(ty, 4) for _ in range(2)]
        self.converged = outside
        self.place(id, op.If(condition, *arms))

    def match(self) -> None:
        if not self.may_hold(op.Match):
            return self.branch()
        ty, rng = self.source.any_type(), self.rng
        scrutinee = self.condition(I)
        if not self.alike[scrutinee] and rng.random() < 0.7:
            scrutinee = self.tame(scrutinee, 3)
        id = self.reserve(ty)
        outside = self.converged
        self.converged &= self.alike[scrutinee]
        values = rng.sample((-1, 0, 1, 2, 3, 7, 255, -(2**31), INT_MAX), rng.randint(0, 6))
        arms = []
        while values and len(arms) < 3:
            taken = rng.randint(1, min(3, len(values)))
            arms.append((tuple(values[:taken]), self.arm(ty, 3)))
            values = values[taken:]
        otherwise = self.arm(ty, 3)
        self.converged = outside
        self.place(id, op.Match(scrutinee, tuple(arms), otherwise))

    def enter_loop(self, ty: Type, trips: int) -> None:
        self.carried.append(ty)
        self.times *= trips

    def leave_loop(self, trips: int) -> None:
        self.carried.pop()
        self.positions.pop()
        self.times //= trips

    def loop(self) -> None:
        """A loop that ends early: by a small count, by a small bound, or by its test."""
        if len(self.scopes) > 4 or self.cost + 40 * self.times > MAX_COST:
            return self.binary()
        rng, ty = self.rng, self.source.any_type()
        init = self.value(ty)
        count, bound, test = rng.randint(1, 5), None, rng.random() < 0.3
        kind = rng.random()
        if kind < 0.4:
            small = self.constant(I, rng.randint(0, 5))
            bound = self.emit(I, op.Intrinsic(Intrinsic.MIN, (self.condition(I), small)))
            count = rng.choice((1, 3, 5, 1000, MAX_LOOP_COUNT, MAX_BUDGET))
            count = count if self.source.scope.fails else min(count, 5)
        elif not self.source.scope.fails:
            pass
        elif kind < 0.55:
            count, test = MAX_LOOP_COUNT, True
        elif self.source.manifest.budget < 3001 and kind < 0.65:
            # may run to the end of its budget, at which it looks at each iteration
            bound = self.constant(I, MAX_BUDGET)
            count, test = MAX_BUDGET, rng.random() < 0.3
        id = self.reserve(ty)
        outside = self.converged
        self.converged &= bound is None or self.alike[bound]
        self.positions.append(self.converged)
        self.enter_loop(ty, 3)
        until = self.small_test() if test else None
        self.open()
        if rng.random() < 0.6:
            self.emit(ty, op.Carried())
        self.statements(rng.randint(0, 5))
        body = self.close(self.recent(ty))
        self.leave_loop(3)
        self.converged = outside
        self.place(id, op.Loop(count, bound, init, until, body))

    def small_test(self) -> Block:
        """A test that holds from the fifth iteration on, and maybe sooner. Where the lanes of a
        group may differ in it, they are apart in the loop's body."""
        is_alike, self.converged = self.converged, False
        self.open()
        self.statements(self.rng.randint(0, 2))
        index = self.emit(I, op.Index())
        limit = self.constant(I, self.rng.randint(0, 4))
        done = self.emit(B, op.Binary(BinaryOp.GREATER_EQUAL, index, limit))
        if self.rng.random() < 0.5:
            done = self.emit(B, op.Binary(BinaryOp.OR, done, self.condition(B)))
        self.converged = is_alike and self.alike[done]
        self.positions[-1] = self.converged
        return self.close(done)

    def while_loop(self) -> None:
        """A while as rounds: a loop of the limit in a loop of the limit, one test in both."""
        counter = Type.struct(0)
        if (
            not self.source.scope.fails
            or not self.source.structs
            or self.source.structs[0].name != "Counter"
            or len(self.scopes) > 3
            or self.cost + 80 * self.times > MAX_COST
        ):
            return self.binary()
        payload = self.source.structs[0].fields[1].ty
        zero = self.constant(I, 0)
        init = self.emit(counter, op.Construct((zero, self.value(payload))))
        limit = self.rng.randint(0, 6)
        outside, self.converged = self.converged, False
        outer = self.reserve(counter)
        self.enter_loop(counter, 1)
        self.positions.append(False)
        outer_test = self.counter_test(counter, limit)
        self.open()
        start = self.emit(counter, op.Carried())
        inner = self.reserve(counter)
        self.enter_loop(counter, 4)
        self.positions.append(False)
        inner_test = self.counter_test(counter, limit)
        self.open()
        self.statements(self.rng.randint(0, 3))
        carried = self.emit(counter, op.Carried())
        n = self.emit(I, op.Extract(carried, 0))
        self.emit(payload, op.Extract(carried, 1))
        one = self.constant(I, 1)
        after = self.emit(I, op.Binary(BinaryOp.ADD, n, one))
        result = self.emit(counter, op.Construct((after, self.recent(payload))))
        body = self.close(result)
        self.leave_loop(4)
        self.place(inner, op.Loop(MAX_LOOP_COUNT, None, start, inner_test, body))
        self.leave_loop(1)
        rounds = self.close(inner)
        self.converged = outside
        self.place(outer, op.Loop(MAX_LOOP_COUNT, None, init, outer_test, rounds))

    def counter_test(self, counter: Type, limit: int) -> Block:
        self.open()
        carried = self.emit(counter, op.Carried())
        n = self.emit(I, op.Extract(carried, 0))
        most = self.constant(I, limit)
        return self.close(self.emit(B, op.Binary(BinaryOp.GREATER_EQUAL, n, most)))

    def update_loop(self) -> None:
        """A loop that carries an array and replaces one element at a time, as the frontend
        writes it: ``Each { Index == i ? v : Subscript(a, Index) }``."""
        structs = self.source.structs
        arrays = [Type.struct(k) for k, s in enumerate(structs) if s.is_array]
        if not arrays or len(self.scopes) > 3 or self.cost + 200 * self.times > MAX_COST:
            return self.subscript()
        array = self.rng.choice(arrays)
        found = elements_of(structs, array)
        assert found is not None
        element, count, _ = found
        init, trips = self.value(array), self.rng.randint(1, 4)
        id = self.reserve(array)
        self.positions.append(self.converged)
        self.enter_loop(array, trips)
        self.open()
        carried = self.emit(array, op.Carried())
        place, value = self.value(I), self.value(element)
        each = self.reserve(array)
        self.times *= count
        self.open()
        index = self.emit(I, op.Index())
        here = self.emit(B, op.Binary(BinaryOp.EQUAL, index, place))
        chosen = self.reserve(element)
        self.open()
        then = self.close(value)
        self.open()
        otherwise = self.close(self.emit(element, op.Subscript(carried, index)))
        self.place(chosen, op.If(here, then, otherwise))
        updated = self.close(chosen)
        self.times //= count
        self.place(each, op.Each(count, updated))
        body = self.close(each)
        self.leave_loop(trips)
        self.place(id, op.Loop(trips, None, init, None, body))

    # What a mode alone has.

    def write(self) -> None:
        """A write into a memory, or one more pair of a scatter."""
        source = self.source
        if source.memories() and self.may_hold(op.Put):
            k = self.rng.choice(source.memories())
            port = source.manifest.inputs[k]
            address, value = self.value(index_type(port.shape)), self.value(port.element)
            self.emit(port.element, op.Put(k, address, value))
        elif source.pair is not None and self.may_hold(op.Emit):
            self.emit(source.pair, op.Emit(self.value(source.pair)))
        else:
            self.binary()

    def exchange(self) -> None:
        """What another lane of the group gives, where every lane comes alike."""
        if not self.may_hold(op.Exchange) or not self.converged:
            return self.intrinsic()
        ty = self.source.any_type()
        self.emit(ty, op.Exchange(self.value(ty), self.value(I)))


def helper_size(rng: Random, size: int) -> int:
    """How many statements a helper has beside an entry of ``size``."""
    return rng.randint(1, max(1, size // 4))
