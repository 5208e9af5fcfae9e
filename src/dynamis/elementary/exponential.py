"""exp and exp2 of an f32, correctly rounded.

Twice. First in f32: with a whole k, x is (k + r)/32 (times ln 2 for exp), and 2**(k/32) is a power
of two times an entry of a table of 32. The value is a sum of two f32, good to 2**-34.7, and where
that less and that plus its error round to one f32, this is the nearest to the true value.

Elsewhere, for one argument in sixteen hundred and where |x| is large or NaN, in f64: x is split
into k + r with |r| at most a half (times ln 2 for exp), exactly for exp2 and to 2**-107 for exp;
the value is 2**k * p(r). The polynomial is good to 2**-50, so its f64 is seldom on the wrong side
of the middle of two f32: for exp never, for exp2 twice, as the walk over all f32 shows. Scaling by
2**k in f64 and rounding to f32 once gives subnormal results and infinity without a case of their
own.

Tables, as here, are of Tang (1989); the test is that of Ziv (1991).
"""

from __future__ import annotations

from .arithmetic import SHIFT, SHIFT32, Arithmetic, Real, Truth, Word, horner, horner32

_BIAS = 1023
_SHIFT = SHIFT + _BIAS
"""``x + _SHIFT`` holds k + 1023 in its low bits: shifted to the top, the f64 2**k."""
_INVERSE_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453, 2.3190468138462996e-17
"""ln 2 as a sum. k times the first, taken from x, is exact: a multiple of 2**-53 below 1/2."""

_STEPS = 46.16624069213867
"""32 / ln 2 in f32."""
_STEP = 0.021660849452018738, -5.952044412893542e-11
"""ln 2 / 32 as a sum of f32. k times the first, taken from x, is exact: a multiple of 2**-30 below
2**-6."""
_LN2_32 = 0.6931471824645996, -1.9046542121259336e-09
"""ln 2 as a sum of f32."""
_ERROR = 0.625 * 2.0**-34
"""A bound of the error of ``_near`` where k is 0, so that the value is within 1…2. With |r|
below 0.01084, a rest below 2.8e-7 and a power below 1.958 it is the sum of

- 1.74e-11: r*r, the polynomial, and its product with r*r plus the rest are rounded;
- 1e-11: so is r plus the rest, of which they are made;
- 2**-37: the sum of the small terms is rounded, with the error and without;
- 4e-13: the polynomial itself, and what is smaller still."""
_EXP_END, _EXP2_END = 0x42A00000, 0x42FC0000
"""The patterns of the f32 80 and 126: up to there, either way, the rest is small and the value
normal."""

# fmt: off
_POWERS = (
    1.0, 1.0218971967697144, 1.0442737340927124, 1.0671404600143433, 1.0905077457427979,
    1.114386796951294, 1.1387885808944702, 1.1637248992919922, 1.1892070770263672,
    1.215247392654419, 1.2418577671051025, 1.2690509557724, 1.2968395948410034, 1.3252366781234741,
    1.3542555570602417, 1.3839099407196045, 1.4142135381698608, 1.4451807737350464,
    1.4768261909484863, 1.5091644525527954, 1.5422108173370361, 1.5759809017181396,
    1.610490322113037, 1.6457555294036865, 1.6817928552627563, 1.7186193466186523,
    1.7562521696090698, 1.7947090864181519, 1.8340080976486206, 1.8741676807403564,
    1.9152065515518188, 1.9571441411972046,
)
_RESTS = (
    0.0, -4.708457979063496e-08, 4.6285471455576044e-08, -5.560422877692872e-08,
    -1.199215748926008e-08, -4.877606585296235e-08, 4.7297820771063925e-08, -3.481442689690084e-08,
    3.1934181521364735e-08, -2.6886665338565763e-08, 3.621057231839586e-08, 1.1184210224612912e-09,
    -3.0990722876822474e-08, -2.638301133117693e-08, -7.475213337215791e-09,
    -4.2456356652564864e-08, 1.7114270889351246e-08, 2.300196655369291e-08, -3.047683350132502e-08,
    -1.653853765049007e-08, 5.233334210430485e-09, -3.592064601320999e-08, 6.10759176566944e-09,
    -3.114054436537117e-08, -1.4719605978541495e-08, -2.821810163311511e-08, -5.258795177098818e-09,
    -6.360387327930539e-09, -6.128259677495862e-09, -2.4880408844296653e-08, 5.140609271592211e-09,
    -8.69726690666539e-09,
)
"""2**(j/32) as the nearest f32 times e to the rest."""
_TAIL = 0.5, 0.16666752099990845, 0.0416669137775898
"""(e**r - 1 - r)/r**2 for |r| <= ln(2)/64, times r**2 within 2**-42.4."""
_EXP = (
    1.0, 1.0000000000000013, 0.5000000000000001, 0.16666666666615648, 0.041666666666624164,
    0.008333333367311605, 0.0013888888917196719, 0.00019841190647543324, 2.480152132236793e-05,
    2.763264067586544e-06, 2.762007588034591e-07,
)
"""e**r in powers of r, for |r| <= ln(2)/2, within 2**-50.6."""
_EXP2 = (
    1.0, 0.6931471805599462, 0.24022650695910075, 0.05550410866465167, 0.009618129107618665,
    0.0013333558200794592, 0.00015403530424776529, 1.5252672924850737e-05, 1.3215451633221434e-06,
    1.0205905413765595e-07, 7.070977866508138e-09,
)
"""2**r, for |r| <= 1/2, within 2**-50.6."""
# fmt: on
_EXP2_TIES = (
    (0.0029695758130401373, 1.0020605325698853),
    (-0.029743773862719536, 0.9795942902565002),
)
"""Where the f64 nearest to 2**x is the middle of two f32, and the wrong one of them is even."""


def _clamped(m: Arithmetic, x: Real, low: float, high: float) -> Real:
    """``x`` within low…high, NaN kept."""
    x = m.where(x < low, low, x)
    return m.where(x > high, high, x)


def exp(m: Arithmetic, x: Real) -> Real:
    """e**x of an f32, to nearest; C23 F.10.3.1: exp(±0) is 1, exp(-inf) +0, exp(inf) inf."""
    shifted = m.fma32(x, _STEPS, SHIFT32)
    k, count = m.sub32(shifted, SHIFT32), m.bits32(shifted)
    r, rest = m.fma32(k, -_STEP[0], x), m.fma32(k, -_STEP[1], m.lookup(count, _RESTS))
    unsure, value = _near(m, count, r, rest)
    unsure |= _is_beyond(m, x, _EXP_END)
    (value,) = m.branch(unsure, lambda: (_exp(m, x),), lambda: (value,))
    return value


def exp2(m: Arithmetic, x: Real) -> Real:
    """2**x of an f32, to nearest; C23 F.10.3.2: exp2(±0) is 1, exp2(-inf) +0, exp2(inf) inf."""
    shifted = m.fma32(x, 32.0, SHIFT32)
    k, count = m.sub32(shifted, SHIFT32), m.bits32(shifted)
    fraction = m.fma32(k, -1.0 / 32.0, x)
    r = m.mul32(fraction, _LN2_32[0])
    rest = m.fma32(fraction, _LN2_32[1], m.lookup(count, _RESTS))
    rest = m.add32(m.fma32(fraction, _LN2_32[0], -r), rest)
    unsure, value = _near(m, count, r, rest)
    unsure |= _is_beyond(m, x, _EXP2_END)
    (value,) = m.branch(unsure, lambda: (_exp2(m, x),), lambda: (value,))
    return value


def _is_beyond(m: Arithmetic, x: Real, end: int) -> Truth:
    """Whether the pattern of |x| is above ``end``, as that of NaN is."""
    return m.i32(m.bits32(x) & 0x7FFFFFFF) > end


def _near(m: Arithmetic, count: Word, r: Real, rest: Real) -> tuple[Truth, Real]:
    """c * e**(r + rest) * 2**k in f32, and whether it may not be the nearest f32. c is the entry of
    ``_POWERS`` that the low five bits of the count say, k what the others are in their place."""
    power = m.lookup(count, _POWERS)
    near = m.fma32(power, r, power)
    error = m.fma32(power, r, m.sub32(power, near))
    whole = m.add32(r, rest)
    tail = m.fma32(m.mul32(whole, whole), horner32(m, whole, _TAIL), rest)
    small = m.fma32(power, tail, error)
    above, below = m.add32(near, m.add32(small, _ERROR)), m.add32(near, m.sub32(small, _ERROR))
    value = m.float32(m.bits32(above) + ((count & 0xFFFFFFE0) << 18))
    # as integers, which may be joined before they are compared; NaN is beyond the range
    return m.not_(m.eq(m.bits32(above), m.bits32(below))), value


def _exp(m: Arithmetic, x: Real) -> Real:
    """e**x in f64, then rounded."""
    w = m.wide(_clamped(m, x, -104.0, 89.0))  # e**-104 rounds to 0, e**89 to infinity
    shifted = m.fma(w, _INVERSE_LN2, _SHIFT)
    k = shifted - _SHIFT
    r = m.fma(k, -_LN2[1], m.fma(k, -_LN2[0], w))
    return m.narrow(horner(m, r, _EXP) * _power(m, shifted))


def _exp2(m: Arithmetic, x: Real) -> Real:
    """2**x in f64, then rounded."""
    w = m.wide(_clamped(m, x, -151.0, 128.0))  # 2**-151 rounds to 0, 2**128 to infinity
    shifted = w + _SHIFT
    r = w - (shifted - _SHIFT)
    value = m.narrow(horner(m, r, _EXP2) * _power(m, shifted))
    for argument, right in _EXP2_TIES:
        value = m.where(m.eq(x, argument), right, value)
    return value


def _power(m: Arithmetic, shifted: Real) -> Real:
    """2**k of k + _SHIFT, for -1023 < k <= 1023."""
    return m.float64(m.bits64(shifted) << 52)
