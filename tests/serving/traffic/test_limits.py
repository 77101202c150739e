"""How many requests of a model run and wait."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from tensorkeep.errors import DeadlineExceededError, InvalidArgumentError, ResourceExhaustedError, UnavailableError
from tensorkeep.serving.models import GRPC, Call, ModelAsked
from tensorkeep.serving.traffic.limits import Limits, ModelLimits
from tests.serving.batching.fakes import settled
from tests.serving.batching.test_queues import in_a_loop
from tests.serving.traffic.fakes import Notes

CALL = Call(GRPC, "Predict")


class Visitor:
    """A request that is being answered until it is told to leave."""

    def __init__(self, limits: Limits, model: str = "m", call: Call = CALL) -> None:
        self.is_in = False
        self.may_leave = asyncio.Event()
        self.task = asyncio.ensure_future(self._visit(limits, model, call))

    async def _visit(self, limits: Limits, model: str, call: Call) -> None:
        async with limits.admitted(ModelAsked(model), call):
            self.is_in = True
            await self.may_leave.wait()

    async def leave(self) -> None:
        self.may_leave.set()
        await self.task


@in_a_loop
async def test_without_limits_all_are_let_in() -> None:
    notes = Notes()
    limits = Limits({}, notes)
    visitors = [Visitor(limits) for _ in range(50)]
    await settled()
    assert all(visitor.is_in for visitor in visitors)
    for visitor in visitors:
        await visitor.leave()
    assert notes.all == [("began", "m")] * 50 + [("ended", "m")] * 50


@in_a_loop
async def test_those_who_do_not_fit_wait_and_one_too_many_is_refused_at_once() -> None:
    notes = Notes()
    limits = Limits({"m": ModelLimits(concurrency=1, queue=2)}, notes)
    first, second, third = (Visitor(limits) for _ in range(3))
    await settled()
    assert (first.is_in, second.is_in, third.is_in) == (True, False, False)
    refused = Visitor(limits)
    with pytest.raises(UnavailableError) as caught:
        await refused.task
    assert str(caught.value) == (
        'model "m" is at its limits: 1 requests run (concurrency 1) and 2 wait (queue 2); try again later'
    )
    assert ("rejected", "m", "queue") in notes.all
    other = Visitor(limits, "other")
    await settled()
    assert other.is_in
    await first.leave()
    await settled()
    assert (second.is_in, third.is_in) == (True, False)
    await second.leave()
    await settled()
    await third.leave()
    await other.leave()
    assert notes.all.count(("began", "m")) == notes.all.count(("ended", "m")) == 3


@in_a_loop
async def test_who_is_cancelled_or_late_leaves_the_queue() -> None:
    notes = Notes()
    limits = Limits({"m": ModelLimits(concurrency=1, queue=2)}, notes)
    first = Visitor(limits)
    await settled()
    gone = Visitor(limits)
    late = Visitor(limits, call=Call(GRPC, "Predict", deadline=monotonic() + 0.01))
    await settled()
    gone.task.cancel()
    with pytest.raises(DeadlineExceededError, match=r"^Timed out waiting for notification$"):
        await late.task
    assert ("rejected", "m", "deadline") in notes.all
    next_one = Visitor(limits)
    await settled()
    await first.leave()
    await settled()
    assert next_one.is_in
    await next_one.leave()
    assert notes.all[-1] == ("ended", "m")


@in_a_loop
async def test_a_place_that_was_given_to_somebody_who_is_gone_goes_to_the_next() -> None:
    limits = Limits({"m": ModelLimits(concurrency=1, queue=2)}, Notes())
    first = Visitor(limits)
    await settled()
    gone, waits = Visitor(limits), Visitor(limits)
    await settled()
    first.may_leave.set()
    while not first.task.done():  # it hands its place over in this step
        await asyncio.sleep(0)
    gone.task.cancel()
    await settled()
    if not waits.is_in:
        assert gone.is_in
    await waits.leave()
    again = Visitor(limits)
    await settled()
    assert again.is_in
    await again.leave()


@in_a_loop
async def test_a_model_leaves_its_requests_no_more_than_its_time() -> None:
    limits = Limits({"": ModelLimits(deadline_seconds=5.0), "m": ModelLimits(deadline_seconds=1.0)}, Notes())
    now = monotonic()
    async with limits.admitted(ModelAsked("m"), CALL) as call:
        assert call.deadline == pytest.approx(now + 1.0, abs=0.5)
    async with limits.admitted(ModelAsked("other"), CALL) as call:
        assert call.deadline == pytest.approx(now + 5.0, abs=0.5)
    short = Call(GRPC, "Predict", deadline=now + 0.5)
    async with limits.admitted(ModelAsked("m"), short) as call:
        assert call is short


@in_a_loop
async def test_other_limits_let_those_in_who_wait() -> None:
    limits = Limits({"m": ModelLimits(concurrency=1, queue=2)}, Notes())
    visitors = [Visitor(limits) for _ in range(3)]
    await settled()
    limits.change({"m": ModelLimits(concurrency=3)})
    await settled()
    assert all(visitor.is_in for visitor in visitors)
    for visitor in visitors:
        await visitor.leave()


def test_limits_are_read_from_text() -> None:
    assert ModelLimits.of("concurrency:8,queue:64,deadline_seconds:0.5") == ModelLimits(8, 64, 0.5)
    for wrong in ("speed:8", "concurrency", "concurrency:many", "concurrency:0", "queue:-1", "queue:3"):
        with pytest.raises(InvalidArgumentError):
            ModelLimits.of(wrong)


def test_a_worker_has_its_share() -> None:
    assert ModelLimits(concurrency=8, queue=3).share(2) == ModelLimits(concurrency=4, queue=2)
    assert ModelLimits(deadline_seconds=3).share(2) == ModelLimits(deadline_seconds=3)


def test_a_version_that_takes_too_much_memory_is_refused() -> None:
    ModelLimits(memory_bytes=100).require_memory("m", 1, 100)
    ModelLimits().require_memory("m", 1, 1 << 40)
    with pytest.raises(ResourceExhaustedError, match="takes 101 bytes of memory, more than its limit"):
        ModelLimits(memory_bytes=100).require_memory("m", 1, 101)
