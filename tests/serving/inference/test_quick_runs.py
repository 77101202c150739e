"""What is quick enough is computed in the event loop itself, and nothing else is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tensorkeep.serving.inference import running
from tensorkeep.serving.inference.quick_runs import DOUBTS, PROOF, WAITED, QuickRuns
from tensorkeep.serving.inference.running import ThreadRunner
from tensorkeep.serving.servables import Ends, Servable
from tests.support.serving import golden_servable

ENDS = Ends(("x:0",), ("cls:0",))
FEATURES = [np.ones((1, 6), np.float32)]


@pytest.fixture(scope="module")
def servable() -> Servable:
    return golden_servable("g26_tf1_simple_save")


def places(
    servable: Servable,
    seconds: Sequence[float],
    monkeypatch: pytest.MonkeyPatch,
    own_share: float = 1.0,
    **options: Any,
) -> list[bool]:
    """For runs that take so long, a share of it by their own doing, whether each was in the event loop."""
    found: list[bool] = []
    times = iter(seconds)

    def noted(*_: Any) -> Any:
        found.append(threading.current_thread() is threading.main_thread())
        return [], next(times)

    def noted_here(*_: Any) -> Any:
        _, taken = noted()
        return [], taken, taken * own_share

    monkeypatch.setattr(running, "timed_run", noted)
    monkeypatch.setattr(running, "timed_here", noted_here)

    async def work() -> None:
        runner = ThreadRunner(servable, **options)
        for _ in seconds:
            await runner.run(ENDS, FEATURES, None)

    asyncio.run(work())
    return found


def test_quick_runs_move_into_the_event_loop_when_they_have_proved_it(
    servable: Servable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places(servable, [0.0001] * (PROOF + 2), monkeypatch) == [False] * PROOF + [True] * 2


def test_a_slow_one_begins_the_proof_anew(servable: Servable, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0001] * (PROOF - 1) + [0.001] + [0.0001] * (PROOF + 1)
    assert places(servable, seconds, monkeypatch) == [False] * 2 * PROOF + [True]


def test_a_kind_that_is_slow_in_the_event_loop_proves_itself_anew_and_is_given_up_in_the_end(
    servable: Servable, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved_then_slow = [0.0001] * PROOF + [0.1]
    seconds = proved_then_slow * DOUBTS + [0.0001] * (PROOF + 1)
    expected = ([False] * PROOF + [True]) * DOUBTS + [False] * (PROOF + 1)
    assert places(servable, seconds, monkeypatch) == expected


def test_a_run_that_a_busy_machine_keeps_waiting_stays_where_it_is(
    servable: Servable, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [0.0001] * PROOF + [0.1, 0.0001] * 4
    assert places(servable, seconds, monkeypatch, own_share=0.01) == [False] * PROOF + [True] * 8


def test_runs_that_wait_for_most_of_the_time_prove_themselves_anew_and_are_never_given_up(
    servable: Servable, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved_then_late = [0.0001] * PROOF + [2 * WAITED]
    seconds = proved_then_late * (DOUBTS + 2) + [0.0001] * (PROOF + 1)
    expected = ([False] * PROOF + [True]) * (DOUBTS + 3)
    assert places(servable, seconds, monkeypatch, own_share=0.001) == expected


def test_waiting_is_forgotten_with_time(servable: Servable) -> None:
    now = 100.0
    quick = QuickRuns(servable, lambda: now)
    kind = quick.kind(ENDS, FEATURES)
    for _ in range(PROOF):
        quick.learn(kind, 0.0001)
    for _ in range(50):
        quick.doubt(kind, 0.4 * WAITED, 0.0001)
        assert quick.is_quick(kind)
        now += 1
    for _ in range(3):
        quick.doubt(kind, 0.4 * WAITED, 0.0001)
    assert not quick.is_quick(kind)


def test_a_runner_can_be_told_to_stay_outside(servable: Servable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(places(servable, [0.0001] * (PROOF + 2), monkeypatch, stays_outside=True))


def test_larger_inputs_are_another_kind(servable: Servable) -> None:
    quick = QuickRuns(servable)
    small, large = quick.kind(ENDS, FEATURES), quick.kind(ENDS, [np.ones((4, 6), np.float32)])
    for _ in range(PROOF):
        quick.learn(small, 0.0001)
    assert quick.is_quick(small)
    assert not quick.is_quick(large)


def test_what_may_say_how_much_is_to_be_done_is_never_quick(servable: Servable) -> None:
    quick = QuickRuns(servable)
    assert quick.kind(ENDS, [np.ones(1, np.int32)]) is None
    assert quick.kind(ENDS, [np.array([b"x"], object)]) is None
    assert QuickRuns(golden_servable("g28_tf2_module")).kind(ENDS, FEATURES) is None
    assert not quick.is_quick(None)
