"""Threads that make elements ahead: they end with the session, tell what happened to them, and hold nothing back."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.ops.data.passes.background import WORKERS

SOON = 10.0  # seconds after which nobody waits any more


def _wait_until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + SOON
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def _busy() -> list[threading.Thread]:
    """Threads that work for inputs, and do not wait for work."""
    found = [thread for thread in threading.enumerate() if thread.name == "tensorkeep input"]
    return found if len(found) > WORKERS._idle else []


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    assert _wait_until(lambda: not _busy())


def _following(dataset: Any) -> Any:
    return tf.data.make_one_shot_iterator(dataset).get_next()


ENDLESS: dict[str, Callable[[Any], Any]] = {
    "filter": lambda data: data.filter(lambda n: n < 0),
    "empty datasets": lambda data: data.flat_map(lambda n: tf.data.Dataset.range(0)),
    "errors": lambda data: data.map(
        lambda n: tf.debugging.check_numerics(1.0 / (0.0 * tf.cast(n, tf.float32)), "")
    ).apply(tf.data.experimental.ignore_errors()),
    "skip": lambda data: data.skip(1 << 60),
    "kept in memory": lambda data: data.cache().repeat().filter(lambda n: n < 0),
    "random": lambda data: tf.data.experimental.RandomDataset(1).filter(lambda n: n < 0),
}


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("kind", ENDLESS)
def test_what_finds_no_element_ends_with_its_session(kind: str, ahead: int) -> None:
    source = tf.data.Dataset.range(4 if kind == "kept in memory" else 1 << 62)
    following = _following(ENDLESS[kind](source).prefetch(ahead))
    session = tf.Session()
    outcome = _in_thread(lambda: session.run(following))
    time.sleep(0.05)
    session.close()
    assert isinstance(outcome(), tf.errors.CancelledError)


def _in_thread(call: Callable[[], Any]) -> Callable[[], Any]:
    """Begins a call; what is returned waits for its result, or the error."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def outcome() -> Any:
        thread.join(SOON)
        return found[0] if found else None

    return outcome


def test_a_thread_that_waits_learns_that_the_session_is_closed() -> None:
    unlocked = threading.Event()

    def numbers() -> Iterator[int]:
        yield 1
        unlocked.wait(SOON)

    following = _following(tf.data.Dataset.from_generator(numbers, tf.int64, []).prefetch(4))
    session = tf.Session(allow_python=True)
    assert session.run(following) == 1
    outcome = _in_thread(lambda: session.run(following))
    time.sleep(0.05)
    session.close()
    assert isinstance(outcome(), tf.errors.CancelledError)
    unlocked.set()


def test_closing_leaves_a_generator_alone_that_another_thread_is_in() -> None:
    inside, unlocked, closed = threading.Event(), threading.Event(), threading.Event()

    def numbers() -> Iterator[int]:
        try:
            inside.set()
            unlocked.wait(SOON)
            yield 1
        finally:
            closed.set()

    following = _following(tf.data.Dataset.from_generator(numbers, tf.int64, []))
    session = tf.Session(allow_python=True)
    outcome = _in_thread(lambda: session.run(following))
    assert inside.wait(SOON)
    session.close()
    unlocked.set()
    assert outcome() == 1
    assert closed.wait(SOON)


@pytest.mark.parametrize("shape", ["generator", "function", "batches"])
def test_an_element_does_not_wait_for_those_after_it(shape: str) -> None:
    """A program may answer each element, and the function that makes the next may wait for the answer."""
    answers: queue.Queue[int] = queue.Queue()
    for _ in range(2):
        answers.put(0)

    def numbers() -> Iterator[int]:
        while True:
            yield answers.get(timeout=SOON)

    if shape == "function":
        data = tf.data.Dataset.range(99).map(lambda n: tf.py_func(lambda _: answers.get(timeout=SOON), [n], tf.int64))
    else:
        data = tf.data.Dataset.from_generator(numbers, tf.int64, [])
    if shape == "batches":
        data = data.batch(1)
    following = _following(data.prefetch(8).map(tf.identity, num_parallel_calls=2).prefetch(8))
    with tf.Session(allow_python=True) as session:
        for number in range(20):
            session.run(following)
            answers.put(number)
        for _ in range(99):
            answers.put(0)


def _take_all(session: Any, following: Any) -> None:
    for _ in range(9):
        session.run(following)


class _Stop(BaseException):
    """What is no error, as an interrupt is none."""


@pytest.mark.parametrize("threads", [None, 3])
@pytest.mark.parametrize("ahead", [0, 3])
def test_an_interrupt_in_another_thread_reaches_who_waits(threads: int | None, ahead: int) -> None:
    def number(n: Any) -> Any:
        time.sleep(0.001)
        if n == 5:
            raise _Stop
        return n

    data = tf.data.Dataset.range(9).map(lambda n: tf.py_func(number, [n], tf.int64), num_parallel_calls=threads)
    following = _following(data.prefetch(ahead))
    with tf.Session(allow_python=True) as session, pytest.raises(_Stop):
        _take_all(session, following)


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_generator_that_ends_the_program_is_an_error(ahead: int) -> None:
    def numbers() -> Iterator[int]:
        yield 1
        raise SystemExit(3)

    following = _following(tf.data.Dataset.from_generator(numbers, tf.int64, []).prefetch(ahead))
    with tf.Session(allow_python=True) as session:
        assert session.run(following) == 1
        with pytest.raises(tf.errors.UnknownError, match="SystemExit"):
            session.run(following)


def test_a_run_waits_no_longer_than_it_may() -> None:
    unlocked = threading.Event()

    def numbers() -> Iterator[int]:
        yield 1
        unlocked.wait(SOON)
        yield 2

    following = _following(tf.data.Dataset.from_generator(numbers, tf.int64, []).prefetch(4))
    with tf.Session(allow_python=True) as session:
        assert session.run(following) == 1
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(following, options=tf.RunOptions(timeout_in_ms=50))
        unlocked.set()
        assert session.run(following) == 2
