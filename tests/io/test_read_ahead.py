"""Reading ahead: the same pieces, the same errors, and no thread that stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tensorkeep.io.machine.parallel import read_ahead


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_pieces_come_in_order(depth: int) -> None:
    assert list(read_ahead(range(100), depth)) == list(range(100))
    assert list(read_ahead((), depth)) == []


@pytest.mark.parametrize("depth", [1, 3])
def test_so_many_are_made_before_they_are_asked_for_and_no_more(depth: int) -> None:
    made = threading.Semaphore(0)

    def pieces() -> Iterator[int]:
        for number in range(20):
            made.release()
            yield number

    found = read_ahead(pieces(), depth)
    assert next(found) == 0
    for _ in range(depth + 1):
        assert made.acquire(timeout=60)
    assert not made.acquire(timeout=0.05)
    assert list(found) == list(range(1, 20))


@pytest.mark.parametrize("depth", [1, 3])
def test_an_error_comes_in_its_turn(depth: int) -> None:
    def pieces() -> Iterator[int]:
        yield from range(5)
        raise ValueError("broken")

    found = read_ahead(pieces(), depth)
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="broken"):
        next(found)


@pytest.mark.parametrize("used", [0, 1, 3])
def test_whoever_stops_early_leaves_no_thread_behind(used: int) -> None:
    before = set(threading.enumerate())
    found = read_ahead(range(1000), 2)
    for _ in range(used):
        next(found)
    found.close()
    assert set(threading.enumerate()) <= before
