"""The elementary functions of f64: below 1 ulp for every argument.

All are the true value with a small error rounded once: the leading terms are kept as pairs, so that
nearly all results are within 0.6 ulp (``python -m tests.elementary.ulps`` measures them).
"""

from .circular import cos, sin, tan
from .exponential import exp, exp2
from .hyperbolic import cosh, sinh, tanh
from .inverse import acos, asin, atan, atan2
from .logarithm import log, log2
from .power import pow

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "log",
    "log2",
    "pow",
    "sin",
    "sinh",
    "tan",
    "tanh",
]
