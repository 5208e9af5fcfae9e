"""Values written on the command line: ``radius=3``, ``1,2,3``, ``true``, ``480,640``."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DynamisError
from ..kernel.module import Manifest, Param, Shape
from ..kernel.types import Numeric, Type
from ..runtime.errors import did_you_mean
from ..runtime.names import AXES, spell_type


class UsageError(DynamisError):
    """The command line does not fit; ``option`` names the part at fault."""

    def __init__(self, option: str, text: str):
        self.option = option
        super().__init__(text)


def parse_params(manifest: Manifest, texts: Sequence[str]) -> dict[str, object]:
    """``name=value`` texts as call arguments for the kernel's parameters. Raises UsageError."""
    known = {param.name: param for param in manifest.params}
    values: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals:
            raise UsageError("--param", f"{text!r} is not of the form name=value")
        if name not in known:
            has = ", ".join(f"{p.name}: {spell_type(p.ty)}" for p in manifest.params)
            raise UsageError(
                "--param",
                f"{manifest.id.name} has no parameter {name!r}{did_you_mean(name, known)} "
                f"(it has {has or 'none'})",
            )
        if name in values:
            raise UsageError("--param", f"{name!r} is given twice")
        values[name] = _value(known[name], value.strip())
    return values


def _value(param: Param, text: str) -> object:
    ty = param.ty
    if not ty.is_vector:
        return _scalar(param, ty, text)
    parts = text.strip("()[] ").split(",")
    if len(parts) != ty.lanes:
        raise UsageError(
            "--param",
            f"{param.name!r} is a {spell_type(ty)}: write {ty.lanes} numbers divided by commas, "
            f"not {text!r}",
        )
    return [_scalar(param, ty.component, part.strip()) for part in parts]


def _scalar(param: Param, ty: Type, text: str) -> Numeric:
    try:
        if ty == Type.BOOL:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return int(text, 0) if ty == Type.INT else float(text)
    except (KeyError, ValueError):
        wants = {Type.BOOL: "true or false", Type.INT: "a whole number"}.get(ty, "a number")
        raise UsageError(
            "--param", f"{param.name!r} is {spell_type(param.ty)}: {text!r} is not {wants}"
        ) from None


def parse_shape(kind: Shape, text: str) -> tuple[int, ...]:
    """``480,640`` (height, width), ``1000`` or ``16,480,640`` as an extent. Raises UsageError."""
    wanted = "one number" if kind is Shape.ROWS else ",".join(AXES[kind])
    try:
        extent = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError("--shape", f"{text!r} is not {wanted}") from None
    if len(extent) != kind.rank or min(extent) < 0:
        raise UsageError("--shape", f"this kernel makes a {kind.value}: write {wanted}")
    return extent
