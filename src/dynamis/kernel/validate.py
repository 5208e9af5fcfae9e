"""The validator: decides whether a module is a kernel that may run, and says why it is not.

In: any module made of the Kernel IR's own Python types. Out: a ``Validated``, which everything that
runs or compiles takes, or a ``ValidationError`` naming the rule, the place, what was found and what
was expected. It takes time linear in the module, and never recurses.

The rules, by number:

Records
 1. A record has at least one field.
 2. A record's name is a dotted name; its fields' names are distinct identifiers.
 3. A field's type is a plain type or a record earlier in the table.
 4. A record holds at most MAX_VALUE_PARTS parts and nests at most MAX_TYPE_DEPTH deep.
Manifest
 5. The names of inputs and parameters are identifiers, distinct among both.
 6. There is at least one output; output names are distinct identifiers.
 7. All outputs have one shape: the domain's.
 8. Ports and parameters are of plain types.
 9. A parameter's default is a value of its type.
10. The budget is from 1 to MAX_BUDGET.
11. The manifest requires every capability that an instruction of any function uses.
Functions
12. A function's name is a dotted name; its argument types exist.
13. The entry has no arguments, and a result for each output, of the output's element type.
14. A helper has exactly one result.
15. A function's results are values of its top-level block.
16. A binding names, with a dotted name, a value of its function.
17. A function's arguments and values take at most MAX_FRAME_WORDS words.
18. A function has at most MAX_EXPANDED instructions once every call in it is inlined.
19. Blocks and calls nest at most MAX_EXPANDED_DEPTH deep once every call is inlined.
Values and blocks
20. Ids count from 0 in pre-order over the function, a loop's test before its body.
21. An instruction reads only values defined before it, in its block or an enclosing one.
22. A block yields a value defined in it or in an enclosing block.
23. Blocks nest at most MAX_BLOCK_DEPTH deep in a function.
24. An instruction's type exists: a plain type, or a record of the table.
25. An instruction is one of the operations of ``op.py``.
Operations
26. Operand types fit the operation, by the typing rules of ``tables.py``.
27. An instruction's type is the type its operation gives.
28. A constant's words are words of its type: as many as it takes, 32 bits each, a Bool's 0 or 1, a
    NaN's 0x7fc00000.
29. The parameter, argument or input that an instruction names exists.
30. Construct makes a vector or a record, from one value of the right type for each part.
31. Extract takes a part that its operand has.
32. A function calls only functions below it.
33. A call passes one value of the right type for each argument.
34. An If's condition is a Bool.
35. Both arms of an If yield its type.
36. A Loop's initial value and its body's are of its type.
37. A Loop's test yields a Bool.
38. A Loop's bound is an Int.
39. A Loop's count is from 1 to MAX_LOOP_COUNT, or to MAX_BUDGET when it has a bound.
40. Carried and Index stand inside a Loop.
41. Coord, Domain, Element and Sample stand in the entry.
42. Coord stands in a kernel over a grid.
43. A sampled input has the domain's shape.
44. An At's address is of its input's index type: Int over rows, Vec2 over a grid.
45. Spend and Look stand exactly where ``account`` places them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from .check_function import FunctionCheck
from .check_manifest import Records, check_manifest
from .module import Module
from .violation import ValidationError, require
from .work import account, stripped

__all__ = ["Validated", "ValidationError", "validate"]


@dataclass(frozen=True, slots=True)
class Validated:
    """A module that ``validate`` has accepted; made by nothing else."""

    module: Module


def validate(module: Module) -> Validated:
    """``module`` as one that may run. Raises ValidationError at the first rule it breaks."""
    records = Records(module.structs)
    check_manifest(module.manifest)
    checked: list[FunctionCheck] = []
    for index, function in enumerate(module.all_functions()):
        is_entry = index == len(module.functions)
        path = "entry" if is_entry else f"functions.{index}"
        check = FunctionCheck(module.manifest, records, checked, function, path, is_entry)
        check.run()
        checked.append(check)
    if module.accounted():
        _check_placement(module)
    return Validated(module)


def _check_placement(module: Module) -> None:
    """Rule 45: the module, line by line of its text, is what ``account`` makes of it stripped."""
    bare = stripped(module)
    if bare is None:
        raise ValidationError(
            45, "module", "a value that reads a Spend or a Look", "none: account places them last"
        )
    placed = account(bare)
    for index, (found, expected) in enumerate(
        zip(module.all_functions(), placed.all_functions(), strict=True)
    ):
        path = "entry" if index == len(module.functions) else f"functions.{index}"
        lines = zip_longest(str(found).split("\n"), str(expected).split("\n"), fillvalue="nothing")
        for left, right in lines:
            require(left == right, 45, path, left.strip(), right.strip())
