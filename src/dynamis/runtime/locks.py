"""The one lock under which kernels are compiled.

One for the whole process, so that a fork can wait for it: a child made while another thread was
compiling would else inherit locks, LLVM's own among them, that nobody is left to release.
"""

from __future__ import annotations

import os
import threading

COMPILING = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=COMPILING.acquire,
        after_in_parent=COMPILING.release,
        after_in_child=COMPILING.release,
    )
