"""Writing that may be interrupted: what crash tests and full-disk tests run again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.finding.opening import load_tensors, open_checkpoint
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state, write_checkpoint_state
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, ShardBySize, Sharding, save_checkpoint
from tensorkeep.errors import NotFoundError
from tensorkeep.io.files.filesystem import Durability, FileSystem, is_temporary
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import Change, CrashingFileSystem

Found = dict[str, tuple[str, tuple[int, ...], bytes]] | tuple[str, ...] | None

ROOT = "run"
V1 = CheckpointFormat.V1

OLD = {"a": np.arange(5, dtype=np.float32), "b": np.full((2, 3), 7, np.int16), "only_old": np.array([b"x", b"yy"])}
NEW = {"a": np.arange(5, dtype=np.float32) * 10, "b": np.full((2, 3), -7, np.int16), "c": np.array(3.5)}


def sharding(files: int) -> Sharding:
    """One that puts the tensors of OLD or NEW, three each, in so many files."""
    return ShardBySize({1: 1000, 2: 25, 3: 1}[files])


@dataclass(frozen=True)
class Scenario:
    """Something that is interrupted: how the folder is prepared, what is done, and what it is that replaces the old.

    `commits` recognises the one change by which the new takes the place of the old.
    """

    name: str
    prepare: Callable[[FileSystem, str], None]
    act: Callable[[FileSystem, str, Durability], None]
    find: Callable[[FileSystem, str], Found]
    commits: Callable[[Change], bool]
    again: Callable[[FileSystem, str], None]
    """What follows when the process is started anew: what was to be done is done, undisturbed."""

    def __str__(self) -> str:
        return self.name


def replaces(name: str) -> Callable[[Change], bool]:
    return lambda change: change.action == "rename" and change.target.endswith(f"/{name}")


def nothing(fs: FileSystem, root: str) -> None:
    fs.make_directory(root)


def found(tensors: Mapping[str, Array]) -> Found:
    """The contents, so that they can be compared to the last bit."""
    return {
        name: (str(array.dtype), array.shape, b"\0".join(array.flat) if array.dtype == object else array.tobytes())
        for name, array in tensors.items()
    }


def find_checkpoint(fs: FileSystem, root: str) -> Found:
    """The checkpoint, or None if there is none. One that is there but lacks something is an error."""
    try:
        reader = open_checkpoint(f"{root}/model", fs=fs)
    except NotFoundError:
        return None
    with reader:
        return found(reader.read_many())


def saving(name: str, *, before: SaveOptions | None, after: SaveOptions, commits: str = "model.index") -> Scenario:
    """Saving NEW where there is nothing, or OLD, saved in another way."""

    def prepare(fs: FileSystem, root: str) -> None:
        nothing(fs, root)
        if before is not None:
            save_checkpoint(f"{root}/model", OLD, before, fs=fs)

    def act(fs: FileSystem, root: str, durability: Durability) -> None:
        options = SaveOptions(after.format, after.sharding, durability=durability)
        save_checkpoint(f"{root}/model", NEW, options, fs=fs)

    def again(fs: FileSystem, root: str) -> None:
        act(fs, root, Durability.DISK)

    return Scenario(name, prepare, act, find_checkpoint, replaces(commits), again)


def v1_over_v2() -> Scenario:
    """Where both exist the V2 checkpoint is read: the V1 checkpoint begins when that one ends."""
    scenario = saving("V1 over V2", before=SaveOptions(sharding=sharding(2)), after=SaveOptions(V1))

    def commits(change: Change) -> bool:
        return change == Change("delete", f"{ROOT}/model.index")

    return replace(scenario, commits=commits)


PARTS = [{"a": NEW["a"], "b": NEW["b"]}, {"c": NEW["c"]}]


def merging(name: str, *, files_before: int | None) -> Scenario:
    """Merging the two parts of a sharded save into a checkpoint."""

    def prepare(fs: FileSystem, root: str) -> None:
        nothing(fs, root)
        if files_before is not None:
            save_checkpoint(f"{root}/model", OLD, SaveOptions(sharding=sharding(files_before)), fs=fs)
        for number, part in enumerate(PARTS):
            save_checkpoint(f"{root}/model_temp/part-{number}", part, fs=fs)

    def act(fs: FileSystem, root: str, durability: Durability) -> None:
        inputs = [f"{root}/model_temp/part-{number}" for number in range(len(PARTS))]
        merge_bundles(inputs, f"{root}/model", durability=durability, fs=fs)

    def find(fs: FileSystem, root: str) -> Found:
        for number, part in enumerate(PARTS):
            prefix = f"{root}/model_temp/part-{number}"
            if find_checkpoint(fs, root) != found(NEW):  # the parts are needed until then
                assert found(load_tensors(prefix, fs=fs)) == found(part)
        return find_checkpoint(fs, root)

    def again(fs: FileSystem, root: str) -> None:
        if all(fs.exists(index_path(f"{root}/model_temp/part-{number}")) for number in range(len(PARTS))):
            act(fs, root, Durability.DISK)
        else:
            save_checkpoint(f"{root}/model", NEW, SaveOptions(sharding=sharding(2)), fs=fs)

    return Scenario(name, prepare, act, find, replaces("model.index"), again)


def merging_into_an_input() -> Scenario:
    """One of the inputs goes by the name of the result. It has two files, and one of them no tensors: so has that."""

    def prepare(fs: FileSystem, root: str) -> None:
        nothing(fs, root)
        with BundleWriter(f"{root}/model", fs=fs) as writer:
            writer.reserve(0, shard=1)
            writer.add("a", NEW["a"])
            writer.add("b", NEW["b"])
        save_checkpoint(f"{root}/model_temp/part", {"c": NEW["c"]}, fs=fs)

    def act(fs: FileSystem, root: str, durability: Durability) -> None:
        merge_bundles([f"{root}/model", f"{root}/model_temp/part"], f"{root}/model", durability=durability, fs=fs)

    def again(fs: FileSystem, root: str) -> None:
        save_checkpoint(f"{root}/model", NEW, SaveOptions(sharding=sharding(2)), fs=fs)

    return Scenario("merge into one of the inputs", prepare, act, find_checkpoint, replaces("model.index"), again)


def recording(name: str, *, before: bool) -> Scenario:
    """Writing the state file. What is found is which checkpoint is the latest, and which there are."""

    def prepare(fs: FileSystem, root: str) -> None:
        nothing(fs, root)
        if before:
            write_checkpoint_state(root, f"{root}/model-1", fs=fs)

    def act(fs: FileSystem, root: str, durability: Durability) -> None:
        paths = [f"{root}/model-1", f"{root}/model-2"]
        write_checkpoint_state(root, paths[-1], paths, durability=durability, fs=fs)

    def find(fs: FileSystem, root: str) -> Found:
        state = read_checkpoint_state(root, fs=fs)
        return None if state is None else (state.latest, *state.all_paths)

    def again(fs: FileSystem, root: str) -> None:
        save_checkpoint(f"{root}/model-2", NEW, fs=fs)  # tidies the folder
        act(fs, root, Durability.DISK)

    return Scenario(name, prepare, act, find, replaces("checkpoint"), again)


SCENARIOS = [
    saving("fresh", before=None, after=SaveOptions()),
    saving("fresh, 3 files", before=None, after=SaveOptions(sharding=sharding(3))),
    saving("1 file over 1", before=SaveOptions(), after=SaveOptions()),
    saving("2 files over 2", before=SaveOptions(sharding=sharding(2)), after=SaveOptions(sharding=sharding(2))),
    saving("2 files over 1", before=SaveOptions(), after=SaveOptions(sharding=sharding(2))),
    saving("1 file over 3", before=SaveOptions(sharding=sharding(3)), after=SaveOptions()),
    saving("V1, fresh", before=None, after=SaveOptions(V1), commits="model"),
    saving("V1 over V1", before=SaveOptions(V1), after=SaveOptions(V1), commits="model"),
    saving("V2 over V1", before=SaveOptions(V1), after=SaveOptions()),
    v1_over_v2(),
    merging("merge, fresh", files_before=None),
    merging("merge over as many files", files_before=2),
    merging("merge over more files", files_before=3),
    merging_into_an_input(),
    recording("state, fresh", before=False),
    recording("state over state", before=True),
]


SEVERAL = SaveOptions(V1, sharding(3))
"""V1 checkpoints in several files are no scenario: nothing ties them together, so they never replace others."""


def prepared(scenario: Scenario) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    scenario.prepare(fs, ROOT)
    return fs


@dataclass(frozen=True)
class Course:
    """How a scenario goes if nothing disturbs it."""

    log: list[Change]
    commit: int  # the change by which the new replaces the old
    durable: int  # the change after which no power cut undoes that
    before: Found
    after: Found
    names: list[str]


def undisturbed(scenario: Scenario) -> Course:
    fs = prepared(scenario)
    before = scenario.find(fs, ROOT)
    watched = CrashingFileSystem(fs)
    scenario.act(watched, ROOT, Durability.DISK)
    log = watched.log
    commit = next(at for at, change in enumerate(log) if scenario.commits(change))
    durable = next((at for at, change in enumerate(log) if at > commit and change.action == "sync_directory"), len(log))
    after = scenario.find(fs, ROOT)
    assert before != after
    return Course(log, commit, durable, before, after, sorted(fs.contents()))


def temporaries(fs: FileSystem, root: str) -> list[str]:
    return [name for name in fs.list(root) if is_temporary(name)]
