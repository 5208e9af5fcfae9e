"""The transforms of the Kernel IR leave words and faults as they are.

In: a random generator. Out: for each transform, what became of one random module (or pair of
modules) under it: ``same``, ``refused: <reason>``, or an AssertionError that says what changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from dynamis.kernel import (
    InputField,
    Module,
    Outcome,
    Validated,
    account,
    interpret,
    op,
    validate,
)
from dynamis.kernel.fuse import fuse, fuse_indexed, fuse_outputs
from dynamis.kernel.fuse_parts import FuseError
from dynamis.kernel.lanes import lanes
from dynamis.kernel.manifest import PortType
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.optimize import optimize
from dynamis.kernel.types import Value
from tests.kernel.random_data import Run
from tests.kernel.strategies import TOTAL, WHOLE, Wire, random_module, random_run

MOST = 8
"""The most rows of the domains that are run."""
SIZE = 24
"""Statements of each of two modules that are fused."""


def ran(module: Validated, run: Run) -> Outcome:
    """What the reference interpreter makes of a run."""
    return interpret(module, run.inputs, run.params, run.extent, context=run.context)


def hold_same(before: Outcome, after: Outcome, what: str, numbered: bool) -> None:
    """That two runs gave the same words, or the same fault; ``numbered``: at instructions of the
    same number, too."""
    assert repr(before.outputs) == repr(after.outputs), f"{what}: {before} became {after}"
    old, new = before.fault, after.fault
    assert (old is None) == (new is None), f"{what}: {old} became {new}"
    if old is None or new is None:
        return
    if not numbered:
        old = replace(old, function=new.function, instruction=new.instruction)
    assert repr(old) == repr(new), f"{what}: {old} became {new}"


def _one(transform: Callable[[Module], Module], numbered: bool) -> Callable[[Random], str]:
    """Holds a transform of single modules."""

    def held(rng: Random) -> str:
        module = random_module(rng, 40)
        run = random_run(rng, module, MOST)
        before = ran(validate(module), run)
        after = ran(validate(transform(module)), run)
        hold_same(before, after, getattr(transform, "__name__", "?"), numbered)
        return "same"

    return held


def _laned(module: Module) -> Module:
    return lanes(account(module))


# Fusing.

SAMPLING = (op.At, op.AtLinear, op.Count, op.Size)
INDEXING = (op.AtLinear,)


def _chain(rng: Random, without: tuple[type[op.Op], ...]) -> tuple[Module, Module, int] | None:
    """A producer and a consumer, of which at most one can fail, and the input between them; None
    where the consumer drawn has no input that could be it."""
    failing = rng.random() < 0.5
    consumer = random_module(rng, SIZE, TOTAL.without(*without))
    manifest = consumer.manifest
    if manifest.mode.kind is ModeKind.GROUP:
        return None
    own = len(manifest.inputs) - len(manifest.memories)
    fits = [
        k
        for k, port in enumerate(manifest.inputs[:own])
        if port.shape is manifest.domain and port.ty.encoding is None and k != manifest.mode.base
    ]
    if not fits:
        return None
    input = rng.choice(fits)
    element = manifest.inputs[input].element
    wire = Wire(PortType(element, manifest.domain), consumer.structs)
    producer = random_module(rng, SIZE, replace(TOTAL, fails=failing), wire)
    return producer, consumer, input


def _fused(
    fuser: Callable[..., Module], without: tuple[type[op.Op], ...]
) -> Callable[[Random], str]:
    """Holds a fusion of a producer into a consumer."""

    def held(rng: Random) -> str:
        chain = _chain(rng, without)
        while chain is None:
            chain = _chain(rng, without)
        producer, consumer, input = chain
        try:
            made = fuser(producer, consumer, input, same_domain=True)
        except FuseError as error:
            return _refused(error)
        first = random_run(rng, producer, MOST, sized=True)
        second = random_run(rng, consumer, MOST)
        middle = ran(validate(producer), first)
        inputs = list(second.inputs)
        if consumer.manifest.mode.kind is not ModeKind.MAP and input != 0:
            return "refused: sized by another input"
        if middle.outputs is not None:
            inputs[input] = InputField(first.extent, middle.outputs[0])
            data = replace(second, inputs=tuple(inputs), extent=first.extent, context=first.context)
            middle = ran(validate(consumer), data)
        del inputs[input]
        after = ran(validate(made), _joined(made, (*first.inputs, *inputs), first, second))
        hold_same(middle, after, fuser.__name__, False)
        return "same"

    return held


def _outputs(rng: Random) -> str:
    """Holds ``fuse_outputs`` of two maps over one domain."""
    a = random_module(rng, SIZE, replace(TOTAL, modes=(ModeKind.MAP,)))
    scope = replace(WHOLE if rng.random() < 0.1 else TOTAL, modes=(ModeKind.MAP,))
    b = random_module(rng, SIZE, replace(scope, shapes=(a.manifest.domain,)))
    try:
        made = fuse_outputs(a, b)
    except FuseError as error:
        return _refused(error)
    first, second = random_run(rng, a, MOST), random_run(rng, b, MOST)
    second = replace(second, extent=first.extent, context=first.context)
    left, right = ran(validate(a), first), ran(validate(b), second)
    after = ran(validate(made), _joined(made, first.inputs + second.inputs, first, second))
    if left.outputs is None or right.outputs is None:
        hold_same(left if left.outputs is None else right, after, "fuse_outputs", False)
    else:
        hold_same(Outcome(left.outputs + right.outputs, None), after, "fuse_outputs", False)
    return "same"


def _joined(made: Module, inputs: tuple[InputField, ...], first: Run, second: Run) -> Run:
    """The data of two runs for the one kernel made of both; its structs have their own numbers."""
    values = first.params + second.params
    pairs = zip(made.manifest.params, values, strict=True)
    params = tuple(Value(param.ty, value.words) for param, value in pairs)
    return Run(inputs, params, first.extent, first.context)


def _refused(error: FuseError) -> str:
    assert str(error), "a fusion that cannot be done says why"
    return f"refused: {error.reason.name.lower()}"


TRANSFORMS: dict[str, Callable[[Random], str]] = {
    "optimize": _one(optimize, False),
    "account": _one(account, True),
    "lanes": _one(_laned, False),
    "fuse": _fused(fuse, SAMPLING),
    "fuse_indexed": _fused(fuse_indexed, INDEXING),
    "fuse_outputs": _outputs,
}
"""Each transform, and what holds it against one random case."""
