"""Memory of large results is used again, once nobody sees what was in it."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from time import sleep

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.io.machine import reused_memory
from tensorkeep.io.machine.reused_memory import LARGE, drop_spare_memory, result_array, spare_memory_after_run

FLOAT = np.dtype(np.float32)
COUNT = LARGE // 4

pytestmark = pytest.mark.skipif(reused_memory._FREE is None, reason="nobody counts who sees an array")


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    drop_spare_memory()
    yield
    drop_spare_memory()


def _place(array: Array) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def test_what_was_dropped_is_given_out_again() -> None:
    first = result_array((COUNT,), FLOAT)
    place = _place(first)
    del first
    assert _place(result_array((COUNT // 2, 2), FLOAT)) == place


@pytest.mark.parametrize("see", [lambda x: x, lambda x: x[::2], lambda x: x.reshape(2, -1), memoryview])
def test_what_somebody_sees_is_not(see: object) -> None:
    assert callable(see)
    first = result_array((COUNT,), FLOAT)
    first[...] = 1
    seen = see(first)
    del first
    second = result_array((COUNT,), FLOAT)
    second[...] = 2
    assert np.all(np.asarray(seen) == 1)


def test_a_larger_one_takes_no_more_from_the_free_ones_than_it_needs() -> None:
    several = [result_array((COUNT,), FLOAT) for _ in range(4)]
    places = {_place(array) for array in several}
    del several
    larger = result_array((2 * COUNT,), FLOAT)  # two of the four go
    others = [result_array((COUNT,), FLOAT) for _ in range(2)]
    assert {_place(array) for array in others} <= places
    assert len(reused_memory._PIECES) == 3
    del larger


def test_the_next_run_has_what_the_last_one_had() -> None:
    place = _place(result_array((COUNT,), FLOAT))
    spare_memory_after_run()
    assert _place(result_array((COUNT,), FLOAT)) == place


def test_what_a_run_has_given_out_stays_as_it_is() -> None:
    """The system may take the pages of what is free, and of nothing else."""
    given = result_array((COUNT,), FLOAT)
    given[...] = 7
    for _ in range(20):
        spare_memory_after_run()
        other = result_array((COUNT,), FLOAT)
        other[...] = 1
        del other
    assert np.all(given == 7)


def test_what_no_run_uses_any_more_is_dropped() -> None:
    result_array((COUNT,), FLOAT)
    for _ in range(reused_memory._LONGEST_UNUSED):
        spare_memory_after_run()
    assert len(reused_memory._PIECES) == 1
    spare_memory_after_run()
    assert not reused_memory._PIECES


def test_no_more_than_a_limit_is_kept_between_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reused_memory, "_MOST_BYTES", 5 * LARGE)
    arrays = [result_array((times * COUNT,), FLOAT) for times in (1, 3, 2)]
    spare_memory_after_run()
    assert len(reused_memory._PIECES) == 3  # they are still seen
    arrays.clear()
    spare_memory_after_run()
    assert sum(piece.size for piece in reused_memory._PIECES) <= 5 * LARGE


def test_at_the_end_nothing_is_kept() -> None:
    result_array((COUNT,), FLOAT)
    assert len(reused_memory._PIECES) == 1
    drop_spare_memory()
    assert not reused_memory._PIECES


def test_what_does_not_fit_is_dropped_first() -> None:
    result_array((COUNT,), FLOAT)
    larger = result_array((3 * COUNT,), FLOAT)
    assert [piece.size for piece in reused_memory._PIECES] == [12 * COUNT]
    del larger
    smaller = result_array((COUNT,), FLOAT)
    assert _place(smaller) == _place(reused_memory._PIECES[0])


def test_small_arrays_are_nobodys_business() -> None:
    assert result_array((COUNT - 1,), FLOAT).base is None


def test_threads_never_get_the_same() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            array = result_array((COUNT,), FLOAT)
            array[:: COUNT // 64] = number
            sleep(0)
            if (array[:: COUNT // 64] != number).any():
                wrong.append(number)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
