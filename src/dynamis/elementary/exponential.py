"""exp and exp2 of an f32, correctly rounded.

Twice. First in f32: x is (k + r)/32 (times ln 2 for exp) with a whole k, and 2**(k/32) the product of
a power of two and an entry of a table of 32. So the value is a sum of two f32, good
to 2**-34, and where adding and taking away that gives one f32, it is the nearest (Ziv, 1991).

Elsewhere, about once in a thousand times and where |x| is large or a NaN, in f64: x is split into
k + r with |r| at most a half (times ln 2 for exp), exactly for exp2 and to 2**-107 for exp; the
value is 2**k * p(r). The polynomial is good to 2**-50, so its f64 is seldom on the wrong side of the
middle of two f32: for exp never, for exp2 twice, as the walk over all f32 shows. Scaling by 2**k in
f64 and rounding to f32 once gives subnormal results and infinity without a case of their own.
"""

from __future__ import annotations

from .arithmetic import SHIFT, SHIFT32, Arithmetic, Real, Word, horner, horner32

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
_ERROR = 2.0**-34
"""A bound of the error of ``_sum`` for a power in 1…2. With |r| < 0.01084: 2**-35.7 from rounding r*r,
the polynomial and its product, 2**-42 from the polynomial itself, 2**-35 from r*r times the rest of
x, and twice 2**-38 from adding the smaller terms."""
_USUAL_BITS = 0x42AE0000
"""The pattern of the f32 87: up to there e**x is a normal f32."""

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
    k = m.sub32(shifted, SHIFT32)
    count = m.bits32(shifted)
    rest = m.fma32(k, -_STEP[1], m.lookup(count, _RESTS))
    below, above, value = _sum(m, count, m.fma32(k, -_STEP[0], x), rest)
    far = m.i32(m.bits32(x) & 0x7FFFFFFF) > _USUAL_BITS  # NaN too
    unsure = far | m.not_(m.eq(below, above))
    (value,) = m.branch(unsure, lambda: (_exp(m, x),), lambda: (value,))
    return value


def _sum(m: Arithmetic, count: Word, r: Real, rest: Real) -> tuple[Real, Real, Real]:
    """Two f32 between which c * e**(r + rest) lies once rounded, c being the entry of _POWERS that the
    low five bits of the count say, and the second times the power of two that the others say."""
    high = m.lookup(count, _POWERS)
    near = m.fma32(high, r, high)
    error = m.fma32(high, r, m.sub32(high, near))
    tail = m.fma32(m.mul32(r, r), horner32(m, r, _TAIL), m.fma32(rest, r, rest))
    correction = m.fma32(high, tail, error)
    below = m.add32(near, m.sub32(correction, _ERROR))
    above = m.add32(near, m.add32(correction, _ERROR))
    return below, above, m.float32(m.bits32(above) + ((count & 0xFFFFFFE0) << 18))


def _exp(m: Arithmetic, x: Real) -> Real:
    """The same in f64."""
    w = m.wide(_clamped(m, x, -104.0, 89.0))  # e**-104 rounds to 0, e**89 to infinity
    shifted = m.fma(w, _INVERSE_LN2, _SHIFT)
    k = shifted - _SHIFT
    r = m.fma(k, -_LN2[1], m.fma(k, -_LN2[0], w))
    return m.narrow(horner(m, r, _EXP) * _power(m, shifted))


def exp2(m: Arithmetic, x: Real) -> Real:
    """2**x of an f32, to nearest; C23 F.10.3.2: exp2(±0) is 1, exp2(-inf) +0, exp2(inf) inf."""
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
