"""Coordinators: threads stop together, and the first error of any is raised where they are joined."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.tf1.training.loops.coordinator import Coordinator, LooperThread


def _failing(coordinator: Coordinator, error: BaseException) -> threading.Thread:
    def work() -> None:
        with coordinator.stop_on_exception():
            raise error

    return threading.Thread(target=work)


def test_all_threads_see_a_request_to_stop() -> None:
    coordinator = Coordinator()
    threads = [threading.Thread(target=coordinator.wait_for_stop) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not coordinator.should_stop()
    coordinator.request_stop()
    coordinator.join(threads)
    assert coordinator.should_stop()
    assert coordinator.joined


def test_waiting_for_a_stop_ends_with_the_time_given() -> None:
    assert not Coordinator().wait_for_stop(0.001)


def test_the_error_of_a_thread_is_raised_where_all_are_joined() -> None:
    coordinator = Coordinator()
    thread = _failing(coordinator, ValueError("a mistake"))
    coordinator.register_thread(thread)
    thread.start()
    with pytest.raises(ValueError, match="a mistake"):
        coordinator.join()


def test_only_the_first_error_counts() -> None:
    coordinator = Coordinator()
    coordinator.request_stop(ValueError("first"))
    coordinator.request_stop(ValueError("second"))
    with pytest.raises(ValueError, match="first"):
        coordinator.raise_requested_exception()


def test_a_request_without_an_error_comes_first_too() -> None:
    coordinator = Coordinator()
    coordinator.request_stop()
    coordinator.request_stop(ValueError("too late"))
    coordinator.join([])


def test_the_end_of_the_input_is_no_error() -> None:
    coordinator = Coordinator()
    thread = _failing(coordinator, OutOfRangeError("the end"))
    thread.start()
    coordinator.join([thread])
    assert coordinator.should_stop()


def test_a_program_says_which_errors_are_none() -> None:
    coordinator = Coordinator(clean_stop_exception_types=(ZeroDivisionError,))
    coordinator.request_stop(ZeroDivisionError())
    coordinator.join([])
    coordinator.clear_stop()
    coordinator.request_stop(OutOfRangeError("the end"))
    with pytest.raises(OutOfRangeError):
        coordinator.join([])


def test_an_error_after_the_join_is_raised_at_once() -> None:
    coordinator = Coordinator()
    coordinator.request_stop()
    coordinator.join([])
    with pytest.raises(ValueError, match="late"):
        coordinator.request_stop(ValueError("late"))
    coordinator.request_stop(OutOfRangeError("clean"))


def test_exc_info_is_taken_for_the_error() -> None:
    coordinator = Coordinator()
    try:
        raise ValueError("a mistake")
    except ValueError:
        coordinator.request_stop(sys.exc_info())
    with pytest.raises(ValueError, match="a mistake"):
        coordinator.join([])


def test_what_is_no_error_is_reported_as_such() -> None:
    coordinator = Coordinator()
    coordinator.request_stop("text")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="ex must be a tuple"):
        coordinator.join([])


def test_clearing_makes_a_coordinator_as_new() -> None:
    coordinator = Coordinator()
    coordinator.request_stop(ValueError("past"))
    coordinator.clear_stop()
    assert not coordinator.should_stop()
    assert not coordinator.joined
    coordinator.raise_requested_exception()


def test_threads_that_do_not_stop_in_time_are_named() -> None:
    coordinator, release = Coordinator(), threading.Event()
    straggler = threading.Thread(target=release.wait, name="straggler", daemon=True)
    straggler.start()
    coordinator.request_stop()
    with pytest.raises(FailedPreconditionError, match="threads still running: straggler"):
        coordinator.join([straggler], stop_grace_period_secs=0.01)
    coordinator.join([straggler], stop_grace_period_secs=0.01, ignore_live_threads=True)
    release.set()
    straggler.join()


def test_a_looper_works_until_all_stop() -> None:
    coordinator = Coordinator()
    seen: list[Any] = []

    class Looper(LooperThread):
        def start_loop(self) -> None:
            seen.append("start")

        def run_loop(self) -> None:
            seen.append("round")
            if len(seen) > 3:
                coordinator.request_stop()

        def stop_loop(self) -> None:
            seen.append("stop")

    looper = Looper(coordinator, None)
    looper.start()
    coordinator.join()
    assert seen == ["start", "round", "round", "round", "stop"]


def test_a_looper_calls_a_function_once_per_interval() -> None:
    coordinator = Coordinator()
    calls: list[Any] = []

    def work(*args: Any, **kwargs: Any) -> None:
        calls.append((args, kwargs))
        if len(calls) == 3:
            coordinator.request_stop()

    LooperThread.loop(coordinator, 0.001, work, args=(1,), kwargs={"x": 2})
    coordinator.join()
    assert calls == [((1,), {"x": 2})] * 3


def test_the_error_of_a_looper_stops_all() -> None:
    coordinator = Coordinator()
    LooperThread.loop(coordinator, 60, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        coordinator.join()
