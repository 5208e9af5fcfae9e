"""Small modules for tests, from text: a manifest of a few ports around a body."""

from __future__ import annotations

from dataclasses import replace

from dynamis.kernel.module import Manifest, Module
from dynamis.kernel.parse import parse


def module(
    body: str,
    *,
    inputs: tuple[str, ...] = ("xs: Rows<Float>",),
    params: tuple[str, ...] = ("n: Int = 3",),
    outputs: tuple[str, ...] = ("out: Rows<Float>",),
    requires: str = "field.read",
    budget: int = 1000,
    structs: tuple[str, ...] = (),
    functions: tuple[str, ...] = (),
    name: str = "entry main()",
) -> Module:
    """The module whose entry has ``body``; each function is given whole, as text."""
    lines = ["dynamis kernel ir 1", "kernel test.kernel@1", "mode map"]
    lines += [f"input {port}" for port in inputs]
    lines += [f"param {param}" for param in params]
    lines += [f"output {port}" for port in outputs]
    lines += [f"requires {requires}", f"budget {budget}"]
    lines += [f"struct {record}" for record in structs]
    lines += [f"function {function}" for function in functions]
    return parse("\n".join([*lines, f"{name} {{", body, "}"]))


def with_manifest(of: Module, **changes: object) -> Module:
    """The module with fields of its manifest replaced."""
    manifest: Manifest = replace(of.manifest, **changes)  # type: ignore[arg-type]
    return replace(of, manifest=manifest)
