"""The elementary functions, each written once, in exact operations (``arithmetic.py``).

``SINGLE`` has those of f32, whose result is the f32 nearest to the true value; ``DOUBLE`` those of
f64, below 1 ulp. A function takes an ``Arithmetic`` and its arguments, so one source gives the
interpreter its numbers (``on_numbers``) and native code its instructions: the words agree
because nothing in them is computed twice in two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import double
from .arcs import acos, asin
from .arctangent import atan, atan2
from .arithmetic import Arithmetic, Real
from .circular import cos, sin, tan
from .exponential import exp, exp2
from .hyperbolic import cosh, sinh, tanh
from .logarithm import log, log2
from .numbers import NUMBERS
from .power import pow

__all__ = ["DOUBLE", "SINGLE", "Arithmetic", "Function", "on_numbers"]

Function = Callable[..., Real]
"""A function of an Arithmetic and one or two Reals."""

SINGLE: Mapping[str, Function] = {
    "exp": exp,
    "exp2": exp2,
    "log": log,
    "log2": log2,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "pow": pow,
}
"""By name, the functions of f32."""

DOUBLE: Mapping[str, Function] = {name: getattr(double, name) for name in double.__all__}
"""By name, the functions of f64."""


def on_numbers(function: Function) -> Callable[..., float]:
    """The function on Python floats."""
    return lambda *args: function(NUMBERS, *args)
