"""Whether fresh memory may come in huge pages, and what the system may take back.

NumPy asks Linux for huge pages (2 MiB) under arrays of 4 MiB and more. Where the system has such pieces at hand, that
saves five hundred page faults of six; where memory is fragmented, it first tries to make some by moving other pages
about, while the program waits at every fault: reading then takes several times as long as with ordinary pages. So a
large array is left to NumPy's wish only if the system has whole pieces enough, by its own account, and is given
ordinary pages otherwise.

    /sys/kernel/mm/transparent_hugepage/enabled    "[never]": there are none
    /sys/kernel/mm/transparent_hugepage/defrag     "[defer]", "[never]": nobody waits for any
    /proc/buddyinfo                                for each zone, how many free pieces of 1, 2, 4, ... pages there are
"""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Callable
from functools import cache
from typing import Final

from tensorkeep.io.machine.resources import system_text

_SETTINGS: Final = "/sys/kernel/mm/transparent_hugepage"
_PIECES: Final = "/proc/buddyinfo"
_ASKED_FOR: Final = 4 << 20  # bytes; from here on NumPy asks for huge pages
_AT_ONCE: Final = 8  # arrays like this one that may be filled before the next look
_RESERVE: Final = 2 << 30  # bytes that are enough for the others, however large the array is
_NO_HUGE_PAGES: Final = getattr(mmap, "MADV_NOHUGEPAGE", None)
_MAY_BE_TAKEN: Final = getattr(mmap, "MADV_FREE", None)


def avoid_waiting(address: int, size: int) -> None:
    """Gives memory that has not been touched ordinary pages, if the system would have to make huge ones first."""
    if size >= _ASKED_FOR and _can_wait() and not is_at_hand(size, system_text):
        _ask_for_ordinary_pages(address, size)


def is_at_hand(size: int, text: Callable[[str], str]) -> bool:
    """Whether huge pages for so many bytes, and for some arrays more, are free. `text` gives what is in a file."""
    huge = text(f"{_SETTINGS}/hpage_pmd_size").strip()
    order = (int(huge) // mmap.PAGESIZE).bit_length() - 1 if huge.isdecimal() else 0
    pages = 0
    for counts in re.findall(r"^Node +\d+, zone +\S+((?: +\d+)+) *$", text(_PIECES), re.MULTILINE):
        pages += sum(int(count) << place for place, count in enumerate(counts.split()) if place >= order)
    return order > 0 and pages * mmap.PAGESIZE >= min(_AT_ONCE * size, size + _RESERVE)


def waits_for_huge_pages(text: Callable[[str], str]) -> bool:
    """Whether the system is set to make huge pages while a program that has asked for them waits."""
    enabled, effort = (re.search(r"\[(.+)\]", text(f"{_SETTINGS}/{name}")) for name in ("enabled", "defrag"))
    return (
        enabled is not None
        and enabled[1] != "never"
        and effort is not None
        and effort[1] in ("always", "madvise", "defer+madvise")
    )


@cache
def _can_wait() -> bool:
    return _NO_HUGE_PAGES is not None and waits_for_huge_pages(system_text)


def _ask_for_ordinary_pages(address: int, size: int) -> None:
    """It is a wish: if the system does not grant it, the memory is as good, only slower."""
    start = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (address + size - start) // mmap.PAGESIZE * mmap.PAGESIZE
    _advise()(start, length, _NO_HUGE_PAGES)


def offer_to_system(address: int, size: int) -> None:
    """Says that what memory holds is of no use: the system may take its pages, before it takes any others.

    Until it does, they stay where they are, and whoever writes to them pays nothing for it.
    """
    if _MAY_BE_TAKEN is not None:
        start = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        _advise()(start, max(0, (address + size - start) // mmap.PAGESIZE * mmap.PAGESIZE), _MAY_BE_TAKEN)


@cache
def _advise() -> Callable[..., int]:
    function = ctypes.CDLL(None).madvise
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), ctypes.c_int
    return function
