"""Memory between operations.

A kernel's result is freed a few operations later, and the next kernel asks for as much again. The C library gives a
large piece back to the operating system each time, and getting it anew costs a page fault for every 4 KiB: more than
most kernels take. It keeps pieces up to the size of the largest that it has seen come and go, within 32 MiB; so one
that comes and goes at the start is all it takes. The piece is never touched, so it costs no memory.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

_LARGEST_KEPT: Final = (32 << 20) - (64 << 10)  # bytes, a little below the limit that the C library has


@cache
def keep_freed_memory() -> None:
    """Lets freed memory be used again without going through the operating system. Once is enough."""
    np.empty(_LARGEST_KEPT, np.uint8)
