"""The Python API: the ``kernel`` decorator, and the ``Kernel`` object that it makes.

In: a Python function, never executed. Out: a callable that takes and returns NumPy arrays. A
kernel is compiled when it is first used, not when it is decorated, so that helper functions
defined further down are found. Using one kernel from many threads at once is safe.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, overload

from .codegen import Options
from .collector import collector_paused
from .errors import a_kind, public
from .frontend import compile_kernel
from .frontend.signature import annotation, kernel_signature
from .frontend.source import SourceFunction
from .kernel import Validated, validate
from .kernel.module import MAX_BUDGET, KernelId, Manifest, Module
from .runtime import dispatch
from .runtime.arrays import Array
from .runtime.callable_type import callable_type
from .runtime.errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .runtime.locks import COMPILING
from .runtime.native import NativeKernel
from .runtime.reference import ReferenceKernel
from .runtime.stages import STAGES
from .runtime.timing import Timings

BACKENDS = ("cpu", "reference")
"""``cpu``: vectorised machine code on all cores. ``reference``: the interpreter that defines
what a kernel means, word for word, thousands of times slower."""


_REPEATED = 2
"""Short runs of a kernel that make a native call path worth its making."""


class Listing(str):
    """Text of many lines that a REPL or notebook shows as it is, without quotes and escapes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Source:
    """A decorated function and what has been made of it so far; shared by copies of its kernel."""

    def __init__(self, function: types.FunctionType, id: str | None, budget: int | None):
        self.function = function
        code = function.__code__
        self.positional = code.co_varnames[: code.co_argcount]
        self._id = id
        self._budget = budget
        self._validated: Validated | None = None
        self.packed_as: type | None = None
        """The type of a call's result: None for a bare array."""
        self._native: dict[int | None, NativeKernel] = {}
        self.timings = Timings()

    def validated(self) -> Validated:
        """The module, compiled at the first call. A failure is not kept: the next call retries."""
        if self._validated is None:
            with COMPILING, collector_paused():
                if self._validated is None:
                    with self.timings.measured("front end"):
                        source = SourceFunction(self.function)
                        module = compile_kernel(source, id=self._id, budget=self._budget)
                        validated = validate(module)
                        self.packed_as = _packing(source)
                    self._validated = validated
        return self._validated

    def native(self, width: int | None) -> NativeKernel:
        """The native kernel for a width (None: chosen for it). It compiles when it first runs."""
        validated = self.validated()
        native = self._native.get(width)
        if native is None:
            with COMPILING, collector_paused():
                native = self._native.get(width)
                if native is None:
                    native = NativeKernel(
                        validated, _options(width), keep=True, timings=self.timings
                    )
                    self._native[width] = native
        return native

    def compiled(self, width: int | None) -> NativeKernel | None:
        """The native kernel for a width, where one has been made."""
        return self._native.get(width)

    def result(self, arrays: Sequence[Array]) -> Any:
        """The value of a call: an array, or a tuple (the NamedTuple of the annotation) of them."""
        if self.packed_as is None:
            return arrays[0]
        return tuple(arrays) if self.packed_as is tuple else self.packed_as(*arrays)


class Kernel:
    """A kernel: call it with arrays. Made by ``dynamis.kernel``.

    ``kernel(*inputs, out=None, shape=None, threads=None, backend="cpu", progress=None, **params)``
    runs it over its domain: the extent of ``out=`` or ``shape=`` when given, else that of the
    first input of the outputs' shape.

    Inputs come first, in the order of the signature, then parameters; each by position or by
    name. ``Rows[T]`` takes an array of shape (n,), ``Grid[T]`` of shape (height, width),
    ``Volume[T]`` of shape (depth, height, width); a vector type adds a last axis of its 2–4
    components. dtypes are float32, float64, int32 and bool; narrower floats into an f32 or f64
    port and 8- and 16-bit integers into an i32 port are widened, anything else is an error.

    Returns one array, or a tuple (the annotation's NamedTuple) for several outputs; with ``out=``,
    the arrays given there. ``threads`` defaults to one per available CPU and never changes a
    result. ``progress(done, total)`` is called now and then from the calling thread, and at the
    end of every run that succeeds with ``done`` equal to ``total``.

    Raises KernelError where the function is not a kernel, ArgumentError where the arguments do
    not fit it, and KernelFault where it fails: overflow, division by zero, a spent budget.
    """

    # Kernels are of a subclass (``_kernel``) that Python calls through ``_native_entry`` once that
    # is set; until then, and for each call that is not plain, ``__call__`` is called.
    _native_entry: int
    _native_record: int

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, source: _Source, width: int | None = None):
        self._source = source
        self._width = width
        self._native_calls: dict[int, object] = {}
        functools.update_wrapper(self, source.function)

    @public
    def __call__(
        self,
        /,
        *args: object,
        out: object = None,
        shape: object = None,
        threads: int | None = None,
        backend: str = "cpu",
        progress: Callable[[int, int], None] | None = None,
        **keywords: object,
    ) -> Any:
        source = self._source
        runner = self._runner(backend)
        arrays = dispatch.call(
            source.validated(),
            runner,
            args,
            keywords,
            name=source.function.__name__,
            positional=source.positional,
            out=out,
            shape=shape,
            threads=threads,
            progress=progress,
        )
        native = source.compiled(self._width)
        if native is not None and native.short_runs >= _REPEATED:
            self._go_native(native)
        return source.result(arrays)

    @property
    @public
    def module(self) -> Module:
        """The kernel as Kernel IR. Raises KernelError where the function is not a kernel."""
        return self._source.validated().module

    @property
    @public
    def manifest(self) -> Manifest:
        """The kernel's contract: id, mode, ports, parameters, capabilities, budget."""
        return self.module.manifest

    @property
    @public
    def id(self) -> KernelId:
        """``name@version``."""
        return self.manifest.id

    @property
    @public
    def ir(self) -> Listing:
        """The Kernel IR as text, which ``dynamis.kernel.parse`` reads back."""
        return Listing(str(self.module))

    @public
    def show(self, stage: str) -> Listing:
        """The text of one stage: kernel, uop, program, llvm or asm.

        The text is returned, not printed: a REPL or notebook shows it as it is, a script prints
        it. Raises ArgumentValueError for an unknown stage."""
        if stage not in STAGES:
            raise ArgumentValueError(
                f"there is no stage {stage!r}{did_you_mean(str(stage), STAGES)} "
                f"(stages: {', '.join(STAGES)})"
            )
        if stage == "kernel":
            return self.ir
        return Listing(self._source.native(self._width).stage(stage))

    @public
    def explain(self) -> Listing:
        """How the kernel runs natively, in words: elements at once, the class of each read and why
        it is not better, loops, arms that are skipped, checks for failures that remain.

        It is about calls whose inputs of the outputs' kind have their extent too. The text is
        returned, as by ``show``."""
        return Listing(self._source.native(self._width).explain())

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling so far, from the Python source to machine code, in every
        form the calls up to now have needed."""
        return self._source.timings.total

    @property
    def timings(self) -> Timings:
        """Where ``compile_seconds`` went: a mapping of stages to seconds (front end, import, cache,
        lowering, LLVM, load), and in ``timings.cache`` what the disk cache did, in words. It goes
        on counting."""
        return self._source.timings

    @public
    def options(self, *, width: int | None = None) -> Kernel:
        """The same kernel with other code generation options: ``width``, elements that run side
        by side (1, 2, 4, … 64; by default as many as suit the kernel and the machine). No option
        ever changes a result. Raises OptionError."""
        _options(width)
        return _kernel(self._source, width)

    def _go_native(self, native: NativeKernel) -> None:
        """Let short calls skip Python, those of the classes that programs exist for by now."""
        if native.program_count in self._native_calls:
            return
        with COMPILING:
            count = native.program_count
            if count in self._native_calls:
                return
            from .runtime.native_call import native_call  # on demand: most runs are not short

            source = self._source
            made = native_call(type(self), native.call_facts(), source.positional, source.packed_as)
            self._native_calls[count] = made  # a call in another thread may still use an older one
            if made is not None:
                self._native_record = made.record
                self._native_entry = made.entry

    def _runner(self, backend: str) -> Callable[[], dispatch.Runner]:
        if backend == "cpu":
            return lambda: self._source.native(self._width)
        if backend == "reference":
            return lambda: ReferenceKernel(self._source.validated())
        raise ArgumentValueError(
            f"there is no backend {backend!r}{did_you_mean(str(backend), BACKENDS)} "
            f"(backends: {', '.join(BACKENDS)})"
        )

    def __repr__(self) -> str:
        return f"<dynamis kernel {self.__qualname__}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        # Pickled by name, as functions are; a copy with options by the name and the options.
        module, name = self.__module__, self.__qualname__
        named = _named(module, name)
        if isinstance(named, Kernel) and named is not self and named._source is self._source:
            return (_with_width, (module, name, self._width))
        return name


_kernel: type[Kernel] = callable_type(Kernel)
"""The class of every kernel."""


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    id: str | None = None, /, *, budget: int | None = None
) -> Callable[[Callable[..., Any]], Kernel]: ...


@public
def kernel(
    target: Callable[..., Any] | str | None = None, /, *, budget: int | None = None
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function: ``@dy.kernel``, or ``@dy.kernel("image.blur@1", budget=...)``.

    The id defaults to the function's name, version 1. ``budget`` is how many loop iterations one
    element may run, nested loops included; past it the run fails with a KernelFault.

    Raises InvalidKernelId for an id that is not ``name@version``, ArgumentError for a budget out
    of range or a target that is not a plain function. What is wrong inside the function is said
    as a KernelError when the kernel is first used."""
    if callable(target):
        return _decorate(target, None, budget)
    if target is not None and not isinstance(target, str):
        raise ArgumentTypeError(f"@kernel takes an id such as 'image.blur@1', not {a_kind(target)}")
    if target is not None:
        KernelId.parse(target)
    _check_budget(budget)
    return public(lambda function: _decorate(function, target, budget))


def _decorate(function: object, id: str | None, budget: int | None) -> Kernel:
    if isinstance(function, Kernel):
        raise ArgumentTypeError(f"{function.__name__} is a kernel already: decorate it once")
    if not isinstance(function, types.FunctionType):
        raise ArgumentTypeError(
            f"@kernel takes a function written with def, not {a_kind(function)}"
        )
    return _kernel(_Source(function, id, budget))


def _check_budget(budget: object) -> None:
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise ArgumentTypeError(f"budget= takes a whole number, not {a_kind(budget)}")
    if not 1 <= budget <= MAX_BUDGET:
        raise ArgumentValueError(f"budget= takes a number in 1…{MAX_BUDGET}, not {budget}")


def _options(width: int | None) -> Options | None:
    return None if width is None else Options(width)


def _named(module: str, name: str) -> object:
    """What ``name`` (``Class.attribute``) means in a module; None where it means nothing."""
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _with_width(module: str, name: str, width: int | None) -> Kernel:
    """The kernel of that name with another width: what its pickle says."""
    importlib.import_module(module)
    found = _named(module, name)
    if not isinstance(found, Kernel):
        raise ArgumentTypeError(f"{module}.{name} is no kernel any more, so it cannot be unpickled")
    return found.options(width=width)


def _packing(source: SourceFunction) -> type | None:
    """How a call's outputs are returned, by the function's return annotation: one array (None), a
    tuple, or the NamedTuple class it names."""
    returns = source.tree.returns
    assert returns is not None  # the frontend has accepted the signature
    target = annotation(source, returns)
    if isinstance(target, type) and issubclass(target, tuple):
        return target
    return tuple if kernel_signature(source).several else None
