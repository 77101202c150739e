"""The state file, `checkpoint`: which checkpoints a folder holds, and which is the latest.

A CheckpointState in text format. Paths that are relative are relative to the folder of the file, so that a folder
can be moved as a whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.io.local import LOCAL
from tensorkeep.proto import messages
from tensorkeep.proto.text import format_text, parse_text

__all__ = ["CheckpointState", "read_checkpoint_state", "write_checkpoint_state"]

STATE_FILE: Final = "checkpoint"
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


def read_checkpoint_state(
    directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = LOCAL
) -> CheckpointState | None:
    """The state of a folder, its relative paths joined to the folder. None if there is no state file.

    A state file that is there but cannot be understood is a DataLossError: to take it for absent would start a
    training run from nothing.
    """
    folder = path_text(directory)
    path = posixpath.join(folder, _checked_filename(filename))
    if not fs.exists(path):
        return None
    file = fs.open(path)
    try:
        if file.size > _LARGEST:
            raise DataLossError(f'"{path}": {file.size} bytes are too many for a state file')
        text = bytes(file.read(0, file.size))
    finally:
        file.close()
    message = parse_text(messages.CheckpointState, text, f'"{path}"')
    if not message.model_checkpoint_path:
        raise DataLossError(f'"{path}" names no latest checkpoint (model_checkpoint_path is absent or empty)')
    return CheckpointState(
        posixpath.join(folder, message.model_checkpoint_path),
        tuple(posixpath.join(folder, item) for item in message.all_model_checkpoint_paths),
        tuple(message.all_model_checkpoint_timestamps),
        message.last_preserved_timestamp,
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
    fs: FileSystem = LOCAL,
) -> None:
    """Writes the state of a folder in one step, with the very bytes TensorFlow writes for the same arguments.

    `latest` is added to the paths if it is not the last of them. In a folder given by a relative path, relative paths
    are rewritten to be relative to it; `relative` does so with absolute ones.
    """
    folder = path_text(directory)
    path = posixpath.join(folder, _checked_filename(filename))
    newest, *paths = (_given_path(path_text(item), folder, relative) for item in (latest, *all_paths))
    if not paths or paths[-1] != newest:
        paths.append(newest)
    if timestamps and len(timestamps) != len(paths):
        raise InvalidArgumentError(f"{len(timestamps)} timestamps for {len(paths)} checkpoints: {paths}")
    unfit = [item for item in (newest, *paths) if not _is_text(item)]
    if unfit:
        raise InvalidArgumentError(f"{unfit[0]!r} is not UTF-8, and a state file can name no such path")
    message = messages.CheckpointState(
        model_checkpoint_path=_stored_path(newest, folder),
        all_model_checkpoint_paths=[_stored_path(item, folder) for item in paths],
        all_model_checkpoint_timestamps=timestamps,
        last_preserved_timestamp=last_preserved,
    )
    stored = posixpath.join(folder, message.model_checkpoint_path)
    if fs.canonical(stored) == fs.canonical(path):
        raise InvalidArgumentError(f'checkpoint "{newest}" would be overwritten by the state file of that name')
    atomic_write(fs, path, format_text(message).encode(), durability)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _given_path(path: str, folder: str, relative: bool) -> str:
    return posixpath.relpath(path, folder) if relative and posixpath.isabs(path) else path


def _stored_path(path: str, folder: str) -> str:
    return path if posixpath.isabs(path) or posixpath.isabs(folder) else posixpath.relpath(path, folder)


def _checked_filename(filename: str) -> str:
    if not filename or posixpath.basename(filename) != filename:
        raise InvalidArgumentError(f'"{filename}": a state file is given by its name in the folder, without a path')
    return filename
