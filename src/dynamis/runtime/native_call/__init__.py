"""Calls without a Python frame: from arguments to machine code in well under a microsecond.

``native_call`` gives the addresses that Python is to call a compiled kernel through. The function
there takes the calls that need no conversion, no message and no other thread, and hands all others
to the Python path, the kernel's ``__call__``.
"""

from .describe import NativeCall, native_call

__all__ = ["NativeCall", "native_call"]
