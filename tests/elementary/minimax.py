"""The polynomials of the elementary functions that are best in their interval, and what is used.

    python -m tests.elementary.minimax [NAME …]

prints, for each of ``POLYNOMIALS``, the best coefficients in f64 and the errors of these and of
those in ``dynamis.elementary``, whose last bits may be others: ``tune`` moves some so that no f32
rounds wrongly, and a step of pairs has low parts. The exchange is Remez's (Muller, *Elementary
Functions*, 3rd ed., 3.6), on a grid, in ``PRECISION`` bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr

from dynamis.elementary import arcs, arctangent, circular, exponential, hyperbolic, logarithm, power
from tests.elementary.polynomials import chebyshev_points, value

PRECISION = 400
Function = Callable[[mpfr], mpfr]


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in use: c with ``function`` = c0 + c1 x + … on [low, high], where an error of it
    is worth ``weight`` times as much in the result."""

    function: Function
    weight: Function
    low: str
    high: str
    used: Sequence[float | tuple[float, float]]
    bits: float
    """The error of the polynomial in use is below 2**-bits."""

    @property
    def interval(self) -> tuple[mpfr, mpfr]:
        return mpfr(self.low), mpfr(self.high)

    @property
    def coefficients(self) -> list[mpfr]:
        """Those in use, pairs summed."""
        with gmpy2.context(precision=PRECISION):
            return [sum(map(mpfr, c)) if isinstance(c, tuple) else mpfr(c) for c in self.used]

    def error(self, coefficients: Sequence[mpfr]) -> float:
        """log2 of the greatest error of coefficients on 2000 points."""
        with gmpy2.context(precision=PRECISION):
            points = chebyshev_points(*self.interval, 2000)
            errors = (
                abs((value(coefficients, x) - self.function(x)) * self.weight(x)) for x in points
            )
            return float(gmpy2.log2(max(errors)))

    def best(self) -> list[mpfr]:
        """The minimax coefficients, as many as are in use."""
        with gmpy2.context(precision=PRECISION):
            return remez(self.function, self.weight, *self.interval, len(self.used))


def _of_square(function: Function, first: float) -> Function:
    """(f(t) / first - 1) / t**2 of t**2, for an odd f with f(t) ~ t; first 1 for an even one."""

    def of(u: mpfr) -> mpfr:
        t = gmpy2.sqrt(u)
        return (function(t) / (t if first else mpfr(1)) - 1) / u

    return of


def _relative(function: Function) -> Function:
    """The weight of u in 1 + u * function(u), relative to it."""
    return lambda u: u / (1 + u * function(u))


_ATAN, _ASIN, _SINH = (_of_square(f, True) for f in (gmpy2.atan, gmpy2.asin, gmpy2.sinh))
_COSH = _of_square(gmpy2.cosh, False)
_SIN, _COS = _of_square(gmpy2.sin, True), _of_square(gmpy2.cos, False)
_QUARTER, _EIGHTH = "2.467402", "0.616851"  # squares of pi/2 and pi/4, and what rounding adds


def _log2(u: mpfr) -> mpfr:
    s = gmpy2.sqrt(u)
    return 2 * gmpy2.atanh(s) / gmpy2.log(mpfr(2)) / s


def _log(u: mpfr) -> mpfr:
    s = gmpy2.sqrt(u)
    return 2 * gmpy2.atanh(s) / s


def _exp_tail(r: mpfr) -> mpfr:
    return (gmpy2.expm1(r) - r) / (r * r)


def _root_of_exp2(r: mpfr) -> mpfr:
    return gmpy2.expm1(r * gmpy2.log(mpfr(2)) / 16) / r


_TINY = "1e-80"  # beside a removable pole
POLYNOMIALS = {
    "exp": Polynomial(
        gmpy2.exp, lambda r: 1 / gmpy2.exp(r), "-0.34658", "0.34658", exponential._EXP, 50.5
    ),
    "exp, tail": Polynomial(
        _exp_tail, lambda r: r * r, "-0.01084", "0.01084", exponential._TAIL, 42.4
    ),
    "exp2 itself": Polynomial(
        gmpy2.exp2, lambda r: 1 / gmpy2.exp2(r), "-0.5", "0.5", exponential._EXP2, 50.5
    ),
    "log": Polynomial(_log, lambda u: 1 / _log(u), _TINY, "0.02944", logarithm._LOG, 48.5),
    "log2 itself": Polynomial(
        _log2, lambda u: 1 / _log2(u), _TINY, "0.02944", logarithm._LOG2, 50.3
    ),
    "sin": Polynomial(_SIN, _relative(_SIN), _TINY, _QUARTER, circular._SIN, 49.5),
    "cos": Polynomial(_SIN, _relative(_SIN), _TINY, _QUARTER, circular._COS, 51),
    "tan, sin": Polynomial(_SIN, _relative(_SIN), _TINY, _EIGHTH, circular._TAN_SIN, 55),
    "tan, cos": Polynomial(_COS, _relative(_COS), _TINY, _EIGHTH, circular._TAN_COS, 51.5),
    "asin": Polynomial(_ASIN, _relative(_ASIN), _TINY, "0.25", arcs._ASIN, 51),
    "acos": Polynomial(_ASIN, _relative(_ASIN), _TINY, "0.25", arcs._ACOS, 46.7),
    "atan": Polynomial(_ATAN, _relative(_ATAN), _TINY, "0.1717", arctangent._ATAN, 49.7),
    "sinh": Polynomial(_SINH, _relative(_SINH), _TINY, "0.12012", hyperbolic._SINH, 48),
    "cosh": Polynomial(_COSH, _relative(_COSH), _TINY, "0.12012", hyperbolic._COSH, 49),
    "atan, pairs": Polynomial(
        _ATAN,
        _relative(_ATAN),
        _TINY,
        "0.00391",
        (*arctangent._PAIRS, *arctangent._TAIL),
        99,
    ),
    "log2": Polynomial(_log2, lambda u: 1 / _log2(u), _TINY, "0.02944", power._LOG2, 52),
    "log2, pairs": Polynomial(
        _log2,
        lambda u: 1 / _log2(u),
        _TINY,
        "0.00209",
        (*power._LOG2_PAIRS, *power._LOG2_TAIL),
        108,
    ),
    "exp2": Polynomial(
        gmpy2.exp2, lambda r: 1 / gmpy2.exp2(r), "-0.5", "0.5", power._EXP2, 46
    ),
    "exp2, pairs": Polynomial(
        _root_of_exp2,
        lambda r: mpfr(1),
        "-0.5",
        "0.5",
        (*power._EXP2_PAIRS, *power._EXP2_TAIL),
        103,
    ),
}  # fmt: skip


def remez(function: Function, weight: Function, low: mpfr, high: mpfr, count: int) -> list[mpfr]:
    """The ``count`` coefficients whose greatest weighted error on [low, high] is least."""
    grid = chebyshev_points(low, high, 40 * count)
    true, weights = [function(x) for x in grid], [weight(x) for x in grid]
    places = [round((k + 0.5) * len(grid) / (count + 1)) for k in range(count + 1)]
    for _ in range(20):
        rows = [
            [*(grid[i] ** k for k in range(count)), (-1) ** n / weights[i]]
            for n, i in enumerate(places)
        ]
        *coefficients, level = solved(rows, [true[i] for i in places])
        errors = [
            (value(coefficients, x) - f) * w for x, f, w in zip(grid, true, weights, strict=True)
        ]
        if max(map(abs, errors)) < abs(level) * mpfr("1.001"):
            break
        places = alternation(errors, count + 1)
    return coefficients


def alternation(errors: Sequence[mpfr], count: int) -> list[int]:
    """Where ``count`` errors of alternating sign are greatest."""
    found: list[int] = []
    for i, e in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    if len(found) < count:
        raise ValueError(f"{len(found)} alternations where {count} are needed: the grid is coarse")
    return found


def solved(rows: Sequence[Sequence[mpfr]], right: Sequence[mpfr]) -> list[mpfr]:
    """The solution of a linear system, by elimination with pivots."""
    matrix = [[*map(mpfr, row), b] for row, b in zip(rows, right, strict=True)]
    n = len(matrix)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(matrix[i][k]))
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        for i in range(k + 1, n):
            factor = matrix[i][k] / matrix[k][k]
            matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
    result = [mpfr(0)] * n
    for k in range(n - 1, -1, -1):
        known = sum((matrix[k][j] * result[j] for j in range(k + 1, n)), mpfr(0))
        result[k] = (matrix[k][n] - known) / matrix[k][k]
    return result


def main() -> int:
    """The command."""
    names = sys.argv[1:] or list(POLYNOMIALS)
    if unknown := set(names) - set(POLYNOMIALS):
        print(f"no polynomial {', '.join(unknown)}; there are {', '.join(POLYNOMIALS)}")
        return 2
    for name in names:
        polynomial = POLYNOMIALS[name]
        best = polynomial.best()
        print(
            f"{name}: the best is good to 2**{polynomial.error(best):.1f}, what is used to "
            f"2**{polynomial.error(polynomial.coefficients):.1f}"
        )
        for c in best:
            high = float(c)
            print(f"    {high!r}, {float(c - high)!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
