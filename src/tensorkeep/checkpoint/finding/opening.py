"""From what a person types to an open checkpoint."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import IN_MODEL, index_path
from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.state_file import STATE_FILE, read_checkpoint_state
from tensorkeep.checkpoint.layouts.bundles import BUNDLES
from tensorkeep.checkpoint.layouts.table import layout_of
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Part
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, MissingFileError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text

__all__ = ["latest_checkpoint", "list_tensors", "load_tensor", "load_tensors", "open_checkpoint"]

_ATTEMPTS: Final = 100  # that a checkpoint may be replaced while it is being opened


def open_checkpoint(
    path: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = FILES
) -> CheckpointReader:
    """Opens a checkpoint of any format for reading.

    `path` is the prefix that was saved to. A folder stands for the latest checkpoint in it, the directory of a
    SavedModel for its variables. One of a checkpoint's files stands for the checkpoint, with a warning. Names are taken
    literally: `*`, `?` and `[` have no special meaning, except in the pattern `...-?????-of-00003` by which TensorFlow
    knows the files of a V1 checkpoint in several.
    """
    given = path_text(path)
    if not isinstance(options, ReadOptions):
        raise InvalidArgumentError(f"options: expected ReadOptions, got {type(options).__name__}")
    if fs.puts(given) is not None:  # where every look is a request, the usual is tried before it is looked for
        with suppress(MissingFileError):
            return BUNDLES.open(given, options, fs)
    if fs.is_directory(given) and layout_of(given, fs) is None:
        return _open_latest(given, options, fs)
    return open_prefix(given, options, fs, stacklevel=3)


def list_tensors(path: PathLike, *, fs: FileSystem = FILES) -> dict[str, TensorInfo]:
    """What a checkpoint holds, in order of name. `path` is as for `open_checkpoint`."""
    with open_checkpoint(path, fs=fs) as reader:
        return reader.infos()


def load_tensor(path: PathLike, name: str, part: Part | None = None, *, fs: FileSystem = FILES) -> Array:
    """One tensor of a checkpoint, or a part of it. A name as of a graph's tensor, ending in ":0", will do too."""
    with open_checkpoint(path, fs=fs) as reader:
        if name not in reader and isinstance(name, str):
            name = name.removesuffix(":0")
        return reader.read(name, part)


def load_tensors(path: PathLike, *, fs: FileSystem = FILES) -> dict[str, Array]:
    """All tensors of a checkpoint."""
    with held_reader(partial(open_checkpoint, path, fs=fs)) as reader:
        return reader.read_many()


def _open_latest(folder: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
    variables = posixpath.join(folder, IN_MODEL)
    if fs.exists(index_path(variables)):
        return open_prefix(variables, options, fs)
    latest = latest_checkpoint(folder, fs=fs)
    if latest is not None:
        return open_checkpoint(latest, options, fs=fs)
    state = read_checkpoint_state(folder, fs=fs)
    if state is not None:
        raise NotFoundError(
            f'"{posixpath.join(folder, STATE_FILE)}" names "{state.latest}" as the latest checkpoint, which does not '
            "exist; name another one by its prefix"
        )
    models = [name for name in fs.list(folder) if fs.exists(posixpath.join(folder, name, "saved_model.pb"))]
    more = f"; SavedModels are in it: {', '.join(models[:5])}{' ...' if models[5:] else ''}" if models else ""
    raise NotFoundError(
        f'folder "{folder}" holds no checkpoint: neither a "{STATE_FILE}" file nor a complete one{more}'
    )


def held_reader(open_reader: Callable[[], CheckpointReader]) -> CheckpointReader:
    """Opens a checkpoint together with its data files; if it is replaced just then, opens the one that replaced it.

    One who saves under a name again and again replaces the checkpoint at any time. A reader opens data files when it
    needs them, and then finds out that they are not its own any more. One that holds them from the beginning is not
    concerned.
    """
    for _ in range(_ATTEMPTS):
        reader = open_reader()
        try:
            reader.hold()
        except FailedPreconditionError:
            reader.close()
        except BaseException:
            reader.close()
            raise
        else:
            return reader
    return open_reader()
