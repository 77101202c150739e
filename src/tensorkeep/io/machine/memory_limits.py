"""A bound on the memory that a block of code may take, where the operating system can keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tensorkeep.io.machine.resources import system_text

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]


@contextmanager
def memory_limit(size: int | None) -> Iterator[None]:
    """Lets the process take so many bytes more than it has now: what goes beyond is a MemoryError there.

    Counted is memory that the process owns (its heap and what it maps for itself), not files that it maps or shares.
    Without a size, and where the system knows no such limit, nothing is bounded.
    """
    found = re.search(r"^VmData:\s*(\d+) kB", system_text("/proc/self/status"), re.MULTILINE)
    if size is None or resource is None or found is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = int(found[1]) * 1024 + size
    resource.setrlimit(resource.RLIMIT_DATA, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
