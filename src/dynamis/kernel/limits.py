"""The limits and constants of the Kernel IR: one place for each number that validity rests on."""

from __future__ import annotations

IR_VERSION = 1
"""Raised when a module's validity or meaning changes."""
MAX_GROUP = 256
"""The most lanes a group holds: what every device runs together."""
MAX_ARRAY_COUNT = 4096
"""Largest element count an array type may declare."""
MAX_VALUE_PARTS = 2**16
"""The most parts a value may hold: its words and the structs and arrays around them."""
MAX_TYPE_DEPTH = 64
"""The deepest structs and arrays may nest in a type."""
MAX_TABLE_FIELDS = 2**17
"""The most fields that the structs of one module may have together, an array having its count."""
MAX_NAME = 256
"""The longest name a source gives, in characters."""
MAX_LOOP_COUNT = 65_536
"""Largest literal iteration count of a Loop, and largest count of an Each. A count read at run time
is bounded by MAX_BUDGET instead."""
DEFAULT_BUDGET = 2**20
"""The default work budget: loop iterations an element may run."""
MAX_BUDGET = 2**30
"""The largest work budget a kernel may declare."""
WORK_BLOCK = 1024
"""The loop iterations an element adds to its run's total at a time. A kernel whose elements cannot
fill one, nor pass their budget, is not counted."""
LOOK_WORK = 2**16
"""The most iterations one run of a loop may take while its work is checked only at its end."""
TYPICAL_OPEN_LOOP = 4
"""Iterations ``typical_work`` counts for a loop with a run-time count or an early stop."""
MAX_EXPANDED = 2**18
"""The most instructions a function may have once every call is inlined and every Each multiplied,
each loop counted once."""
MAX_BLOCK_DEPTH = 64
"""The deepest blocks may nest in a function."""
MAX_EXPANDED_DEPTH = 256
"""The deepest blocks and calls may nest after inlining every call, a call counting one."""
MAX_FRAME_WORDS = 2**20
"""The most words the arguments and values of one function may take together."""
MAX_TEXT = 2**24
"""The longest module text ``parse`` accepts, in bytes."""
MAX_ELEMENTS = 2**31 - 1
"""The most elements of a port: an element's number is an Int."""
MAX_GRID_AXIS = 2**24
"""The longest axis of a grid or volume: a coordinate is a Float."""
