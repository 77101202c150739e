"""Passes that are ahead of those who ask them, one behind the other; and which functions threads share."""

from __future__ import annotations

import time
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError
from tensorkeep.ops.data.passes.background import ahead
from tensorkeep.ops.data.passes.basics import Dataset, Steps
from tensorkeep.ops.data.passes.mapping import RowFunction, map_elements

COUNT = 12


class _Counting:
    """A pass from 0 on, in which one number cannot be read."""

    def __init__(self, bad: int = -1) -> None:
        self._at = 0
        self._bad = bad

    def next(self) -> tuple[Any, ...] | None:
        self._at += 1
        if self._at - 1 == self._bad:
            raise DataLossError(f"number {self._bad} is damaged")
        return (np.asarray(self._at - 1),) if self._at <= COUNT else None

    def state(self) -> Any:
        return self._at

    def restore(self, state: Any) -> None:
        self._at = state

    def close(self) -> None:
        pass


def _counted(bad: int = -1) -> Dataset:
    def begin() -> Steps:
        counting = _Counting(bad)
        return Steps(counting.next, counting)

    return Dataset(begin)


def _squares(source: Dataset, parallel: int = 3) -> Dataset:
    return map_elements(source, RowFunction(lambda x: (x * x,), (), None), preserves=True, parallel=parallel)


def _taken(rows: Any) -> list[int]:
    return [int(row[0]) for row in rows]


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_a_parallel_map_that_is_prefetched_gives_the_same(most: int) -> None:
    current = ahead(_squares(_counted()), 2).begin()
    found: list[int] = []
    while rows := current.take(most):
        found += _taken(rows)
    assert found == [number**2 for number in range(COUNT)]
    assert not current.take(1)
    current.close()


def test_after_an_error_it_goes_on_with_what_follows() -> None:
    current = ahead(_squares(_counted(bad=4)), 2).begin()
    assert _taken(current.take(100)) == [0, 1, 4, 9]
    with pytest.raises(DataLossError, match="number 4"):
        current.take(1)
    assert _taken(current.take(100)) == [number**2 for number in range(5, COUNT)]
    current.close()


@pytest.mark.parametrize("bad", [-1, 9])
def test_a_state_in_which_both_held_rows_is_gone_on_with(bad: int) -> None:
    """As it was written by passes that each had a thread of its own."""
    made = ahead(_squares(_counted(bad)), 2)
    current = made.begin()
    assert _taken(current.take(3)) == [0, 1, 4]
    state = current.state()
    held = state["ready"]
    state = {**state, "ready": held[:1], "source": {**state["source"], "ready": held[1:]}}
    again = made.begin()
    again.restore(state)
    first = _taken(again.take(6 if bad < 0 else 100))
    assert first == [number**2 for number in range(3, 9)]
    if bad >= 0:
        with pytest.raises(DataLossError, match="number 9"):
            again.take(1)
    assert _taken(again.take(100)) == [number**2 for number in range(9 + (bad >= 0), COUNT)]
    assert not again.take(1)
    for each in (current, again):
        each.close()


def _threads(seconds: float) -> int:
    """How many threads call a function that takes so long."""
    seen: list[int] = []

    def slow(x: Any) -> Any:
        seen.append(get_ident())
        time.sleep(seconds)
        return (x,)

    made = map_elements(_counted(), RowFunction(slow, (), None), preserves=True, parallel=4).begin()
    assert _taken(made.take(COUNT)) == list(range(COUNT))
    made.close()
    return len(set(seen[-4:]))


def test_threads_share_what_takes_long() -> None:
    assert _threads(0.02) > 1


def test_one_thread_does_what_is_quick() -> None:
    assert min(_threads(0) for _ in range(5)) == 1


def test_an_iterator_is_restored_in_the_middle(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(
            tf.data.Dataset.range(COUNT).map(lambda x: tf.reduce_sum(tf.range(x + 1)), 3).prefetch(2)
        )
        following = iterator.get_next()
        saver = tf.train.Saver({"input": tf.data.experimental.make_saveable_from_iterator(iterator)})
        with tf.Session() as session:
            session.run(iterator.initializer)
            assert [session.run(following) for _ in range(5)] == [0, 1, 3, 6, 10]
            path = saver.save(session, str(tmp_path / "input"))
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert [session.run(following) for _ in range(5, COUNT)] == [n * (n + 1) // 2 for n in range(5, COUNT)]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(following)
