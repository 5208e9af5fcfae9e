"""Host arrays, arguments, dispatch, the two backends, compiled programs and where they are kept."""

import time
from typing import Final

LOADED_AT: Final = time.time_ns()
"""When this process loaded the package, in nanoseconds since the epoch. Parts of it load later;
they are of the same version only if no file has changed since."""
