"""Which incremental checkpoint goes with a full one.

d/model-100.index                                          full
d/.incremental_checkpoint/incremental_model.ckpt-150.index     what changed since, up to step 150
d/model-200.index                                          full, and what is newer goes with this one
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.naming import DELTA_KEYS
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike

DELTA_FOLDER: Final = ".incremental_checkpoint"
DELTA_BASE: Final = "incremental_model.ckpt"
STEP: Final = "global_step"

_NAMED: Final = re.compile(r"(.*)-([0-9]+)", re.DOTALL)


def newest_delta(full: str, *, folder: str | None = None, fs: FileSystem = FILES) -> str | None:
    """The prefix of the newest incremental checkpoint beside a full one that is newer; None if there is none.

    By itself it is looked for where DeepRec leaves it, in the folder `.incremental_checkpoint` beside the full one.
    """
    place = posixpath.join(posixpath.dirname(full), DELTA_FOLDER) if folder is None else folder
    step = _split_step(full)[1]
    if not fs.is_directory(place):
        return None
    found = [name.removesuffix(".index") for name in fs.list(place) if name.endswith(".index")]
    newer = [(number, name) for name in found if (number := _split_step(name)[1]) is not None and number > (step or 0)]
    return posixpath.join(place, max(newer)[1]) if newer else None


def later_full(full: str, delta: str, fs: FileSystem = FILES) -> int | None:
    """The step of the full checkpoint that an incremental one goes with in place of an earlier one; None if with that.

    It lies beside the earlier one, has the same name, and is not later than the incremental one.
    """
    name, own = _split_step(posixpath.basename(full))
    last = _split_step(delta)[1]
    folder = posixpath.dirname(full) or "."
    if last is None or not fs.is_directory(folder):
        return None
    others = [_split_step(item.removesuffix(".index")) for item in fs.list(folder) if item.endswith(".index")]
    first = -1 if own is None else own
    return max(
        (step for other, step in others if other == name and step is not None and first < step <= last), default=None
    )


def check_goes_over_model(model: CheckpointReader, delta: PathLike, fs: FileSystem = FILES) -> str:
    """The prefix of an incremental checkpoint that can be put over the variables of a model.

    InvalidArgumentError if it is none, or if it has only what changed since a full checkpoint that is later than the
    model: what changed between the two is in neither. That is seen if the full one still lies where it was saved, and
    the model has a global step.
    """
    with open_checkpoint(delta, fs=fs) as changes:
        if not any(name.endswith(DELTA_KEYS) for name in changes):
            raise InvalidArgumentError(
                f'"{changes.path}" is no incremental checkpoint: those have tensors called like "...{DELTA_KEYS}"'
            )
        prefix = changes.path
    own = int(model.read(STEP)) if STEP in model and model[STEP].shape == () else None
    since = _full_before(prefix, fs)
    if own is not None and since is not None and own < since:
        raise InvalidArgumentError(
            f'"{prefix}" has what changed since the full checkpoint of step {since}, and "{model.path}" is of step '
            f"{own}: what changed between the two would be missing; export the model anew"
        )
    return prefix


def _full_before(delta: str, fs: FileSystem) -> int | None:
    """The step of the full checkpoint that an incremental one goes with, if it lies where it was saved."""
    folder, last = posixpath.dirname(posixpath.dirname(delta)), _split_step(delta)[1]
    if last is None or posixpath.basename(posixpath.dirname(delta)) != DELTA_FOLDER or not fs.is_directory(folder):
        return None
    steps = [_split_step(item.removesuffix(".index"))[1] for item in fs.list(folder) if item.endswith(".index")]
    return max((step for step in steps if step is not None and step <= last), default=None)


def check_goes_with(full: CheckpointReader, delta: CheckpointReader, fs: FileSystem = FILES) -> None:
    """InvalidArgumentError if a checkpoint is not an incremental one, or is that of another full one."""
    is_incremental = any(name.endswith(DELTA_KEYS) for name in delta)
    if stored_embeddings(delta, fs=fs) or (not is_incremental and stored_embeddings(full, fs=fs)):
        raise InvalidArgumentError(
            f'"{delta.path}" is no incremental checkpoint: those have tensors called like "...{DELTA_KEYS}", and whole '
            "tables have no place in them"
        )
    own, last = _split_step(full.path)[1], _split_step(delta.path)[1]
    if own is not None and last is not None and last < own:
        raise InvalidArgumentError(
            f'"{delta.path}", of step {last}, is older than "{full.path}", of step {own}: that has its changes already'
        )
    later = later_full(full.path, delta.path, fs)
    if later is not None:
        raise InvalidArgumentError(
            f'"{delta.path}" does not go with "{full.path}" but with a later full checkpoint beside it, of step {later}'
        )


def _split_step(prefix: str) -> tuple[str, int | None]:
    """The name of a checkpoint without its step, and the step, if it has one."""
    found = _NAMED.fullmatch(prefix)
    return (found[1], int(found[2])) if found else (prefix, None)
