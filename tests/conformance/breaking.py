"""Replacing what a dotted path names by something that raises, and putting it back.

In: the dotted path of a home. `broken(home)` is a context in which every use of what lives there
raises `Broken`, however the user came by it: a plain function has its code swapped, so names that
were imported earlier raise too; a class raises when it is made and when an instance is read; a
property, field or class constant raises on access; a module's constant is replaced wherever it
was imported under its own name; a module has all its functions broken.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from tests.conformance.page import ConformanceError

_MISSING: Final = object()


class Broken(Exception):
    """Raised in place of an entry that was broken on purpose."""


@dataclass(frozen=True, slots=True)
class Home:
    """What a path leads to: `raw` as the owner's dict holds it, `value` as a user gets it."""

    owner: Any
    name: str
    raw: Any
    value: Any


def resolve(path: str) -> Home:
    """What `path` names. Raises ConformanceError when nothing is there."""
    owner, rest = _module(path)
    if not rest:
        return Home(None, path, owner, owner)
    for name in rest[:-1]:
        owner = _attribute(path, owner, name)
    name = rest[-1]
    value = _attribute(path, owner, name)
    holders = owner.__mro__ if isinstance(owner, type) else (owner,)
    raw = next((vars(h)[name] for h in holders if name in getattr(h, "__dict__", {})), value)
    return Home(owner, name, raw, value)


def _module(path: str) -> tuple[ModuleType, list[str]]:
    """The module at the head of a path, and what is left of the path."""
    parts = path.split(".")
    module = importlib.import_module(parts[0])
    for n in range(1, len(parts)):
        # a function or class of a submodule's name wins where it ends the path, and only there:
        # `dynamis.kernel` is the decorator, `dynamis.kernel.validate` is in the package
        if n == len(parts) - 1 and not isinstance(getattr(module, parts[n], module), ModuleType):
            return module, parts[n:]
        try:
            module = importlib.import_module(".".join(parts[: n + 1]))
        except ModuleNotFoundError:
            return module, parts[n:]
    return module, []


def _attribute(path: str, owner: Any, name: str) -> Any:
    if hasattr(owner, name):
        return getattr(owner, name)
    # a field without a default exists in instances only
    if isinstance(owner, type) and any(
        name in getattr(c, "__annotations__", {}) for c in owner.__mro__
    ):
        return None
    raise ConformanceError(f"{path}: {getattr(owner, '__name__', owner)} has no {name!r}")


@contextmanager
def broken(path: str) -> Iterator[None]:
    """A context in which what `path` names raises `Broken`. It is put back on leaving."""
    home = resolve(path)
    with ExitStack() as restore:
        _break(home, restore)
        yield


def _break(home: Home, restore: ExitStack) -> None:
    raw = home.raw
    function = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
    if isinstance(raw, ModuleType):
        _break_module(raw, restore)
    elif isinstance(function, FunctionType):
        _swap_code(function, restore)
    elif isinstance(raw, type):
        _break_class(raw, restore)
    elif isinstance(home.owner, type):
        # an operator must be a function: an error of a descriptor would count as "has none"
        special = home.name.startswith("__") and home.name.endswith("__")
        _set(home.owner, home.name, _raise if special else _RaisingAttribute(), restore)
    else:
        _replace_everywhere(home, restore)


# -- functions


def _raise(*args: Any, **kwargs: Any) -> Any:
    raise Broken


def _swap_code(function: FunctionType, restore: ExitStack) -> None:
    """Make a function raise while it stays the same object."""
    code: CodeType = function.__code__
    restore.callback(setattr, function, "__code__", code)
    # the new code may name other globals than ours: it finds `Broken` through its constants
    function.__code__ = _raising_code(code)


def _raising_code(like: CodeType) -> CodeType:
    """Code that raises `Broken` and has as many free variables as `like`."""
    holes = "".join(f"{name} = None\n        " for name in like.co_freevars)
    uses = "".join(f"{name}\n            " for name in like.co_freevars)
    source = f"""
def outer():
        {holes}
        def inner(*args, **kwargs):
            raise __import__({__name__!r}, fromlist=["Broken"]).Broken({like.co_qualname!r})
            {uses}
        return inner
"""
    scope: dict[str, Callable[[], FunctionType]] = {}
    exec(source, scope)
    return scope["outer"]().__code__


def _break_module(module: ModuleType, restore: ExitStack) -> None:
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            _swap_code(value, restore)


# -- classes and what is in them


class _RaisingAttribute:
    """A data descriptor that raises however it is touched."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise Broken

    def __set__(self, instance: Any, value: Any) -> None:
        raise Broken

    def __delete__(self, instance: Any) -> None:
        raise Broken


def _set(cls: type, name: str, value: Any, restore: ExitStack) -> None:
    """Set a class attribute, past what its metaclass (an enumeration's) forbids."""
    before = vars(cls).get(name, _MISSING)
    if before is _MISSING:
        restore.callback(type.__delattr__, cls, name)
    else:
        restore.callback(type.__setattr__, cls, name, before)
    type.__setattr__(cls, name, value)


def _break_class(cls: type, restore: ExitStack) -> None:
    """Calling the class raises, reading an attribute of an instance, using a static method."""
    kinds = (staticmethod, classmethod)  # these need no instance
    shared = [raw.__func__ for raw in vars(cls).values() if isinstance(raw, kinds)]
    for function in shared:
        if isinstance(function, FunctionType) and not function.__name__.startswith("__"):
            _swap_code(function, restore)
    _set(cls, "__init__", _raise, restore)
    if "__new__" in vars(cls):  # one that is only inherited cannot be put back as it was
        _set(cls, "__new__", staticmethod(_raise), restore)
    _set(cls, "__getattribute__", _raise, restore)


# -- constants of modules


def _poison() -> Any:
    """An object with which nothing can be done."""
    # `__class__` is left: reports look at it
    names = """call getattr eq ne lt le gt ge hash bool int float index len iter next contains
        getitem setitem add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod
        and rand or ror xor rxor lshift rlshift rshift rrshift neg pos invert abs str repr format
        instancecheck subclasscheck"""
    return type("Poison", (), {f"__{n}__": _raise for n in names.split()})()


def _replace_everywhere(home: Home, restore: ExitStack) -> None:
    """Put poison wherever a module of ours or a test holds the value under its own name."""
    poison = _poison()
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] not in ("dynamis", "tests"):
            continue
        held = getattr(module, "__dict__", {})
        if held.get(home.name, _MISSING) is home.raw:
            restore.callback(held.__setitem__, home.name, home.raw)
            held[home.name] = poison
