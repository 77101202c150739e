"""Starting a model from the values of an earlier one: some variables, under other names, with other vocabularies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.latest import checkpoint_named
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import ObjectGraph
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.tf1.training.savers.initializing import init_from_checkpoint
from tensorkeep.tf1.training.savers.remapping import Axis, RemappedMatrix
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.hash_tables.table import HashTable
from tensorkeep.tf1.variables.partitioned import PartitionInfo
from tensorkeep.tf1.variables.saveable import named_saveables
from tensorkeep.tf1.variables.variable import Variable

LOG: Final = logging.getLogger("tensorkeep")

Choice: TypeAlias = str | list[str] | list[Variable] | None


class _VocabInfo(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Callable[..., Any] | None = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """The vocabularies, old and new, that an axis of a variable belongs to: files with a word on each line."""

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: Callable[..., Any] | None = None,
        axis: int = 0,
    ) -> VocabInfo:
        if axis not in (0, 1):
            raise InvalidArgumentError(
                f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}"
            )
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis
        )


def warm_start(
    path: PathLike,
    variables: Choice = ".*",
    vocabularies: Mapping[str, VocabInfo] | None = None,
    previous_names: Mapping[str, str] | None = None,
    *,
    fs: FileSystem = FILES,
) -> None:
    """Lets variables of the graph being built begin as tensors of a checkpoint, or of the latest of a folder.

    `variables` are those to be started so: trainable ones whose names begin with what the expression matches; of all,
    those that one of several expressions so matches; or variables themselves. None means those with a vocabulary only.
    A variable takes the tensor of its name, or of the one that `previous_names` gives. Of a checkpoint that was saved
    from objects, names are those that the variables had then.

    A variable for which there is a `VocabInfo` takes the rows or columns of the words that it still has.
    """
    LOG.info("Warm-starting from: %s", path)
    grouped = _grouped_variables(variables)
    infos = dict(vocabularies or {})
    names = dict(previous_names or _names_of_objects(path, list(grouped), fs))
    _check_all_used("var_name_to_prev_var_name", names, grouped)
    _check_all_used("var_name_to_vocab_info", infos, grouped)
    checkpoint = checkpoint_named(path, fs=fs)
    batch: dict[str, Any] = {}
    for name, parts in grouped.items():
        tensor = names.get(name) or name
        if name in infos:
            _start_with_vocabulary(parts, infos[name], tensor, checkpoint)
        elif variables:
            if tensor in batch:  # a tensor may be wanted by several variables
                init_from_checkpoint(path, batch, fs=fs)
                batch.clear()
            batch[tensor] = parts if len(parts) > 1 else parts[0]
    if batch:
        init_from_checkpoint(path, batch, fs=fs)
    LOG.info("Warm-started %d variables.", len(grouped) if variables else len(infos))


def _grouped_variables(choice: Any) -> dict[str, list[Variable]]:
    """The variables to be started, by name; those that are parts of one together."""
    grouped: dict[str, list[Variable]] = {}
    for variable in _chosen_variables(choice):
        name = variable.distributed_name if isinstance(variable, HashTable) else next(iter(named_saveables([variable])))
        grouped.setdefault(name, []).append(variable)
    return grouped


def _chosen_variables(choice: Any) -> list[Any]:
    if choice is None or isinstance(choice, str):
        LOG.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        return get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES, choice)
    if not isinstance(choice, list):
        raise InvalidArgumentError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(choice)}")
    if all(isinstance(item, str) for item in choice):
        graph = current_graph()
        return [found for item in choice for found in get_collection(graph, GraphKeys.GLOBAL_VARIABLES, item)]
    if not all(isinstance(item, Variable | HashTable) for item in choice):
        raise InvalidArgumentError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
            f"{[type(item) for item in choice]}"
        )
    return choice


def _names_of_objects(path: PathLike, names: list[str], fs: FileSystem) -> dict[str, str]:
    """The keys of variables in a checkpoint that was saved from objects; none for others."""
    with open_checkpoint(checkpoint_named(path, fs=fs), fs=fs) as reader:
        if OBJECT_GRAPH_KEY not in reader:
            return {}
        keys = ObjectGraph.read(reader).keys_by_full_name()
    if missing := [name for name in names if name not in keys]:
        raise InvalidArgumentError(
            "Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did not contain "
            f"values for all variables. The following variables were missing: {_as_set(missing)}"
        )
    return {name: keys[name] for name in names}


def _check_all_used(what: str, given: Mapping[str, Any], grouped: dict[str, list[Variable]]) -> None:
    if unused := [name for name in given if name not in grouped]:
        raise InvalidArgumentError(
            f"You provided the following variables in {what} that were not used: {_as_set(unused)}.  Perhaps you "
            f"misspelled them?  Here is the list of viable variable names: {grouped.keys()}"
        )


def _as_set(names: Sequence[str]) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


def _start_with_vocabulary(parts: list[Variable], info: VocabInfo, tensor: str, checkpoint: str) -> None:
    if not (info.new_vocab and info.new_vocab_size and info.old_vocab):
        raise InvalidArgumentError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path}."
        )
    shapes = [_matrix_shape(part) for part in parts]
    words = Axis(info.new_vocab_size, info.num_oov_buckets, info.new_vocab, info.old_vocab, info.old_vocab_size)
    for part, (rows, columns) in zip(parts, shapes, strict=True):
        # Only the rows of a matrix are ever cut.
        axes = (words, Axis(columns)) if info.axis == 0 else (Axis(sum(count for count, _ in shapes)), words)
        begin = RemappedMatrix(checkpoint, tensor, *axes, info.backup_initializer)
        begun = convert(begin([rows, columns], partition_info=_place(part)))
        part._initializer_op = assign(part, begun)


def _matrix_shape(variable: Variable) -> tuple[int, int]:
    shape = variable.get_shape()
    if shape.ndims != 2 or not shape.is_fully_defined():
        raise InvalidArgumentError(f'a vocabulary belongs to a matrix; "{variable.name}" has shape {shape}')
    rows, columns = shape.as_list()
    return int(rows or 0), int(columns or 0)


def _place(variable: Variable) -> PartitionInfo | None:
    info = variable._get_save_slice_info()
    if info is None:
        return None
    return PartitionInfo(full_shape=info.full_shape or (), var_offset=info.var_offset or ())
