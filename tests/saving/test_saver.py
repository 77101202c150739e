"""Savers without TensorFlow 1's spelling; and whenever a save is interrupted, the latest checkpoint is whole."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.opening import load_tensor, load_tensors
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import FileSystem, atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.runtime.session import Session
from tensorkeep.saving.retention import KeepLatest, KeepRecent, RetentionPolicy
from tensorkeep.saving.saver import GraphFile, SaveHandle, Saver, SaverOptions
from tensorkeep.testing.filesystems import CrashingFileSystem, FileSystemWrapper, SimulatedCrash
from tensorkeep.tf1.training.savers.saver_recipe import SaverRecipe
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.creation import create_variable
from tensorkeep.tf1.variables.listing import global_variables, variables_initializer

T = TypeVar("T")


class Program:
    """Two variables that count together, in a session with a file system of its own."""

    def __init__(self, fs: FileSystem, retention: RetentionPolicy | None = None, **arguments: Any) -> None:
        self.graph = Graph()
        with building(self.graph):
            self.variables = [create_variable(initial_value=np.zeros(3), name=name) for name in "ab"]
            self.count = [assign_add(item, np.ones(3)).op for item in self.variables]
            initialize = variables_initializer(global_variables())
            made = SaverRecipe(arguments=arguments, retention=retention, options=SaverOptions()).make(self.graph)
        assert made is not None
        self.saver: Saver = made
        self.session = Session(self.graph, filesystem=fs)
        self.session.run(initialize)

    def save(self, **options: Any) -> str | SaveHandle:
        step = int(self.session.run(self.variables[0].value())[0])
        return self.saver.save(self.session, "/run/model", step=step, **options)


def new_folder() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("/run")
    return fs


def test_a_saver_saves_and_restores():
    fs = new_folder()
    program = Program(fs)
    program.session.run(program.count)
    assert program.save() == "/run/model-1"
    other = Program(fs)
    outcome = other.saver.restore(other.session, "/run/model-1")
    assert outcome.is_complete
    assert other.session.run([item.value() for item in other.variables])[1].tolist() == [1.0, 1.0, 1.0]


def test_a_saver_of_an_imported_graph_needs_no_variables_of_python():
    fs = new_folder()
    program = Program(fs)
    program.save()
    again = Saver(program.graph, program.saver.saver_def)
    session = Session(program.graph, filesystem=fs)
    outcome = again.restore(session, "/run/model-0")
    assert [item.wanted.variable for item in outcome.restored] == ["a", "b"]


class ReplacingFileSystem(FileSystemWrapper):
    """Whoever opens an index has the checkpoint replaced under his hands, so many times."""

    def __init__(self, inner: FileSystem, times: int) -> None:
        super().__init__(inner)
        self.left = times
        self.replace: Callable[[], object] = lambda: None

    def _look(self, action: str, path: str, act: Callable[[], T]) -> T:
        found = act()
        if action == "open" and path.endswith(".index") and self.left:
            self.left -= 1
            self.replace()
        return found


@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_that_is_replaced_just_then_is_restored_as_it_is_now(sharded: bool) -> None:
    fs = new_folder()
    program = Program(fs, sharded=sharded)
    program.saver.save(program.session, "/run/model")
    watched = ReplacingFileSystem(fs, 3)

    def replace() -> None:
        program.session.run(program.count)
        program.saver.save(program.session, "/run/model")

    watched.replace = replace
    other = Program(watched)
    assert other.saver.restore(other.session, "/run/model").is_complete
    assert [value.tolist() for value in other.session.run([item.value() for item in other.variables])] == [
        [3.0] * 3
    ] * 2


def test_a_checkpoint_that_is_deleted_just_then_is_not_found() -> None:
    fs = new_folder()
    program = Program(fs)
    program.saver.save(program.session, "/run/model")
    watched = ReplacingFileSystem(fs, 1)
    watched.replace = lambda: [fs.delete(f"/run/{name}") for name in fs.list("/run")]
    other = Program(watched)
    with pytest.raises(NotFoundError):
        other.saver.restore(other.session, "/run/model")


def test_a_session_of_a_graph_with_the_same_names_is_compared_by_its_own_shapes() -> None:
    """A program that builds its graph anew and keeps the old saver: variables of resources would take any shape."""
    fs = new_folder()
    sessions, saver = [], None
    for size in (3, 2):
        graph = Graph()
        with building(graph):
            create_variable(initial_value=np.zeros(size), name="a", use_resource=True)
            initialize = variables_initializer(global_variables())
            made = SaverRecipe().make(graph)
        saver = saver or made
        sessions.append(Session(graph, filesystem=fs))
        sessions[-1].run(initialize)
    assert saver is not None
    saver.save(sessions[0], "/run/model")
    saver.restore(sessions[0], "/run/model")
    with pytest.raises(InvalidArgumentError, match=r"(?s)mismatch.*float64 \[2\] is wanted, float64 \[3\] is stored"):
        saver.restore(sessions[1], "/run/model")
    saver.save(sessions[1], "/run/model")
    assert saver.restore(sessions[1], "/run/model").is_complete


def test_the_graph_is_left_out_on_request():
    fs = new_folder()
    Program(fs).save(graph_file=GraphFile(is_written=False), state_file=None)
    assert sorted(fs.list("/run")) == ["model-0.data-00000-of-00001", "model-0.index"]


POLICIES: dict[str, Callable[[], RetentionPolicy]] = {
    "TensorFlow's": lambda: KeepRecent(2),
    "a rule": lambda: KeepLatest(2),
}


def four_saves(fs: FileSystem, policy: RetentionPolicy, wait: bool, sharded: bool) -> None:
    program = Program(fs, policy, sharded=sharded)
    for _ in range(4):
        program.session.run(program.count)
        saved = program.save(wait=wait)
        if isinstance(saved, SaveHandle):
            saved.result()


def ways_to_save() -> list[Any]:
    """Policy, waiting or not, sharded or not: half of all, such that any two come together; the others are deep."""
    return [
        pytest.param(policy, wait, sharded, marks=[pytest.mark.deep] if (at + wait + sharded) % 2 else [])
        for at, policy in enumerate(POLICIES)
        for wait in (True, False)
        for sharded in (False, True)
    ]


@pytest.mark.parametrize(("policy", "wait", "sharded"), ways_to_save())
def test_killed_before_any_change_the_latest_checkpoint_is_whole(policy: str, wait: bool, sharded: bool) -> None:
    whole = CrashingFileSystem(new_folder())
    four_saves(whole, POLICIES[policy](), wait, sharded)
    newest = 0.0
    for changes in range(whole.changes_made):
        fs = new_folder()
        with pytest.raises(SimulatedCrash):
            four_saves(CrashingFileSystem(fs, changes), POLICIES[policy](), wait, sharded)
        latest = latest_checkpoint("/run", fs=fs)
        if latest is None:
            assert newest == 0
            continue
        found = load_tensors(latest, fs=fs)
        assert found["a"].tolist() == found["b"].tolist()
        assert latest == f"/run/model-{int(found['a'][0])}"
        assert found["a"][0] >= newest
        newest = found["a"][0]
        if fs.exists("/run/checkpoint"):  # before the first, the one checkpoint that there is counts
            assert fs.exists(f"{latest}.meta")
    assert newest == 4


def test_the_next_sharded_save_to_a_prefix_deletes_what_a_killed_one_left():
    fs = new_folder()
    left = {f"/run/model-0_temp/part-0000{number}-of-00003.index": b"x" for number in range(3)}
    for path, data in left.items():
        fs.make_directory(posixpath.dirname(path))
        atomic_write(fs, path, data)
    Program(fs, sharded=True).save()
    assert not fs.exists("/run/model-0_temp")
    assert load_tensors("/run/model-0", fs=fs)["a"].tolist() == [0.0] * 3


def test_what_somebody_keeps_in_a_folder_of_that_name_stays():
    fs = new_folder()
    fs.make_directory("/run/model-0_temp")
    atomic_write(fs, "/run/model-0_temp/notes.txt", b"mine")
    Program(fs, sharded=True).save()
    assert list(fs.list("/run/model-0_temp")) == ["notes.txt"]


def test_what_is_restored_is_checked_before_the_first_variable_changes():
    fs = new_folder()
    program = Program(fs)
    program.save()
    with building(program.graph):
        create_variable(initial_value=np.zeros(3), name="c")
        wider = SaverRecipe(arguments={"name": "wider"}).make(program.graph)
    assert wider is not None
    program.session.run(program.count)
    with pytest.raises(NotFoundError, match="Key c not found in checkpoint"):
        wider.restore(program.session, "/run/model-0")
    assert program.session.run(program.variables[0].value())[0] == 1
    assert load_tensor("/run/model-0", "a", fs=fs)[0] == 0


def test_savers_with_rules_of_their_own_share_a_folder_and_delete_only_what_is_theirs():
    fs = new_folder()
    program = Program(fs, KeepLatest(1))
    with building(program.graph):
        second = SaverRecipe(retention=KeepLatest(2)).make(program.graph)
    assert second is not None
    for step in range(1, 5):
        program.saver.save(program.session, "/run/model", step=step)
        second.save(program.session, "/run/model", step=step * 100)
    elsewhere = Program(fs, KeepLatest(1))
    elsewhere.saver.save(elsewhere.session, "/run/best", step=1)
    indexes = [name for name in fs.list("/run") if name.endswith(".index")]
    assert indexes == ["best-1.index", "model-300.index", "model-4.index", "model-400.index"]
    state = read_checkpoint_state("/run", fs=fs)
    assert state is not None
    assert state.all_paths == ("/run/model-300", "/run/model-4", "/run/model-400", "/run/best-1")
    again = Program(fs, KeepLatest(1))
    again.saver.save(again.session, "/run/model", step=5)
    assert again.saver.last_checkpoints == ["/run/model-5"]
    assert not fs.exists("/run/model-4.index")
    assert fs.exists("/run/model-300.index")
