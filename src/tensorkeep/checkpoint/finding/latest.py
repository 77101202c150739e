"""Which checkpoint of a folder is the latest, and which the latest that is whole.

The state file says which is meant to be the latest, and lists older ones. It may lag behind or run ahead of what is
there: a run was killed, files were lost or damaged, the folder was moved.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from tensorkeep.checkpoint.finding.file_names import index_path, parse_shard_pattern
from tensorkeep.checkpoint.finding.files import checkpoint_exists, checkpoints_in, open_prefix
from tensorkeep.checkpoint.finding.state_file import (
    STATE_FILE,
    CheckpointState,
    read_checkpoint_state,
    read_known_state,
)
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.slices.tensor_slice import whole_box
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.files.paths import leads_elsewhere, tidied_path

LOG: Final = logging.getLogger("tensorkeep")

Verification = Literal["quick", "full"]

_MOST_TRIED: Final = 16  # checkpoints to look for, and folders that one may lie below its state file


def latest_checkpoint(
    directory: PathLike, filename: str = STATE_FILE, *, verify: Verification | None = None, fs: FileSystem = FILES
) -> str | None:
    """The latest checkpoint of a folder: the one its state file names or, if it has none, the newest complete one.

    None if there is neither. If the folder was moved, so that the state file names a place that is no more, the
    checkpoint of that name in the folder is meant.

    With `verify` it is the latest that is whole: what is missing or damaged is passed over, with a warning in the log
    that says why, in favour of the older ones that the state file lists, the newest first, and then of whatever else
    lies in the folder. "quick" reads the index and asks for every file whether it is there and long enough; "full"
    reads everything and compares every checksum.
    """
    folder = path_text(directory)
    if verify is not None:
        return _latest_whole(folder, filename, _check_of(verify), fs)
    state = read_checkpoint_state(folder, filename, fs=fs)
    if state is None:
        complete = (prefix for prefix in checkpoints_in(folder, fs) if _problem(prefix, _check_quickly, fs) is None)
        return next(complete, None)
    found = _located_state(state, folder, fs).latest
    return found if _is_there(found, folder, fs) else None


def recorded_state(
    directory: PathLike, filename: str | None = None, *, fs: FileSystem = FILES
) -> CheckpointState | None:
    """What the state file of a folder says, for programs that take a damaged one for none.

    None, with warnings in the log, if it cannot be read or understood; None without if there is none. One that names
    no latest checkpoint is an InvalidArgumentError. Paths that lead nowhere because the folder was moved are replaced
    by those of the same checkpoints in the folder.
    """
    folder = path_text(directory)
    state = read_known_state(folder, filename or STATE_FILE, fs=fs)
    return None if state is None else _located_state(state, folder, fs)


def located_state(directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = FILES) -> CheckpointState | None:
    """As `read_checkpoint_state`; and paths that lead nowhere because the folder was moved lead into the folder."""
    folder = path_text(directory)
    state = read_checkpoint_state(folder, filename, fs=fs)
    return None if state is None else _located_state(state, folder, fs)


def recorded_checkpoint(directory: PathLike, filename: str | None = None, *, fs: FileSystem = FILES) -> str | None:
    """The latest checkpoint by the state file alone; None if it names none, or none that exists."""
    state = recorded_state(directory, filename, fs=fs)
    if state is None:
        return None
    if _is_there(state.latest, path_text(directory), fs):
        return state.latest
    LOG.error("Couldn't match files for checkpoint %s", state.latest)
    return None


def checkpoint_named(path: PathLike, *, fs: FileSystem = FILES) -> str:
    """The checkpoint that a path stands for: the recorded one of a folder, else the path itself."""
    text = path_text(path)
    if not fs.is_directory(text):
        return text
    found = recorded_checkpoint(text, fs=fs)
    if found is not None:
        return found
    complete = latest_checkpoint(text, verify="quick", fs=fs)
    hint = "" if complete is None else f' (it holds "{complete}", which no state file names: give that path)'
    raise InvalidArgumentError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {text}{hint}")


# The latest that is whole

Check = Callable[[CheckpointReader], None]


def _latest_whole(folder: str, filename: str, check: Check, fs: FileSystem) -> str | None:
    listed = _listed_checkpoints(folder, filename, fs)
    seen: set[str] = set()
    for prefix in (*listed, *checkpoints_in(folder, fs)):
        place = fs.canonical(prefix)
        if place in seen:
            continue
        seen.add(place)
        problem = _problem(prefix, check, fs)
        if problem is None:
            return prefix
        # A file in the folder that nothing marks as a checkpoint may be anything.
        is_marked = prefix in listed or fs.exists(index_path(prefix)) or parse_shard_pattern(prefix) is not None
        LOG.log(logging.WARNING if is_marked else logging.DEBUG, 'Passed over checkpoint "%s": %s', prefix, problem)
    return None


def _listed_checkpoints(folder: str, filename: str, fs: FileSystem) -> list[str]:
    """The checkpoints that the state file lists and that exist, newest first."""
    try:
        state = read_checkpoint_state(folder, filename, fs=fs)
    except DataLossError as error:
        LOG.warning("Passed over a state file: %s", error)
        return []
    if state is None:
        return []
    state = _located_state(state, folder, fs)
    paths = dict.fromkeys((state.latest, *reversed(state.all_paths)))
    missing = [path for path in paths if not _is_there(path, folder, fs)]
    if missing:
        names = ", ".join(f'"{path}"' for path in missing[:5]) + (
            f" and {len(missing) - 5} more" if missing[5:] else ""
        )
        LOG.warning('Passed over what the state file of "%s" lists, but does not exist: %s', folder, names)
    gone = set(missing)
    return [path for path in paths if path not in gone]


def problem_of(prefix: PathLike, verify: str = "quick", *, fs: FileSystem = FILES) -> str | None:
    """Why a checkpoint is not whole, as far as a "quick" or a "full" check tells; None if it is."""
    return _problem(path_text(prefix), _check_of(verify), fs)


def _check_of(verify: str) -> Check:
    checks = {"quick": _check_quickly, "full": _check_fully}
    if verify not in checks:
        raise InvalidArgumentError(f'verify: expected "quick", "full" or None, got {verify!r}')
    return checks[verify]


def _problem(prefix: str, check: Check, fs: FileSystem) -> str | None:
    """Why a checkpoint is not whole; None if it is."""
    if not checkpoint_exists(prefix, fs=fs):
        return "there is no such checkpoint"
    try:
        with open_prefix(prefix, ReadOptions(checksums=Checksums.ALWAYS), fs) as reader:
            check(reader)
    except TensorKeepError as error:
        return str(error)
    except MemoryError:
        return "it does not fit in memory"
    return None


def _check_quickly(reader: CheckpointReader) -> None:
    """Raises unless the index is sound and every file is there, and as long as it has to be."""
    if reader.damage:
        raise reader.damage[0]
    reader.check_extents()
    for name, info in reader.items():
        if info.slices:
            try:
                copies_for(whole_box(info.shape), [part.box(info.shape) for part in info.slices])
            except DataLossError as error:
                raise DataLossError(f'tensor "{name}": {error}') from None


def _check_fully(reader: CheckpointReader) -> None:
    _check_quickly(reader)
    reader.verify_many(reader)


# Folders that were moved


def _is_there(path: str, folder: str, fs: FileSystem) -> bool:
    """Whether a checkpoint exists that the state file of a folder names. Another store is not asked, which is told."""
    if leads_elsewhere(path, folder):
        LOG.warning(
            'The state file of "%s" names "%s", in another store, which is not asked for it; open that by its path',
            folder,
            path,
        )
        return False
    return checkpoint_exists(path, fs=fs)


def _located_state(state: CheckpointState, folder: str, fs: FileSystem) -> CheckpointState:
    """A state whose paths lead to where its checkpoints are, be it that the folder was moved."""
    for path in (state.latest, *state.all_paths[: -_MOST_TRIED - 1 : -1]):
        if not leads_elsewhere(path, folder) and checkpoint_exists(path, fs=fs):
            return state
        root = _old_root(path, folder, fs)
        if root is not None:
            moved = _moved_path(path, root, folder)
            LOG.warning('The state file of "%s" names "%s", which does not exist; taking "%s"', folder, path, moved)
            paths = tuple(_moved_path(item, root, folder) for item in state.all_paths)
            return replace(state, latest=_moved_path(state.latest, root, folder), all_paths=paths)
    return state


def _old_root(path: str, folder: str, fs: FileSystem) -> str | None:
    """Where a folder was before it was moved, if the checkpoint that lay at `path` is in it now; else None.

    If there are several, the one nearest to the root of the file system.
    """
    parts = tidied_path(path).split("/")
    if ".." in parts:
        return None
    for start in range(max(1, len(parts) - _MOST_TRIED), len(parts)):
        if checkpoint_exists(posixpath.join(folder, *parts[start:]), fs=fs):
            return "/".join(parts[:start])
    return None


def _moved_path(path: str, root: str, folder: str) -> str:
    """The path, with the new folder in the place of the old root if it lies below that."""
    normal = tidied_path(path)
    return posixpath.join(folder, normal[len(root) :].lstrip("/")) if normal.startswith(f"{root}/") else path
