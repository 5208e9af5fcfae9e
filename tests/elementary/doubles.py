"""Where the polynomials of ``dynamis.elementary.double`` come from: ``python -m
tests.elementary.doubles`` prints them, each with its greatest error relative to its function.

Each is the interpolation at Chebyshev points, rounded coefficient by coefficient, which is within a
small factor of the best polynomial (Muller, *Elementary Functions*, 3rd ed., chapter 3). Its degree
is the least for which the error does not matter beside 2**-53.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr

from tests.elementary.polynomials import chebyshev_points, value

PRECISION = 300

_TINY = mpfr(2) ** -200


@dataclass(frozen=True)
class Polynomial:
    """A polynomial's name (module and constant), its function, interval and coefficients."""

    module: str
    name: str
    function: Callable[[mpfr], mpfr]
    low: float
    high: float
    count: int

    def coefficients(self) -> tuple[float, ...]:
        return tuple(map(float, interpolated(self.function, self.low, self.high, self.count)))

    def error(self) -> float:
        """log2 of its greatest error relative to the function."""
        exact = [mpfr(c) for c in self.coefficients()]
        points = chebyshev_points(self.low, self.high, 500)
        worst = max(abs(value(exact, x) / self.function(x) - 1) for x in points)
        return float(gmpy2.log2(worst))


def _root(z: mpfr) -> mpfr:
    return gmpy2.sqrt(max(z, _TINY))


def _exp(r: mpfr) -> mpfr:
    return (gmpy2.expm1(r) - r) / r**2 if abs(r) > _TINY else mpfr(0.5)


def _artanh(z: mpfr) -> mpfr:
    s = _root(z)
    return (2 * gmpy2.atanh(s) - 2 * s) / (s * s * s)


def _log2(z: mpfr) -> mpfr:
    s = _root(z)
    rest = 2 * gmpy2.atanh(s) / s - 2 - 2 * s * s / 3
    return rest / (s**4 * gmpy2.log(mpfr(2)))


def _sin(z: mpfr) -> mpfr:
    r = _root(z)
    return (gmpy2.sin(r) - r) / r**3


def _cos(z: mpfr) -> mpfr:
    r = _root(z)
    return (gmpy2.cos(r) - 1 + r * r / 2) / r**4


def _asin(z: mpfr) -> mpfr:
    x = _root(z)
    return (gmpy2.asin(x) - x) / x**3


def _atan(z: mpfr) -> mpfr:
    t = _root(z)
    return (gmpy2.atan(t) - t) / t**3


def _cosh(z: mpfr) -> mpfr:
    r = _root(z)
    return (gmpy2.cosh(r) - 1) / r**2


def _sinh(z: mpfr) -> mpfr:
    r = _root(z)
    return (gmpy2.sinh(r) - r) / r**3


POLYNOMIALS = (
    Polynomial("exponential", "EXP", _exp, -0.35, 0.35, 11),
    Polynomial("logarithm", "LOG", _artanh, 0.0, 0.0295, 8),
    Polynomial("logarithm", "LOG2", _log2, 0.0, 0.0295, 9),
    Polynomial("circular", "SIN", _sin, 0.0, 0.65, 7),
    Polynomial("circular", "COS", _cos, 0.0, 0.65, 6),
    Polynomial("inverse", "ASIN", _asin, 0.0, 0.25, 14),
    Polynomial("inverse", "ATAN", _atan, 0.0, 0.0626, 9),
    Polynomial("hyperbolic", "COSH", _cosh, 0.0, 0.1225, 6),
    Polynomial("hyperbolic", "SINH", _sinh, 0.0, 0.1225, 5),
)


def interpolated(
    function: Callable[[mpfr], mpfr], low: float, high: float, count: int
) -> list[mpfr]:
    """The ``count`` coefficients, ascending, in powers of x; solved at PRECISION bits."""
    with gmpy2.context(precision=PRECISION):
        points = chebyshev_points(low, high, count)
        # Newton's divided differences, then expanded into powers
        table = [function(x) for x in points]
        for k in range(1, count):
            for i in range(count - 1, k - 1, -1):
                table[i] = (table[i] - table[i - 1]) / (points[i] - points[i - k])
        result = [mpfr(0)] * count
        for k in range(count - 1, -1, -1):
            shifted = [mpfr(0), *result[:-1]]
            result = [s - points[k] * r for s, r in zip(shifted, result, strict=True)]
            result[0] += table[k]
        return result


def parts(x: mpfr, count: int) -> tuple[float, ...]:
    """``x`` as a sum of ``count`` doubles, each the nearest to what is left."""
    found: list[float] = []
    for _ in range(count):
        found.append(float(x))
        x = x - mpfr(found[-1])
    return tuple(found)


def two_over_pi_bits(bits: int) -> int:
    """floor(2/pi * 2**bits)."""
    with gmpy2.context(precision=bits + 64):
        return int(gmpy2.floor(2 / gmpy2.const_pi() * mpfr(2) ** bits))


def main() -> None:
    with gmpy2.context(precision=PRECISION):
        for p in POLYNOMIALS:
            print(f"{p.module}.{p.name} = {p.coefficients()}  # 2**{p.error():.1f}")
        pi, ln2 = gmpy2.const_pi(), gmpy2.log(mpfr(2))
        for name, x, count in (
            ("pi", pi, 2),
            ("pi/2", pi / 2, 3),
            ("pi/4", pi / 4, 2),
            ("atan 1/2", gmpy2.atan(mpfr(0.5)), 2),
            ("ln 2", ln2, 2),
            ("1/ln 2", 1 / ln2, 2),
            ("2/ln 2", 2 / ln2, 2),
            ("2/(3 ln 2)", 2 / (3 * ln2), 2),
        ):
            print(name, parts(x, count))
        head = float(gmpy2.rint(ln2 * 2**42) / 2**42)
        print("ln 2, 42 bits", head, float(ln2 - mpfr(head)))
    print(f"2/pi = {two_over_pi_bits(52 * 24 - 16):#x}")


if __name__ == "__main__":
    main()
