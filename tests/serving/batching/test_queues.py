"""Requests wait for each other, and are run together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.batching.threads import BatchThreads
from tensorkeep.serving.servables import Array, Ends
from tests.serving.batching.fakes import ENDS, FunctionModel, Stage, settled


def in_a_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 10))

    return run


def row(value: float, width: int = 2) -> np.ndarray[Any, Any]:
    return np.full((1, width), value, np.float64)


# ------------------------------------------------------------------------------------------ Together


@in_a_loop
async def test_requests_that_come_at_once_are_one_run() -> None:
    stage = Stage()
    asked = [stage.ask(row(value)) for value in range(3)]
    await settled()
    await stage.pool.do()
    assert stage.model.calls == [(3, 2)]
    assert [(await task)[0].tolist() for task in asked] == [[[0, 0]], [[2, 2]], [[4, 4]]]


@in_a_loop
async def test_requests_that_come_while_all_threads_work_wait_for_each_other() -> None:
    stage = Stage()
    first = stage.ask(row(1))
    await settled()
    others = [stage.ask(row(value)) for value in (2, 3)]
    await settled()
    assert len(stage.pool.begun) == 1
    await stage.pool.do_all()
    assert stage.model.calls == [(1, 2), (2, 2)]
    await asyncio.gather(first, *others)


@in_a_loop
async def test_a_batch_that_is_not_full_waits_for_its_time() -> None:
    stage = Stage(batch_timeout_micros=500_000)
    first = stage.ask(row(1))
    await settled()
    await stage.clock.advance(0.25)
    second = stage.ask(row(2))
    await settled()
    assert not stage.pool.begun
    await stage.clock.advance(0.25)
    await stage.pool.do()
    assert stage.model.calls == [(2, 2)]
    await asyncio.gather(first, second)


@in_a_loop
async def test_a_full_batch_does_not_wait() -> None:
    stage = Stage(batch_timeout_micros=5000, max_batch_size=2)
    asked = [stage.ask(row(value)) for value in range(2)]
    await settled()
    await stage.pool.do()
    assert stage.model.calls == [(2, 2)]
    await asyncio.gather(*asked)


@in_a_loop
async def test_a_request_that_does_not_fit_any_more_begins_a_new_batch() -> None:
    stage = Stage(max_batch_size=4)
    asked = [stage.ask(np.ones((rows, 2))) for rows in (3, 2, 1)]
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(3, 2), (3, 2)]
    assert [len((await task)[0]) for task in asked] == [3, 2, 1]


@in_a_loop
async def test_different_outputs_are_never_run_together() -> None:
    stage = Stage(threads=2)
    asked = [stage.ask(row(1)), stage.ask(row(2), Ends(("x:0",), ("y:0", "z:0")))]
    await settled()
    assert len(stage.pool.begun) == 2
    await stage.pool.do_all()
    assert stage.model.calls == [(1, 2), (1, 2)]
    await asyncio.gather(*asked)


@in_a_loop
async def test_queues_are_served_in_turn() -> None:
    order: list[str] = []

    class Ordered(FunctionModel):
        def compute(self, ends: Ends, arrays: Sequence[Array]) -> list[Array]:
            order.append(ends.fetches[0])
            return super().compute(ends, arrays)

    stage = Stage(Ordered(), max_batch_size=1)
    busy, quiet = Ends(("x:0",), ("busy:0",)), Ends(("x:0",), ("quiet:0",))
    asked = [stage.ask(row(value), busy) for value in range(3)] + [stage.ask(row(9), quiet)]
    await settled()
    await stage.pool.do_all()
    assert order == ["busy:0", "quiet:0", "busy:0", "busy:0"]
    await asyncio.gather(*asked)


@in_a_loop
async def test_no_more_runs_than_threads_are_under_way() -> None:
    stage = Stage(threads=2, max_batch_size=1)
    asked = [stage.ask(row(value)) for value in range(5)]
    await settled()
    assert len(stage.pool.begun) == 2
    await stage.pool.do()
    assert len(stage.pool.begun) == 2
    await stage.pool.do_all()
    await asyncio.gather(*asked)


# ------------------------------------------------------------------------------------------ Shapes


@in_a_loop
async def test_requests_of_different_lengths_are_run_apart_where_padding_is_off() -> None:
    stage = Stage()
    asked = [stage.ask(row(value, width)) for value, width in ((1, 2), (2, 3), (3, 2))]
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(2, 2), (1, 3)]
    assert [(await task)[0].shape for task in asked] == [(1, 2), (1, 3), (1, 2)]


@in_a_loop
async def test_requests_of_different_lengths_are_run_together_where_they_may_be_padded() -> None:
    stage = Stage(pad_variable_length_inputs=True)
    asked = [stage.ask(row(value, width)) for value, width in ((1, 2), (2, 3))]
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(2, 3)]
    assert [(await task)[0].tolist() for task in asked] == [[[2, 2, 2]], [[4, 4, 4]]]


@in_a_loop
async def test_a_request_of_another_type_does_not_change_those_of_others() -> None:
    stage = Stage()
    asked = [stage.ask(np.ones((1, 2), np.float32)), stage.ask(np.ones((1, 2), np.int64))]
    await settled()
    await stage.pool.do_all()
    assert [(await task)[0].dtype for task in asked] == [np.float32, np.int64]


@in_a_loop
async def test_a_batch_is_filled_up_to_an_allowed_size() -> None:
    stage = Stage(max_batch_size=8, allowed_batch_sizes=(4, 8))
    asked = [stage.ask(row(value)) for value in range(3)]
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(4, 2)]
    assert [(await task)[0].shape for task in asked] == [(1, 2)] * 3
    (note,) = stage.notes.all
    assert (note.requests, note.rows, note.run_rows) == (3, 3, 4)


@in_a_loop
async def test_a_large_request_is_cut_and_fills_the_batch_that_waits() -> None:
    stage = Stage(max_batch_size=16, max_execution_batch_size=4, enable_large_batch_splitting=True)
    small, large = stage.ask(row(1, 1)), stage.ask(np.arange(9.0).reshape(9, 1))
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(4, 1), (4, 1), (2, 1)]
    assert (await small)[0].tolist() == [[2]]
    assert (await large)[0].ravel().tolist() == list(range(0, 18, 2))


# ------------------------------------------------------------------------------------------ Refused


async def error_of(asked: asyncio.Task[Any]) -> tuple[type[BaseException], str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the test says which
        await asked
    return type(caught.value), str(caught.value)


@in_a_loop
async def test_a_request_with_more_rows_than_a_batch_is_refused() -> None:
    stage = Stage(max_batch_size=4)
    assert await error_of(stage.ask(np.ones((5, 2)))) == (
        InvalidArgumentError,
        "Task size 5 is larger than maximum input batch size 4",
    )


@in_a_loop
async def test_a_queue_takes_no_more_batches_than_it_may() -> None:
    stage = Stage(max_batch_size=1, max_enqueued_batches=2)
    running = stage.ask(row(1))
    await settled()
    waiting = [stage.ask(row(value)) for value in (2, 3)]
    await settled()
    assert stage.runner.waiting == 2
    assert await error_of(stage.ask(row(4))) == (
        UnavailableError,
        "The batch scheduling queue to which this task was submitted is full; currently 2 batches enqueued and "
        "max_enqueued_batches is 2",
    )
    await stage.pool.do_all()
    await asyncio.gather(running, *waiting)
    assert stage.runner.waiting == 0


@in_a_loop
async def test_a_large_request_is_refused_whole_or_not_at_all() -> None:
    stage = Stage(
        max_batch_size=16, max_execution_batch_size=2, enable_large_batch_splitting=True, max_enqueued_batches=2
    )
    assert (await error_of(stage.ask(np.ones((6, 1)))))[0] is UnavailableError
    assert stage.runner.waiting == 0
    fits = stage.ask(np.ones((4, 1)))
    await settled()
    await stage.pool.do_all()
    assert len((await fits)[0]) == 4


@in_a_loop
async def test_many_shapes_do_not_make_a_queue_without_end() -> None:
    stage = Stage(max_batch_size=1000, max_enqueued_batches=1)
    busy = stage.ask(row(0))
    await settled()
    asked = [stage.ask(row(1, width)) for width in range(1, 10)]
    await settled()
    assert (await error_of(asked.pop()))[0] is UnavailableError
    await stage.pool.do_all()
    await asyncio.gather(busy, *asked)


@in_a_loop
async def test_only_the_request_that_is_to_blame_fails() -> None:
    def function(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if (x < 0).any():
            raise InvalidArgumentError("indices[0] = -1 is not in [0, 4)")
        return x

    stage = Stage(FunctionModel(function))
    good, bad, other = (stage.ask(row(value)) for value in (1, -1, 2))
    await settled()
    await stage.pool.do_all()
    assert stage.model.calls == [(3, 2), (1, 2), (1, 2), (1, 2)]
    assert (await good)[0].tolist() == [[1, 1]]
    assert (await other)[0].tolist() == [[2, 2]]
    assert await error_of(bad) == (InvalidArgumentError, "indices[0] = -1 is not in [0, 4)")
    assert stage.runner.report().rerun == 3


@in_a_loop
async def test_a_model_whose_output_has_no_rows_cannot_be_batched() -> None:
    stage = Stage(FunctionModel(lambda x: np.asarray(x.sum())))
    asked = stage.ask(row(1))
    await settled()
    await stage.pool.do_all()
    assert await error_of(asked) == (FailedPreconditionError, "Batched output tensor has 0 dimensions")


# ------------------------------------------------------------------------------------------ Time and patience


@in_a_loop
async def test_a_request_whose_time_passes_in_the_queue_is_told_so_at_once() -> None:
    stage = Stage()
    running, late = stage.ask(row(1)), None
    await settled()
    late = stage.ask(row(2), deadline=stage.clock.time + 1)
    await settled()
    await stage.clock.advance(1.0)
    assert await error_of(late) == (
        ResourceExhaustedError,
        "Run() timeout exceeded while waiting in batching queue",
    )
    await stage.pool.do_all()
    assert stage.model.calls == [(1, 2)]
    await running


@in_a_loop
async def test_a_request_whose_time_has_passed_does_not_even_wait() -> None:
    stage = Stage()
    assert (await error_of(stage.ask(row(2), deadline=stage.clock.time)))[0] is ResourceExhaustedError


@in_a_loop
async def test_a_request_whose_time_passes_while_it_runs_is_answered_at_once() -> None:
    stage = Stage()
    patient, late = stage.ask(row(1)), stage.ask(row(2), deadline=stage.clock.time + 1)
    await settled()
    await stage.clock.advance(1.5)
    assert await error_of(late) == (DeadlineExceededError, "Timed out waiting for notification")
    await stage.pool.do()
    assert (await patient)[0].tolist() == [[2, 2]]


@in_a_loop
async def test_a_request_that_is_cancelled_is_not_run() -> None:
    stage = Stage()
    running = stage.ask(row(1))
    await settled()
    gone, stays = stage.ask(row(2)), stage.ask(row(3))
    await settled()
    gone.cancel()
    await settled()
    assert stage.runner.waiting == 1
    await stage.pool.do_all()
    assert stage.model.calls == [(1, 2), (1, 2)]
    assert (await stays)[0].tolist() == [[6, 6]]
    await running


@in_a_loop
async def test_a_request_that_is_cancelled_while_it_runs_disturbs_nobody() -> None:
    stage = Stage()
    gone, stays = stage.ask(row(2)), stage.ask(row(3))
    await settled()
    gone.cancel()
    await stage.pool.do()
    assert (await stays)[0].tolist() == [[6, 6]]


@in_a_loop
async def test_requests_whose_run_is_never_begun_are_told_that_the_server_stops() -> None:
    stage = Stage()
    asked = [stage.ask(row(value)) for value in range(2)]
    await settled()
    stage.pool.begun.pop()[0].cancel()  # as an executor does that is shut down
    for each in asked:
        kind, text = await error_of(each)
        assert (kind, text[:22]) == (UnavailableError, "the server is stopping")


@in_a_loop
async def test_a_queue_in_which_nothing_waits_is_dropped() -> None:
    stage = Stage(threads=4)
    asked = [stage.ask(row(1), Ends(("x:0",), (f"{number}:0",))) for number in range(4)]
    await settled()
    await stage.pool.do_all()
    await asyncio.gather(*asked)
    with pytest.raises(InvalidArgumentError):
        await stage.ask(np.ones((2000, 1)))
    assert not stage.runner._queues


# ------------------------------------------------------------------------------------------ Changes, reports


@in_a_loop
async def test_other_settings_count_for_those_who_wait_already() -> None:
    stage = Stage(batch_timeout_micros=10_000_000)
    waits = stage.ask(row(1))
    await settled()
    assert not stage.pool.begun
    stage.runner.change(BatchSettings(batch_timeout_micros=0))
    await settled()
    await stage.pool.do()
    await waits


@in_a_loop
async def test_more_threads_begin_with_what_waits() -> None:
    clock = Stage().clock
    threads = BatchThreads(1, clock=clock)
    runner = BatchingRunner(FunctionModel(), BatchSettings(max_batch_size=1), threads)
    threads.change(3)
    assert threads.count == 3
    answers = await asyncio.gather(*(runner.run(ENDS, [row(value)], None) for value in range(4)))
    assert [answer[0].tolist() for answer in answers] == [[[value * 2] * 2] for value in range(4)]
    threads.close()
    with pytest.raises(UnavailableError):
        await runner.run(ENDS, [row(1)], None)


@in_a_loop
async def test_a_run_is_told_of_with_how_long_its_requests_waited() -> None:
    stage = Stage(batch_timeout_micros=500_000)
    first = stage.ask(row(1))
    await settled()
    await stage.clock.advance(0.25)
    second = stage.ask(np.ones((2, 2)))
    await settled()
    await stage.clock.advance(0.25)
    await stage.pool.do_all()
    await asyncio.gather(first, second)
    (note,) = stage.notes.all
    assert (note.model, note.version, note.pool, note.requests, note.rows) == ("m", 7, "batch_threads", 2, 3)
    assert note.waits == (0.5, 0.25)


@in_a_loop
async def test_it_is_said_why_nothing_is_joined(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "tensorkeep.serving")
    stage = Stage()
    for _ in range(1001):
        asked = stage.ask(row(1))
        await settled()
        await stage.pool.do()
        await asked
    report = stage.runner.report()
    assert (report.requests, report.runs, report.joined_runs) == (1001, 1001, 0)
    assert "batch_timeout_micros" in report.hint
    assert [record.getMessage() for record in caplog.records] == [
        f"batching is on for model m, version 7, but none of 1000 runs had several requests: {report.hint}"
    ]


@in_a_loop
async def test_different_shapes_and_large_requests_are_told_as_the_reason() -> None:
    apart, large = Stage(), Stage(max_batch_size=2)
    asked = [apart.ask(row(1, width)) for width in (1, 2, 3)] + [large.ask(np.ones((2, 2))) for _ in range(3)]
    await settled()
    await apart.pool.do_all()
    await large.pool.do_all()
    await asyncio.gather(*asked)
    assert "pad_variable_length_inputs" in apart.runner.report().hint
    assert "max_batch_size" in large.runner.report().hint
