"""Reading ahead: the same chunks, the same errors, and no thread that stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorkeep.convert.ahead import read_ahead
from tensorkeep.convert.arrays import stretches
from tensorkeep.convert.hub import VALID
from tensorkeep.io.memory import MemoryFileSystem


def counted(count: int, error: Exception | None = None) -> Iterator[Any]:
    for number in range(count):
        yield np.full(3, number)
    if error is not None:
        raise error


def test_chunks_come_in_order() -> None:
    assert [int(chunk[0]) for chunk in read_ahead(counted(100))] == list(range(100))
    assert list(read_ahead(counted(0))) == []


def test_an_error_comes_when_its_turn_has_come() -> None:
    found = read_ahead(counted(5, LookupError("gone")))
    assert [int(next(found)[0]) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(LookupError, match="gone"):
        next(found)


@pytest.mark.parametrize("used", [0, 1, 3])
def test_whoever_stops_early_leaves_no_thread_behind(used: int) -> None:
    before = threading.active_count()
    found = read_ahead(counted(1000))
    for _ in range(used):
        next(found)
    found.close()
    assert threading.active_count() == before


def test_no_more_chunks_are_read_than_stay_valid() -> None:
    asked = 0

    def noted() -> Iterator[Any]:
        nonlocal asked
        for number in range(50):
            asked = number + 1
            yield np.zeros(1)

    for used, _ in enumerate(read_ahead(noted())):
        threading.Event().wait(0.002)  # the other thread reads as far as it may
        assert asked - used <= VALID


def test_a_file_is_read_in_stretches_that_stay_valid_for_a_while() -> None:
    fs = MemoryFileSystem()
    data = np.random.default_rng(0).integers(0, 256, (20 << 20) + 77, np.uint8)
    fs.make_directory("d")
    file = fs.create("d/x")
    file.write(data.tobytes())
    file.close()
    kept: list[Any] = []
    at = 0
    for stretch in stretches(fs.open("d/x"), 3, data.size - 3):
        kept = [*kept[-VALID:], (at, stretch)]
        at += stretch.size
        for start, held in kept:
            np.testing.assert_array_equal(held, data[3 + start : 3 + start + held.size])
    assert at == data.size - 3
