"""Modules with one thing changed, anywhere: every field of every part, by reflection.

In: a module. Out: ``places``, the path of every leaf and node of it, and ``mutated``, the module
with something else at one of them. What comes out is made of the Kernel IR's own types, and is
mostly not valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from random import Random
from typing import Any

from dynamis.kernel import op
from dynamis.kernel.capability import Capabilities, Capability
from dynamis.kernel.encoding import Encoding
from dynamis.kernel.manifest import KernelId
from dynamis.kernel.mode import Combine, Mode
from dynamis.kernel.module import Block, Instruction, Module, Span
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Type, Value

Path = tuple[str | int, ...]

ATOMS = (Type, Value, Capabilities, KernelId, Span, Enum, str, int, float)
"""What is changed as a whole."""
NUMBERS = (-1, 0, 1, 2, 3, 63, 64, 256, 257, 4096, 65535, 65536, 65537, 2**30, 2**31, 2**32, 2**70)
NAMES = (
    "",
    "x",
    "x",
    "a b",
    "0",
    "in0",
    "in1",
    "out0",
    "p0",
    "memory0",
    "a.b",
    "é",
    "x" * 300,
    "\n",
)
TYPES = (
    *PLAIN_TYPES.values(), *(Type.struct(k) for k in range(4)), Type.struct(2**31), Type("Half"),
    Type("Float", 3), Type("Struct", -2),
)  # fmt: skip
MODES = (
    Mode.MAP, Mode.REDUCE, Mode.SCAN, *(Mode.PREFIX(c) for c in Combine), Mode.GROUP(4),
    *(Mode.SCATTER(k, c) for k in (0, 1, 9) for c in Combine), Mode.GROUP(0), Mode.GROUP(257),
    replace(Mode.MAP, base=0), replace(Mode.MAP, size=3),
    replace(Mode.GROUP(2), combine=Combine.MIN),
)  # fmt: skip


def places(module: Module) -> list[Path]:
    """The path of every node and leaf of the module, spans aside."""
    found: list[Path] = []
    stack: list[tuple[Path, Any]] = [((), module)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, Span):
            continue
        if path[-2:-1] not in (("arms",), ("bindings",)):  # pairs stay pairs
            found.append(path)
        if isinstance(node, ATOMS) or node is None:
            continue
        if isinstance(node, tuple):
            stack += [((*path, k), item) for k, item in enumerate(node)]
        elif is_dataclass(node):
            stack += [((*path, f.name), getattr(node, f.name)) for f in fields(node)]
    return found[1:]


def at(node: Any, path: Path) -> Any:
    """What stands at a path."""
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)
    return node


def with_at(node: Any, path: Path, new: Any) -> Any:
    """The node with something else at a path."""
    passed = [node]
    for step in path[:-1]:
        passed.append(at(passed[-1], (step,)))
    for holder, step in zip(reversed(passed), reversed(path), strict=True):
        if isinstance(step, int):
            new = (*holder[:step], new, *holder[step + 1 :])
        else:
            new = replace(holder, **{step: new})
    return new


def mutated(rng: Random, module: Module, found: Sequence[Path]) -> Module:
    """The module with something else at one of its places."""
    path = rng.choice(found)
    old = at(module, path)
    new = other(rng, old, module, path)
    made: Module = with_at(module, path, new)
    return made


def other(rng: Random, old: Any, module: Module, path: Path) -> Any:
    """Something of the right Python type to stand where ``old`` stands."""
    match old:
        case bool():
            return not old
        case int():
            return rng.choice((old - 1, old + 1, old + rng.randint(-9, 9), rng.choice(NUMBERS)))
        case str():
            return rng.choice((*NAMES, old + "x", old))
        case Type():
            return rng.choice(TYPES)
        case Value():
            return _value(rng, old)
        case Capabilities():
            return Capabilities(c for c in Capability if rng.random() < 0.5)
        case KernelId():
            return KernelId("other.kernel", rng.randint(0, 2**32 - 1))
        case Mode():
            return rng.choice(MODES)
        case BinaryOp() | UnaryOp() | Intrinsic() | Enum():
            return rng.choice(tuple(type(old)))
        case op.Op():
            return operation(rng, module)
        case Instruction():
            return replace(old, op=operation(rng, module), ty=rng.choice((old.ty, *TYPES)))
        case Block():
            return replace(old, result=rng.choice((old.result + 1, old.result - 1, 0)))
        case None:
            return _nothing(rng, module, path)
        case tuple():
            return _tuple(rng, old, path)
    return old


def _value(rng: Random, old: Value) -> Value:
    words = list(old.words)
    if words and rng.random() < 0.6:
        words[rng.randrange(len(words))] = rng.choice(
            (0, 1, 2, 2**32, 2**64, -1, 0x7FC00001, 2**70)
        )
        return Value(old.ty, tuple(words))
    if rng.random() < 0.5:
        return Value(rng.choice(TYPES), old.words)
    return Value(old.ty, rng.choice((old.words[1:], (*old.words, 0), ())))


def _tuple(rng: Random, old: tuple[Any, ...], path: Path) -> tuple[Any, ...]:
    if not old:
        holds_ids = path[-1] in ("results", "parts") or (path[-1] == "args" and "op" in path)
        return (rng.choice((0, 1)),) if holds_ids else ()
    k, j = rng.randrange(len(old)), rng.randrange(len(old))
    swapped = list(old)
    swapped[k], swapped[j] = swapped[j], swapped[k]
    return rng.choice((
        (*old[:k], *old[k + 1 :]), (*old[:k], old[k], *old[k:]), tuple(swapped),
        old[:k], old[k:], (),
    ))  # fmt: skip


def _nothing(rng: Random, module: Module, path: Path) -> Any:
    """Something where there was nothing: an encoding, an id, a function, a fact of a mode."""
    match path[-1]:
        case "encoding":
            return rng.choice(tuple(Encoding))
        case "merge" | "init":
            return rng.choice(module.all_functions())
        case "element":
            return rng.choice(TYPES)
        case "combine":
            return rng.choice(tuple(Combine))
        case "until":
            return Block((), rng.randint(0, 9))
    return rng.choice(NUMBERS)


def operation(rng: Random, module: Module) -> op.Op:
    """Any operation, over ids and numbers that may not fit."""
    ids = max(1, module.entry.slot_count)
    a, b, n = (rng.randrange(ids) for _ in range(3))
    k = rng.randint(0, 3)
    block = Block((), a)
    return rng.choice((
        op.Const(Value.of(Type.FLOAT, 1.0)), op.Param(k), op.Arg(k), op.Carried(), op.Index(),
        op.Unary(rng.choice(tuple(UnaryOp)), a), op.Binary(rng.choice(tuple(BinaryOp)), a, b),
        op.Intrinsic(rng.choice(tuple(Intrinsic)), (a, b)[: rng.randint(0, 2)]),
        op.Construct((a, b)),
        op.Extract(a, k), op.Subscript(a, b), op.Call(k, (a, b)[: rng.randint(0, 2)]),
        op.If(a, block, block), op.Match(a, (((1, 2), block),), block), op.Each(k + 1, block),
        op.Match(a, (((1,), block), ((1,), block)), block), op.Loop(k, None, a, None, block),
        op.Loop(3, b, a, block, block), op.Coord(), op.Domain(), op.Time(), op.Clock(), op.Rate(),
        op.Queued(), op.Pointer(), op.PointerDown(), op.Button(a), op.Wheel(), op.Pads(),
        op.Stick(a), op.Window(), op.Scale(), op.Key(a), op.Typed(a), op.Element(), op.Lane(),
        op.Exchange(a, b), op.Sample(k), op.At(k, a), op.AtLinear(k, a), op.Count(k), op.Size(k),
        op.Part(k, None, (op.Step.Field(k),)), op.Part(k, a, (op.Step.Index(b),)), op.Put(k, a, b),
        op.Emit(a), op.Spend(a), op.Look(), op.Lanes(block), op.Meet(None), op.Meet(n), op.Op(),
    ))  # fmt: skip
