"""The names a kernel is written with: value types, ports, context reads and math functions.

All are ordinary Python objects. In a kernel the frontend reads their names and compiles what they
stand for; outside one, value types make host constants (``vec2(1, 2)``) and everything else raises
``OutsideKernelError``. Every name in ``NAMES`` is re-exported as ``dynamis.<name>``; ``__all__``
leaves out those of Python's own functions, which ``import *`` would take from the host's code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from ..errors import DynamisError, a_kind, public
from ..kernel.tables import SIGNATURES
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import PLAIN_TYPES, Type, bits_float, float_bits

# fmt: off
NAMES = [
    "f32", "f64", "i32", "vec2", "vec3", "vec4", "ivec2", "ivec3", "ivec4",
    "Rows", "Grid", "Volume", "coord",
    "element", "domain", "floor", "ceil", "round", "trunc", "fract", "sign", "abs", "sqrt",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2",
    "log", "log2", "pow", "min", "max", "clamp", "mix", "step", "smoothstep", "fma", "dot",
    "length", "normalize", "cross", "distance", "div", "rem", "add_wrap", "sub_wrap",
    "mul_wrap", "ult", "udiv", "urem", "ushr", "bits", "from_bits",
]
# fmt: on
BUILTINS = ("abs", "max", "min", "pow", "round")
"""The names that are also those of Python's own functions."""

__all__ = [name for name in NAMES if name not in BUILTINS]

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_LETTERS = ("xyzw", "rgba")


class OutsideKernelError(DynamisError, RuntimeError):
    """A name that means something only inside a kernel was used while plain Python ran."""


class HostValueError(DynamisError, ValueError):
    """Numbers given to a value type on the host do not make a value of it."""


def swizzle(letters: str) -> tuple[int, ...] | None:
    """The components that one to four ``letters`` of ``xyzw`` or ``rgba`` name, or None."""
    for alphabet in _LETTERS:
        if 1 <= len(letters) <= 4 and all(c in alphabet for c in letters):
            return tuple(alphabet.index(c) for c in letters)
    return None


def _number(x: Any, of: type[Vector]) -> float | int:
    """``x`` as a component of ``of``: an f32-exact float, or an int in range."""
    if isinstance(x, bool) or not hasattr(x, "__float__"):
        raise HostValueError(f"{of.__name__} takes numbers, not {x!r}")
    if of.kernel_type.component == Type.FLOAT:
        return bits_float(float_bits(float(x)))
    if not hasattr(x, "__index__"):
        raise HostValueError(f"{of.__name__} takes whole numbers, not {x!r}")
    return _ranged(int(x.__index__()), of.__name__)


def _ranged(n: int, name: str) -> int:
    if not _INT_MIN <= n <= _INT_MAX:
        raise HostValueError(f"{n} does not fit in {name}: it holds {_INT_MIN} to {_INT_MAX}")
    return n


class Vector:
    """A vector on the host: immutable, comparable, hashable, iterable; a default or a constant.

    Made from one number (repeated), or from numbers and shorter vectors end to end. Components
    read by index or by the letters ``xyzw`` / ``rgba``, several letters giving a vector.
    Raises HostValueError where the parts do not fit.
    """

    __slots__ = ("_numbers",)
    kernel_type: ClassVar[Type]
    _numbers: tuple[float | int, ...]

    @public
    def __init__(self, *parts: Any) -> None:
        lanes = self.kernel_type.lanes
        numbers: list[float | int] = []
        for part in parts:
            several = part if isinstance(part, Vector) else (part,)
            numbers += [_number(x, type(self)) for x in several]
        if len(parts) == 1 and len(numbers) == 1:
            numbers *= lanes
        if len(numbers) != lanes:
            name = type(self).__name__
            raise HostValueError(f"{name} takes {lanes} numbers (or one), not {len(numbers)}")
        object.__setattr__(self, "_numbers", tuple(numbers))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{a_kind(self)} on the host never changes")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{a_kind(self)} on the host never changes")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self._numbers)

    def __iter__(self) -> Iterator[float | int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> float | int:
        return self._numbers[index]

    def __getattr__(self, name: str) -> Any:
        where = swizzle(name)
        if where is None or any(k >= len(self) for k in where):
            raise AttributeError(f"{type(self).__name__} has no component {name!r}")
        if len(where) == 1:
            return self._numbers[where[0]]
        return _CLASSES[type(self).__name__[:-1] + str(len(where))](*(self[k] for k in where))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._numbers))})"

    if TYPE_CHECKING:  # lets a kernel's body type-check; the frontend holds the exact rules

        def _operate(self, other: Any) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _operate
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = _operate
        __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _operate

        def __neg__(self) -> Any: ...


class vec2(Vector):
    """Two f32 components."""

    __slots__ = ()
    kernel_type = Type.VEC2


class vec3(Vector):
    """Three f32 components."""

    __slots__ = ()
    kernel_type = Type.VEC3


class vec4(Vector):
    """Four f32 components."""

    __slots__ = ()
    kernel_type = Type.VEC4


class ivec2(Vector):
    """Two i32 components."""

    __slots__ = ()
    kernel_type = Type.IVEC2


class ivec3(Vector):
    """Three i32 components."""

    __slots__ = ()
    kernel_type = Type.IVEC3


class ivec4(Vector):
    """Four i32 components."""

    __slots__ = ()
    kernel_type = Type.IVEC4


_CLASSES: dict[str, type[Vector]] = {c.__name__: c for c in (vec2, vec3, vec4, ivec2, ivec3, ivec4)}

if TYPE_CHECKING:
    f32 = float
    f64 = float
    i32 = int
else:

    class f32:
        """A 32-bit float. On the host ``f32(x)`` is the float nearest to x that f32 holds."""

        def __new__(cls, x=0.0):
            return bits_float(float_bits(float(x)))

    class f64:
        """A 64-bit float. On the host ``f64(x)`` is ``float(x)``."""

        def __new__(cls, x=0.0):
            return float(x)

    class i32:
        """A 32-bit signed integer. On the host ``i32(x)`` truncates x and checks its range."""

        @public
        def __new__(cls, x=0):
            try:
                return _ranged(int(x), "i32")
            except (OverflowError, ValueError) as error:
                raise HostValueError(f"i32 takes a number in its range, not {x!r}") from error


VALUE_TYPES: dict[object, Type] = {
    f32: Type.FLOAT,
    f64: Type.DOUBLE,
    i32: Type.INT,
    float: Type.FLOAT,
    int: Type.INT,
    bool: Type.BOOL,
    **{c: c.kernel_type for c in _CLASSES.values()},
}
"""The value type that each annotation type stands for."""

_SPELLINGS = {Type.FLOAT: "f32", Type.DOUBLE: "f64", Type.INT: "i32", Type.BOOL: "bool"}
TYPE_SPELLINGS: dict[Type, str] = {
    ty: _SPELLINGS.get(ty, name.lower()) for name, ty in PLAIN_TYPES.items()
}
"""How a user writes each value type."""

T = TypeVar("T")


def _outside(name: str) -> OutsideKernelError:
    return OutsideKernelError(
        f"{name} has a meaning only inside a kernel: write it in a function under @dynamis.kernel"
    )


class _PortAnnotation(Generic[T]):
    """What a port offers inside a kernel."""

    count: int
    """Number of elements, i32."""
    size: Any
    """Extent: i32 over rows, vec2(width, height) over a grid, vec3(width, height, depth) over a
    volume."""

    def __init__(self) -> None:
        raise _outside(type(self).__name__)

    def sample(self) -> T:
        """The element at the current coordinate, clamped to the port's extent."""
        raise _outside("sample()")

    def at(self, address: Any) -> T:
        """The element at ``address`` (i32 over rows, vec2 over a grid, vec3 over a volume), floored
        and clamped."""
        raise _outside("at()")

    def linear(self, address: Any) -> T:
        """The value at ``address`` (f32 over rows, vec2, vec3), between elements: interpolated
        linearly along each axis, clamped at the edges. Ports of floats only."""
        raise _outside("linear()")


class Rows(_PortAnnotation[T]):
    """A port of elements in a row: a NumPy array of shape ``(n,)`` or ``(n, lanes)``."""


class Grid(_PortAnnotation[T]):
    """A port of elements in a grid: a NumPy array of shape ``(h, w)`` or ``(h, w, lanes)``."""


class Volume(_PortAnnotation[T]):
    """A port of elements in a volume: a NumPy array of shape ``(d, h, w)`` or ``(d, h, w, lanes)``;
    addresses are vec3(x, y, z), x along the last of these axes."""


class KernelFunction:
    """A function that exists inside kernels; calling it from plain Python raises."""

    def __init__(self, name: str, arguments: tuple[str, ...], meaning: str) -> None:
        self.name = name
        self.arguments = arguments
        self.__doc__ = f"{name}({', '.join(arguments)}): {meaning}"

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises OutsideKernelError."""
        raise _outside(f"{self.name}()")

    def __repr__(self) -> str:
        return f"<dynamis.{self.name}>"


def _intrinsic(name: str) -> KernelFunction:
    signature = SIGNATURES[IntrinsicName(name)]
    return KernelFunction(name, signature.arguments, signature.meaning)


coord = KernelFunction(
    "coord", (), "The element's coordinate: vec2(column, row) over a grid, vec3 over a volume."
)
element = KernelFunction("element", (), "The element's linear index, i32.")
domain = KernelFunction("domain", (), "The domain's extent: i32, vec2(width, height) or vec3.")

floor = _intrinsic("floor")
ceil = _intrinsic("ceil")
round = _intrinsic("round")
trunc = _intrinsic("trunc")
fract = _intrinsic("fract")
sign = _intrinsic("sign")
abs = _intrinsic("abs")
sqrt = _intrinsic("sqrt")
sin = _intrinsic("sin")
cos = _intrinsic("cos")
tan = _intrinsic("tan")
asin = _intrinsic("asin")
acos = _intrinsic("acos")
atan = _intrinsic("atan")
atan2 = _intrinsic("atan2")
sinh = _intrinsic("sinh")
cosh = _intrinsic("cosh")
tanh = _intrinsic("tanh")
exp = _intrinsic("exp")
exp2 = _intrinsic("exp2")
log = _intrinsic("log")
log2 = _intrinsic("log2")
pow = _intrinsic("pow")
min = _intrinsic("min")
max = _intrinsic("max")
clamp = _intrinsic("clamp")
mix = _intrinsic("mix")
step = _intrinsic("step")
smoothstep = _intrinsic("smoothstep")
fma = _intrinsic("fma")
add_wrap = _intrinsic("add_wrap")
sub_wrap = _intrinsic("sub_wrap")
mul_wrap = _intrinsic("mul_wrap")
ult = _intrinsic("ult")
udiv = _intrinsic("udiv")
urem = _intrinsic("urem")
bits = _intrinsic("bits")
from_bits = _intrinsic("from_bits")

_AB = ("a", "b")
ushr = KernelFunction("ushr", ("x", "n"), "x shifted right by n modulo 32, zeros coming in.")
div = KernelFunction("div", _AB, "a / b; on ints truncated toward zero, unlike //.")
rem = KernelFunction("rem", _AB, "The remainder of a / b with the sign of a, unlike %.")
dot = KernelFunction("dot", _AB, "The products of the components, summed left to right.")
length = KernelFunction("length", ("v",), "sqrt(dot(v, v)).")
distance = KernelFunction("distance", _AB, "length(a - b).")
normalize = KernelFunction("normalize", ("v",), "v / length(v); the zero vector gives NaN.")
cross = KernelFunction("cross", _AB, "The cross product of two vec3.")
