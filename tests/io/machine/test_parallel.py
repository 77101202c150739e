"""Doing several things at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.machine.parallel import (
    ahead,
    compute_with,
    computing_with,
    default_threads,
    in_parallel,
    processors,
    thread_limit,
)


@pytest.mark.parametrize("threads", [None, 1, 2, 8])
def test_results_come_in_the_order_of_the_items(threads: int | None) -> None:
    assert list(in_parallel(lambda number: number * number, range(100), threads)) == [n * n for n in range(100)]


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(in_parallel(str, [])) == []


def test_threads_do_work_together() -> None:
    meeting = threading.Barrier(3, timeout=60)
    assert sorted(in_parallel(lambda _: meeting.wait(), range(3), threads=3)) == [0, 1, 2]


def test_one_thread_is_the_caller_s_own() -> None:
    assert in_parallel(lambda _: threading.current_thread(), [0], threads=4) == [threading.current_thread()]


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_error_is_raised(threads: int) -> None:
    def work(number: int) -> int:
        if number % 7 == 3:
            raise DataLossError(f"item {number}")
        return number

    with pytest.raises(DataLossError, match="item 3"):
        in_parallel(work, range(50), threads)


@pytest.fixture
def large_machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine of 64 processors, without a quota, on which nothing is set."""
    monkeypatch.delenv("TENSORKEEP_THREADS", raising=False)
    monkeypatch.setattr("tensorkeep.io.machine.parallel.processors", lambda: 64)
    monkeypatch.setattr("tensorkeep.io.machine.parallel.processor_quota", lambda: None)
    return monkeypatch


def test_threads_are_as_many_as_processors_and_few_for_passes_over_memory(large_machine: pytest.MonkeyPatch) -> None:
    assert (thread_limit(), default_threads()) == (64, 8)


@pytest.mark.parametrize(("quota", "threads"), [(0.5, 1), (1.0, 1), (1.5, 2), (3.0, 3), (100.0, 64)])
def test_the_quota_of_a_container_limits_threads(large_machine: pytest.MonkeyPatch, quota: float, threads: int) -> None:
    large_machine.setattr("tensorkeep.io.machine.parallel.processor_quota", lambda: quota)
    assert (thread_limit(), default_threads()) == (threads, min(threads, 8))


@pytest.mark.parametrize("threads", [1, 3, 16])
def test_one_variable_sets_all_numbers_of_threads(large_machine: pytest.MonkeyPatch, threads: int) -> None:
    large_machine.setenv("TENSORKEEP_THREADS", str(threads))
    large_machine.setattr("tensorkeep.io.machine.parallel.processor_quota", lambda: 2.0)
    assert (thread_limit(), default_threads()) == (threads, threads)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", " "])
def test_a_number_of_threads_that_is_none_is_refused(large_machine: pytest.MonkeyPatch, text: str) -> None:
    large_machine.setenv("TENSORKEEP_THREADS", text)
    with pytest.raises(InvalidArgumentError, match=f'TENSORKEEP_THREADS is "{text}", expected a number of threads'):
        thread_limit()


def test_a_thread_that_was_given_a_share_computes_with_that_and_others_do_not(
    large_machine: pytest.MonkeyPatch,
) -> None:
    def limits() -> tuple[int, int]:
        return thread_limit(), default_threads()

    with ThreadPoolExecutor(1, initializer=compute_with, initargs=(3,)) as pool:
        assert pool.submit(limits).result() == (3, 3)
        large_machine.setenv("TENSORKEEP_THREADS", "16")
        assert pool.submit(limits).result() == (3, 3)
    assert limits() == (16, 16)


def test_a_thread_computes_with_a_share_until_the_end_of_a_block(large_machine: pytest.MonkeyPatch) -> None:
    with computing_with(3):
        assert (thread_limit(), default_threads()) == (3, 3)
        with computing_with(1):
            assert thread_limit() == 1
        assert thread_limit() == 3
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(thread_limit).result() == 64
    assert thread_limit() == 64


def test_an_empty_variable_sets_nothing(large_machine: pytest.MonkeyPatch) -> None:
    large_machine.setenv("TENSORKEEP_THREADS", "")
    assert thread_limit() == 64


def test_there_are_as_many_threads_as_help() -> None:
    assert 1 <= default_threads() <= 8
    assert 1 <= thread_limit() <= processors()


@given(st.lists(st.integers(), max_size=30))
def test_work_ahead_gives_results_in_order(items: list[int]) -> None:
    assert list(ahead(lambda item: item * 2, items)) == [item * 2 for item in items]


def test_work_ahead_does_not_run_far_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    results = ahead(lambda item: item, items())
    assert next(results) == 0
    assert len(taken) < 20
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 20


def test_an_error_of_work_ahead_comes_where_its_result_would() -> None:
    def work(item: int) -> float:
        return 1 / (item - 2)

    results = ahead(work, range(10))
    assert [next(results), next(results)] == [-0.5, -1.0]
    with pytest.raises(ZeroDivisionError):
        next(results)
