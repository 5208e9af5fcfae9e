"""Running kernels on one element in the reference interpreter, and Python as the other opinion."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from dynamis.frontend import compile_kernel, host_value
from dynamis.kernel import InputField, Module, interpret, parse, validate
from dynamis.kernel.fault import Fault
from dynamis.kernel.module import Shape

_serial = itertools.count()


@functools.lru_cache(maxsize=64)
def compiled(function: Callable[..., Any], budget: int | None = None) -> Module:
    """The module of a function, which is valid and survives its text."""
    assert isinstance(function, FunctionType)
    module = compile_kernel(function, budget=budget)
    validate(module)
    assert parse(str(module)) == module
    for f in module.all_functions():
        assert [i.id for i in f.instructions()] == list(range(f.slot_count))
        assert all(i.span is not None for i in f.instructions())
    return module


def run(
    function: Callable[..., Any],
    *,
    inputs: Sequence[InputField] = (),
    extent: tuple[int, ...] | None = None,
    budget: int | None = None,
    **params: Any,
) -> Any:
    """The kernel's outputs over ``extent`` (default one element), or its fault.

    One output of one word and element comes bare; several outputs as a tuple of lists.
    """
    module = compiled(function, budget)
    manifest = module.manifest
    if extent is None:
        extent = (1,) if manifest.outputs[0].shape is Shape.ROWS else (1, 1)
    values = [host_value(params[p.name], p.ty) if p.name in params else p.default
              for p in manifest.params]  # fmt: skip
    outcome = interpret(validate(module), inputs, values, extent)
    if outcome.fault is not None:
        return outcome.fault
    assert outcome.outputs is not None
    first = outcome.outputs[0]
    if len(outcome.outputs) == 1:
        return first[0] if len(first) == 1 else first
    return outcome.outputs


def fault_of(function: Callable[..., Any], **arguments: Any) -> Fault:
    """The fault that a run ends with."""
    result = run(function, **arguments)
    assert isinstance(result, Fault), result
    return result


def load(text: str, folder: Path) -> ModuleType:
    """The module that a source text is, from a file of its own."""
    path = folder / f"kernels_{next(_serial)}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
