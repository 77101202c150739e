"""Sessions that are ready to train: restored if there is a checkpoint, else initialized, and found to lack nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import DataLossError, DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.training.loops.session_manager import SessionManager
from tensorkeep.tf1.variables.listing import global_variables_initializer, report_uninitialized_variables
from tensorkeep.tf1.variables.variable import Variable
from tests.tf1.training.programs import Counting


class Prepared(Counting):
    """The counting model with what a session manager needs; time passes only while it is slept."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        with building(self.graph):
            self.local = Variable(5, name="local", collections=["local_variables"], trainable=False)
            self.init = global_variables_initializer()
            ready = report_uninitialized_variables()
            manager = SessionManager(self.local.initializer, ready, recovery_wait_secs=10, **options)
        self.manager: Any = manager
        self.manager.filesystem = self.fs
        self.now = 0.0
        self.slept: list[float] = []
        self.manager.clock = lambda: self.now
        self.manager.sleep = self.sleep

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def saved(self, step: int) -> None:
        with Session(self.graph) as session:
            session.run(self.init)
            self.step.load(step, session)
            self.saver.save(session, "run/model", step)


def test_without_a_checkpoint_the_initializers_are_run() -> None:
    prepared = Prepared()
    called: list[Any] = []
    session = prepared.manager.prepare_session(
        "", prepared.init, prepared.saver, checkpoint_dir="run", init_fn=called.append
    )
    assert session.run([prepared.step, prepared.local]) == [0, 5]
    assert called == [session]


def test_the_latest_checkpoint_of_a_folder_is_restored() -> None:
    prepared = Prepared()
    prepared.saved(3)
    prepared.saved(7)
    called: list[Any] = []
    session = prepared.manager.prepare_session(
        "", prepared.init, prepared.saver, checkpoint_dir="run", init_fn=called.append
    )
    assert session.run([prepared.step, prepared.local]) == [7, 5]
    assert prepared.saver.recovered == ["run/model-3", "run/model-7"]
    assert called == []


def test_a_checkpoint_may_be_named() -> None:
    prepared = Prepared()
    prepared.saved(3)
    prepared.saved(7)
    session = prepared.manager.prepare_session(
        "", prepared.init, prepared.saver, checkpoint_filename_with_path="run/model-3"
    )
    assert session.run(prepared.step) == 3
    with pytest.raises(InvalidArgumentError, match="Can not provide both"):
        prepared.manager.prepare_session(
            "", saver=prepared.saver, checkpoint_dir="run", checkpoint_filename_with_path="run/model-3"
        )


def test_a_checkpoint_is_waited_for() -> None:
    prepared = Prepared()

    def sleep(seconds: float) -> None:
        prepared.sleep(seconds)
        if len(prepared.slept) == 3:
            prepared.saved(4)

    prepared.manager.sleep = sleep
    session = prepared.manager.prepare_session(
        "", saver=prepared.saver, checkpoint_dir="run", wait_for_checkpoint=True, max_wait_secs=60
    )
    assert session.run(prepared.step) == 4
    assert prepared.slept == [10, 10, 10]


def test_a_damaged_state_file_does_not_start_training_from_nothing() -> None:
    prepared = Prepared()
    prepared.fs.make_directory("run")
    file = prepared.fs.create("run/checkpoint")
    file.write(b"model_checkpoint_path: oops")
    file.close()
    with pytest.raises(DataLossError, match="run/checkpoint"):
        prepared.manager.prepare_session("", prepared.init, prepared.saver, checkpoint_dir="run")


def test_variables_without_a_value_are_named() -> None:
    prepared = Prepared()
    with pytest.raises(
        FailedPreconditionError, match=r"did not make model ready.*Variables not initialized: global_st"
    ):
        prepared.manager.prepare_session("")
    with building(prepared.graph):
        bare = SessionManager()
    with pytest.raises(FailedPreconditionError, match="no init_op or init_fn or local_init_op was given"):
        bare.prepare_session("")


def test_local_initializers_wait_until_they_may_run() -> None:
    prepared = Counting()
    with building(prepared.graph):
        local = Variable(5, name="local", collections=["local_variables"], trainable=False)
        manager = SessionManager(
            local.initializer, ready_for_local_init_op=report_uninitialized_variables([prepared.step])
        )
    with pytest.raises(FailedPreconditionError, match=r"not make model ready for local_init.*global_step"):
        manager.prepare_session("")
    with building(prepared.graph), pytest.raises(InvalidArgumentError, match="must also pass a local_init_op"):
        SessionManager(ready_for_local_init_op=prepared.count)


def test_recovering_says_whether_a_checkpoint_was_found() -> None:
    prepared = Prepared()
    _, is_recovered = prepared.manager.recover_session("", prepared.saver, "run")
    assert not is_recovered
    prepared.saved(2)
    session, is_recovered = prepared.manager.recover_session("", prepared.saver, "run")
    assert is_recovered
    assert session.run(prepared.step) == 2


def test_variables_of_others_are_waited_for() -> None:
    prepared = Prepared()
    shared = ResourceManager()
    prepared.manager.new_session = lambda master, graph, config: Session(graph, resources=shared)

    def sleep(seconds: float) -> None:
        prepared.sleep(seconds)
        Session(prepared.graph, resources=shared).run(prepared.init)

    prepared.manager.sleep = sleep
    assert prepared.manager.wait_for_session("", max_wait_secs=100).run(prepared.step) == 0
    assert prepared.slept == [10]


def test_waiting_ends() -> None:
    prepared = Prepared()
    with pytest.raises(DeadlineExceededError, match=r"not ready after waiting 35 secs: .*global_step"):
        prepared.manager.wait_for_session("", max_wait_secs=35)
    assert prepared.slept == [10, 10, 10]
