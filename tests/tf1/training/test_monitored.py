"""Monitored sessions: hooks around runs, threads that stop together, a new session where one is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tensorkeep.errors import AbortedError, FailedPreconditionError, OutOfRangeError, UnavailableError
from tensorkeep.graph.building import building
from tensorkeep.tf1.training.loops.hooks import (
    SecondOrStepTimer,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StopAtStepHook,
)
from tensorkeep.tf1.training.loops.monitored import MonitoredSession, SingularMonitoredSession
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.training.loops.session_creators import ChiefSessionCreator, SessionCreator
from tensorkeep.tf1.training.loops.session_manager import SessionManager
from tests.tf1.training.programs import Counting


class SavingHook(SessionRunHook):
    """Saves after every run."""

    def __init__(self, counting: Counting) -> None:
        self._counting = counting

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        session = run_context.session
        self._counting.saver.save(session, "run/model", int(session.run(self._counting.step)))


class FailingHook(SessionRunHook):
    """Raises the next of some errors before each run, or none."""

    def __init__(self, errors: Sequence[Exception | None]) -> None:
        self._errors = list(errors)

    def before_run(self, run_context: SessionRunContext) -> None:
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error


def creator(counting: Counting) -> SessionCreator:
    class Manager(SessionManager):
        filesystem = counting.fs

    class Creator(ChiefSessionCreator):
        manager_type = Manager

    return Creator(Scaffold(saver=counting.saver), checkpoint_dir="run")


def test_a_program_runs_until_a_hook_stops_it_and_resumes_from_its_checkpoint() -> None:
    counting = Counting()
    for last in (3, 6):
        with building(counting.graph):
            hooks = [SavingHook(counting), StopAtStepHook(num_steps=3)]
            with MonitoredSession(creator(counting), hooks) as session:
                seen = []
                while not session.should_stop():
                    seen.append(int(session.run(counting.count)))
        assert seen == [last - 2, last - 1, last]
    assert list(counting.saver.checkpoints) == [f"run/model-{step}" for step in range(1, 7)]


def test_a_graph_can_be_changed_again_afterwards() -> None:
    counting = Counting()
    with building(counting.graph):
        with MonitoredSession(creator(counting)) as session:
            assert session.graph is counting.graph
            assert counting.graph.finalized
        assert not counting.graph.finalized
        assert session.graph is None
        counting.graph.finalize()
        with MonitoredSession(creator_of_finalized(counting)):
            pass
        assert counting.graph.finalized


def creator_of_finalized(counting: Counting) -> SessionCreator:
    class Creator(SessionCreator):
        def create_session(self) -> Any:
            return SessionManager(graph=counting.graph, local_init_op=counting.step.initializer).prepare_session("")

    return Creator()


@pytest.mark.parametrize("error", [AbortedError, UnavailableError])
def test_a_lost_session_is_replaced_from_the_last_checkpoint(error: type[Exception]) -> None:
    counting = Counting()
    failing = FailingHook([None, None, error("gone"), error("gone again"), None])
    with building(counting.graph), MonitoredSession(creator(counting), [SavingHook(counting), failing]) as session:
        assert [int(session.run(counting.count)) for _ in range(4)] == [1, 2, 3, 4]


def test_a_session_of_one_kind_is_not_replaced() -> None:
    counting = Counting()
    failing = FailingHook([AbortedError("gone")])
    with building(counting.graph):
        session = SingularMonitoredSession([failing], Scaffold(saver=counting.saver))
        with pytest.raises(AbortedError, match="gone"):
            session.run(counting.count)
        assert session.run(counting.count) == 1
        assert session.raw_session().run(counting.step) == 1


def test_an_error_leaves_through_the_with_statement_and_ends_no_hook() -> None:
    ended: list[Any] = []

    class Ending(SessionRunHook):
        def end(self, session: Any) -> None:
            ended.append(session)

    counting = Counting()

    def train(error: Exception) -> Any:
        with building(counting.graph), MonitoredSession(creator(counting), [Ending()]) as session:
            raise error
        return session

    with pytest.raises(ZeroDivisionError):
        train(ZeroDivisionError())
    assert ended == []
    assert train(OutOfRangeError("the end of the input")).should_stop()
    assert len(ended) == 1


def test_after_a_stop_nothing_is_run() -> None:
    counting = Counting()
    with building(counting.graph), MonitoredSession(creator(counting), [StopAtStepHook(last_step=1)]) as session:
        session.run(counting.count)
        assert session.should_stop()
        with pytest.raises(FailedPreconditionError, match="Run called even after should_stop"):
            session.run(counting.count)
    with pytest.raises(FailedPreconditionError, match="already closed"):
        session.run(counting.count)


def test_a_scaffold_without_a_saver_asks_for_one() -> None:
    counting = Counting()
    with building(counting.graph), pytest.raises(FailedPreconditionError, match="no saver is given"):
        Scaffold().finalize()


def test_a_timer_triggers_at_first_and_then_by_its_clock() -> None:
    class Timer(SecondOrStepTimer):
        now = 0.0

        def clock(self) -> float:  # type: ignore[override]
            return self.now

    timer = Timer(every_secs=10)
    assert timer.should_trigger_for_step(0)
    assert timer.update_last_triggered_step(0) == (None, None)
    timer.now = 9.0
    assert not timer.should_trigger_for_step(5)
    timer.now = 10.0
    assert not timer.should_trigger_for_step(0)
    assert timer.should_trigger_for_step(5)
    assert timer.update_last_triggered_step(5) == (10.0, 5)
