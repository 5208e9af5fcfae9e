"""The polynomials that the elementary functions start from, fitted anew.

    python -m tests.elementary.coefficients [NAME …]

Prints each constant of ``dynamis.elementary`` as it is before ``tests.elementary.tune`` moves its
last bits, and log2 of the greatest error that the polynomial leaves in the function, relative to
it. Each is fitted to what is left of the function when its leading terms are taken out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr

from tests.elementary.polynomials import PRECISION, chebyshev_points, interpolated, value

Real = Callable[[mpfr], mpfr]


@dataclass(frozen=True)
class Fit:
    """``function`` is fitted by ``count`` coefficients on low … high; ``whole`` makes the function
    of the argument and the polynomial's value, ``true`` is that function."""

    count: int
    low: float
    high: float
    function: Real
    whole: Callable[[mpfr, mpfr], mpfr]
    true: Real

    def coefficients(self) -> list[mpfr]:
        """The coefficients, ascending."""
        return interpolated(self.function, self.low, self.high, self.count)

    def error(self) -> float:
        """log2 of the greatest relative error."""
        found = self.coefficients()
        with gmpy2.context(precision=PRECISION):
            points = chebyshev_points(self.low, self.high, 500)
            errors = [abs(self.whole(x, value(found, x)) / self.true(x) - 1) for x in points]
            return float(gmpy2.log2(max(errors)))


def _root(f: Real) -> Real:
    """f of the square root, over it."""
    return lambda u: f(gmpy2.sqrt(u)) / gmpy2.sqrt(u)


def _log_ratio(z: mpfr) -> mpfr:
    """2 artanh(s)/s of z = s*s."""
    return 2 * _root(gmpy2.atanh)(z)


_SLACK, _TURN_SLACK = 1e-9, 1e-6
"""What rounding of the reduction may leave beyond the interval; of angles below 2**36, more."""
_LN2 = gmpy2.const_log2(100)
_HALF_LN2 = float(_LN2) / 2 + _SLACK
_QUARTER, _EIGHTH = ((float(gmpy2.const_pi()) / k + _TURN_SLACK) ** 2 for k in (2, 4))
_RATIO = (3 - 8**0.5) ** 2 + _SLACK
"""((sqrt(2) - 1)/(sqrt(2) + 1))**2"""


def _sine(count: int, top: float) -> Fit:
    true = _root(gmpy2.sin)
    return Fit(count, 0.0, top, lambda u: (true(u) - 1) / u, lambda u, p: 1 + u * p, true)


def _cosine(count: int, top: float) -> Fit:
    def true(u: mpfr) -> mpfr:
        return gmpy2.cos(gmpy2.sqrt(u))

    return Fit(count, 0.0, top, lambda u: (true(u) - 1) / u, lambda u, p: 1 + u * p, true)


FITS = {
    "exponential._EXP[1:]": Fit(
        10, -_HALF_LN2, _HALF_LN2, lambda r: gmpy2.expm1(r) / r, lambda r, p: 1 + r * p, gmpy2.exp
    ),
    "exponential._EXP2[1:]": Fit(
        10, -0.5, 0.5, lambda r: gmpy2.expm1(r * gmpy2.const_log2()) / r,
        lambda r, p: 1 + r * p, gmpy2.exp2,
    ),
    "logarithm._LOG[1:]": Fit(
        6, 0.0, _RATIO, lambda z: (_log_ratio(z) - 2) / z, lambda z, p: 2 + z * p, _log_ratio
    ),
    "logarithm._LOG2[1:]": Fit(
        6, 0.0, _RATIO, lambda z: (_log_ratio(z) - 2) / z / gmpy2.const_log2(),
        lambda z, p: (2 + z * p * gmpy2.const_log2()), _log_ratio,
    ),
    "circular._SIN": _sine(7, _QUARTER),
    "circular._TAN_SIN": _sine(6, _EIGHTH),
    "circular._TAN_COS": _cosine(6, _EIGHTH),
}  # fmt: skip
"""By constant."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FITS)}")
    names = parser.parse_args().names or list(FITS)
    for name in names:
        fit = FITS[name]
        print(f"{name}: 2**{fit.error():.1f}\n    {[float(c) for c in fit.coefficients()]}")


if __name__ == "__main__":
    main()
