"""Checks the record table and the manifest of a module: rules 1 to 10 of ``validate.py``.

In: the table and the manifest. Out: nothing of the manifest, of the table the size of each record;
or a ``ValidationError``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .module import MAX_BUDGET, MAX_TYPE_DEPTH, MAX_VALUE_PARTS, Manifest
from .types import StructDef, Type, Value, bits_float, float_bits
from .violation import is_dotted, is_plain, require


class Records:
    """The record table, checked: the fields of each record and its words, parts and depth."""

    def __init__(self, structs: Sequence[StructDef]):
        self.structs = structs
        self.sizes: list[tuple[int, int, int]] = []
        self.fields: list[list[Type]] = []
        for index, record in enumerate(structs):
            self._check(record, f"structs.{index}")

    def _check(self, record: StructDef, path: str) -> None:
        require(len(record.fields) > 0, 1, path, "no fields", "at least one field")
        require(is_dotted(record.name), 2, f"{path}.name", repr(record.name), "a dotted name")
        names: set[str] = set()
        words, parts, depth = 0, 1, 0
        for k, part in enumerate(record.fields):
            where = f"{path}.fields.{k}"
            require(part.name.isidentifier(), 2, f"{where}.name", repr(part.name), "an identifier")
            require(
                part.name not in names, 2, f"{where}.name", repr(part.name), "a name not yet used"
            )
            names.add(part.name)
            require(
                self.known(part.ty), 3, f"{where}.ty", part.ty, "a plain type or earlier record"
            )
            size = self.size(part.ty)
            words, parts, depth = words + size[0], parts + size[1], max(depth, size[2])
            limit = f"at most {MAX_VALUE_PARTS} parts"
            require(parts <= MAX_VALUE_PARTS, 4, path, f"{parts} parts", limit)
        limit = f"records nested at most {MAX_TYPE_DEPTH} deep"
        require(depth < MAX_TYPE_DEPTH, 4, path, f"depth {depth + 1}", limit)
        self.sizes.append((words, parts, depth + 1))
        self.fields.append([part.ty for part in record.fields])

    def known(self, ty: Type) -> bool:
        """Whether ``ty`` is plain or a record of the table checked so far."""
        return is_plain(ty) or (ty.name == "Struct" and 0 <= ty.index < len(self.sizes))

    def size(self, ty: Type) -> tuple[int, int, int]:
        """Words, parts and depth of a known type."""
        return self.sizes[ty.index] if ty.is_struct else (ty.lanes, ty.lanes, 0)

    def parts(self, ty: Type) -> Sequence[Type]:
        """The types of the parts of a known type: a record's fields, a vector's components."""
        if ty.is_struct:
            return self.fields[ty.index]
        return [ty.component] * ty.lanes if ty.is_vector else ()


def check_manifest(manifest: Manifest) -> None:
    names: set[str] = set()
    takes = [("inputs", k, p.name) for k, p in enumerate(manifest.inputs)]
    takes += [("params", k, p.name) for k, p in enumerate(manifest.params)]
    for kind, k, name in takes:
        _check_name(5, f"manifest.{kind}.{k}.name", name, names)
    require(len(manifest.outputs) > 0, 6, "manifest.outputs", "none", "at least one output")
    names = set()
    for k, port in enumerate(manifest.outputs):
        _check_name(6, f"manifest.outputs.{k}.name", port.name, names)
    domain = manifest.outputs[0].shape
    for k, port in enumerate(manifest.outputs):
        path = f"manifest.outputs.{k}.ty"
        require(port.shape is domain, 7, path, port.shape.value, domain.value)
    for k, port in enumerate(manifest.inputs):
        require(is_plain(port.element), 8, f"manifest.inputs.{k}.ty", port.element, "a plain type")
    for k, port in enumerate(manifest.outputs):
        require(is_plain(port.element), 8, f"manifest.outputs.{k}.ty", port.element, "a plain type")
    for k, param in enumerate(manifest.params):
        path = f"manifest.params.{k}"
        require(is_plain(param.ty), 8, f"{path}.ty", param.ty, "a plain type")
        require(param.default.ty == param.ty, 9, f"{path}.default", param.default.ty, str(param.ty))
        check_words(9, f"{path}.default", param.default)
    limit = f"1 to {MAX_BUDGET}"
    require(1 <= manifest.budget <= MAX_BUDGET, 10, "manifest.budget", manifest.budget, limit)


def _check_name(rule: int, path: str, name: str, used: set[str]) -> None:
    require(name.isidentifier(), rule, path, repr(name), "an identifier")
    require(name not in used, rule, path, repr(name), "a name not yet used")
    used.add(name)


def check_words(rule: int, path: str, value: Value) -> None:
    """That a value of a plain type holds words of that type."""
    count = len(value.words)
    require(count == value.ty.lanes, rule, path, f"{count} words", f"{value.ty.lanes}")
    for word in value.words:
        require(0 <= word < 2**32, rule, path, word, "a word of 32 bits")
        if value.ty == Type.BOOL:
            require(word <= 1, rule, path, word, "0 or 1")
        elif value.ty.component == Type.FLOAT:
            canonical = float_bits(bits_float(word))
            require(word == canonical, rule, path, f"{word:#x}", f"{canonical:#x}")
