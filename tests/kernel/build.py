"""Small modules for tests, from text: a manifest of a few ports around a body."""

from __future__ import annotations

from dataclasses import replace

from dynamis.kernel.module import Manifest, Module
from dynamis.kernel.parse import parse


def module(
    body: str,
    *,
    mode: str = "map",
    inputs: tuple[str, ...] = ("xs: Rows<Float>",),
    params: tuple[str, ...] = ("n: Int = 3",),
    outputs: tuple[str, ...] = ("out: Rows<Float>",),
    memories: tuple[str, ...] = (),
    requires: str = "field.read",
    budget: int = 1000,
    structs: tuple[str, ...] = (),
    functions: tuple[str, ...] = (),
    name: str = "entry main()",
    after: tuple[str, ...] = (),
) -> Module:
    """The module whose entry has ``body``. Each record of ``structs`` is given without its keyword,
    an array with it; each of ``functions`` whole, without its keyword; ``after`` are merge and
    init, with theirs."""
    lines = ["dynamis kernel ir 1", "kernel test.kernel@1", f"mode {mode}"]
    lines += [f"input {port}" for port in inputs]
    lines += [f"param {param}" for param in params]
    lines += [f"output {port}" for port in outputs]
    lines += [f"memory {memory}" for memory in memories]
    lines += [f"requires {requires}", f"budget {budget}"]
    lines += [s if s.startswith("array ") else f"struct {s}" for s in structs]
    lines += [f"function {function}" for function in functions]
    return parse("\n".join([*lines, f"{name} {{", body, "}", *after]))


def with_manifest(of: Module, **changes: object) -> Module:
    """The module with fields of its manifest replaced."""
    manifest: Manifest = replace(of.manifest, **changes)  # type: ignore[arg-type]
    return replace(of, manifest=manifest)
