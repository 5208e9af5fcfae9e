"""Random valid modules, and random data to run them on.

``random_module(rng, size)`` makes a module that validates: every operation, type and nesting of the
Kernel IR, helpers, records and loops; about ``size`` statements in its entry. Its loops are short
when it runs, whatever their written counts. Most of its elements do not fail: integer arithmetic is
mostly kept small, divisors mostly not zero, budgets mostly wide. ``random_run(rng, module)`` makes
inputs, parameters and an extent for it. ``modules()`` and ``runs()`` are the same as Hypothesis
strategies; an example shrinks in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from hypothesis import strategies as st

from dynamis.kernel import op
from dynamis.kernel.arithmetic import TABLE
from dynamis.kernel.interpret import InputField
from dynamis.kernel.module import (
    DEFAULT_BUDGET,
    MAX_BUDGET,
    MAX_LOOP_COUNT,
    Block,
    Capabilities,
    Capability,
    Function,
    Instruction,
    KernelId,
    Manifest,
    Mode,
    Module,
    Param,
    Port,
    PortType,
    Shape,
    Span,
    capability_of,
    index_type,
)
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Field, Numeric, StructDef, Type, Value, float_bits
from dynamis.kernel.types import bits_float as float_of_bits

PLAIN = tuple(
    ty
    for ty in PLAIN_TYPES.values()
    if ty.component not in (Type.DOUBLE, Type.LONG) and not ty.is_matrix
)
INTRINSICS = tuple(i for i in Intrinsic if i in TABLE)
F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
INT_MIN, INT_MAX = -(2**31), 2**31 - 1

FLOAT_EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 3.0, -7.25, 1e-45, -1e-45, 1.1754944e-38, 1e-38,
    16777216.0, 16777217.0, -2147483648.0, 2147483648.0, 3.4028235e38, -3.4028235e38,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
INT_EDGES = (0, 1, -1, 2, 3, -5, 7, 31, 32, 33, 255, 65536, INT_MAX, INT_MIN, INT_MAX - 1)

BINARY_FORMS = {
    o: [(a, b, r) for a, b in product(PLAIN, PLAIN) if (r := o.result_type(a, b)) is not None]
    for o in BinaryOp
}
UNARY_FORMS = {o: [(a, r) for a in PLAIN if (r := o.result_type(a)) is not None] for o in UnaryOp}
INTRINSIC_FORMS = {
    i: [
        (args, r)
        for args in product(PLAIN, repeat=len(i.argument_names))
        if (r := i.result_type(args)) is not None
    ]
    for i in INTRINSICS
}
OVERFLOWS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)
DIVIDES = (BinaryOp.DIV, BinaryOp.REM, Intrinsic.UDIV, Intrinsic.UREM)

MAX_COST = 6000
"""About the most instructions that one element of a random module executes."""
UNTAMED = 0.25
"""How often integer arithmetic takes operands as they come."""


@dataclass(frozen=True)
class Run:
    """What ``interpret`` takes beside the module."""

    inputs: tuple[InputField, ...]
    params: tuple[Value, ...]
    extent: tuple[int, ...]


def random_number(rng: Random, ty: Type) -> Numeric:
    """A number of a scalar type: mostly moderate, at times an edge value."""
    if ty == B:
        return rng.random() < 0.5
    if ty == I:
        return rng.choice(INT_EDGES) if rng.random() < 0.25 else rng.randint(-20, 100)
    edge = rng.random() < 0.25
    x = rng.choice(FLOAT_EDGES) if edge else rng.choice((rng.uniform(-9, 9), rng.gauss(0, 1e3)))
    return float_of_bits(float_bits(x))


def random_value(rng: Random, ty: Type) -> Value:
    """A value of a plain type."""
    return Value.of(ty, [random_number(rng, ty.component) for _ in range(ty.lanes)])


def random_run(rng: Random, module: Module) -> Run:
    """Inputs, parameters and an extent of up to some dozens of elements."""

    def extent_of(shape: Shape) -> tuple[int, ...]:
        return (
            (rng.randint(1, 40),) if shape is Shape.ROWS else (rng.randint(1, 5), rng.randint(1, 9))
        )

    manifest = module.manifest
    domain = manifest.outputs[0].shape
    extent = extent_of(domain)
    inputs = []
    for port in manifest.inputs:
        same = port.shape is domain and rng.random() < 0.6
        own = extent if same else extent_of(port.shape)
        count = own[0] * (own[1] if len(own) == 2 else 1)
        numbers = [
            random_number(rng, port.element.component) for _ in range(count * port.element.lanes)
        ]
        inputs.append(InputField(own, numbers))
    params = tuple(
        p.default if rng.random() < 0.5 else random_value(rng, p.ty) for p in manifest.params
    )
    return Run(tuple(inputs), params, extent)


def random_module(rng: Random, size: int = 40) -> Module:
    """A valid module of about ``size`` statements (and up to three helpers of fewer)."""
    structs = _random_structs(rng)
    domain = rng.choice((Shape.ROWS, Shape.GRID))
    inputs = tuple(
        Port(
            f"in{k}",
            PortType(
                rng.choice(PLAIN),
                domain if rng.random() < 0.6 else rng.choice((Shape.ROWS, Shape.GRID)),
            ),
        )
        for k in range(rng.randint(0, 3))
    )
    params = []
    for k in range(rng.randint(0, 3)):
        ty = rng.choice(PLAIN)
        params.append(Param(f"p{k}", ty, random_value(rng, ty)))
    outputs = tuple(
        Port(f"out{k}", PortType(rng.choice(PLAIN), domain)) for k in range(rng.randint(1, 3))
    )
    budget = DEFAULT_BUDGET
    if rng.random() < 0.35:
        budget = rng.choice(
            (rng.randint(1, 30), rng.randint(1, 30), rng.randint(99, 3000), MAX_BUDGET)
        )
    manifest = Manifest(
        KernelId("random.kernel", rng.randint(0, 9)), Mode.MAP, Capabilities(), inputs,
        tuple(params), outputs, budget=budget,
    )  # fmt: skip
    source = _Source(rng, structs, manifest)
    for k in range(rng.choice((0, 0, 1, 2, 3))):
        args = tuple(source.any_type() for _ in range(rng.randint(0, 3)))
        helper = _Body(source, args, is_entry=False)
        helper.statements(rng.randint(1, max(1, size // 4)))
        source.add(helper, helper.finish(f"helper{k}", [source.any_type()]))
    entry = _Body(source, (), is_entry=True)
    entry.statements(rng.randint(max(1, size // 2), size))
    function = entry.finish("entry", [port.element for port in outputs])
    functions = (*source.functions, function)
    used = {capability_of(i.op) for f in functions for i in f.instructions()} - {None}
    requires = Capabilities(Capability if rng.random() < 0.1 else (c for c in used if c))
    manifest = Manifest(
        manifest.id, manifest.mode, requires, inputs, tuple(params), outputs, budget=budget
    )
    return Module(manifest, structs, tuple(source.functions), function)


def _random_structs(rng: Random) -> tuple[StructDef, ...]:
    """None to four records; the first is what a while loop of these modules carries."""
    structs: list[StructDef] = []
    if rng.random() < 0.7:
        structs.append(StructDef("Counter", (Field("n", I), Field("x", rng.choice(PLAIN)))))
    for k in range(rng.choice((0, 0, 1, 2, 3))):
        choices = (*PLAIN, *(Type.struct(i) for i in range(len(structs))))
        fields = tuple(Field(f"f{j}", rng.choice(choices)) for j in range(rng.randint(1, 3)))
        structs.append(StructDef(f"Record{k}", fields))
    return tuple(structs)


class _Source:
    """What the functions of one module share."""

    def __init__(self, rng: Random, structs: Sequence[StructDef], manifest: Manifest):
        self.rng = rng
        self.structs = structs
        self.manifest = manifest
        self.domain = manifest.outputs[0].shape
        self.functions: list[Function] = []
        self.results: list[Type] = []
        self.costs: list[int] = []
        self.spans = rng.random() < 0.5

    def add(self, body: _Body, function: Function) -> None:
        self.functions.append(function)
        self.results.append(body.types[function.results[0]])
        self.costs.append(body.cost)

    def any_type(self) -> Type:
        if self.structs and self.rng.random() < 0.2:
            return Type.struct(self.rng.randrange(len(self.structs)))
        return self.rng.choice(PLAIN)

    def fields(self, ty: Type) -> list[Type]:
        """The types of the parts of a vector or a record; none of a scalar."""
        if ty.is_struct:
            return [f.ty for f in self.structs[ty.index].fields]
        return [ty.component] * ty.lanes if ty.is_vector else []


class _Body:
    """One function being made. Ids are given in pre-order; ``scopes`` hold the values in view."""

    def __init__(self, source: _Source, args: tuple[Type, ...], is_entry: bool):
        self.source = source
        self.rng = source.rng
        self.args = args
        self.is_entry = is_entry
        self.types: list[Type] = []
        self.scopes: list[list[int]] = [[]]
        self.blocks: list[list[Instruction]] = [[]]
        self.carried: list[Type] = []
        self.times = 1
        self.cost = 0

    def finish(self, name: str, results: Sequence[Type]) -> Function:
        ids = tuple(self.recent(ty) for ty in results)
        bound = self.rng.sample(
            range(len(self.types)), self.rng.randint(0, min(3, len(self.types)))
        )
        bindings = tuple((id, f"name{id}") for id in bound)
        return Function(name, self.args, tuple(self.blocks[0]), ids, bindings)

    # Instructions and blocks.

    def reserve(self, ty: Type) -> int:
        self.types.append(ty)
        self.cost += self.times
        return len(self.types) - 1

    def place(self, id: int, operation: op.Op) -> int:
        span = Span("random.py", id + 1, 4, 9) if self.source.spans else None
        self.blocks[-1].append(Instruction(id, self.types[id], operation, span))
        self.scopes[-1].append(id)
        return id

    def emit(self, ty: Type, operation: op.Op) -> int:
        return self.place(self.reserve(ty), operation)

    def open(self) -> None:
        self.scopes.append([])
        self.blocks.append([])

    def close(self, result: int) -> Block:
        self.scopes.pop()
        return Block(tuple(self.blocks.pop()), result)

    # Values.

    def visible(self, ty: Type) -> list[int]:
        return [id for scope in self.scopes for id in scope if self.types[id] == ty]

    def recent(self, ty: Type) -> int:
        """A value of ``ty``, the newer the likelier."""
        ids = self.visible(ty)
        if not ids:
            return self.new(ty)
        return self.rng.choice(ids[-3:])

    def value(self, ty: Type) -> int:
        """A value of ``ty``: mostly one there is."""
        ids = self.visible(ty)
        if not ids or self.rng.random() < 0.15:
            return self.new(ty)
        return self.rng.choice(ids[-6:] if self.rng.random() < 0.7 else ids)

    def new(self, ty: Type) -> int:
        """A new value of ``ty`` from outside the function, or built of parts, or a constant."""
        manifest = self.source.manifest
        choices: list[op.Op] = [op.Arg(k) for k, a in enumerate(self.args) if a == ty]
        choices += [op.Param(k) for k, p in enumerate(manifest.params) if p.ty == ty]
        if self.carried:
            choices += [op.Carried()] * (self.carried[-1] == ty)
            choices += [op.Index()] * (ty == I)
        if self.is_entry:
            choices += [op.Element()] * (ty == I)
            choices += [op.Domain()] * (ty == index_type(self.source.domain))
            choices += [op.Coord()] * 2 * (ty == Type.VEC2 and self.source.domain is Shape.GRID)
        for k, port in enumerate(manifest.inputs):
            choices += [op.Count(k)] * (ty == I)
            choices += [op.Size(k)] * (ty == index_type(port.shape))
            if port.element == ty:
                choices += [op.Sample(k)] * 2 * (self.is_entry and port.shape is self.source.domain)
                choices += [op.At(k, -1)] * 2
        if choices and self.rng.random() < 0.85:
            choice = self.rng.choice(choices)
            if isinstance(choice, op.At):
                port = manifest.inputs[choice.input]
                choice = op.At(choice.input, self.value(index_type(port.shape)))
            return self.emit(ty, choice)
        parts = self.source.fields(ty)
        if ty.is_struct or (parts and self.rng.random() < 0.4):
            return self.emit(ty, op.Construct(tuple(self.value(part) for part in parts)))
        return self.constant(ty, None)

    def constant(self, ty: Type, number: Numeric | None) -> int:
        value = random_value(self.rng, ty) if number is None else Value.of(ty, [number] * ty.lanes)
        return self.emit(ty, op.Const(value))

    def tame(self, id: int, mask: int) -> int:
        """An Int or IVec value brought into 0 … mask."""
        limit = self.constant(I, mask)
        return self.emit(self.types[id], op.Binary(BinaryOp.BIT_AND, id, limit))

    def nonzero(self, id: int) -> int:
        one = self.constant(I, 1)
        return self.emit(self.types[id], op.Binary(BinaryOp.BIT_OR, self.tame(id, 15), one))

    def operands(self, operation: object, types: Sequence[Type]) -> list[int]:
        """Values for an operation's operands, integers mostly such that it does not fail."""
        ids = [self.value(ty) for ty in types]
        if types[0].component != I or self.rng.random() < UNTAMED:
            return ids
        if operation in OVERFLOWS:
            return [self.tame(id, self.rng.choice((255, 4095, 32767, INT_MAX))) for id in ids]
        if operation in DIVIDES:
            return [ids[0], self.nonzero(ids[1])]
        if operation in (UnaryOp.NEG, Intrinsic.ABS):
            return [self.tame(ids[0], INT_MAX)]
        return ids

    # Statements.

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        kinds = (
            (self.binary, 24), (self.unary, 3), (self.intrinsic, 30), (self.read, 16),
            (self.extract, 6), (self.branch, 5), (self.loop, 6), (self.while_loop, 2),
            (self.call, 4),
        )  # fmt: skip
        self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()

    def binary(self) -> None:
        operation = self.rng.choice(tuple(BinaryOp))
        a, b, result = self.rng.choice(BINARY_FORMS[operation])
        self.emit(result, op.Binary(operation, *self.operands(operation, (a, b))))

    def unary(self) -> None:
        operation = self.rng.choice(tuple(UnaryOp))
        a, result = self.rng.choice(UNARY_FORMS[operation])
        self.emit(result, op.Unary(operation, *self.operands(operation, (a,))))

    def intrinsic(self) -> None:
        intrinsic = self.rng.choice(INTRINSICS)
        types, result = self.rng.choice(INTRINSIC_FORMS[intrinsic])
        self.emit(result, op.Intrinsic(intrinsic, tuple(self.operands(intrinsic, types))))

    def read(self) -> None:
        self.new(self.source.any_type())

    def extract(self) -> None:
        ids = [id for scope in self.scopes for id in scope if not self.types[id].is_scalar]
        if not ids:
            return self.read()
        id = self.rng.choice(ids)
        parts = self.source.fields(self.types[id])
        index = self.rng.randrange(len(parts))
        self.emit(parts[index], op.Extract(id, index))

    def call(self) -> None:
        source = self.source
        fits = [k for k, c in enumerate(source.costs) if self.cost + c * self.times <= MAX_COST]
        if not fits:
            return self.read()
        function = self.rng.choice(fits)
        args = tuple(self.value(ty) for ty in source.functions[function].args)
        self.emit(source.results[function], op.Call(function, args))
        self.cost += source.costs[function] * self.times

    def branch(self) -> None:
        ty = self.source.any_type()
        condition = self.value(B)
        id = self.reserve(ty)
        arms = []
        for _ in range(2):
            self.open()
            if len(self.scopes) < 6:
                self.statements(self.rng.randint(0, 4))
            arms.append(self.close(self.recent(ty)))
        self.place(id, op.If(condition, *arms))

    def enter_loop(self, ty: Type, trips: int) -> None:
        self.carried.append(ty)
        self.times *= trips

    def leave_loop(self, trips: int) -> None:
        self.carried.pop()
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
            bound = self.emit(I, op.Intrinsic(Intrinsic.MIN, (self.value(I), small)))
            count = rng.choice((1, 3, 5, 1000, MAX_LOOP_COUNT, MAX_BUDGET))
        elif kind < 0.55:
            count, test = MAX_LOOP_COUNT, True
        elif self.source.manifest.budget < 3001 and kind < 0.6:
            count, test = MAX_LOOP_COUNT, rng.random() < 0.5  # may run to the end of its budget
        id = self.reserve(ty)
        self.enter_loop(ty, 3)
        until = self.small_test() if test else None
        self.open()
        self.statements(rng.randint(0, 5))
        body = self.close(self.recent(ty))
        self.leave_loop(3)
        self.place(id, op.Loop(count, bound, init, until, body))

    def small_test(self) -> Block:
        """A test that holds from the fifth iteration on, and maybe sooner."""
        self.open()
        self.statements(self.rng.randint(0, 2))
        index = self.emit(I, op.Index())
        limit = self.constant(I, self.rng.randint(0, 4))
        done = self.emit(B, op.Binary(BinaryOp.GREATER_EQUAL, index, limit))
        if self.rng.random() < 0.5:
            done = self.emit(B, op.Binary(BinaryOp.OR, done, self.value(B)))
        return self.close(done)

    def while_loop(self) -> None:
        """A while as rounds: a loop of the limit in a loop of the limit, one test in both."""
        counter = Type.struct(0)
        if (
            not self.source.structs
            or self.source.structs[0].name != "Counter"
            or len(self.scopes) > 3
            or self.cost + 80 * self.times > MAX_COST
        ):
            return self.binary()
        payload = self.source.structs[0].fields[1].ty
        zero = self.constant(I, 0)
        init = self.emit(counter, op.Construct((zero, self.value(payload))))
        limit = self.rng.randint(0, 6)
        outer = self.reserve(counter)
        self.enter_loop(counter, 1)
        outer_test = self.counter_test(counter, limit)
        self.open()
        start = self.emit(counter, op.Carried())
        inner = self.reserve(counter)
        self.enter_loop(counter, 4)
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
        self.place(outer, op.Loop(MAX_LOOP_COUNT, None, init, outer_test, rounds))

    def counter_test(self, counter: Type, limit: int) -> Block:
        self.open()
        carried = self.emit(counter, op.Carried())
        n = self.emit(I, op.Extract(carried, 0))
        most = self.constant(I, limit)
        return self.close(self.emit(B, op.Binary(BinaryOp.GREATER_EQUAL, n, most)))


def modules(max_size: int = 40) -> st.SearchStrategy[Module]:
    """Valid modules; the random seed does not shrink, the size does."""
    return st.builds(
        lambda seed, size: random_module(Random(seed), size),
        st.integers(0, 2**32 - 1),
        st.integers(2, max_size),
    )


def runs(max_size: int = 40) -> st.SearchStrategy[tuple[Module, Run]]:
    """Valid modules, each with data to run it on."""

    def made(seed: int, size: int) -> tuple[Module, Run]:
        rng = Random(seed)
        module = random_module(rng, size)
        return module, random_run(rng, module)

    return st.builds(made, st.integers(0, 2**32 - 1), st.integers(2, max_size))
