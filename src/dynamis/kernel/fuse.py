"""Fuses two kernels into one that does the work of both in one pass.

In: two valid modules, before their work checks are placed. Out: a valid module whose words and
failures are those of running the two; or a ``FuseError`` that says why there is none.

``fuse`` puts a producer, a map of one output, in place of an input of a consumer that only samples
it: the producer's entry runs first at each element. ``fuse_indexed`` also takes a consumer that
reads it ``at`` addresses: there the producer, then a helper, is computed again at the clamped
address. ``fuse_outputs`` makes one kernel that has the outputs of two maps.

Both parts must run over one domain. The parts' work must be sure to stay within their budgets, and
at most one part may hold something that can fail, so that it does not matter whose failure would
have come first. No part's value may change on the wire: none is encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import op as ops
from .fuse_parts import (
    FuseError,
    FuseReason,
    Transplant,
    check_failures,
    check_plain,
    check_work,
    distinct,
    finished,
    fused_name,
    joined_structs,
    sized_by,
)
from .fuse_wire import Wire, Writer, asks_extent, producer_helper
from .input_use import InputUse, input_use, names_of, samples_only
from .manifest import Manifest, Param, Port
from .mode import ModeKind
from .module import Capabilities, Function, Instruction, Module
from .optimize_facts import can_fail
from .renumber import renumbered_function

__all__ = ["FuseError", "FuseReason", "fuse", "fuse_indexed", "fuse_outputs", "fused_name"]


def fuse(producer: Module, consumer: Module, input: int, *, same_domain: bool = False) -> Module:
    """The consumer with the producer in place of its input ``input``, which it only samples.

    Inputs are the producer's, then the consumer's others; parameters likewise; a name of the
    producer's that clashes is renamed after its kernel (``image_blur_radius``). The input must be
    the one that sizes the consumer's domain, unless the caller vouches, with ``same_domain``, that
    every run of it has the producer's extent. Raises FuseError."""
    _check_wire(producer, consumer, input, same_domain)
    if not samples_only(consumer, input):
        use = input_use(consumer, input).name.lower()
        detail = f"its input {consumer.manifest.inputs[input].name} is {use}, not only sampled"
        raise FuseError(FuseReason.USE, producer, consumer, detail)
    return _wired(producer, consumer, input)


def fuse_indexed(
    producer: Module, consumer: Module, input: int, *, same_domain: bool = False
) -> Module:
    """``fuse``, of a consumer that may also read the input ``at`` addresses: the producer is
    computed again there, so it must not be able to fail. Raises FuseError."""
    _check_wire(producer, consumer, input, same_domain)
    name, use = consumer.manifest.inputs[input].name, input_use(consumer, input)
    if use is InputUse.LINEAR:
        detail = f"its input {name} is read between elements, at_linear"
        raise FuseError(FuseReason.USE, producer, consumer, detail)
    if use > InputUse.SAMPLED and can_fail(producer):
        detail = f"{producer.manifest.id} can fail, and would be computed again at other elements"
        raise FuseError(FuseReason.FAILURE, producer, consumer, detail)
    return _wired(producer, consumer, input)


def _check_wire(producer: Module, consumer: Module, input: int, same_domain: bool) -> None:
    """Raises FuseError for all that a wire asks of its ends."""

    def refuse(reason: FuseReason, detail: str) -> FuseError:
        return FuseError(reason, producer, consumer, detail)

    made, taken = producer.manifest, consumer.manifest
    if made.mode.kind is not ModeKind.MAP:
        raise refuse(FuseReason.MODE, f"{made.id} is a {made.mode.name}; a producer is a map")
    if taken.mode.kind is ModeKind.GROUP:
        raise refuse(FuseReason.MODE, "lanes of a group past the domain's end read clamped")
    if not 0 <= input < len(taken.inputs):
        raise refuse(FuseReason.USE, f"{taken.id} has no input {input}")
    if len(made.outputs) != 1:
        raise refuse(FuseReason.OUTPUTS, f"{made.id} has {len(made.outputs)}")
    port, result = taken.inputs[input], made.outputs[0]
    if port.name in taken.memories:
        raise refuse(FuseReason.MEMORY, f"{port.name} is a memory of {taken.id}")
    if taken.mode.base == input:
        raise refuse(FuseReason.USE, f"{port.name} is the base that {taken.id} scatters into")
    if port.ty.encoding is not None or result.ty.encoding is not None:
        raise refuse(FuseReason.ENCODING, f"{result.ty} to {port.ty}")
    _, moved = joined_structs(producer.structs, consumer.structs)
    element = Transplant(moved, (), 0, 0).type(port.element)
    if (result.element, result.shape) != (element, port.shape):
        raise refuse(FuseReason.TYPE, f"{result.ty} to {port.ty}")
    _check_domain(producer, consumer, input, same_domain)
    check_plain(producer, consumer)
    check_work(producer, consumer)
    check_failures(producer, consumer)


def _check_domain(producer: Module, consumer: Module, input: int, same_domain: bool) -> None:
    made, taken = producer.manifest, consumer.manifest
    if made.domain is not taken.domain:
        detail = f"{made.id} over a {made.domain.value}, {taken.id} over a {taken.domain.value}"
        raise FuseError(FuseReason.DOMAIN, producer, consumer, detail)
    sizing = sized_by(taken)
    if sizing != input and not same_domain:
        other = "its caller" if sizing is None else f"its input {taken.inputs[sizing].name}"
        detail = f"{taken.id} has the extent of {other}, not of {taken.inputs[input].name}"
        raise FuseError(FuseReason.DOMAIN, producer, consumer, detail)
    if taken.mode.kind is not ModeKind.MAP and sized_by(made) != 0:
        detail = f"a {taken.mode.name} runs over its first input, and {made.id} does not"
        raise FuseError(FuseReason.DOMAIN, producer, consumer, detail)


def _wired(producer: Module, consumer: Module, input: int) -> Module:
    """The consumer with the producer in place of an input, where that is known to fit."""
    made, taken = producer.manifest, consumer.manifest
    structs, moved = joined_structs(producer.structs, consumer.structs)
    extended = _extended(producer, consumer, input)
    indexed = input_use(consumer, input) > InputUse.SAMPLED
    own = Transplant(range(len(producer.structs)), range(len(made.inputs)), 0, 0)
    after = [k if k < input else k - 1 for k in range(len(taken.inputs))]
    inputs = [-1 if k == input else len(made.inputs) + place for k, place in enumerate(after)]
    helpers = len(producer.functions) + indexed
    theirs = Transplant(moved, inputs, len(made.params), helpers)
    shape, element = taken.inputs[input].shape, made.outputs[0].element
    helper = len(producer.functions) if indexed else None
    wire = Wire(input, shape, element, structs, helper, extended, theirs)
    functions = list(producer.functions)
    if indexed:
        functions.append(producer_helper(producer.entry, made.id.name, shape, own))
    for k, function in enumerate(consumer.functions):
        functions.append(_rewritten(wire, function, k in extended))
    entry = _joined_entry(wire, producer, consumer)
    merge, init = (
        None if f is None else _rewritten(wire, f, False) for f in (consumer.merge, consumer.init)
    )
    manifest = _wired_manifest(producer, consumer, input, theirs)
    fused = Module(manifest, structs, tuple(functions), entry, merge, init)
    return finished(producer, consumer, fused)


def _extended(producer: Module, consumer: Module, input: int) -> set[int]:
    """The consumer's helpers that need the domain's extent. Raises FuseError where merge or init
    does, which do not know it."""
    extended: set[int] = set()
    for k, function in enumerate(consumer.functions):
        if asks_extent(function, input, extended):
            extended.add(k)
    for name, part in (("merge", consumer.merge), ("init", consumer.init)):
        if part is not None and asks_extent(part, input, extended):
            detail = f"in {name}; extent_params makes counts and sizes parameters"
            raise FuseError(FuseReason.EXTENT, producer, consumer, detail)
    return extended


def _rewritten(wire: Wire, function: Function, is_extended: bool) -> Function:
    """A consumer's function other than the entry, reading the producer."""
    index = ops.Arg(len(function.args)) if is_extended else None
    made, body = wire.rewrite(function, Writer(), None, index)
    if is_extended:
        made = replace(made, args=(*made.args, wire.index))
    return renumbered_function(replace(made, body=tuple(body)))


def _joined_entry(wire: Wire, producer: Module, consumer: Module) -> Function:
    """The producer's entry, where something reads it at the current element or it could fail, then
    the consumer's."""
    writer = Writer(producer.entry.slot_count)
    first: Sequence[Instruction] = ()
    bindings: Sequence[tuple[ops.ValueId, str]] = ()
    own = None
    if any(map(wire.samples, consumer.entry.instructions())) or can_fail(producer):
        first, own = producer.entry.body, producer.entry.results[0]
        bindings = producer.entry.bindings
    made, body = wire.rewrite(consumer.entry, writer, own, ops.Domain())
    joined = replace(made, body=(*first, *body), bindings=(*bindings, *made.bindings))
    return renumbered_function(joined)


def _wired_manifest(producer: Module, consumer: Module, input: int, theirs: Transplant) -> Manifest:
    made, taken = producer.manifest, consumer.manifest
    others = [port for k, port in enumerate(taken.inputs) if k != input]
    used = names_of(others, taken.params)
    inputs, params = _renamed(made, used)
    mode = taken.mode
    if mode.base is not None:
        mode = replace(mode, base=theirs.inputs[mode.base])
    return replace(
        taken,
        id=fused_name(made.id, taken.id),
        mode=mode,
        requires=Capabilities(made.requires) | Capabilities(taken.requires),
        inputs=(*inputs, *(theirs.port(p, p.name) for p in others)),
        params=(*params, *(theirs.param(p, p.name) for p in taken.params)),
        outputs=tuple(theirs.port(p, p.name) for p in taken.outputs),
    )


def _renamed(manifest: Manifest, used: set[str]) -> tuple[list[Port], list[Param]]:
    """The inputs and parameters of a first part, those whose names are used renamed."""
    names = [p.name for p in manifest.inputs] + [p.name for p in manifest.params]
    left = iter(distinct(names, manifest.id, used))
    inputs = [replace(port, name=next(left)) for port in manifest.inputs]
    return inputs, [replace(param, name=next(left)) for param in manifest.params]


def fuse_outputs(a: Module, b: Module) -> Module:
    """One map with the outputs of the maps ``a`` and ``b``, ``a``'s first, over one domain: the
    caller runs it where both have one extent.

    Inputs and parameters are ``a``'s, then ``b``'s; a name of ``a``'s that clashes is
    renamed after its kernel. Raises FuseError."""
    for part in (a.manifest, b.manifest):
        if part.mode.kind is not ModeKind.MAP:
            detail = f"{part.id} is a {part.mode.name}; both are maps"
            raise FuseError(FuseReason.MODE, a, b, detail)
    first, second = a.manifest, b.manifest
    if first.domain is not second.domain:
        detail = f"{first.id} over a {first.domain.value}, {second.id} over a {second.domain.value}"
        raise FuseError(FuseReason.DOMAIN, a, b, detail)
    check_plain(a, b)
    check_work(a, b)
    check_failures(a, b)
    structs, moved = joined_structs(a.structs, b.structs)
    places = range(len(first.inputs), len(first.inputs) + len(second.inputs))
    theirs = Transplant(moved, places, len(first.params), len(a.functions))
    helpers = [theirs.function(function) for function in b.functions]
    writer = Writer(a.entry.slot_count)
    moved_entry = theirs.function(b.entry)
    body = writer.rewrite(moved_entry.body, lambda body, old, op: None)
    entry = replace(
        a.entry,
        body=(*a.entry.body, *body),
        results=(*a.entry.results, *(writer.at(id) for id in b.entry.results)),
        bindings=(*a.entry.bindings, *((writer.at(id), n) for id, n in b.entry.bindings)),
    )
    inputs, params = _renamed(first, names_of(second.inputs, second.params))
    used = {p.name for p in second.outputs}
    names = distinct([p.name for p in first.outputs], first.id, used)
    outputs = [replace(p, name=n) for p, n in zip(first.outputs, names, strict=True)]
    manifest = Manifest(
        id=fused_name(first.id, second.id),
        mode=first.mode,
        requires=Capabilities(first.requires) | Capabilities(second.requires),
        inputs=(*inputs, *(theirs.port(p, p.name) for p in second.inputs)),
        params=(*params, *(theirs.param(p, p.name) for p in second.params)),
        outputs=(*outputs, *(theirs.port(p, p.name) for p in second.outputs)),
    )
    fused = Module(manifest, structs, (*a.functions, *helpers), renumbered_function(entry))
    return finished(a, b, fused)
