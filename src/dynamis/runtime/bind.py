"""Which argument of a call belongs to which input or parameter of the kernel.

In: the manifest, the positional and the keyword arguments. Out: one object per input in the
manifest's order, and the given parameters by name. Inputs come first, then parameters, in the
order of the kernel's own signature; each may be given by position or by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..kernel.module import Manifest
from .errors import ArgumentTypeError, did_you_mean
from .names import spell_port, spell_type


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call: an object per input, and the parameters that were given."""

    inputs: tuple[object, ...]
    params: Mapping[str, object]


def bind(
    manifest: Manifest,
    args: Sequence[object],
    keywords: Mapping[str, object],
    options: Sequence[str],
    positional: Sequence[str] | None = None,
) -> Bound:
    """Match arguments with inputs and parameters; ``options`` are the call's own keyword names.

    ``positional`` are the names that may be given by position, in order; None for all of them.
    Raises ArgumentTypeError for too many, unknown, doubled and missing arguments."""
    names = [p.name for p in manifest.inputs] + [p.name for p in manifest.params]
    places = names if positional is None else positional
    if len(names) >= len(args) > len(places):
        raise ArgumentTypeError(
            f"{manifest.id.name} takes {_count(len(places))} by position, but {len(args)} were "
            f"given: write {places_by_name(names, places)}"
        )
    if len(args) > len(places):
        raise ArgumentTypeError(
            f"{manifest.id.name} takes {_count(len(names))} ({_signature(manifest)}), "
            f"but {len(args)} were given by position"
        )
    given = dict(zip(places, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            hint = did_you_mean(name, [*names, *options])
            raise ArgumentTypeError(
                f"{manifest.id.name} has no input or parameter {name!r}{hint or ':'} "
                f"it takes ({_signature(manifest)})"
            )
        if name in given:
            raise ArgumentTypeError(
                f"{manifest.id.name} got {name!r} twice, by position and by name"
            )
        given[name] = value
    missing = [p for p in manifest.inputs if p.name not in given]
    if missing:
        lost = ", ".join(f"{p.name}: {spell_port(p)}" for p in missing)
        raise ArgumentTypeError(
            f"{manifest.id.name} is missing its input{'s' if len(missing) > 1 else ''} {lost}"
        )
    return Bound(
        tuple(given.pop(p.name) for p in manifest.inputs),
        given,
    )


def places_by_name(names: Sequence[str], places: Sequence[str]) -> str:
    """How to give the arguments that have no place: ``radius=…``."""
    return ", ".join(f"{name}=…" for name in names if name not in places)


def _count(n: int) -> str:
    return "no arguments" if n == 0 else "1 argument" if n == 1 else f"at most {n} arguments"


def _signature(manifest: Manifest) -> str:
    parts = [f"{p.name}: {spell_port(p)}" for p in manifest.inputs]
    parts += [f"{p.name}: {spell_type(p.ty)}" for p in manifest.params]
    return ", ".join(parts)
