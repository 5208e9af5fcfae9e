"""The reference interpreter: the definition of what a kernel computes, in plain Python.

In: a validated module, its inputs and parameters, the domain's extent, the host. Out: the words of
each output, or the first fault. Every backend is held against this, word for word and fault for
fault.

A value is a flat tuple of words: a Float or a Double as a Python float that its format holds
exactly, an Int or a Long as an int, a Bool as a bool. What leaves the interpreter has canonical
NaNs only, but for words that no store touched. The parts: ``arithmetic`` (what operations do to
words), ``codec`` (how ports store them), ``reads`` (where addresses lead), ``run`` (the state of a
run), ``steps`` (functions), ``fold`` and ``modes`` (how elements are driven).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import DynamisError
from .context import ContextSource, HostContext
from .fault import Fault
from .lanes import is_laned, lanes
from .manifest import Manifest, Shape
from .mode import ModeKind
from .modes import PARTIAL, Driver
from .module import Module
from .run import Failure, Run
from .types import Numeric, StructDef, Value, words
from .unlaned import unlaned
from .validate import Validated
from .work import account

MAX_ELEMENTS = 2**31 - 1
"""The most elements of a port or a domain: Element and Count are Ints."""
MAX_AXIS = 2**24
"""The longest axis of a Grid or a Volume: coordinates are Floats."""


class InvalidRun(DynamisError, ValueError):
    """Inputs, parameters or extent do not fit the kernel's manifest."""


@dataclass(frozen=True, slots=True)
class InputField:
    """An input's data: ``extent`` is (n,), (rows, columns) or (depth, height, width); ``words`` are
    flat, element by element, a Float exactly representable as f32.

    Of a port with an encoding, ``words`` are the stored ones (see ``codec.py``)."""

    extent: tuple[int, ...]
    words: Sequence[Numeric]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: for each output the stored words of the elements asked for, end to end (of a
    memory, all its words after the run), and no fault; or the fault, and no outputs."""

    outputs: tuple[list[Numeric], ...] | None
    fault: Fault | None


def interpret(
    validated: Validated,
    inputs: Sequence[InputField],
    params: Sequence[Value],
    extent: tuple[int, ...],
    elements: Sequence[int] | None = None,
    *,
    context: ContextSource | None = None,
    max_work: int | None = None,
) -> Outcome:
    """Runs the kernel; of a map or a group, only the elements with the given linear indices
    (default: all), in that order. A group runs whole.

    ``extent`` is the domain's: that of input 0 in a reduction, scan, scatter or prefix. ``context``
    is what the host tells (default: no host), sampled once. ``max_work`` bounds the run's work, in
    loop iterations counted by whole WORK_BLOCKs. The first element that fails ends the run.
    ``Fault.function`` and ``.instruction`` number the *accounted* module's. Inputs are not changed.

    Raises InvalidRun when inputs or parameters do not fit the manifest, an input without elements
    meets a run that has some (there is no element a clamped read could give), or a reduction has
    none."""
    module = _accounted(validated.module)
    _check(module.manifest, module.structs, inputs, params, extent, elements)
    chosen = range(math.prod(extent)) if elements is None else elements
    host = (HostContext() if context is None else context).sample()
    data = [(given.extent, given.words) for given in inputs]
    run = Run(module, data, params, extent, host, max_work)
    try:
        return Outcome(tuple(Driver(run).drive(chosen)), None)
    except Failure as failure:
        return Outcome(None, failure.at(run.number))


def _accounted(module: Module) -> Module:
    """The module with its work checks placed, inside its lanes where it has those."""
    bare = unlaned(module) if is_laned(module) and not module.accounted() else None
    return account(module) if bare is None else lanes(account(bare))


def _check(
    manifest: Manifest,
    structs: Sequence[StructDef],
    inputs: Sequence[InputField],
    params: Sequence[Value],
    extent: tuple[int, ...],
    elements: Sequence[int] | None,
) -> None:
    domain, kind = manifest.domain, manifest.mode.kind
    if len(extent) != domain.rank or min(extent) < 0:
        raise InvalidRun(f"the domain is a {domain.value}: {extent} is not an extent of it")
    _check_size("the domain", domain, extent)
    total = math.prod(extent)
    if elements is not None and kind not in PARTIAL:
        raise InvalidRun(f"a {kind.value} runs all its elements or none")
    if elements and not 0 <= min(elements) <= max(elements) < total:
        raise InvalidRun(f"an element outside the domain of extent {extent}")
    if len(inputs) != len(manifest.inputs) or len(params) != len(manifest.params):
        raise InvalidRun(
            f"{manifest.id} takes {len(manifest.inputs)} inputs and {len(manifest.params)} "
            f"parameters, not {len(inputs)} and {len(params)}"
        )
    runs = total > 0 if elements is None else len(elements) > 0
    for port, given in zip(manifest.inputs, inputs, strict=True):
        if len(given.extent) != port.shape.rank or min(given.extent) < 0:
            raise InvalidRun(f"input {port.name} is {port.ty}: {given.extent} is not its extent")
        _check_size(f"input {port.name}", port.shape, given.extent)
        size = math.prod(given.extent) * words(structs, port.element)
        if len(given.words) != size:
            raise InvalidRun(f"input {port.name} has {len(given.words)} words, not {size}")
        if size == 0 and runs:
            raise InvalidRun(f"input {port.name} has no elements, but the run has")
    if kind not in PARTIAL and inputs and inputs[0].extent != extent:
        raise InvalidRun(f"the domain of a {kind.value} is input {manifest.inputs[0].name}'s")
    if kind is ModeKind.REDUCE and not runs:
        raise InvalidRun("a reduction of no elements has no value")
    for param, value in zip(manifest.params, params, strict=True):
        if value.ty != param.ty or len(value.words) != words(structs, param.ty):
            raise InvalidRun(f"parameter {param.name} is of type {param.ty}, not {value.ty}")


def _check_size(what: str, shape: Shape, extent: tuple[int, ...]) -> None:
    if math.prod(extent) > MAX_ELEMENTS:
        raise InvalidRun(f"{what} has extent {extent}: past {MAX_ELEMENTS} elements")
    if shape is not Shape.ROWS and max(extent) > MAX_AXIS:
        raise InvalidRun(f"{what} has extent {extent}: past {MAX_AXIS} along an axis")
