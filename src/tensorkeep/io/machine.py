"""What the machine has: memory, and what its user has set."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ASSUMED: Final = 1 << 34  # where the system does not tell


def available_memory() -> int:
    """How many bytes of memory could be had now without pushing others out."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for garbage meanwhile: where many objects are made that stay, it finds nothing and takes long."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def environment_variable(name: str) -> str | None:
    """A setting from outside the program."""
    return os.environ.get(name)


def host_name() -> str:
    """The name of this machine in its network."""
    return socket.gethostname()


def process_number() -> int:
    """The number of this process on its machine."""
    return os.getpid()
