"""Edits that make one checkpoint of several: merged, averaged, or somewhere between two."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from enum import Enum
from functools import partial
from typing import Final

import numpy as np

from tensorkeep.checkpoint.bundle.hash_tables import hash_slices
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.edit.averaging import Averages
from tensorkeep.edit.names import listed_names
from tensorkeep.edit.plan import EditOptions, Made, Origin, Stored, Written, write_plan
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike

_DEFAULT: Final = EditOptions()
_MOST_LISTED: Final = 10


class Conflict(Enum):
    """Which tensor is taken if checkpoints that are merged have several of one name."""

    REFUSE = "refuse"
    FIRST = "first"
    LAST = "last"


def merge(
    sources: Sequence[PathLike],
    target: PathLike,
    options: EditOptions = _DEFAULT,
    *,
    conflict: Conflict = Conflict.REFUSE,
    fs: FileSystem = FILES,
) -> Written:
    """One checkpoint with the tensors of several. The data files are linked, not copied.

    Slices of one tensor in several checkpoints are put together by `tensorkeep.merge_bundles`. Of object-based
    checkpoints only one may be among them.
    """
    with ExitStack() as stack:
        readers = _open_sources(sources, stack, fs)
        plan: dict[str, Origin] = {}
        shared: list[str] = []
        for reader in readers:
            for name in reader:
                if name in plan:
                    shared.append(name)
                if name not in plan or conflict is Conflict.LAST:
                    plan[name] = Stored(reader, name)
        if OBJECT_GRAPH_KEY in shared:
            based = [reader.path for reader in readers if OBJECT_GRAPH_KEY in reader]
            raise InvalidArgumentError(
                f"cannot merge several object-based checkpoints: {listed_names(based)} have an object graph each; "
                "write them by names first (objects_to_names)"
            )
        if shared and conflict is Conflict.REFUSE:
            raise AlreadyExistsError(
                f"cannot merge: {listed_names(shared)} in more than one of them; say whether the first or "
                "the last counts"
            )
        return write_plan(target, plan, options, fs=fs)


def average(
    sources: Sequence[PathLike],
    target: PathLike,
    options: EditOptions = _DEFAULT,
    *,
    weights: Sequence[float] | None = None,
    fs: FileSystem = FILES,
) -> Written:
    """The average of checkpoints of one model, each counting as much as the others, or as its weight says.

    Floating-point tensors are averaged, in double precision. What is not a floating-point number, such as the global
    step, is copied from the last one. All must have the same tensors.
    """
    shares = normal_shares(len(sources), weights)
    with ExitStack() as stack:
        readers = _open_sources(sources, stack, fs)
        _require_alike(readers)
        last = readers[-1]
        plan: dict[str, Origin] = {name: Stored(last, name) for name in last}
        numbers = (name for name in last if last[name].dtype.is_floating or last[name].dtype.is_complex)
        made = sorted(name for name in numbers if options.wants(name))
        averages = stack.enter_context(closing(Averages(readers, made, shares)))
        for name in made:
            info = last[name]
            plan[name] = Made(info.dtype, info.shape, partial(averages.chunks, name), hash_slices(info.slices))
        return write_plan(target, plan, options, fs=fs)


def exponential_weights(count: int, decay: float) -> list[float]:
    """Weights for `average` that grow by 1 / decay from one checkpoint to the next."""
    if not 0 < decay <= 1:
        raise InvalidArgumentError(f"decay {decay}: expected a number above 0, and at most 1")
    return [decay ** (count - 1 - at) for at in range(count)]


def interpolate(
    first: PathLike,
    second: PathLike,
    target: PathLike,
    share: float,
    options: EditOptions = _DEFAULT,
    *,
    fs: FileSystem = FILES,
) -> Written:
    """A checkpoint on the line between two: the first one at a share of 0, the second at 1; beyond them too."""
    return average((first, second), target, options, weights=(1 - share, share), fs=fs)


def normal_shares(count: int, weights: Sequence[float] | None) -> list[float]:
    """How much each of several checkpoints counts, adding up to 1. InvalidArgumentError for what makes no sense."""
    if count < 1:
        raise InvalidArgumentError("there are no checkpoints to average")
    if weights is None:
        return [1 / count] * count
    if len(weights) != count:
        raise InvalidArgumentError(f"{len(weights)} weights for {count} checkpoints")
    total = float(sum(weights))
    if not np.isfinite(total) or total == 0:
        raise InvalidArgumentError(f"weights {list(weights)}: expected numbers whose sum is not 0")
    return [weight / total for weight in weights]


def _open_sources(sources: Sequence[PathLike], stack: ExitStack, fs: FileSystem) -> list[CheckpointReader]:
    if isinstance(sources, str | bytes) or not sources:
        raise InvalidArgumentError(f"expected a list of checkpoints, got {sources!r}")
    return [stack.enter_context(open_checkpoint(source, fs=fs)) for source in sources]


def _require_alike(readers: Sequence[CheckpointReader]) -> None:
    """InvalidArgumentError, with all that differs, unless all have the same tensors of the same types and shapes."""
    last = readers[-1]
    problems: list[str] = []
    for reader in readers[:-1]:
        if missing := sorted(set(last) - set(reader)):
            problems.append(f'"{reader.path}" has no {listed_names(missing)}')
        if extra := sorted(set(reader) - set(last)):
            problems.append(f'"{last.path}" has no {listed_names(extra)}')
        for name in set(last).intersection(reader):
            ours, theirs = reader[name], last[name]
            if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
                problems.append(f'"{name}" is {ours} in "{reader.path}", {theirs} in "{last.path}"')
    if problems:
        more = f"; and {len(problems) - _MOST_LISTED} more" if len(problems) > _MOST_LISTED else ""
        raise InvalidArgumentError(f"cannot average: {'; '.join(problems[:_MOST_LISTED])}{more}")
