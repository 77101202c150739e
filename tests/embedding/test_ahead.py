"""Reading ahead changes when pieces are made, not what they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tensorkeep.embedding.ahead import ahead


def test_pieces_come_in_order_and_one_ahead() -> None:
    made = threading.Semaphore(0)

    def pieces() -> Iterator[int]:
        for number in range(5):
            made.release()
            yield number

    found = ahead(pieces())
    assert next(found) == 0
    assert made.acquire(timeout=10)
    assert made.acquire(timeout=10)  # the second is made before it is asked for
    assert list(found) == [1, 2, 3, 4]
    assert list(ahead(())) == []


def test_an_error_comes_in_its_turn() -> None:
    def pieces() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    found = ahead(pieces())
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)


def test_whoever_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    for _ in ahead(range(1000)):
        break
    assert threading.active_count() == before
