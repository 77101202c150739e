"""Many threads at one table: what each sees is whole, and in the end nothing is lost."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.locking import SharedLock
from tests.embedding.implementations import IMPLEMENTATIONS

DIM = 8
KEYS = 3000


def run_together(*works: Callable[[], None]) -> None:
    """Runs functions in threads at the same time, and raises what they raise."""
    errors: list[BaseException] = []
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            gate.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def table_of(is_native: bool) -> EmbeddingTable:
    table = EmbeddingTable(DIM, native=is_native, keeps_frequencies=True, keeps_versions=True)
    table.add_column("copy", DIM)
    return table


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_looking_up_inserting_training_removing_and_saving_at_once(is_native: bool) -> None:
    table, rounds = table_of(is_native), 60 if is_native else 20
    done = threading.Event()

    def train(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            for step in range(rounds):
                keys = random.integers(-KEYS, KEYS, 500)
                table.apply("Adagrad", np.ones((500, DIM)), keys, step=step, lr=0.1)
                table.assign(keys[:50], np.full((50, DIM), step))
        finally:
            done.set()

    def insert() -> None:
        random = np.random.default_rng(1)
        for _ in range(rounds):
            rows = table.lookup_or_create(random.integers(KEYS, 4 * KEYS, 700))
            assert (rows == rows[:, :1]).all()

    def remove() -> None:
        random = np.random.default_rng(2)
        for _ in range(rounds):
            table.remove(random.integers(-KEYS, 4 * KEYS, 100))

    def look() -> None:
        random = np.random.default_rng(3)
        while not done.is_set():
            rows = table.lookup(random.integers(-KEYS, 4 * KEYS, 2000))
            assert (rows == rows[:, :1]).all()

    def save() -> None:
        while not done.is_set():
            with table.snapshot() as snapshot:
                count = len(snapshot.keys)
                first = snapshot.rows("", 0, count)
                table.touch([123_456])
                np.testing.assert_array_equal(snapshot.rows("", 0, count), first)
                assert (first == first[:, :1]).all()
                assert len(np.unique(snapshot.keys)) == count

    run_together(lambda: train(4), lambda: train(5), insert, remove, look, save)
    snapshot = table.snapshot()
    assert len(snapshot.keys) == len(table)
    np.testing.assert_array_equal(snapshot.rows("", 0, len(table)), table.lookup(snapshot.keys))


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_a_snapshot_is_of_one_moment_in_all_columns(is_native: bool) -> None:
    table, rounds = table_of(is_native), 80
    keys = np.arange(2000)
    table.assign(keys, np.zeros((2000, DIM)))
    done = threading.Event()

    def train() -> None:
        try:
            for step in range(1, rounds):
                # One step changes both columns of all rows by the same: the slot gathers squares of ones.
                table.apply("Adagrad", np.ones((2000, DIM)), keys, slots=["copy"], step=step, lr=0.0)
        finally:
            done.set()

    def save() -> None:
        seen = 0
        while not done.is_set():
            with table.snapshot() as snapshot:
                assert snapshot.versions is not None
                versions = np.unique(snapshot.versions)
                assert len(versions) == 1
                count = max(int(versions[0]), 0)
                assert (snapshot.rows("copy", 0, 2000) == count).all()
                assert count >= seen
                seen = count

    run_together(train, save, save)


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_no_update_is_lost(is_native: bool) -> None:
    table, rounds = table_of(is_native), 50

    def train() -> None:
        for _ in range(rounds):
            table.apply("GradientDescent", np.ones((100, DIM)), np.arange(100) % 50, alpha=-1.0)

    run_together(train, train, train)
    assert (table.lookup(np.arange(50)) == 3 * rounds * 2).all()
    assert (table.frequencies(np.arange(50)) == 3 * rounds * 2).all()


def test_a_forgotten_snapshot_is_let_go() -> None:
    table = table_of(False)
    table.touch([1])
    snapshot = table.snapshot()
    del snapshot
    gc.collect()
    table.snapshot().close()
    assert table._contents.columns[""].store._shared == 0


def test_readers_share_a_lock_and_writers_do_not() -> None:
    lock, together = SharedLock(), threading.Barrier(2, timeout=60)
    order: list[str] = []

    def read() -> None:
        with lock.reading:
            together.wait()  # passes only if both are inside

    run_together(read, read)

    def write() -> None:
        with lock.writing:
            order.append("in")
            order.append("out")

    run_together(*[write] * 8)
    assert order == ["in", "out"] * 8


def test_a_writer_that_waits_is_not_overtaken() -> None:
    lock, order = SharedLock(), []

    def read() -> None:
        with lock.reading:
            order.append("read")

    def write() -> None:
        with lock.writing:
            order.append("written")

    reader, writer = threading.Thread(target=read), threading.Thread(target=write)
    with lock.reading:
        writer.start()
        while not lock._writers_waiting and not order:
            time.sleep(0.001)
        reader.start()
        reader.join(0.05)
        assert order == []
    writer.join()
    reader.join()
    assert order == ["written", "read"]


def test_an_error_inside_gives_the_lock_back() -> None:
    lock = SharedLock()
    for side in (lock.reading, lock.writing):
        with pytest.raises(KeyError), side:
            raise KeyError("x")
    with lock.writing:
        pass
