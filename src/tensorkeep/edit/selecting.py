"""Edits that change which tensors a checkpoint has and what they are called, but none of their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import SLOTS
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.restore.name_rules import AVERAGE_SUFFIX, average_of, slot_of
from tensorkeep.edit.names import Renaming, Selection, renamed_tensors
from tensorkeep.edit.object_keys import chosen_keys, updated_object_graph
from tensorkeep.edit.plan import EditOptions, Origin, Stored, Written, write_plan
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike

_DEFAULT: Final = EditOptions()

# What optimizers of TensorFlow 2 keep beside slots; how many steps were taken is not among it.
_OPTIMIZER_OBJECTS: Final = re.compile(
    r"(.+/)?_?optimizer/(_variables/[0-9]+|_?learning_rate|_current_learning_rate|_?momentums/[0-9]+|"
    r"_?velocities/[0-9]+|beta_[12]|decay|epsilon|rho|momentum|_momentums/[0-9]+)/\.ATTRIBUTES/VARIABLE_VALUE|"
    r"optimizer/([^/]+/)+(learning_rate|[0-9]+)"  # of .keras archives
)


@dataclass(frozen=True)
class NameChanges:
    """What an edit makes of the names of a checkpoint."""

    renamed: Mapping[str, str]
    """The new names by the old ones, where they differ."""
    dropped: Sequence[str]
    kept: int
    """How many tensors there are in the end."""
    written: Written


def rename(
    source: PathLike,
    target: PathLike,
    rules: Sequence[Renaming],
    options: EditOptions = _DEFAULT,
    *,
    fs: FileSystem = FILES,
) -> NameChanges:
    """A checkpoint whose tensors have other names. The rules are applied to all names, one after the other.

    Only the index is written: the data files are linked. Of an object-based checkpoint the keys are renamed, and the
    object graph follows.
    """
    with open_checkpoint(source, fs=fs) as reader:
        own = [name for name in reader if name != OBJECT_GRAPH_KEY]
        return _write(reader, target, renamed_tensors(own, rules), options, fs)


def keep(
    source: PathLike, target: PathLike, selection: Selection, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> NameChanges:
    """A checkpoint of the selected tensors alone.

    Only the index is written unless `compact` is asked for: the data of the others stays in the files, unused.
    """
    with open_checkpoint(source, fs=fs) as reader:
        return _keep(reader, target, chosen_keys(reader, selection), options, fs)


def drop(
    source: PathLike, target: PathLike, selection: Selection, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> NameChanges:
    """A checkpoint without the selected tensors; otherwise as `keep`."""
    with open_checkpoint(source, fs=fs) as reader:
        doomed = set(chosen_keys(reader, selection)) - {OBJECT_GRAPH_KEY}
        return _keep(reader, target, [name for name in reader if name not in doomed], options, fs)


def strip_optimizer(
    source: PathLike, target: PathLike, options: EditOptions | None = None, *, fs: FileSystem = FILES
) -> NameChanges:
    """A checkpoint without what optimizers keep for training: slots, powers, rates; for shipping a model.

    The global step, the number of iterations and moving averages stay. It is written compactly unless told otherwise.
    """
    options = replace(_DEFAULT, compact=True) if options is None else options
    with open_checkpoint(source, fs=fs) as reader:
        doomed = set(optimizer_state(reader))
        if not doomed:
            raise NotFoundError(f'"{reader.path}" has no values of an optimizer: there is nothing to strip')
        return _keep(reader, target, [name for name in reader if name not in doomed], options, fs)


def optimizer_state(names: Iterable[str]) -> list[str]:
    """The names of what optimizers keep for training. A slot counts as one only if its variable is there too."""
    known = set(names)
    return [name for name in known if _is_optimizer_state(name, known)]


def _is_optimizer_state(name: str, known: set[str]) -> bool:
    if f"/{SLOTS}/" in name or _OPTIMIZER_OBJECTS.fullmatch(name):
        return True
    slot = slot_of(name)
    return slot is not None and (not slot[0] or slot[0] in known or _is_partition(slot[0], known))


def _is_partition(variable: str, known: set[str]) -> bool:
    """Slots of partitioned variables are stored under the name of the whole, which they follow."""
    return variable.rpartition("/part_")[0] in known


def swap_averages(
    source: PathLike, target: PathLike, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> NameChanges:
    """A checkpoint in which every variable with a moving average has changed names with it.

    So a program that knows nothing of averages loads them. Doing it twice gives the first checkpoint back.
    """
    with open_checkpoint(source, fs=fs) as reader:
        names = {name: name for name in reader if name != OBJECT_GRAPH_KEY}
        pairs = [(variable, name) for name in names if (variable := average_of(name)) in names]
        if not pairs:
            raise NotFoundError(
                f'"{reader.path}" has no moving averages: no tensor is called like another with "{AVERAGE_SUFFIX}"'
            )
        for variable, average in pairs:
            assert variable is not None
            left, right = reader[variable], reader[average]
            if (left.dtype, left.shape) != (right.dtype, right.shape):
                raise InvalidArgumentError(
                    f'"{average}" is {right}, but "{variable}" is {left}: they cannot be swapped'
                )
            names[variable], names[average] = average, variable
        return _write(reader, target, names, options, fs)


def _keep(
    reader: CheckpointReader, target: PathLike, names: Sequence[str], options: EditOptions, fs: FileSystem
) -> NameChanges:
    return _write(reader, target, {name: name for name in names if name != OBJECT_GRAPH_KEY}, options, fs)


def _write(
    reader: CheckpointReader, target: PathLike, names: Mapping[str, str], options: EditOptions, fs: FileSystem
) -> NameChanges:
    plan: dict[str, Origin] = {new: Stored(reader, name) for name, new in names.items()}
    if names and (graph := updated_object_graph(reader, names)) is not None:
        plan[OBJECT_GRAPH_KEY] = graph
    written = write_plan(target, plan, options, fs=fs)
    changed = {name: new for name, new in names.items() if name != new}
    dropped = [name for name in reader if name not in names and name not in plan]
    return NameChanges(changed, dropped, len(plan), written)
