"""How kernels reach checkpoints: as the run was told that they are part of, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep import MemoryFileSystem, open_checkpoint, save_checkpoint
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.graph import building as build
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.ops.files.checkpoints import restore_v2, save_v2
from tensorkeep.ops.random.stateful import random_uniform
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant

Job = Callable[[], None]


@pytest.fixture
def files() -> MemoryFileSystem:
    return MemoryFileSystem()


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def prefix(graph: Graph) -> Tensor:
    with build.building(graph):
        return placeholder(dtype="string", shape=())


@pytest.fixture
def save(graph: Graph, prefix: Tensor) -> Operation:
    with build.building(graph):
        return save_v2(prefix, constant(["x"]), constant([""]), [constant([1.0, 2.0])])


@pytest.fixture
def restored(graph: Graph, prefix: Tensor) -> Tensor:
    with build.building(graph):
        return restore_v2(prefix, constant(["x"]), constant([""]), dtypes=["float32"])[0]


def test_left_to_itself_a_kernel_writes_at_once(graph, prefix, save, files) -> None:
    with Session(graph, filesystem=files) as session:
        session.run(save, {prefix: "run/model"})
    assert files.exists("run/model.index")


def test_a_run_may_keep_what_is_to_be_written(graph, prefix, save, files) -> None:
    jobs: list[Job] = []
    with Session(graph, filesystem=files) as session:
        session.run(save, {prefix: "run/model"}, checkpoints=CheckpointAccess(submit=jobs.append))
    assert not files.exists("run/model.index")
    jobs.pop()()
    assert files.exists("run/model.index")


def test_the_next_run_knows_nothing_of_it(graph, prefix, save, files) -> None:
    jobs: list[Job] = []
    with Session(graph, filesystem=files) as session:
        session.run(save, {prefix: "run/kept"}, checkpoints=CheckpointAccess(submit=jobs.append))
        session.run(save, {prefix: "run/written"})
    assert files.exists("run/written.index")


def test_runs_that_go_on_at_the_same_time_do_not_see_what_the_other_was_told(graph, prefix, save, files) -> None:
    inner: list[Job] = []
    outer: list[Job] = []
    with Session(graph, filesystem=files) as session:

        def save_meanwhile(job: Job) -> None:
            session.run(save, {prefix: "run/inner"}, checkpoints=CheckpointAccess(submit=inner.append))
            outer.append(job)

        session.run(save, {prefix: "run/outer"}, checkpoints=CheckpointAccess(submit=save_meanwhile))
    assert (len(inner), len(outer)) == (1, 1)
    outer[0]()
    assert files.exists("run/outer.index")
    assert not files.exists("run/inner.index")


def test_a_kernel_reads_from_the_checkpoint_that_the_run_has_open(graph, prefix, restored, files) -> None:
    save_checkpoint("run/model", {"x": np.array([3.0], np.float32)}, fs=files)
    elsewhere = MemoryFileSystem()  # where the kernel would find nothing
    with open_checkpoint("run/model", fs=files) as reader, Session(graph, filesystem=elsewhere) as session:
        opened = SurveyedCheckpoint(reader)
        access = CheckpointAccess(open=lambda path: opened if path == "run/model" else None)
        np.testing.assert_array_equal(session.run(restored, {prefix: "run/model"}, checkpoints=access), [3.0])


def test_what_the_run_does_not_have_open_a_kernel_opens_by_itself(graph, prefix, restored, files) -> None:
    save_checkpoint("run/model", {"x": np.array([3.0], np.float32)}, fs=files)
    with Session(graph, filesystem=files) as session:
        access = CheckpointAccess(open=lambda path: None)
        np.testing.assert_array_equal(session.run(restored, {prefix: "run/model"}, checkpoints=access), [3.0])


def test_operations_keep_their_state_whatever_a_run_is_told(graph: Graph) -> None:
    with build.building(graph):
        drawn = random_uniform(constant([4]), dtype="float32", seed=1, seed2=2)
    with Session(graph) as session:
        expected = [session.run(drawn).tolist() for _ in range(2)]
    with Session(graph) as session:
        told = session.run(drawn, checkpoints=CheckpointAccess()).tolist()
        assert [told, session.run(drawn).tolist()] == expected
