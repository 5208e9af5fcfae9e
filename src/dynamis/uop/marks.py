"""The bits of a node's `_marks`: facts that were found once and hold for good.

A mark must follow from the node alone and stand for a rule set that never changes. Two threads
that set marks at once may lose one; the fact is then found again.
"""

from typing import Final

NORMAL: Final = 1
"""`simplify` leaves the node as it is."""

SUM: Final = 2
"""The node is the written form of its own linear form."""

FULL: Final = 4
"""The whole rule set (`full_simplify`) leaves the node as it is."""
