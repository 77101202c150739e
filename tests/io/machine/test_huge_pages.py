"""Huge pages: used where they are at hand, and never waited for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.io.machine import huge_pages
from tensorkeep.io.machine.huge_pages import is_at_hand, waits_for_huge_pages
from tensorkeep.io.machine.large_arrays import empty_array

SETTINGS = "/sys/kernel/mm/transparent_hugepage"
MIB = 1 << 20


def free(*zones: str) -> dict[str, str]:
    lines = "".join(f"Node 0, zone   {zone}\n" for zone in zones)
    return {f"{SETTINGS}/hpage_pmd_size": "2097152\n", "/proc/buddyinfo": lines}


def at_hand(size: int, files: dict[str, str]) -> bool:
    return is_at_hand(size, lambda path: files.get(path, ""))


# Pieces of 4 KiB, 8 KiB and so on: those of 2 and of 4 MiB are the last two.
WHOLE = "Normal      0      0      0      0      0      0      0      0      0     16     24"
FRAGMENTED = "Normal 900000 800000 700000  90000  90000  90000   9000   9000   4000      0      0"


def test_free_memory_in_whole_pieces_is_at_hand() -> None:
    assert at_hand(16 * MIB, free(WHOLE))  # 128 MiB are free, which is eight times as much
    assert not at_hand(17 * MIB, free(WHOLE))


def test_the_pieces_of_all_zones_count() -> None:
    assert at_hand(32 * MIB, free(WHOLE, WHOLE.replace("Normal", "DMA32")))


def test_fragmented_memory_is_not_at_hand_however_much_is_free() -> None:
    assert not at_hand(4 * MIB, free(FRAGMENTED))


def test_a_very_large_array_needs_no_more_than_itself_and_a_reserve() -> None:
    plenty = WHOLE.replace("24", str(6 << 8))  # 6 GiB and 32 MiB
    assert at_hand(4096 * MIB, free(plenty))
    assert not at_hand(4200 * MIB, free(plenty))


@pytest.mark.parametrize("files", [{}, {"/proc/buddyinfo": "nonsense"}, {f"{SETTINGS}/hpage_pmd_size": "2097152"}])
def test_what_the_system_does_not_tell_is_not_at_hand(files: dict[str, str]) -> None:
    assert not at_hand(4 * MIB, files)


@pytest.mark.parametrize(
    ("enabled", "effort", "waits"),
    [
        ("always [madvise] never", "always defer defer+madvise [madvise] never", True),
        ("[always] madvise never", "[always] defer defer+madvise madvise never", True),
        ("[always] madvise never", "always defer [defer+madvise] madvise never", True),
        ("[always] madvise never", "always [defer] defer+madvise madvise never", False),
        ("[always] madvise never", "always defer defer+madvise madvise [never]", False),
        ("always madvise [never]", "[always] defer defer+madvise madvise never", False),
        ("", "", False),
    ],
)
def test_whether_programs_wait_is_a_setting(enabled: str, effort: str, waits: bool) -> None:
    files = {f"{SETTINGS}/enabled": enabled, f"{SETTINGS}/defrag": effort}
    assert waits_for_huge_pages(lambda path: files.get(path, "")) is waits


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not tell about its pages")
@pytest.mark.parametrize("has_pieces", [True, False])
def test_an_array_has_huge_pages_only_if_they_are_at_hand(monkeypatch: pytest.MonkeyPatch, has_pieces: bool) -> None:
    monkeypatch.setattr(huge_pages, "_can_wait", lambda: True)
    monkeypatch.setattr(huge_pages, "is_at_hand", lambda size, text: has_pieces)
    array = empty_array((64 * MIB,), np.uint8)
    array[:] = 1
    assert array.sum() == 64 * MIB
    flags = _flags(array.__array_interface__["data"][0] + array.nbytes // 2)
    assert ("nh" in flags) is not has_pieces  # "no huge pages"


def _flags(address: int) -> list[str]:
    """What the system says of the memory at an address."""
    for piece in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(), flags=re.MULTILINE):
        area = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", piece)
        if area and int(area[1], 16) <= address < int(area[2], 16):
            return re.findall(r"^VmFlags: (.*)$", piece, re.MULTILINE)[0].split()
    raise AssertionError(f"{address:#x} is not mapped, {sys.platform}")
