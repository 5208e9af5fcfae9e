"""Checks the manifest of a module: rules 5 to 10 and 49 to 59 of ``validate.py``, as far as they
are of the manifest alone.

In: the manifest and the checked struct table. Out: nothing; or a ``ValidationError``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .check_structs import Structs
from .limits import MAX_BUDGET, MAX_GROUP
from .manifest import Manifest, Port, Shape
from .mode import MODES, ModeKind
from .types import Type
from .violation import require, require_identifier

_ONE_RESULT = (ModeKind.REDUCE, ModeKind.SCAN, ModeKind.PREFIX, ModeKind.SCATTER)
_ROWS_RESULT = (ModeKind.REDUCE, ModeKind.SCAN, ModeKind.PREFIX)
_ROWS_INPUT = (ModeKind.SCAN, ModeKind.PREFIX)


def check_manifest(manifest: Manifest, structs: Structs) -> None:
    _check_names(manifest)
    for kind, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        for k, port in enumerate(ports):
            _check_port(port, f"manifest.{kind}.{k}.ty", structs)
    for k, param in enumerate(manifest.params):
        path = f"manifest.params.{k}"
        _check_type(param.ty, f"{path}.ty", structs)
        require(param.default.ty == param.ty, 9, f"{path}.default", param.default.ty, str(param.ty))
        structs.check_value(9, f"{path}.default", param.default)
    limit = f"1 to {MAX_BUDGET}"
    require(1 <= manifest.budget <= MAX_BUDGET, 10, "manifest.budget", manifest.budget, limit)
    _check_mode_facts(manifest)
    _check_memories(manifest)
    _check_domain(manifest)
    _check_combine(manifest, structs)


def _check_names(manifest: Manifest) -> None:
    names: set[str] = set()
    takes = [("inputs", k, p.name) for k, p in enumerate(manifest.inputs)]
    takes += [("params", k, p.name) for k, p in enumerate(manifest.params)]
    for kind, k, name in takes:
        require_identifier(5, f"manifest.{kind}.{k}.name", name, names)
    names = set()
    for k, port in enumerate(manifest.outputs):
        require_identifier(6, f"manifest.outputs.{k}.name", port.name, names)


def _check_port(port: Port, path: str, structs: Structs) -> None:
    _check_type(port.element, path, structs)
    encoding = port.ty.encoding
    if encoding is not None:
        scalars = structs.scalars(port.element)
        require(scalars == {encoding.word}, 49, path, encoding.value, "an encoding of its words")


def _check_type(ty: Type, path: str, structs: Structs) -> None:
    require(structs.known(ty), 8, path, ty, "a type that exists")


def _check_mode_facts(manifest: Manifest) -> None:
    mode, path = manifest.mode, "manifest.mode"
    row = MODES[mode.kind]
    facts = (mode.base is not None, mode.combine is not None, mode.size is not None)
    expected = (row.has_base, row.has_combine, row.has_size)
    require(facts == expected, 50, path, facts, f"{expected}, what a {mode.kind.value} has")
    if mode.size is not None:
        limit = f"a group of 1 to {MAX_GROUP}"
        require(1 <= mode.size <= MAX_GROUP, 50, path, mode.size, limit)
    if mode.base is not None:
        limit = f"the number of one of {len(manifest.inputs)} inputs"
        require(0 <= mode.base < len(manifest.inputs), 50, path, mode.base, limit)


def _check_memories(manifest: Manifest) -> None:
    count, path = len(manifest.memories), "manifest.memories"
    if count == 0:
        return
    scan = manifest.mode.kind is ModeKind.SCAN
    require(scan, 57, path, manifest.mode.name, "a scan, the mode that has memories")
    fits = count <= min(len(manifest.inputs), len(manifest.outputs))
    require(fits, 57, path, count, "at most as many as inputs and outputs")
    for k, name in enumerate(manifest.memories):
        taken = manifest.inputs[len(manifest.inputs) - count + k]
        given = manifest.outputs[len(manifest.outputs) - count + k]
        ports: Sequence[tuple[str, Port]] = (("inputs", taken), ("outputs", given))
        for kind, port in ports:
            require(port.name == name, 57, f"{path}.{k}", name, f"{port.name}, as in {kind}")
        require(taken.ty == given.ty, 57, f"{path}.{k}", taken.ty.shape.value, "one type in both")


def _check_domain(manifest: Manifest) -> None:
    kind, results = manifest.mode.kind, manifest.results
    require(len(results) > 0, 51, "manifest.outputs", "none", "at least one that is no memory")
    if kind in _ONE_RESULT:
        one = f"one that is no memory, of a {kind.value}"
        require(len(results) == 1, 51, "manifest.outputs", len(results), one)
    first = results[0].shape
    for k, port in enumerate(results):
        path = f"manifest.outputs.{k}.ty"
        require(port.shape is first, 7, path, port.shape.value, first.value)
    if kind in _ROWS_RESULT:
        require(first is Shape.ROWS, 52, "manifest.outputs.0.ty", first.value, Shape.ROWS.value)
    if kind in (ModeKind.MAP, ModeKind.GROUP):
        return
    given = len(manifest.inputs) - len(manifest.memories)
    require(given > 0, 53, "manifest.inputs", "none", f"an input that a {kind.value} runs over")
    if kind in _ROWS_INPUT:
        shape = manifest.inputs[0].shape
        require(shape is Shape.ROWS, 53, "manifest.inputs.0.ty", shape.value, Shape.ROWS.value)


def _check_combine(manifest: Manifest, structs: Structs) -> None:
    mode = manifest.mode
    if mode.combine is None:
        return
    port, path = manifest.results[0], "manifest.outputs.0.ty"
    if mode.base is not None:
        base = manifest.inputs[mode.base].ty
        require(port.ty == base, 54, path, port.ty.shape.value, f"the type of input {mode.base}")
    takes = mode.combine.takes_words(structs.scalars(port.element))
    require(takes, 55, path, "Bools", f"words that {mode.combine.value} takes")
    if mode.kind is ModeKind.PREFIX:
        free = mode.combine.order_free_words(structs.scalars(port.element))
        require(free, 55, "manifest.mode", mode.combine.value, "an order-free rule")
