"""Work on large arrays, element by element, a stretch at a time: what is in between stays in the cache, and threads
share the stretches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tensorkeep.io.machine.parallel import in_parallel, thread_limit

LARGE: Final = 1 << 19  # elements from which on that is worth it
_AT_ONCE: Final = 1 << 16  # elements, which stay in the cache


def in_stretches(work: Callable[[slice], object], count: int) -> None:
    """Does `work` for stretches that make up `count` elements, in any order. It must not mind the others."""

    def quietly(part: slice) -> None:
        with np.errstate(all="ignore"):
            work(part)

    parts = [slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE)]
    in_parallel(quietly, parts, thread_limit())
