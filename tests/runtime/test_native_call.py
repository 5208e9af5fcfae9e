"""The native call path: the Python path's results and errors, and nothing kept or lost."""

from __future__ import annotations

import array
import functools
import gc
import mmap
import os
import random
import struct
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2, vec4
from dynamis.codegen import WIDTHS
from dynamis.frontend.surface import TYPE_SPELLINGS
from dynamis.lower import UnsupportedKernel, require_supported
from dynamis.runtime.arrays import host_dtype, host_shape
from dynamis.runtime.call_facts import CallFacts
from dynamis.runtime.callable_type import callable_type
from dynamis.runtime.native_call import native_call
from dynamis.runtime.width import columns_at, fitting_width


@dy.kernel
def axpy(x: Rows[f32], y: Rows[f32], a: f32 = 2.0, n: i32 = 1, on: bool = True) -> Rows[f32]:
    return a * x.sample() + (y.sample() * f32(n) if on else 0.0)


@dy.kernel
def looked_up(x: Rows[i32], table: Rows[f32]) -> Rows[f32]:
    return table.at(x.sample())


@dy.kernel
def halved(image: Grid[vec4], by: vec2 = vec2(0.5, 1.0)) -> Grid[vec2]:
    c = image.sample()
    return vec2(c.r + c.g, c.b + c.a) * by


@dy.kernel
def signs(x: Rows[f32], flip: Rows[bool]) -> Rows[bool]:
    return (x.sample() > 0.0) != flip.sample()


@dy.kernel
def ramp(start: f32 = 0.0) -> Rows[f32]:
    return start + f32(dy.element())


@dy.kernel
def divided(a: Rows[i32], by: i32 = 1) -> Rows[i32]:
    return a.sample() // by


class Pair(NamedTuple):
    double: Rows[f32]
    positive: Rows[bool]


@dy.kernel
def pair(x: Rows[f32]) -> tuple[Rows[f32], Rows[bool]]:
    return x.sample() * 2.0, x.sample() > 0.0


@dy.kernel
def named(x: Rows[f32]) -> Pair:
    return Pair(x.sample() * 2.0, x.sample() > 0.0)


@dy.kernel
def single(x: Rows[f32]) -> tuple[Rows[f32]]:
    return (x.sample() + 1.0,)


@dy.kernel
def by_name(a: Rows[i32], r: i32 = 2, *, b: Rows[i32], s: i32 = 3) -> Rows[i32]:
    return a.sample() * r + b.sample() * s


X = np.random.default_rng(11).standard_normal(100, np.float32)
Y = np.random.default_rng(12).standard_normal(100, np.float32)
N = np.arange(100, dtype=np.int32)
IMAGE = np.random.default_rng(13).standard_normal((5, 12, 4), np.float32)

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **keywords: Any) -> Arguments:
    return args, keywords


class Watched:
    """A kernel with native calls for the classes of ``warm`` only, and a count of the calls that
    are handed to its Python path."""

    def __init__(self, kernel: dy.Kernel, *warm: Arguments) -> None:
        self.call = dy.kernel(kernel.__wrapped__).options(width=8)
        self.handed = 0
        for args, keywords in [*warm, warm[0]]:
            self.call(*args, **keywords)
        assert is_native(self.call)
        self._plain = kernel.options(width=8).__call__
        self.call.__call__ = self._python  # what an object holds comes before what its class does

    def _python(self, *args: Any, **keywords: Any) -> Any:
        self.handed += 1
        return self._plain(*args, **keywords)

    @property
    def facts(self) -> CallFacts:
        native = self.call._source.compiled(8)
        assert native is not None
        return native.call_facts()


def is_native(kernel: dy.Kernel) -> bool:
    return kernel._native_entry != 0


@functools.cache
def plain() -> Watched:
    """``axpy`` with a program for inputs of the domain's extent."""
    return Watched(axpy, call(X, Y))


def outcome(run: Callable[..., Any], given: Arguments) -> tuple[Any, ...]:
    """What a call gives, in a form that compares: words and kinds, or the error."""
    args, keywords = given
    try:
        result = run(*args, **keywords)
    except Exception as error:
        return type(error), str(error)
    arrays = result if isinstance(result, tuple) else (result,)
    out = keywords.get("out")
    outs = out if isinstance(out, (tuple, list)) else (out,)
    given_back = [a is o for a, o in zip(arrays, outs, strict=False)] if out is not None else []
    return type(result), given_back, [(type(a), a.dtype, a.shape, a.tobytes()) for a in arrays]


def agree(watched: Watched, make: Callable[[], Arguments]) -> bool:
    """That both paths do the same with what ``make`` makes; whether the native one did it."""
    before = watched.handed
    assert outcome(watched.call, make()) == outcome(watched._plain, make())
    return watched.handed == before


def new(shape: Any = 100, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def frozen(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


class Sub(np.ndarray):
    pass


class Offers:
    """An array by protocol only."""

    def __init__(self, a: np.ndarray) -> None:
        self.__array_interface__ = a.__array_interface__
        self.kept = a


def released() -> memoryview:
    view = memoryview(X)
    view.release()
    return view


def unaligned(dtype: str = "f4") -> np.ndarray:
    return np.zeros(401, np.uint8)[1:].view(dtype)


def shared(offset: int) -> Arguments:
    block = np.zeros(300, np.float32)
    block[:100] = X
    return call(block[:100], Y, out=block[offset : offset + 100])


# name → (what to call it with, whether the native path takes it)
AXPY: dict[str, tuple[Callable[[], Arguments], bool]] = {
    "inputs only": (lambda: call(X, Y), True),
    "out": (lambda: call(X, Y, out=new()), True),
    "out is None": (lambda: call(X, Y, out=None), True),
    "out is a tuple": (lambda: call(X, Y, out=(new(),)), True),
    "out is a list": (lambda: call(X, Y, out=[new()]), False),
    "out is too long a tuple": (lambda: call(X, Y, out=(new(), new())), False),
    "out is an empty tuple": (lambda: call(X, Y, out=()), False),
    "keyword inputs": (lambda: call(y=Y, x=X), True),
    "an input twice": (lambda: call(X, Y, x=X), False),
    "an input is missing": (lambda: call(X), False),
    "nothing": (lambda: call(), False),
    "an unknown keyword": (lambda: call(X, Y, b=1.0), False),
    "too many by position": (lambda: call(X, Y, 1.0, 2, True, 5), False),
    "all by position": (lambda: call(X, Y, 1.0, 2, False), True),
    "all by name": (lambda: call(X, Y, on=False, n=7, a=-1.5, out=new()), True),
    "a name made at run time": (lambda: call(X, Y, **{"".join(["o", "n"]): False}), False),
    "threads": (lambda: call(X, Y, threads=1), True),
    "the most threads": (lambda: call(X, Y, threads=1024), True),
    "threads of None": (lambda: call(X, Y, threads=None, out=new()), True),
    "too many threads": (lambda: call(X, Y, threads=1025), False),
    "no threads": (lambda: call(X, Y, threads=0), False),
    "fewer than no threads": (lambda: call(X, Y, threads=-1), False),
    "threads beyond 64 bits": (lambda: call(X, Y, threads=2**70), False),
    "threads of another kind": (lambda: call(X, Y, threads=1.0), False),
    "a bool for threads": (lambda: call(X, Y, threads=True), False),
    "progress": (lambda: call(X, Y, progress=lambda done, total: None), False),
    "shape": (lambda: call(X, Y, shape=50), False),
    "reference": (lambda: call(X, Y, backend="reference"), False),
    "read-only inputs": (lambda: call(frozen(X), frozen(Y)), True),
    "read-only out": (lambda: call(X, Y, out=frozen(X)), False),
    "strided input": (lambda: call(np.repeat(X, 2)[::2], Y), False),
    "reversed input": (lambda: call(X[::-1], Y), False),
    "strided out": (lambda: call(X, Y, out=new(200)[::2]), False),
    "byte-swapped input": (lambda: call(X.astype(">f4"), Y), False),
    "byte-swapped out": (lambda: call(X, Y, out=new(dtype=">f4")), False),
    "float64 input": (lambda: call(X.astype(float), Y), False),
    "float64 out": (lambda: call(X, Y, out=new(dtype=float)), False),
    "float16 input": (lambda: call(X.astype(np.float16), Y), False),
    "int32 input": (lambda: call(N, Y), False),
    "uint32 input": (lambda: call(X.view(np.uint32), Y), False),
    "structured input": (lambda: call(X.view([("x", "f4")]), Y), False),
    "datetime input": (lambda: call(new(100, "M8[s]"), Y), False),
    "object input": (lambda: call(X.astype(object), Y), False),
    "unaligned input": (lambda: call(unaligned(), Y), False),
    "unaligned out": (lambda: call(X, Y, out=unaligned()), False),
    "0-d input": (lambda: call(np.float32(1).reshape(()), Y), False),
    "0-d out": (lambda: call(X, Y, out=new(())), False),
    "2-d input": (lambda: call(X.reshape(10, 10), Y), False),
    "2-d out": (lambda: call(X, Y, out=new((10, 10))), False),
    "zero size": (lambda: call(X[:0], Y[:0]), False),
    "one empty input": (lambda: call(X, Y[:0]), False),
    "a shorter input": (lambda: call(X, Y[:99]), False),
    "a longer input": (lambda: call(X, np.append(Y, Y)), False),
    "a shorter out": (lambda: call(X, Y, out=new(60)), False),
    "a longer out": (lambda: call(X, Y, out=new(160)), False),
    "one element": (lambda: call(X[:1], Y[:1]), False),
    "fewer than a vector": (lambda: call(X[:7], Y[:7]), False),
    "a vector": (lambda: call(X[:8], Y[:8]), True),
    "long": (lambda: call(np.ones(2**19, np.float32), np.ones(2**19, np.float32)), False),
    "long out": (lambda: call(X, Y, out=new(2**19)), False),
    "a view": (lambda: call(X[10:90], Y[10:90]), True),
    "a subclass": (lambda: call(X.view(Sub), Y), False),
    "a subclass as out": (lambda: call(X, Y, out=new().view(Sub)), False),
    "a masked array": (lambda: call(np.ma.masked_less(X, 0), Y), False),
    "a masked array as out": (lambda: call(X, Y, out=np.ma.masked_less(X.copy(), 0)), False),
    "memoryview": (lambda: call(memoryview(X), Y), True),
    "memoryview of bytes": (lambda: call(memoryview(X.tobytes()), Y), False),
    "cast memoryview": (lambda: call(memoryview(X.tobytes()).cast("f"), Y), True),
    "memoryview as out": (lambda: call(X, Y, out=memoryview(new())), False),
    "released memoryview": (lambda: call(released(), Y), False),
    "array.array": (lambda: call(array.array("f", X.tolist()), Y), True),
    "array.array of double": (lambda: call(array.array("d", X.tolist()), Y), False),
    "bytes": (lambda: call(X.tobytes(), Y), False),
    "mmap": (lambda: call(mmap.mmap(-1, 400), Y), False),
    "array interface": (lambda: call(Offers(X), Y), False),
    "a list": (lambda: call(X.tolist(), Y), False),
    "a number": (lambda: call(3.0, Y), False),
    "None": (lambda: call(None, Y), False),
    "a class": (lambda: call(np.ndarray, Y), False),
    "one input twice": (lambda: call(X, X), True),
    "out is an input": (lambda: shared(0), False),
    "out overlaps an input": (lambda: shared(99), False),
    "out follows an input": (lambda: shared(100), True),
}


@pytest.mark.parametrize("case", AXPY)
def test_each_kind_of_argument_gives_what_the_python_path_gives(case: str) -> None:
    make, native = AXPY[case]
    assert agree(plain(), make) == native


OTHERS: dict[str, tuple[dy.Kernel, list[Arguments], Callable[[], Arguments], bool]] = {
    "a table": (looked_up, [call(N, X[:9])], lambda: call(N, Y[:33]), True),
    "a table of the domain's extent": (looked_up, [call(N, X[:9])], lambda: call(N, Y), False),
    "both classes": (looked_up, [call(N, X), call(N, X[:9])], lambda: call(N, Y), True),
    "int64 indices": (looked_up, [call(N, X)], lambda: call(N.astype(np.int64), Y), False),
    "narrow": (looked_up, [call(N[:3], X), call(N, X)], lambda: call(N[:7], X), True),
    "vectors": (halved, [call(IMAGE)], lambda: call(IMAGE), True),
    "vectors out": (halved, [call(IMAGE)], lambda: call(IMAGE, out=new((5, 12, 2))), True),
    "wrong lanes": (halved, [call(IMAGE)], lambda: call(IMAGE[..., :3].copy()), False),
    "wrong lanes out": (halved, [call(IMAGE)], lambda: call(IMAGE, out=new((5, 12, 4))), False),
    "turned out": (halved, [call(IMAGE)], lambda: call(IMAGE, out=new((12, 5, 2))), False),
    "turned image": (halved, [call(IMAGE)], lambda: call(IMAGE.transpose(1, 0, 2)), False),
    "one row": (halved, [call(IMAGE)], lambda: call(IMAGE[:1]), True),
    "a vector parameter": (halved, [call(IMAGE)], lambda: call(IMAGE, by=(1, 2)), False),
    "bools": (signs, [call(X, X > 0)], lambda: call(X, Y > 0), True),
    "odd bools": (signs, [call(X, X > 0)], lambda: call(X, new(100, bool)), True),
    "bytes for bools": (signs, [call(X, X > 0)], lambda: call(X, new(100, np.uint8)), False),
    "bools out": (signs, [call(X, X > 0)], lambda: call(X, X > 0, out=new(100, bool)), True),
    "bytes out": (signs, [call(X, X > 0)], lambda: call(X, X > 0, out=new(100, "u1")), False),
    "too many elements": (signs, [call(X, X > 0)], lambda: call(X, new(2**31, bool)), False),
    "too long an axis": (halved, [call(IMAGE)], lambda: call(new((2**24 + 1, 1, 4))), False),
    "no inputs": (ramp, [call(shape=9)], lambda: call(), False),
    "no inputs, out": (ramp, [call(shape=9)], lambda: call(2.5, out=new(20)), True),
    "a tuple": (pair, [call(X)], lambda: call(X), True),
    "a tuple, out": (pair, [call(X)], lambda: call(X, out=(new(), new(100, bool))), True),
    "outs of two extents": (
        pair,
        [call(X)],
        lambda: call(X, out=(new(), new(99, bool))),
        False,
    ),
    "one out for two": (pair, [call(X)], lambda: call(X, out=new()), False),
    "outs that share": (
        pair,
        [call(X)],
        lambda: call(X, out=((block := new()), block.view(bool)[:100])),
        False,
    ),
    "a named tuple": (named, [call(X)], lambda: call(X), True),
    "a tuple of one": (single, [call(X)], lambda: call(X), True),
    "a tuple of one, out": (single, [call(X)], lambda: call(X, out=new()), True),
    "by name": (by_name, [call(N, b=N)], lambda: call(N, b=N, s=5), True),
    "by position and name": (by_name, [call(N, b=N)], lambda: call(N, 4, b=N), True),
    "a place too many": (by_name, [call(N, b=N)], lambda: call(N, 4, N), False),
    "odd truth": (
        signs,
        [call(X, X > 0)],
        lambda: call(X, np.arange(100, dtype=np.uint8).view(bool)),
        True,
    ),
    "a fault": (divided, [call(N)], lambda: call(N, 0), False),
    "a fault, out": (divided, [call(N)], lambda: call(N, by=0, out=new(100, np.int32)), False),
    "no fault": (divided, [call(N)], lambda: call(N, -7), True),
}


@pytest.mark.parametrize("case", OTHERS)
def test_each_kind_of_kernel_gives_what_the_python_path_gives(case: str) -> None:
    kernel, warm, make, native = OTHERS[case]
    assert agree(Watched(kernel, *warm), make) == native


def numbers() -> list[Any]:
    """Numbers around every border of the conversions, and random ones."""
    rng = random.Random(20)
    largest = 3.4028234663852886e38  # of f32
    found: list[Any] = [0.0, -0.0, 1, -1, True, False, None, "1", 1j, np.float32(2), np.float64(2)]
    found += [np.int64(3), np.int64(2**40), np.int64(-(2**63)), np.int32(-7), np.uint8(4)]
    found += [np.float64(1e300), np.float64(np.inf), np.float32(0.1), np.float16(0.1), np.True_]
    found += [
        np.float32(np.nan),
        np.longdouble(0.1),
        np.False_,
        np.bool_(True),
        np.array(2.0),
        np.nan,
        np.inf,
    ]
    found += [-np.inf, 5e-324, 1e-45]
    found += [1.4e-45, 7.0e-46, 1.1754943e-38, largest, -largest, largest * (1 + 2**-25), 1e39]
    for power in (24, 25, 31, 32, 53, 54, 63, 64, 128, 1000):
        found += [s * (2**power + d) for d in (-1, 0, 1) for s in (-1, 1)]
    found += [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(100)]
    found += [float(np.float32(rng.uniform(-9, 9))) * (1 + 2**-24) for _ in range(50)]
    return found + [rng.randrange(-(2 ** rng.randrange(1, 70)), 2**70) for _ in range(100)]


@pytest.mark.parametrize("name", ["a", "n", "on"])
def test_every_number_becomes_the_same_word_or_error(name: str) -> None:
    watched = plain()
    x, y = np.ones(8, np.float32), np.full(8, 0.25, np.float32)
    native = 0
    for number in numbers():
        given = call(x, y, **{name: number})
        before = watched.handed
        assert outcome(watched.call, given) == outcome(axpy.__call__, given), number
        native += watched.handed == before
    assert native >= {"a": 150, "n": 15, "on": 2}[name]


def test_a_subclass_of_a_number_goes_to_the_python_path() -> None:
    class Real(float):
        pass

    class Whole(int):
        pass

    for number in (Real(2.5), Whole(3)):
        assert not agree(plain(), lambda number=number: call(X, Y, a=number))


def test_calls_of_a_kernel_become_native_once_short_runs_repeat() -> None:
    @dy.kernel
    def fresh(x: Rows[f32]) -> Rows[f32]:
        return x.sample() - 3.0

    for _ in range(2):
        assert not is_native(fresh)
        fresh(X)
    record = fresh._native_record
    assert is_native(fresh)
    fresh(X, out=new())
    assert fresh._native_record == record
    fresh(X[:3])  # a class of calls without a program so far
    assert fresh._native_record != record
    assert np.array_equal(fresh.__call__(X), fresh(X))  # which is the Python path, as before


@pytest.mark.parametrize("preferred", WIDTHS)
def test_each_number_of_columns_is_that_of_the_width_it_runs_at(preferred: int) -> None:
    for columns in range(1, 200):
        width = fitting_width(preferred, columns)
        fitting = [w for w in WIDTHS if w in (1, 8, preferred) and w <= preferred]
        ranges = {w: columns_at(w, preferred) for w in fitting}
        assert [w for w, (least, most) in ranges.items() if least <= columns <= most] == [width]


def test_references_and_buffers_are_given_back() -> None:
    watched = plain()
    several = Watched(named, call(X))
    out, held, number = new(), array.array("f", X.tolist()), 2.7182818
    given = (X, Y, out, held, number, None, True, np.dtype(np.float32), np.empty, Pair)
    before = [sys.getrefcount(thing) for thing in given]
    shape = call(X, Y[:50])  # a class without a program, refused after all buffers are held
    blocks = sys.getallocatedblocks()
    for _ in range(100_000):
        watched.call(X, Y, out=out)
    for _ in range(20_000):
        watched.call(held, Y, a=number, on=True)
        several.call(X)
    for k in range(2_000):
        args, keywords = [
            call(X, Y, out=out[:50]),
            call(X, 3),
            call(X, Y, out=X),
            call(X, Y, a="two"),
            shape,
        ][k % 5]
        outcome(watched.call, (args, keywords))
    held.append(1.0)  # BufferError while a buffer of it is out
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 2_000
    after = [sys.getrefcount(thing) for thing in given]
    assert all(abs(b - a) < 5_000 for a, b in zip(before, after, strict=True)), (before, after)


def test_a_kernel_goes_when_its_last_reference_does() -> None:
    def function(x: Rows[f32]) -> Rows[f32]:
        return x.sample() * 5.0

    kernel = dy.kernel(function)
    for _ in range(3):
        kernel(X)
    assert is_native(kernel)
    alive, method = weakref.ref(kernel), kernel.__call__
    gc.disable()
    try:
        del kernel
        assert np.array_equal(method(X), X * 5)
        del method
        assert alive() is None
    finally:
        gc.enable()


def test_many_threads_call_the_native_path_at_once() -> None:
    watched = plain()
    handed, (program,) = watched.handed, watched.facts.programs
    wanted: dict[int, bytes] = {}
    (limits,) = program.limits
    sizes = [64, limits.brief, limits.brief + 1, limits.alone]
    inputs = {n: np.random.default_rng(n).standard_normal(n, np.float32) for n in sizes}
    for n, x in inputs.items():
        wanted[n] = axpy.__call__(x, x).tobytes()
    wrong: list[int] = []

    def work(n: int) -> None:
        x, out = inputs[n], np.empty(n, np.float32)
        for _ in range(50):
            out[:] = np.nan
            watched.call(x, x, out=out)
            if out.tobytes() != wanted[n] or watched.call(x, x).tobytes() != wanted[n]:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in sizes * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert watched.handed == handed


def test_a_conversion_may_call_the_kernel_it_is_for() -> None:
    watched = plain()

    class Nested:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return watched.call(X, Y)

    handed = watched.handed
    assert np.array_equal(watched.call(Nested(), Y), axpy(axpy(X, Y), Y))
    assert watched.handed == handed + 1


def test_an_error_in_making_the_result_reaches_the_caller() -> None:
    class Broken(tuple):
        def __new__(cls, *parts: object) -> Broken:
            raise ZeroDivisionError("no such result")

    watched = Watched(pair, call(X))
    made = native_call(type(watched.call), watched.facts, ("x",), Broken)
    assert made is not None
    watched.call._native_record = made.record
    before = sys.getrefcount(X)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="no such result"):
            watched.call(X)
    assert sys.getrefcount(X) == before
    assert watched.handed == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_calls_natively() -> None:
    watched = plain()
    wanted, handed = watched.call(X, Y).tobytes(), watched.handed
    pid = os.fork()
    if pid == 0:
        same = watched.call(X, Y).tobytes() == wanted and watched.handed == handed
        os._exit(0 if same else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_another_python_keeps_to_the_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        def __call__(self) -> int:
            return 3

    monkeypatch.setattr(sys.implementation, "name", "other")
    assert callable_type(Plain) is Plain
    assert native_call(Plain, plain().facts, ("x", "y"), None) is None


def test_a_callable_type_is_its_base_but_for_the_way_it_is_called() -> None:
    class Plain:
        """Says what it is."""

        def __call__(self, *args: object, **keywords: object) -> object:
            return args, keywords

    made = callable_type(Plain)
    thing = made()
    assert (made.__name__, made.__module__, made.__doc__) == ("Plain", __name__, Plain.__doc__)
    assert issubclass(made, Plain)
    assert thing(1, a=2) == thing.__call__(1, a=2) == ((1,), {"a": 2})
    assert (thing._native_entry, thing._native_record) == (0, 0)
    thing.more = thing  # its attributes and its collection are those of any object
    alive = weakref.ref(thing)
    del thing
    gc.collect()
    assert alive() is None


def test_a_kernel_with_more_ports_than_the_frame_holds_keeps_to_the_python_path() -> None:
    names = [f"x{k}" for k in range(16)]
    text = f"def many({', '.join(f'{n}: Rows[f32]' for n in names)}) -> Rows[f32]:\n"
    text += f"    return {' + '.join(f'{n}.sample()' for n in names)}\n"
    many = dy.kernel(made(text, "many"))
    xs = [X] * 16
    for _ in range(3):
        many(*xs)
    assert not is_native(many)


EXTENTS = {"Rows": (40,), "Grid": (5, 9), "Volume": (3, 4, 9)}
DEFAULTS = {"f32": "1.5", "f64": "f64(1.5)", "i32": "2", "bool": "True"}
GIVEN: dict[str, Any] = {"f32": -0.75, "f64": 1e300, "i32": -3, "bool": False}


@pytest.mark.parametrize("shape", EXTENTS)
def test_every_type_of_port_and_parameter_is_native(shape: str) -> None:
    """Of all that the native backend runs at all: what it refuses has no native call either."""
    taken = []
    for element, spelling in TYPE_SPELLINGS.items():
        param = f", p: {spelling} = {DEFAULTS[spelling]}" if spelling in DEFAULTS else ""
        port = f"{shape}[{spelling}]"
        result = f"x.sample(){' if x.sample() == p else p' if param else ''}"
        text = f"def copy(x: {port}{param}) -> {port}:\n    return {result}\n"
        copy = dy.kernel(made(text, f"copy_{shape}_{spelling}"))
        try:
            require_supported(copy.module)
        except (dy.KernelError, UnsupportedKernel):
            continue
        port_of = copy.manifest.inputs[0]
        x = np.ones(host_shape(port_of, EXTENTS[shape]), host_dtype(element))
        watched = Watched(copy, call(x))
        given = call(x, GIVEN[spelling], out=np.empty_like(x)) if param else call(x)
        assert outcome(watched.call, given) == outcome(watched._plain, given), port
        assert watched.handed == 0, port
        taken.append(spelling)
    assert {"f32", "i32", "bool", "vec2", "vec3", "vec4", "ivec4"} <= set(taken) or not taken
    assert taken or shape == "Volume"


def made(text: str, name: str) -> Any:
    """A function from source text that ``inspect`` can find."""
    import linecache

    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {**vars(dy), "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return scope[text[4 : text.index("(")]]
