"""The nearest f32 to the true value of an elementary function, by MPFR."""

from __future__ import annotations

import gmpy2

FORMAT = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
"""f32: gmpy2 rounds each result to it, once."""


def nearest(name: str, *args: float) -> float:
    """The function ``name`` of f32 arguments, rounded to f32."""
    with gmpy2.context(FORMAT):
        given = [gmpy2.mpfr(x) for x in args]
        return float(given[0] ** given[1] if name == "pow" else getattr(gmpy2, name)(*given))
