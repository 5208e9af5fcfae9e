"""Calls without a Python frame: from arguments to machine code in well under a microsecond.

``native_call`` makes a built-in function for a compiled kernel. It takes the calls that need no
conversion, no message and no other thread, and hands all others to the Python path.
"""

from .describe import native_call

__all__ = ["native_call"]
