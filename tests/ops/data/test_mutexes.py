"""Locks between runs: who waits for one, and what ends the waiting."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread, Timer
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.ops.data._mutex_values import Mutex
from tensorkeep.runtime.limits import Limits
from tensorkeep.runtime.session import Session


class Section:
    """A section that a thread holds for as long as it is told to, and what others compute in it."""

    def __init__(self) -> None:
        self.entered, self.go_on = Event(), Event()
        section = tf.CriticalSection()
        self.long = section.execute(lambda: tf.py_func(self._wait, [], tf.int64))
        self.short = section.execute(lambda: tf.constant(7))
        self.failing = section.execute(lambda: tf.py_func(self._fail, [], tf.int64))
        self.deep = section.execute(lambda: tf.map_fn(lambda x: x * 2, tf.constant([1, 2])))

    def _wait(self) -> np.int64:
        self.entered.set()
        assert self.go_on.wait(20)
        return np.int64(1)

    def _fail(self) -> np.int64:
        raise KeyboardInterrupt

    @contextmanager
    def held(self, session: Any) -> Iterator[None]:
        """While the block runs, another thread is in the section."""
        thread = Thread(target=session.run, args=(self.long,))
        thread.start()
        assert self.entered.wait(20)
        try:
            yield
        finally:
            self.go_on.set()
            thread.join(20)


@pytest.fixture(name="section")
def make_section() -> Iterator[Section]:
    with tf.Graph().as_default():
        yield Section()


def test_who_waits_goes_on_when_the_section_is_left(section: Section) -> None:
    with tf.Session(allow_python=True) as session:
        found: list[Any] = []
        waiting = Thread(target=lambda: found.append(session.run([section.short, section.deep])))
        with section.held(session):
            waiting.start()
            waiting.join(0.05)
            assert waiting.is_alive()
        waiting.join(20)
        assert found[0][0] == 7
        assert found[0][1].tolist() == [2, 4]


def test_an_interrupt_reaches_who_waits(section: Section) -> None:
    with tf.Session(allow_python=True) as session:
        with section.held(session):
            timer = Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                session.run(section.short)
            timer.join()
        assert session.run(section.short) == 7


def test_an_interrupt_inside_gives_the_lock_back(section: Section) -> None:
    with tf.Session(allow_python=True) as session:
        with pytest.raises(KeyboardInterrupt) as kept:
            session.run(section.failing)
        assert session.run(section.short) == 7
        del kept


def test_waiting_ends_with_the_time_of_the_run_and_with_the_session(section: Section) -> None:
    session = tf.Session(allow_python=True)
    errors: list[CancelledError] = []

    def wait() -> None:
        try:
            session.run(section.short)
        except CancelledError as error:
            errors.append(error)

    waiting = Thread(target=wait)
    with section.held(session):
        with pytest.raises(DeadlineExceededError):
            session.run(section.short, options=tf.RunOptions(timeout_in_ms=30))
        waiting.start()
        waiting.join(0.05)
        session.close()
        waiting.join(20)
    assert [error.message.split("\n")[0] for error in errors] == [
        "MutexLock 'CriticalSection/' operation was cancelled"
    ]


def test_a_lock_in_a_function_is_held_as_long_as_the_function_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        section = tf.CriticalSection()
        total: Any = tf.get_variable("total", initializer=np.int64(0), use_resource=True)

        def step(n: Any) -> Any:
            return section.execute(lambda: total.assign_add(n).read_value(), exclusive_resource_access=False)

        dataset = tf.data.Dataset.range(8).map(step, num_parallel_calls=4).batch(8)
        iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
        elements = [iterator.get_next() for iterator in iterators]
        session.run([total.initializer])
        session.run([iterator.initializer for iterator in iterators])
        session.run(elements)
        assert session.run(total) == 56


def test_a_partial_run_holds_the_lock_up_to_its_end() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        section, value = tf.CriticalSection(), tf.placeholder(tf.float32, [])
        inner = section.execute(lambda: value * 2)
        after = tf.placeholder(tf.float32, [])
        handle = session.partial_run_setup([inner, inner + after], [value, after])
        assert session.partial_run(handle, inner, {value: 2.0}) == 4
        assert session.run(inner, {value: 3.0}) == 6


def test_a_session_that_is_limited_takes_turns_too() -> None:
    with tf.Graph().as_default() as graph:
        section = tf.CriticalSection()
        both = [section.execute(lambda: tf.constant(3)) for _ in range(2)]
    assert Session(graph, limits=Limits(seconds=20, steps=100)).run(both) == [3, 3]


def test_one_thread_cannot_wait_for_itself() -> None:
    mutex = Mutex("m")
    held = mutex.acquire()
    with pytest.raises(FailedPreconditionError, match="it would wait for itself"):
        mutex.acquire()
    held.release()
    held.release()
    second = mutex.acquire()
    held.release()
    with pytest.raises(FailedPreconditionError):
        mutex.acquire()
    del second
    assert mutex.acquire() is not None


def test_what_is_no_lock_is_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable: Any = tf.get_variable("v", initializer=1.0, use_resource=True)
        with pytest.raises(InvalidArgumentError, match="expected a mutex"):
            session.run(tf.raw_ops.MutexLock(mutex=variable.handle))
        nothing = tf.raw_ops.OptionalNone()
        with pytest.raises(InvalidArgumentError, match="expected a lock that is held"):
            session.run(tf.raw_ops.ConsumeMutexLock(mutex_lock=nothing))
