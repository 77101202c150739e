"""All variables of a graph: finding them, initializing them, asking which are not initialized yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import colocate_with, current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import stack
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.variables.variable import is_variable_initialized

_REFERENCES: Final = ("Variable", "VariableV2", "AutoReloadVariable")


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that are saved; with `scope`, those whose names begin with what the expression matches."""
    return get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """An old name of `global_variables`."""
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """The variables that are not saved."""
    return get_collection(current_graph(), GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that were declared to be those of a model for inference."""
    return get_collection(current_graph(), GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that an optimizer changes if it is not told which."""
    return get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables of which moving averages are kept."""
    return get_collection(current_graph(), GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Operation:
    """An operation that initializes all of these."""
    if var_list:
        return group(*[variable.initializer for variable in var_list], name=name)
    return no_op(name=name)


def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation:
    """An old name of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


def global_variables_initializer() -> Operation:
    """An operation that initializes all variables that are saved."""
    return variables_initializer(global_variables())


def initialize_all_variables() -> Operation:
    """An old name of `global_variables_initializer`."""
    return global_variables_initializer()


def local_variables_initializer() -> Operation:
    """An operation that initializes all variables that are not saved."""
    return variables_initializer(local_variables())


def initialize_local_variables() -> Operation:
    """An old name of `local_variables_initializer`."""
    return local_variables_initializer()


def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Tensor | None:
    """A tensor that cannot be computed while one of the variables has no value; None if there are none."""
    found = _variables(var_list) or _references()
    if not found:
        return None
    ranks: list[Tensor] = []
    for variable in found:
        with colocate_with(variable.op):
            ranks.append(emit("Rank", variable, name="Rank"))
    return ranks[0] if len(ranks) == 1 else stack(ranks)


def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of the variables that have no value, found when run."""
    found = _variables(var_list)
    if not found and var_list is None:
        found = _references()
    with name_scope(name):
        initialized = [is_variable_initialized(variable) for variable in found]
        with device("/cpu:0"):
            if not found:
                return constant(np.empty(0, object), STRING)
            without = emit("LogicalNot", stack(initialized))
            names = constant([variable.op.name for variable in found])
            return boolean_mask(names, without)


def _variables(var_list: Sequence[Any] | None) -> list[Any]:
    return global_variables() + local_variables() if var_list is None else list(var_list)


def _references() -> list[Any]:
    """What a graph that has no collections has for variables."""
    return [op.outputs[0] for op in current_graph().operations if op.type in _REFERENCES]


__all__ = [
    "all_variables",
    "assert_variables_initialized",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "trainable_variables",
    "variables_initializer",
]
