"""What can be saved of what is damaged: of a checkpoint, of a folder of them; and what can be thrown away."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tensorkeep.checkpoint.bundle.objects import LEFT_BEHIND
from tensorkeep.checkpoint.checking import TensorProblem, check_checkpoint
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY, index_path, parse_data_path
from tensorkeep.checkpoint.finding.files import checkpoint_modified, checkpoints_in
from tensorkeep.checkpoint.finding.latest import located_state, problem_of
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.finding.state_file import STATE_FILE, CheckpointState, write_checkpoint_state
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.edit.object_keys import updated_object_graph
from tensorkeep.edit.plan import EditOptions, Origin, Stored, Written, write_plan
from tensorkeep.embedding.stored.leftovers import (
    files_of_save,
    is_parts_folder,
    remove_files_of_save,
    unclaimed_records,
)
from tensorkeep.errors import DataLossError, NotFoundError, TensorKeepError
from tensorkeep.io.files.directories import file_size, files_below, remove_tree
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, is_temporary, path_text

_DEFAULT: Final = EditOptions()
_HOUR: Final = 3600.0
_UNCLAIMED: Final = "records of an SSD tier of which no checkpoint speaks"
_TEMPORARY_INDEX: Final = re.compile(r".+\.tempstate[0-9]+")  # which TensorFlow renames when it is complete


@dataclass(frozen=True)
class Salvaged:
    """What was saved of a damaged checkpoint."""

    written: Written
    lost: tuple[TensorProblem, ...]
    """All that is wrong. A problem with no tensor's name may have hidden any number of them."""


def salvage(source: PathLike, target: PathLike, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES) -> Salvaged:
    """A sound checkpoint of all that is good in a damaged one.

    A tensor is good if every byte of it is there and its checksum is right. A tensor in slices is lost as a whole if
    one of them is. Of objects, those whose tensors are lost stay without them.
    """
    report = check_checkpoint(source, fs=fs)
    if not report.intact:
        reasons = "; ".join(str(problem) for problem in report.problems[:5])
        raise DataLossError(f'nothing of "{report.path}" can be saved: {reasons}')
    with open_checkpoint(report.path, ReadOptions(checksums=Checksums.ALWAYS), fs=fs) as reader:
        good = [name for name in report.intact if name != OBJECT_GRAPH_KEY]
        plan: dict[str, Origin] = {name: Stored(reader, name, links=False) for name in good}
        if OBJECT_GRAPH_KEY in report.intact:
            graph = updated_object_graph(reader, dict(zip(good, good, strict=True)))
            assert graph is not None
            plan[OBJECT_GRAPH_KEY] = graph
        written = write_plan(target, plan, replace(options, compact=True), fs=fs)
    return Salvaged(written, report.problems)


@dataclass(frozen=True)
class RepairedState:
    """What became of the state file of a folder."""

    latest: str
    paths: tuple[str, ...]
    """The checkpoints that it lists now, oldest first."""
    dropped: tuple[tuple[str, str], ...]
    """What it listed, or what looked like a checkpoint, and is none; each with the reason."""
    added: tuple[str, ...]
    """Checkpoints that it did not list."""
    problem: str | None
    """Why the old one could not be understood, if so."""


def repair_state(
    directory: PathLike,
    filename: str = STATE_FILE,
    *,
    verify: str = "quick",
    dry_run: bool = False,
    fs: FileSystem = FILES,
) -> RepairedState:
    """Writes the state file of a folder anew, from the checkpoints that are there: whole ones, by relative paths.

    The latest stays the latest if it is whole; else it is the newest that is.
    """
    folder = path_text(directory)
    state, problem = _known_state(folder, filename, fs)
    listed = {} if state is None else dict(zip(state.all_paths, _times(state, fs), strict=True))
    if state is not None:
        listed.setdefault(state.latest, _modified_time(state.latest, fs))
    inside = {fs.canonical(path) for path in listed}
    found = {path: _modified_time(path, fs) for path in checkpoints_in(folder, fs) if fs.canonical(path) not in inside}
    reasons = {path: problem_of(path, verify, fs=fs) for path in (*listed, *found)}
    times = {path: when for path, when in (*found.items(), *listed.items()) if reasons[path] is None}
    if not times:
        raise NotFoundError(f'there is no whole checkpoint in "{folder}" that a state file could name')
    order = sorted(times, key=lambda path: times[path])
    latest = state.latest if state is not None and state.latest in times else order[-1]
    order = [path for path in order if path != latest] + [latest]
    wrong = [(path, reason) for path, reason in reasons.items() if reason is not None]
    dropped = tuple((path, reason) for path, reason in wrong if _is_named(path, listed, fs))
    if not dry_run:
        write_checkpoint_state(
            folder,
            latest,
            order,
            relative=True,
            timestamps=[times[path] for path in order],
            last_preserved=state.last_preserved if state is not None else None,
            filename=filename,
            fs=fs,
        )
    added = tuple(path for path in order if path not in listed)
    return RepairedState(latest, tuple(order), dropped, added, problem)


def _known_state(folder: str, filename: str, fs: FileSystem) -> tuple[CheckpointState | None, str | None]:
    try:
        return located_state(folder, filename, fs=fs), None
    except TensorKeepError as error:
        return None, str(error)


def _times(state: CheckpointState, fs: FileSystem) -> Sequence[float]:
    return state.timestamps or [_modified_time(path, fs) for path in state.all_paths]


def _modified_time(path: str, fs: FileSystem) -> float:
    return checkpoint_modified(path, fs=fs) or 0.0


def _is_named(path: str, listed: dict[str, float], fs: FileSystem) -> bool:
    """Whether the state file lists a checkpoint, or it has an index: more than that there is a file of its name."""
    return path in listed or fs.exists(index_path(path))


@dataclass(frozen=True)
class Garbage:
    """A file, or a folder, that no checkpoint needs."""

    path: str
    reason: str
    nbytes: int


def find_garbage(
    directory: PathLike,
    *,
    older_than: float | None = None,
    clock: Callable[[], float] = time.time,
    fs: FileSystem = FILES,
) -> list[Garbage]:
    """What saves that died have left in a folder: temporary files, data files of which no index speaks, records of an
    SSD tier of which no checkpoint speaks, and folders in which sharded saves were collected.

    Nothing counts that was changed within the last `older_than` seconds: it may belong to a save under way. That is an
    hour unless it is said, and a day in a store, where nothing else tells whether a writer lives.
    """
    folder = path_text(directory)
    if not fs.is_directory(folder):
        raise NotFoundError(f'there is no folder "{folder}"')
    usual = _HOUR if fs.puts(folder) is None else LEFT_BEHIND
    latest = clock() - (usual if older_than is None else older_than)
    return [item for item in _candidates(folder, fs) if _last_change(item.path, fs) <= latest]


def _last_change(path: str, fs: FileSystem) -> float:
    if not fs.is_directory(path):
        return fs.modified(path)
    return max((fs.modified(posixpath.join(path, name)) for name in files_below(fs, path)), default=0.0)


def _candidates(folder: str, fs: FileSystem) -> Iterator[Garbage]:
    unclaimed = {name for names in unclaimed_records(fs, folder).values() for name in names}
    for name in fs.list(folder):
        path = posixpath.join(folder, name)
        if fs.is_directory(path):
            if is_temporary(name) and fs.puts(path) is not None:
                sizes = [file_size(fs, posixpath.join(path, item)) for item in files_below(fs, path)]
                yield Garbage(path, "a folder that was never completed", sum(sizes))
                continue
            is_parts = is_parts_folder(path)
            if (is_parts or name in unclaimed) and (inside := files_of_save(fs, path)):
                reason = "a folder in which a sharded save was collected" if is_parts else _UNCLAIMED
                yield Garbage(path, reason, sum(file_size(fs, item) for item in inside))
        elif is_temporary(name):
            yield Garbage(path, "a temporary file", file_size(fs, path))
        elif _TEMPORARY_INDEX.fullmatch(name):
            yield Garbage(path, "an index that was never completed", file_size(fs, path))
        elif name in unclaimed:
            yield Garbage(path, _UNCLAIMED, file_size(fs, path))
        elif (parsed := parse_data_path(path)) is not None and not _is_spoken_of(parsed, fs):
            yield Garbage(path, "a data file of which no index speaks", file_size(fs, path))


def _is_spoken_of(parsed: tuple[str, int, int], fs: FileSystem) -> bool:
    """Whether the checkpoint that a data file belongs to has that many; if its index cannot be read, it may have."""
    prefix, _, count = parsed
    if not fs.exists(index_path(prefix)):
        return False
    try:
        with open_checkpoint(prefix, fs=fs) as reader:
            return getattr(reader, "shard_count", count) == count
    except TensorKeepError:
        return True


def remove_garbage(
    garbage: Sequence[Garbage], *, durability: Durability = Durability.DISK, fs: FileSystem = FILES
) -> list[Garbage]:
    """Deletes what `find_garbage` found, and returns what it deleted. What a living writer still holds stays."""
    removed: list[Garbage] = []
    for item in garbage:
        in_store = fs.puts(item.path) is not None  # where age alone tells, which was looked at
        is_started = is_temporary(posixpath.basename(item.path))
        if in_store and is_started and fs.is_directory(item.path):
            remove_tree(fs, item.path)
        elif fs.is_directory(item.path):
            if not remove_files_of_save(fs, item.path):
                continue
        elif is_started and not in_store:
            if not fs.delete_abandoned(item.path):
                continue
        else:
            fs.delete(item.path)
        removed.append(item)
    if removed and durability is Durability.DISK:
        for folder in {posixpath.dirname(item.path) for item in removed}:
            fs.sync_directory(folder)
    return removed
