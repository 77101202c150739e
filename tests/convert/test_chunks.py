"""Chunks that stay valid for a while, and no more of them read ahead than that allows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorkeep.convert.arrays import stretches
from tensorkeep.convert.converting import AHEAD
from tensorkeep.convert.hub import VALID
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.machine.parallel import read_ahead


def test_no_more_chunks_are_read_than_stay_valid() -> None:
    asked = 0

    def noted() -> Iterator[Any]:
        nonlocal asked
        for number in range(50):
            asked = number + 1
            yield np.zeros(1)

    for used, _ in enumerate(read_ahead(noted(), AHEAD)):
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
