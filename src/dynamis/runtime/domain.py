"""The domain of a run: from ``out=`` or ``shape=`` when given, else from the first fitting input.

In: the manifest, the inputs' extents, and the extents that ``shape=`` and ``out=`` ask for. Out:
the extent of the domain in NumPy order: ``(n,)``, ``(height, width)`` or
``(depth, height, width)``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from ..errors import a_kind
from ..kernel.module import Manifest, Shape
from .arrays import Array, check_extent
from .errors import ArgumentTypeError, ArgumentValueError
from .names import spell_axes, spell_extent, spell_port


def run_domain(
    manifest: Manifest,
    extents: Sequence[tuple[int, ...]],
    out: Sequence[Array] | None,
    shape: object,
) -> tuple[int, ...]:
    """The extent a call runs over. Raises ArgumentTypeError or ArgumentValueError."""
    extent = _extent(manifest, extents, out, shape)
    kind = manifest.outputs[0].shape
    check_extent(f"the domain of {manifest.id.name}", kind, extent)
    if 0 not in extent:
        _refuse_empty_inputs(manifest, extents)
    return extent


def _extent(
    manifest: Manifest,
    extents: Sequence[tuple[int, ...]],
    out: Sequence[Array] | None,
    shape: object,
) -> tuple[int, ...]:
    kind = manifest.outputs[0].shape
    asked = None if shape is None else _shape(kind, shape)
    if out is not None:
        extent = out[0].shape[: kind.rank]
        if asked is not None and asked != extent:
            raise ArgumentValueError(
                f"shape={spell_extent(asked)} differs from the extent of out=, "
                f"{spell_extent(extent)}: give one of them"
            )
        return extent
    if asked is not None:
        return asked
    for port, extent in zip(manifest.inputs, extents, strict=True):
        if port.shape is kind:
            return extent
    wanted = "shape=n" if kind is Shape.ROWS else f"shape={spell_axes(kind)}"
    inputs = f"no {kind.value} input" if manifest.inputs else "no input"
    raise ArgumentTypeError(
        f"{manifest.id.name} has {inputs} to take its size from: pass {wanted}, or out="
    )


def _shape(kind: Shape, shape: object) -> tuple[int, ...]:
    parts = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    wanted = "n or (n,)" if kind is Shape.ROWS else spell_axes(kind)
    if len(parts) != kind.rank:
        raise ArgumentValueError(
            f"shape= takes {wanted} for a {kind.value} output, not {len(parts)} numbers"
        )
    extent = []
    for part in parts:
        try:
            if isinstance(part, bool):
                raise TypeError
            extent.append(operator.index(part))
        except TypeError:
            raise ArgumentTypeError(
                f"shape= takes {wanted} in whole numbers, not {a_kind(part)}"
            ) from None
    if min(extent) < 0:
        raise ArgumentValueError(f"shape= takes no negative number, not {spell_extent(parts)}")
    return tuple(extent)


def _refuse_empty_inputs(manifest: Manifest, extents: Sequence[tuple[int, ...]]) -> None:
    """An input of no elements has nothing to clamp a read to."""
    for port, extent in zip(manifest.inputs, extents, strict=True):
        if 0 in extent:
            raise ArgumentValueError(
                f"input {port.name!r} ({spell_port(port)}) has no elements "
                f"(extent {spell_extent(extent)}), but the run has"
            )
