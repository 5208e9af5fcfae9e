"""The validator: decides whether a module is a kernel that may run, and says why it is not.

In: any module made of the Kernel IR's own Python types. Out: a ``Validated``, which everything that
runs or compiles takes, or a ``ValidationError`` naming the rule, the place, what was found and what
was expected. It takes time linear in the module, and never recurses.

The rules, by number:

Structs
 1. A struct has at least one field.
 2. A record's name is a dotted name; its fields' names are distinct identifiers.
 3. A field's type is a plain type or a struct earlier in the table.
 4. A struct holds at most MAX_VALUE_PARTS parts and nests at most MAX_TYPE_DEPTH deep.
Manifest
 5. The names of inputs and parameters are identifiers, distinct among both.
 6. Output names are distinct identifiers.
 7. All outputs that are no memories have one shape.
 8. The types of ports and parameters exist: plain types, or structs of the table.
 9. A parameter's default is a value of its type.
10. The budget is from 1 to MAX_BUDGET.
11. The manifest requires every capability that an instruction of any function uses.
Functions
12. A function's name is a dotted name; its argument types exist.
13. The entry has no arguments, and a result for each output that is no memory, of the output's
    element type (in a scatter, one result: a pair, by rule 60).
14. A helper, a merge and an init have exactly one result.
15. A function's results are values of its top-level block.
16. A binding names, with a dotted name, a value of its function.
17. A function's arguments and values take at most MAX_FRAME_WORDS words.
18. A function has at most MAX_EXPANDED instructions once every call in it is inlined and the body
    of every Each repeated.
19. Blocks and calls nest at most MAX_EXPANDED_DEPTH deep once every call is inlined.
Values and blocks
20. Ids count from 0 in pre-order over the function: a loop's test before its body, a match's arms
    before its default.
21. An instruction reads only values defined before it, in its block or an enclosing one.
22. A block yields a value defined in it or in an enclosing block.
23. Blocks nest at most MAX_BLOCK_DEPTH deep in a function.
24. An instruction's type exists: a plain type, or a struct of the table.
25. An instruction is one of the operations of ``op.py``.
Operations
26. Operand types fit the operation, by the typing rules of ``tables.py``.
27. An instruction's type is the type its operation gives.
28. A constant is of a type that exists, and its words are words of that type: as many as it takes,
    32 or 64 bits each, a Bool's 0 or 1, a NaN's the canonical one.
29. The parameter, argument or input that an instruction names exists.
30. Construct makes a vector, a matrix or a struct, from one value of the right type for each part.
31. Extract takes a part that its operand has.
32. A function calls only functions below it.
33. A call passes one value of the right type for each argument.
34. An If's condition is a Bool.
35. Every arm of an If or a Match yields its type.
36. A Loop's initial value and its body's are of its type.
37. A Loop's test yields a Bool.
38. A Loop's bound is an Int.
39. A Loop's count is from 1 to MAX_LOOP_COUNT, or to MAX_BUDGET when it has a bound.
40. Carried stands inside a Loop, Index inside a Loop or an Each, or either in a scan's entry.
41. An operation stands in a function and in a mode that its row of ``op_table.py`` allows, and in
    no helper that is called where it may not stand itself. Part without an address stands in the
    entry.
42. Coord stands in a kernel over a grid or a volume.
43. An input read at the domain's element (Sample, Part without an address) has the domain's shape.
44. The address of an At or a Part is of its input's index type: Int, Vec2 or Vec3.
45. Spend, Look, Lanes and Meet stand exactly where ``account`` and ``lanes`` place them.
Structs and names, further
46. The structs of the table have at most MAX_TABLE_FIELDS fields together.
47. A name is at most MAX_NAME characters long.
48. An array ``[T; N]`` is named so and has 1 to MAX_ARRAY_COUNT fields of type T, named "0" to
    "N-1".
Modes and memories
49. An encoding stores words of the one scalar type that its port's element is made of.
50. A mode has the facts of its kind and no others: a scatter a base that is an input and a rule, a
    prefix a rule, a group a size from 1 to MAX_GROUP.
51. There is an output that is no memory; exactly one in a reduction, scan, prefix or scatter.
52. The output of a reduction, a scan and a prefix is Rows.
53. A reduction, scan, scatter and prefix have an input that is no memory; a scan's and a prefix's
    first is Rows.
54. A scatter's output has the type of its base.
55. Sum, min and max combine numbers, not Bools; a prefix's rule is order-free.
56. A reduction has a merge ``(T, T) -> T``, a scan an init ``() -> T``, T the output's element
    type; other modes have neither.
57. Memories stand only in a scan: the last inputs and the last outputs, in order, of one type in
    both.
58. A memory is not read at the domain's element.
59. Put writes a value of a memory's element type, into a memory, at an address of its index type.
60. What a scatter's entry returns and Emit emits is a record of two fields: an address of the
    output's index type and a value of its element type.
61. Emit stands under an order-free rule.
Control and parts, further
62. A Match's scrutinee is an Int.
63. A Match's values are Ints, each in one place.
64. An Each builds an array of as many elements as it counts.
65. An Each's body yields the array's element type.
66. Subscript takes an array, a matrix or a vector, and an Int.
67. A Part's path fits its input's element type; its indices are Ints.
68. AtLinear takes an address of the linear index type (Float, Vec2, Vec3) into an input all of
    whose words are Floats.
69. Button, Stick, Key and Typed take an Int, and so does the lane of an Exchange.
70. Every lane of a group reaches an Exchange alike, as ``group_fault`` finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from .check_function import FunctionCheck
from .check_manifest import check_manifest
from .check_structs import Structs
from .groups import group_fault
from .lanes import lanes, unlaned
from .limits import MAX_BLOCK_DEPTH
from .mode import ModeKind
from .module import Function, Instruction, Module
from .op import Lanes, Meet
from .op_table import Role
from .violation import ValidationError, require, shown
from .work import account, stripped

__all__ = ["Validated", "ValidationError", "validate"]


@dataclass(frozen=True, slots=True)
class Validated:
    """A module that ``validate`` has accepted; made by nothing else."""

    module: Module


def validate(module: Module) -> Validated:
    """``module`` as one that may run. Raises ValidationError at the first rule it breaks."""
    if _is_laned(module):
        _check_lanes(module)
    else:
        _check(module)
    return Validated(module)


def _check(module: Module) -> None:
    """Every rule, of a module without Lanes and Meets."""
    structs = Structs(module.structs)
    check_manifest(module.manifest, structs)
    kind = module.manifest.mode.kind
    _check_presence(module.merge, kind is ModeKind.REDUCE, "merge", kind)
    _check_presence(module.init, kind is ModeKind.SCAN, "init", kind)
    helpers: list[FunctionCheck] = []
    for index, function in enumerate(module.all_functions()):
        path = module.function_path(index)
        role = Role.HELPER if index < len(module.functions) else Role(path)
        check = FunctionCheck(module.manifest, structs, helpers, function, path, role)
        check.run()
        if role is Role.HELPER:
            helpers.append(check)
    if kind is ModeKind.GROUP:
        fault = group_fault(module)
        if fault is not None:
            raise ValidationError(70, fault.path, fault.reason, "an exchange all lanes reach alike")
    if module.accounted():
        _check_placement(module)


def _check_presence(function: Function | None, needed: bool, name: str, kind: ModeKind) -> None:
    found = "none" if function is None else f"a {name}"
    expected = f"a {name}" if needed else f"none in a {kind.value}"
    require((function is not None) == needed, 56, name, found, expected)


def _check_placement(module: Module) -> None:
    """Rule 45 of Spend and Look: the module, line by line of its text, is what ``account`` makes of
    it stripped."""
    bare = stripped(module)
    if bare is None:
        raise ValidationError(
            45, "module", "a value that reads a Spend or a Look", "none: account places them last"
        )
    placed = account(bare)
    pairs = zip(module.all_functions(), placed.all_functions(), strict=True)
    for index, (found, expected) in enumerate(pairs):
        path = module.function_path(index)
        lines = zip_longest(str(found).split("\n"), str(expected).split("\n"), fillvalue="nothing")
        for left, right in lines:
            require(left == right, 45, path, left.strip(), right.strip())


def _is_laned(module: Module) -> bool:
    """Whether an instruction of any function is a Lanes or a Meet; a shared block is met once."""
    bodies = [function.body for function in module.all_functions()]
    seen: set[int] = set()
    while bodies:
        body = bodies.pop()
        if id(body) in seen:
            continue
        seen.add(id(body))
        for instruction in body:
            if isinstance(instruction.op, (Lanes, Meet)):
                return True
            bodies.extend(block.body for block in instruction.op.blocks())
    return False


def _check_lanes(module: Module) -> None:
    """Rule 45 of Lanes and Meet: the module is what ``lanes`` makes of a valid module."""
    for index, function in enumerate(module.all_functions()):
        _check_ids(function, module.function_path(index))
    before = unlaned(module)
    if before is None:
        raise ValidationError(45, "entry", "Lanes or Meet", "them where lanes places them")
    _check(before)
    require(lanes(before) == module, 45, "entry", "Lanes or Meet", "them where lanes places them")


def _check_ids(function: Function, path: str) -> None:
    """Rules 20 and 23, the latter one block deeper: Lanes puts the entry's body into a block."""
    stack: list[Iterator[Instruction]] = [iter(function.body)]
    count = 0
    while stack:
        instruction = next(stack[-1], None)
        if instruction is None:
            stack.pop()
            continue
        require(instruction.id == count, 20, path, f"%{shown(instruction.id)}", f"%{count}")
        count += 1
        nested = instruction.op.blocks()
        if nested:
            limit = f"blocks nested at most {MAX_BLOCK_DEPTH + 1} deep"
            stack.append(chain.from_iterable(block.body for block in nested))
            require(len(stack) <= MAX_BLOCK_DEPTH + 2, 23, path, f"depth {len(stack) - 1}", limit)
