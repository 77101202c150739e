"""Supervisors: sessions that resume from a folder, and threads that save while a program trains."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tensorkeep.errors import AbortedError, DataLossError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.local import LOCAL
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.training.loops.events import summary_iterator
from tensorkeep.tf1.training.loops.supervisor import Supervisor, basic_train_loop
from tests.tf1.training.programs import Counting, MemorySaver


def supervised(tmp_path: Path, **options: Any) -> tuple[Counting, Supervisor]:
    counting = Counting()
    counting.saver = MemorySaver(counting.graph, LOCAL)
    with building(counting.graph):
        scalar("doubled", counting.step * 2)
    options = {"save_model_secs": 0, "save_summaries_secs": 0, "saver": counting.saver, **options}
    return counting, Supervisor(counting.graph, logdir=str(tmp_path), **options)


def reported(tmp_path: Path) -> list[Any]:
    return [event for path in sorted(tmp_path.glob("events.*")) for event in summary_iterator(path)]


def test_a_program_resumes_what_it_has_saved(tmp_path: Path) -> None:
    counting, supervisor = supervised(tmp_path)
    for last in (2, 4):
        with supervisor.managed_session() as session:
            assert [int(session.run(counting.count)) for _ in range(2)] == [last - 1, last]
            assert supervisor.save_path is not None
            counting.saver.save(session, supervisor.save_path, last)
        assert supervisor.should_stop()
    assert read_graph(str(tmp_path / "graph.pbtxt")) == export_graph(counting.graph, True)


def test_what_it_makes_is_in_the_collections_and_the_graph_is_finalized(tmp_path: Path) -> None:
    counting, supervisor = supervised(tmp_path)
    assert counting.graph.finalized
    for key, made in (
        (GraphKeys.READY_OP, supervisor.ready_op),
        (GraphKeys.INIT_OP, supervisor.init_op),
        (GraphKeys.SUMMARY_OP, supervisor.summary_op),
        (GraphKeys.GLOBAL_STEP, supervisor.global_step),
    ):
        assert get_collection(counting.graph, key) == [made]
    assert supervisor.is_chief
    assert supervisor.ready_for_local_init_op is None


def test_its_threads_save_summarize_and_count(tmp_path: Path) -> None:
    counting, supervisor = supervised(tmp_path, save_model_secs=0.01, save_summaries_secs=0.01)
    wanted = {"doubled", "global_step/sec"}

    def tags() -> set[str]:
        with suppress(DataLossError):  # the system may show a part of an event that is just being written
            return {value.tag for event in reported(tmp_path) for value in event.summary.value}
        return set()

    with supervisor.managed_session() as session:
        while not supervisor.should_stop() and (not counting.saver.checkpoints or not tags() >= wanted):
            session.run(counting.count)
    logs = [event.session_log.status for event in reported(tmp_path) if event.HasField("session_log")]
    assert logs[0] == 1
    assert logs[-1] == 2
    assert 3 in logs


def test_an_error_of_the_program_is_raised_at_the_end(tmp_path: Path) -> None:
    _, supervisor = supervised(tmp_path)
    with pytest.raises(ZeroDivisionError), supervisor.managed_session():
        raise ZeroDivisionError
    assert supervisor.should_stop()


def test_an_error_of_a_thread_is_raised_at_the_end(tmp_path: Path) -> None:
    _, supervisor = supervised(tmp_path)

    def train() -> None:
        with supervisor.managed_session():
            supervisor.loop(60, lambda: 1 // 0)
            supervisor.wait_for_stop()

    with pytest.raises(ZeroDivisionError):
        train()


def test_the_basic_loop_starts_over_when_a_session_is_lost(tmp_path: Path) -> None:
    counting, supervisor = supervised(tmp_path)
    calls: list[int] = []

    def step(session: Any, last: int) -> None:
        calls.append(int(session.run(counting.count)))
        if len(calls) == 2:
            raise AbortedError("gone")
        if calls[-1] == last:
            supervisor.request_stop()

    basic_train_loop(supervisor, step, args=[3])
    assert calls == [1, 2, 1, 2, 3]


def test_a_summary_of_the_programs_own_is_written(tmp_path: Path) -> None:
    counting, supervisor = supervised(tmp_path)
    with supervisor.managed_session() as session:
        session.run(counting.count)
        supervisor.summary_computed(session, session.run(supervisor.summary_op))
    (event,) = [event for event in reported(tmp_path) if event.HasField("summary")]
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (1, "doubled", 2.0)


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    counting = Counting()
    supervisor = Supervisor(counting.graph, saver=None, summary_op=None)
    with supervisor.managed_session() as session:
        assert session.run(counting.count) == 1
        with pytest.raises(FailedPreconditionError, match="requires a summary writer"):
            supervisor.summary_computed(session, b"")
    assert supervisor.save_path is None


def test_only_the_chief_writes(tmp_path: Path) -> None:
    counting = Counting()
    with pytest.raises(InvalidArgumentError, match="must have their device set: global_step"):
        Supervisor(counting.graph, saver=None, is_chief=False, logdir=str(tmp_path))
    with pytest.raises(FailedPreconditionError, match="no saver is given"):
        Supervisor(Counting().graph)
