"""Names of a package that load with their first use.

A package's ``__init__`` lists where such names live and sets ``__getattr__`` (PEP 562), so that
importing one light module of the package does not bring the heavy ones.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``package``: ``homes`` maps each name to its module in it."""

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return attribute
