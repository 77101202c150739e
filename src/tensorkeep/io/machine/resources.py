"""What the machine has: memory, and bounds on what is taken of it, processors, and what its user has set."""

from __future__ import annotations

import gc
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_ASSUMED: Final = 1 << 34  # where the system does not tell

_PAGE: Final = 4096 if not hasattr(os, "sysconf") else os.sysconf("SC_PAGE_SIZE")

_GROUPS: Final = "/sys/fs/cgroup"
# Of control groups: files with the limit and what is used of it, and which line says what is idle of that.
_UNIFIED: Final = "memory.max", "memory.current", "inactive_file"
_SEPARATE: Final = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"


def available_memory() -> int:
    """How many bytes of memory could be had now without pushing others out, in this machine and in this container."""
    return min((_available_in_machine(), *rooms_of_groups(system_text)))


def resident_memory(process: int | None = None) -> int:
    """How many bytes of memory this process, or another one, has now; 0 where the system does not tell."""
    fields = system_text(f"/proc/{process or 'self'}/statm").split()
    return int(fields[1]) * _PAGE if len(fields) > 1 else 0


def most_resident_memory() -> int:
    """How many bytes of memory this process had at most so far; 0 where the system does not tell."""
    found = re.search(r"^VmHWM:\s*(\d+) kB", system_text("/proc/self/status"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def whole_memory() -> int:
    """How many bytes of memory this process could have if it were alone: the machine's, or what its container may."""
    return min((_memory_of_machine(), *limits_of_groups(system_text)))


def limits_of_groups(text: Callable[[str], str]) -> Iterator[int]:
    """How many bytes of memory each of the control groups of this process may take, if it has a limit.

    `text` gives what is in a file, and nothing for one that is not there.
    """
    for group, is_unified in _groups(text, "memory"):
        limit = text(f"{group}/{(_UNIFIED if is_unified else _SEPARATE)[0]}").strip()
        if limit.isdecimal():
            yield int(limit)


def _available_in_machine() -> int:
    found = re.search(r"^MemAvailable:\s*(\d+) kB", system_text("/proc/meminfo"), re.MULTILINE)
    if found:
        return int(found[1]) * 1024
    return _memory_of_machine()


def _memory_of_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED


def rooms_of_groups(text: Callable[[str], str]) -> Iterator[int]:
    """How many bytes each of the control groups of Linux that this process is in, and has a limit, can still take.

    `text` gives what is in a file, and nothing for one that is not there. Groups are in groups, each with its limit.
    What a group keeps of files that nobody has used lately counts as free.
    """
    for group, is_unified in _groups(text, "memory"):
        limit, used, idle = _UNIFIED if is_unified else _SEPARATE
        most, taken = (text(f"{group}/{name}").strip() for name in (limit, used))
        if most.isdecimal() and taken.isdecimal():
            unused = re.search(rf"^{idle} (\d+)$", text(f"{group}/memory.stat"), re.MULTILINE)
            yield max(0, int(most) - int(taken) + (int(unused[1]) if unused else 0))


@cache
def processor_quota() -> float | None:
    """How many processors' time this container may use, as it was when first asked; None without a limit."""
    return min(quotas_of_groups(system_text), default=None)


def quotas_of_groups(text: Callable[[str], str]) -> Iterator[float]:
    """How many processors' time each of the control groups of this process may use, if it has a limit.

    `text` gives what is in a file, and nothing for one that is not there.
    """
    for group, is_unified in _groups(text, "cpu"):
        if is_unified:  # "quota period", or "max period"
            numbers = text(f"{group}/cpu.max").split()
        else:
            numbers = [text(f"{group}/cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(numbers) == 2 and all(number.isdecimal() and int(number) for number in numbers):
            yield int(numbers[0]) / int(numbers[1])


def _groups(text: Callable[[str], str], kind: str) -> Iterator[tuple[str, bool]]:
    """The folders of the control groups of this process that limit one kind of thing, outer ones first.

    With each goes whether it is of the unified kind (version 2), whose groups limit everything.
    """
    for kinds, path in re.findall(r"^\d+:([^:\n]*):(.*)$", text("/proc/self/cgroup"), re.MULTILINE):
        if kinds and kind not in kinds.split(","):
            continue
        parts = [part for part in path.split("/") if part]
        for folder in dict.fromkeys((f"{_GROUPS}/{kind}", f"{_GROUPS}/{kinds}")) if kinds else (_GROUPS,):
            for depth in range(len(parts) + 1):
                yield "/".join((folder, *parts[:depth])), not kinds


def system_text(path: str) -> str:
    """What is in a file that the system tells something in; nothing if it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


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


def environment() -> dict[str, str]:
    """All settings from outside the program, for a program that is started by this one."""
    return dict(os.environ)


def set_environment_variable(name: str, value: str) -> None:
    """Changes a setting for this program, and for those that it starts."""
    os.environ[name] = value


def is_switched_on(name: str, default: bool = False) -> bool:
    """Whether a setting from outside the program is "1" or "true", not "0" or "false"; else the default counts."""
    return {"1": True, "true": True, "0": False, "false": False}.get(os.environ.get(name, "").lower(), default)


def host_name() -> str:
    """The name of this machine in its network."""
    return socket.gethostname()


def end_at_once(status: int) -> None:
    """Ends this process: nothing is finished, nothing is flushed, no other thread is waited for."""
    os._exit(status)


def process_number() -> int:
    """The number of this process on its machine."""
    return os.getpid()


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
