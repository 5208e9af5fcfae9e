"""Random valid modules, and random data to run them on.

``random_module(rng, size)`` makes a module that validates: every operation, type, mode, encoding
and nesting of the Kernel IR, or those of a narrower ``Scope``; about ``size`` statements in its
entry. Its loops are short when it runs, whatever their written counts. Most of its elements do not
fail: integer arithmetic is mostly kept small, divisors mostly not zero, budgets mostly wide.
``random_run(rng, module)`` makes inputs, parameters and an extent for it. ``modules()`` and
``runs()`` are the same as Hypothesis strategies; an example shrinks in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from dynamis.kernel import op
from dynamis.kernel.capability import Capabilities, Capability
from dynamis.kernel.encoding import ENCODINGS, Encoding
from dynamis.kernel.limits import DEFAULT_BUDGET, MAX_BUDGET
from dynamis.kernel.manifest import KernelId, Manifest, Param, Port, PortType, Shape, index_type
from dynamis.kernel.mode import Combine, Mode, ModeKind
from dynamis.kernel.module import Function, Module, capability_of
from dynamis.kernel.op_table import OPS, Role
from dynamis.kernel.types import Field, StructDef, Type, type_name, word_types
from tests.kernel.random_body import Helper, I, Source
from tests.kernel.random_data import Run, random_run, random_value
from tests.kernel.random_statements import Statements, helper_size
from tests.kernel.scope import NATIVE, TOTAL, WHOLE, Scope

__all__ = [
    "NATIVE",
    "TOTAL",
    "WHOLE",
    "Run",
    "Scope",
    "Wire",
    "modules",
    "random_module",
    "random_run",
    "runs",
]


@dataclass(frozen=True)
class Wire:
    """What leads from one kernel to another: the type of a port, and the structs it may be of."""

    ty: PortType
    structs: tuple[StructDef, ...]


GROUP_SIZES = (1, 2, 3, 4, 5, 8, 13)


def random_module(
    rng: Random, size: int = 40, scope: Scope = WHOLE, wire: Wire | None = None
) -> Module:
    """A valid module of about ``size`` statements (and up to three helpers of fewer). With
    ``wire``, it is a map with that one output, over that table of structs."""
    structs = _random_structs(rng, scope) if wire is None else wire.structs
    contract = _Contract(rng, scope, structs)
    manifest = contract.manifest() if wire is None else contract.producer(wire.ty)
    source = Source(rng, scope, structs, manifest)
    element = manifest.results[0].element if manifest.results else manifest.outputs[0].element
    results = [port.element for port in manifest.results]
    if source.kind is ModeKind.SCATTER:
        index = index_type(manifest.outputs[0].shape)
        fields = (Field("address", index), Field("value", element))
        structs = source.structs = (*structs, StructDef("Pair", fields))
        source.pair = Type.struct(len(structs) - 1)
        results = [source.pair]
    elif source.kind is ModeKind.SCAN:
        source.result = element
    for k in range(rng.choice((0, 0, 1, 2, 3))):
        _add_helper(source, k, size)
    entry = Statements(source, Role.ENTRY, ())
    entry.statements(rng.randint(max(1, size // 2), size))
    made = Module(manifest, structs, (), entry.finish("entry", results))
    if source.kind is ModeKind.REDUCE:
        made = replace(made, merge=_small(source, Role.MERGE, (element, element), size))
    if source.kind is ModeKind.SCAN:
        made = replace(made, init=_small(source, Role.INIT, (), size))
    made = replace(made, functions=tuple(helper.function for helper in source.helpers))
    used = {capability_of(i.op) for f in made.all_functions() for i in f.instructions()} - {None}
    requires = Capabilities(Capability if rng.random() < 0.1 else (c for c in used if c))
    return replace(made, manifest=replace(manifest, requires=requires))


def _add_helper(source: Source, k: int, size: int) -> None:
    args = tuple(source.any_type() for _ in range(source.rng.randint(0, 3)))
    body = Statements(source, Role.HELPER, args)
    for number, arg in enumerate(args):
        if source.rng.random() < 0.7:
            body.emit(arg, op.Arg(number))
    body.statements(helper_size(source.rng, size))
    ty = source.any_type()
    function = body.finish(f"helper{k}", [ty])
    roles = frozenset(Role)
    for instruction in function.instructions():
        roles &= OPS[type(instruction.op)].roles
        if isinstance(instruction.op, op.Call):
            roles &= source.helpers[instruction.op.function].roles
    source.helpers.append(Helper(function, ty, body.cost, roles))


def _small(source: Source, role: Role, args: tuple[Type, ...], size: int) -> Function:
    """A merge, which mostly reads both its arguments, or an init."""
    body = Statements(source, role, args)
    for ty in args:
        body.new(ty)
    body.statements(helper_size(source.rng, size))
    result = source.manifest.results[0].element
    return body.finish(role.value, [result])


def _random_structs(rng: Random, scope: Scope) -> tuple[StructDef, ...]:
    """None to six structs; the first is what a while loop of these modules carries."""
    structs: list[StructDef] = []
    if rng.random() < 0.7:
        fields = (Field("n", I), Field("x", rng.choice(scope.types)))
        structs.append(StructDef.record("Counter", fields))
    for k in range(rng.choice((0, 0, 1, 2, 3, 4, 5)) if scope.structured else rng.randint(0, 3)):
        choices = (*scope.types, *(Type.struct(i) for i in range(len(structs))))
        if scope.structured and rng.random() < 0.6:
            element = rng.choice(choices)
            made = StructDef.array(element, type_name(element, structs), rng.randint(1, 5))
            if all(made.name != other.name for other in structs):
                structs.append(made)
        else:
            fields = tuple(Field(f"f{j}", rng.choice(choices)) for j in range(rng.randint(1, 3)))
            structs.append(StructDef.record(f"Record{k}", fields))
    return tuple(structs)


class _Contract:
    """A manifest being made."""

    def __init__(self, rng: Random, scope: Scope, structs: Sequence[StructDef]):
        self.rng = rng
        self.scope = scope
        self.structs = structs

    def element(self) -> Type:
        if self.scope.structured and self.structs and self.rng.random() < 0.35:
            return Type.struct(self.rng.randrange(len(self.structs)))
        return self.rng.choice(self.scope.types)

    def words(self, element: Type) -> frozenset[Type]:
        """The scalar types that an element is made of."""
        return frozenset(word_types(self.structs, element))

    def port_type(self, shape: Shape, element: Type | None = None) -> PortType:
        element = self.element() if element is None else element
        fits = [e for e in Encoding if e.fits(element, self.structs)]
        fits = [e for e in fits if self.scope.fails or not ENCODINGS[e].fails]
        if not self.scope.structured or not fits or self.rng.random() < 0.6:
            return PortType(element, shape)
        return PortType(element, shape, self.rng.choice(fits))

    def shape(self, domain: Shape) -> Shape:
        return domain if self.rng.random() < 0.6 else self.rng.choice(self.scope.shapes)

    def producer(self, ty: PortType) -> Manifest:
        """The manifest of a map whose one output is of type ``ty``."""
        rng = self.rng
        taken = [self.port_type(self.shape(ty.shape)) for _ in range(rng.randint(0, 2))]
        inputs = tuple(Port(f"in{k}", port) for k, port in enumerate(taken))
        outputs = (Port("out0", ty),)
        id = KernelId("random.producer", 1)
        return Manifest(id, Mode.MAP, Capabilities(), inputs, self.params(), outputs)

    def params(self) -> tuple[Param, ...]:
        params = []
        for k in range(self.rng.randint(0, 3)):
            ty = self.element()
            params.append(Param(f"p{k}", ty, random_value(self.rng, ty, self.structs)))
        return tuple(params)

    def manifest(self) -> Manifest:
        rng = self.rng
        kind = rng.choice(self.scope.modes)
        domain = rng.choice(self.scope.shapes)
        if kind in (ModeKind.SCAN, ModeKind.PREFIX):
            domain = Shape.ROWS
        sized = kind not in (ModeKind.MAP, ModeKind.GROUP)
        inputs = [
            Port(f"in{k}", self.port_type(domain if sized and k == 0 else self.shape(domain)))
            for k in range(rng.randint(1 if sized else 0, 3))
        ]
        mode, outputs = self.mode(kind, domain, inputs)
        memories: list[Port] = []
        if kind is ModeKind.SCAN:
            memories = [
                Port(f"memory{k}", self.port_type(rng.choice(self.scope.shapes)))
                for k in range(rng.randint(0, 2))
            ]
        return Manifest(
            KernelId("random.kernel", rng.randint(0, 9)),
            mode,
            Capabilities(),
            (*inputs, *memories),
            self.params(),
            (*outputs, *memories),
            tuple(port.name for port in memories),
            self.budget(),
        )

    def mode(
        self, kind: ModeKind, domain: Shape, inputs: Sequence[Port]
    ) -> tuple[Mode, list[Port]]:
        """The mode, and the outputs that the entry's results go to."""
        rng = self.rng
        if kind in (ModeKind.MAP, ModeKind.GROUP):
            mode = Mode.MAP if kind is ModeKind.MAP else Mode.GROUP(rng.choice(GROUP_SIZES))
            ports = [Port(f"out{k}", self.port_type(domain)) for k in range(rng.randint(1, 3))]
            return mode, ports
        if kind is ModeKind.SCATTER:
            base = rng.randrange(len(inputs))
            element = inputs[base].element
            rules = [r for r in Combine if r.takes_words(self.words(element))]
            rule = rng.choice(rules if self.scope.fails else rules[rules[0] is Combine.SUM :])
            return Mode.SCATTER(base, rule), [Port("out0", inputs[base].ty)]
        if kind is ModeKind.PREFIX:
            rule = rng.choice((Combine.MIN, Combine.MAX, Combine.SUM)[: 2 + self.scope.fails])
            element = self.element()
            while not (
                rule.takes_words(self.words(element)) and rule.order_free(element, self.structs)
            ):
                element = self.element()
            return Mode.PREFIX(rule), [Port("out0", self.port_type(Shape.ROWS, element))]
        mode = Mode.REDUCE if kind is ModeKind.REDUCE else Mode.SCAN
        return mode, [Port("out0", self.port_type(Shape.ROWS))]

    def budget(self) -> int:
        rng = self.rng
        if rng.random() < 0.7 or not self.scope.fails:
            return DEFAULT_BUDGET
        return rng.choice(
            (rng.randint(1, 30), rng.randint(20, 300), rng.randint(99, 3000), MAX_BUDGET)
        )


def modules(max_size: int = 40, scope: Scope = WHOLE) -> st.SearchStrategy[Module]:
    """Valid modules; the random seed does not shrink, the size does."""
    return st.builds(
        lambda seed, size: random_module(Random(seed), size, scope),
        st.integers(0, 2**32 - 1),
        st.integers(2, max_size),
    )


def runs(max_size: int = 40, scope: Scope = WHOLE) -> st.SearchStrategy[tuple[Module, Run]]:
    """Valid modules, each with data to run it on."""

    def made(seed: int, size: int) -> tuple[Module, Run]:
        rng = Random(seed)
        module = random_module(rng, size, scope)
        return module, random_run(rng, module)

    return st.builds(made, st.integers(0, 2**32 - 1), st.integers(2, max_size))
