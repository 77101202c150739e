"""How far a piece of work is."""

from __future__ import annotations

import numpy as np

from tensorkeep.io.showing.progress import Told


def test_what_is_done_adds_up_and_never_exceeds_the_total() -> None:
    said: list[tuple[int, int]] = []
    told = Told(lambda done, total: said.append((done, total)), 10)
    for count in (4, 5, 6):
        told.add(count)
    assert said == [(4, 10), (9, 10), (10, 10)]


def test_a_chunk_is_done_when_the_next_is_asked_for() -> None:
    said: list[int] = []
    chunks = Told(lambda done, _: said.append(done), 12).counted(iter([np.zeros(4, np.uint8), np.zeros(8, np.uint8)]))
    assert next(chunks).nbytes == 4
    assert said == []
    assert [chunk.nbytes for chunk in chunks] == [8]
    assert said == [4, 12]


def test_nobody_need_listen() -> None:
    told = Told(None, 5)
    told.add(3)
    assert told.done == 3
