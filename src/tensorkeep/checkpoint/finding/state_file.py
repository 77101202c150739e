"""The state file, `checkpoint`: which checkpoints a folder holds, and which is the latest.

A CheckpointState in text format. Paths that are relative are relative to the folder of the file, so that a folder
can be moved as a whole.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.errors import AbortedError, DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.io.files.paths import is_absolute, is_in_store, join_to_folder, tidied_path
from tensorkeep.proto import messages
from tensorkeep.proto.text import format_text, parse_text

LOG: Final = logging.getLogger("tensorkeep")

STATE_FILE: Final = "checkpoint"
_ATTEMPTS: Final = 20  # to put a state file in place that others write too
_LARGEST: Final = 64 << 20  # no honest state file comes near; a wrong file must not be swallowed whole


@dataclass(frozen=True)
class CheckpointState:
    """What a state file says. Paths are oldest first."""

    latest: str
    all_paths: tuple[str, ...] = ()
    timestamps: tuple[float, ...] = ()
    """When each of `all_paths` was saved, in seconds since 1970; empty if that was not recorded."""
    last_preserved: float = 0.0
    """When the last checkpoint that is kept for good was saved; 0 if that was not recorded."""


class StatePathError(InvalidArgumentError, RuntimeError):
    """A state file would overwrite the checkpoint that it names. TensorFlow raises a RuntimeError for it."""


def read_checkpoint_state(
    directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = FILES
) -> CheckpointState | None:
    """The state of a folder, its relative paths joined to the folder. None if there is no state file.

    A state file that is there but cannot be understood is a DataLossError: to take it for absent would start a
    training run from nothing.
    """
    folder = path_text(directory)
    path = posixpath.join(folder, _checked_filename(filename))
    message = _read_message(path, fs)
    if message is None:
        return None
    if not message.model_checkpoint_path:
        raise DataLossError(f'"{path}" names no latest checkpoint (model_checkpoint_path is absent or empty)')
    return _state_of(message, folder)


def read_known_state(
    directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = FILES
) -> CheckpointState | None:
    """As `read_checkpoint_state`, but None, with warnings in the log, for a state file that cannot be understood.

    One that can be, and names no latest checkpoint, is an InvalidArgumentError. This is how TensorFlow does it.
    """
    folder = path_text(directory)
    path = posixpath.join(folder, filename)
    try:
        message = _read_message(path, fs)
    except TensorKeepError as error:
        LOG.warning("%s: %s", type(error).__name__, error)
        LOG.warning("%s: Checkpoint ignored", path)
        return None
    if message is None:
        return None
    if not message.model_checkpoint_path:
        raise InvalidArgumentError(f"Invalid checkpoint state loaded from {folder}")
    return _state_of(message, folder)


def state_message(state: CheckpointState) -> messages.CheckpointState:
    """A state as the message that state files hold."""
    return messages.CheckpointState(
        model_checkpoint_path=state.latest,
        all_model_checkpoint_paths=state.all_paths,
        all_model_checkpoint_timestamps=state.timestamps,
        last_preserved_timestamp=state.last_preserved,
    )


def state_to_write(
    directory: PathLike,
    latest: PathLike,
    all_paths: Sequence[PathLike] = (),
    *,
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    relative: bool = False,
) -> CheckpointState:
    """The state that goes into the state file of a folder: with the latest last, and with paths as they are stored.

    `latest` is added to the paths if it is not the last of them. In a folder given by a relative path, relative paths
    are rewritten to be relative to it; `relative` does so with absolute ones.
    """
    folder = path_text(directory)
    newest, *paths = (_given_path(path_text(item), folder, relative) for item in (latest, *all_paths))
    if not paths or paths[-1] != newest:
        paths.append(newest)
    if timestamps and len(timestamps) != len(paths):
        raise InvalidArgumentError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {list(timestamps)})"
        )
    unfit = [item for item in (newest, *paths) if not _is_text(item)]
    if unfit:
        raise InvalidArgumentError(f"{unfit[0]!r} is not UTF-8, and a state file can name no such path")
    return CheckpointState(
        _stored_path(newest, folder),
        tuple(_stored_path(item, folder) for item in paths),
        tuple(timestamps),
        last_preserved or 0.0,
    )


def write_checkpoint_state(
    directory: PathLike,
    latest: PathLike,
    all_paths: Sequence[PathLike] = (),
    *,
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    relative: bool = False,
    filename: str = STATE_FILE,
    durability: Durability = Durability.DISK,
    fs: FileSystem = FILES,
) -> None:
    """Writes the state of a folder in one step, with the very bytes TensorFlow writes for the same arguments.

    `latest` is added to the paths if it is not the last of them. In a folder given by a relative path, relative paths
    are rewritten to be relative to it; `relative` does so with absolute ones.
    """
    folder = path_text(directory)
    path = posixpath.join(folder, _checked_filename(filename))
    state = state_to_write(
        folder, latest, all_paths, timestamps=timestamps, last_preserved=last_preserved, relative=relative
    )
    # No file of a checkpoint in format V2 has the name of the checkpoint itself.
    is_overwritten = fs.canonical(join_to_folder(folder, state.latest)) == fs.canonical(path)
    if is_overwritten and not fs.exists(index_path(path)):
        raise StatePathError(
            f"Save path '{path_text(latest)}' conflicts with path used for checkpoint state.  Please use a different "
            "save path: the checkpoint would be overwritten by the state file of that name"
        )
    _write_message(fs, path, format_text(state_message(state)).encode(), durability)


def _write_message(fs: FileSystem, path: str, data: bytes, durability: Durability) -> None:
    """Puts the state file in place; in a store, in the place of the one that was there a moment before.

    Whoever finds that another came in between says so: one folder has one writer, and these are two.
    """
    puts = fs.puts(path)
    if puts is None:
        atomic_write(fs, path, data, durability)
        return
    for _ in range(_ATTEMPTS):
        if puts.put_if(path, data, puts.version(path)) is not None:
            return
        if puts.version(path) is not None and _bytes_of(path, fs) == data:
            return  # it was put, and the answer was lost on the way
        LOG.warning('"%s" was written by another program at the same time; two seem to save to one folder', path)
    raise AbortedError(f'"{path}" is being written by others all the time')


def _read_message(path: str, fs: FileSystem) -> messages.CheckpointState | None:
    if not fs.exists(path):
        return None
    return parse_text(messages.CheckpointState, _bytes_of(path, fs), f'"{path}"')


def _bytes_of(path: str, fs: FileSystem) -> bytes:
    file = fs.open(path)
    try:
        if file.size > _LARGEST:
            raise DataLossError(f'"{path}": {file.size} bytes are too many for a state file')
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def _state_of(message: messages.CheckpointState, folder: str) -> CheckpointState:
    return CheckpointState(
        join_to_folder(folder, message.model_checkpoint_path),
        tuple(join_to_folder(folder, item) for item in message.all_model_checkpoint_paths),
        tuple(message.all_model_checkpoint_timestamps),
        message.last_preserved_timestamp,
    )


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _given_path(path: str, folder: str, relative: bool) -> str:
    if not relative or not is_absolute(path):
        return path
    inside = f"{tidied_path(folder)}/"
    if is_in_store(path) or is_in_store(folder):
        return tidied_path(path).removeprefix(inside)
    return posixpath.relpath(path, folder)


def _stored_path(path: str, folder: str) -> str:
    return path if is_absolute(path) or is_absolute(folder) else posixpath.relpath(path, folder)


def _checked_filename(filename: str) -> str:
    if not filename or posixpath.basename(filename) != filename:
        raise InvalidArgumentError(f'"{filename}": a state file is given by its name in the folder, without a path')
    return filename
