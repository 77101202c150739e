"""Variables set from values and from checkpoints, without the values in the graph: they are fed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.describing import CheckpointDescription
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.tf1.contrib.framework.variables import get_variable_full_name
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.control.grouping import group

_log = logging.getLogger(__name__)


def assign_from_values(var_names_to_values: Mapping[str, Array]) -> tuple[Operation, dict[Tensor, Array]]:
    """An operation that sets variables, by their names, and the values to be fed when it is run."""
    feeds: dict[Tensor, Array] = {}
    changes = []
    for name, value in var_names_to_values.items():
        item = _find_variable(name)
        placed = _placeholder(item)
        changes.append(item.assign(placed))
        feeds[placed] = np.reshape(value, item.get_shape().as_list())
    return group(*changes), feeds


def _find_variable(name: str) -> Any:
    found = get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise InvalidArgumentError(f"Variable {name} wasn't found")
    exact = [item for item in found if item.op.name == name]
    if len(found) > 1 and not exact:
        raise InvalidArgumentError(f"Variable {name} doesn't uniquely identify a variable")
    return exact[0] if exact else found[0]


def _placeholder(item: Any) -> Tensor:
    return placeholder(item.dtype.base_dtype, item.get_shape(), name=f"placeholder/{item.op.name}")


def assign_from_values_fn(var_names_to_values: Mapping[str, Array]) -> Callable[[SessionLike], None]:
    """A function of a session that sets variables to values."""
    change, feeds = assign_from_values(var_names_to_values)

    def callback(session: SessionLike) -> None:
        session.run(change, feeds)

    return callback


def assign_from_checkpoint(
    model_path: PathLike,
    var_list: Sequence[Any] | Mapping[str, Any],
    ignore_missing_vars: bool = False,
) -> tuple[Operation, dict[Tensor, Array]]:
    """An operation that sets variables to what a checkpoint has of them, and the values to be fed.

    Variables are looked for by their names, or by the names that a mapping gives. What the checkpoint does not have is
    an error, or is warned of and left alone.
    """
    feeds: dict[Tensor, Array] = {}
    changes = []
    path = path_text(model_path)
    checkpoint = CheckpointDescription.open(path)
    for name, items in _by_stored_name(var_list).items():
        if not checkpoint.has(name):
            if not ignore_missing_vars:
                raise InvalidArgumentError(f'"{path}": Checkpoint is missing variable [{name}]')
            _log.warning("Checkpoint is missing variable [%s]", name)
            continue
        stored = np.asarray(checkpoint.value(name))
        for item in items:
            placed = _placeholder(item)
            changes.append(item.assign(placed))
            feeds[placed] = _part_for(item, name, stored)
    return group(*changes), feeds


def _by_stored_name(var_list: Any) -> dict[str, list[Any]]:
    if isinstance(var_list, Mapping):
        return {name: list(items) if isinstance(items, list | tuple) else [items] for name, items in var_list.items()}
    found: dict[str, list[Any]] = {}
    for item in var_list:
        found.setdefault(get_variable_full_name(item), []).append(item)
    return found


def _part_for(item: Any, name: str, stored: Array) -> Array:
    """What a variable takes of a stored tensor: all, or its slice."""
    info = getattr(item, "_save_slice_info", None)
    if info:
        starts = zip(info.var_offset, info.var_shape, strict=True)
        return stored[tuple(slice(start, start + size) for start, size in starts)]
    wanted = item.get_shape().as_list()
    if wanted != list(stored.shape):
        raise InvalidArgumentError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{list(stored.shape)}], rh_shape: "
            f"[{wanted}]"
        )
    return stored


def restoring_function(
    new_saver: Callable[..., Any],
    model_path: PathLike,
    var_list: Sequence[Any] | Mapping[str, Any],
    ignore_missing_vars: bool,
    reshape_variables: bool,
) -> Callable[[SessionLike], None] | None:
    """A function of a session that restores variables; None if the checkpoint has none of them.

    What the checkpoint does not have is an error when it is restored, or is warned of and left alone.
    """
    if not var_list:
        raise InvalidArgumentError("var_list cannot be empty")
    wanted: Any = var_list
    if ignore_missing_vars:
        named = var_list if isinstance(var_list, Mapping) else {item.op.name: item for item in var_list}
        path = path_text(model_path)
        checkpoint = CheckpointDescription.open(path)
        for name in named:
            if not checkpoint.has(name):
                _log.warning("Variable %s missing in checkpoint %s", name, path)
        wanted = {name: item for name, item in named.items() if checkpoint.has(name)}
    if not wanted:
        _log.warning("No Variables to restore")
        return None
    saver = new_saver(wanted, reshape=reshape_variables)

    def restore(session: SessionLike) -> None:
        saver.restore(session, model_path)

    return restore
