"""Names of the parameters that the runtime itself supplies to a program."""

from typing import Final

CORE_ID: Final = "core_id"
"""The number of the block of work to run: the index of the THREAD axis."""
RECORD: Final = "record"
"""Memory of a few i32 in which a block reports a fault; its first word is zero without one."""
