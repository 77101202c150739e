"""The global step: the variable that counts training steps.

How it is read once for all: `_get_or_create_global_step_read` in TensorFlow's python/training/training_util.py.
"""

from __future__ import annotations

import logging
from typing import Final, TypeAlias

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import building, control_dependencies, current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.initializers import zeros_initializer
from tensorkeep.tf1.variables.modes import VariableAggregation
from tensorkeep.tf1.variables.scopes import get_variable
from tensorkeep.tf1.variables.variable import Variable, is_variable_initialized

LOG: Final = logging.getLogger("tensorkeep")

Step: TypeAlias = Variable | Tensor

GLOBAL_STEP_READ_KEY: Final = "global_step_read_op_cache"


def global_step(sess: SessionLike, global_step_tensor: Step) -> int:
    """The step as it is in a session."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Step | None:
    """The graph's global step: what its collection holds, or the tensor "global_step:0"; None if there is none."""
    graph = graph or current_graph()
    found = get_collection(graph, GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        LOG.error("Multiple tensors in global_step collection.")
        return None
    if found:
        step: Step = found[0]
    else:
        try:
            step = graph.tensor("global_step:0")
        except NotFoundError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Step:
    """Makes the global step. That there is one already is an error."""
    graph = graph or current_graph()
    if get_global_step(graph) is not None:
        raise InvalidArgumentError('"global_step" already exists.')
    with building(graph), name_scope(None):
        step = get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=INT64,
            initializer=zeros_initializer(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )
    assert isinstance(step, Variable)  # a scalar is never partitioned
    return step


def get_or_create_global_step(graph: Graph | None = None) -> Step:
    """The graph's global step, made if there is none."""
    graph = graph or current_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Step) -> None:
    """Refuses what cannot be a global step: it must be a variable or tensor, a whole number, a scalar."""
    if not isinstance(global_step_tensor, Variable | Tensor):
        raise WrongTypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise WrongTypeError(
            f"Existing \"global_step\" does not have integer type: <dtype: '{global_step_tensor.dtype}'>"
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise WrongTypeError(f'Existing "global_step" is not scalar: {shape}')


def global_step_read(graph: Graph | None = None) -> Tensor | None:
    """The step as a tensor that all who ask share: its value, or its initial value while it has none."""
    graph = graph or current_graph()
    cached = get_collection(graph, GLOBAL_STEP_READ_KEY)
    if cached:
        shared: Tensor = cached[0]
        return shared
    step = get_global_step(graph)
    if step is None:
        return None
    with building(graph), name_scope(None), name_scope(f"{step.op.name}/"):
        if isinstance(step, Variable):
            value: Tensor = cond(is_variable_initialized(step), step.read_value, lambda: step.initial_value)
        else:
            value = step
        shared = value + 0
        add_to_collection(graph, GLOBAL_STEP_READ_KEY, shared)
    return shared


def increment_global_step(increment: int, graph: Graph | None = None) -> Step:
    """Counts the step up, after those who share its value have read it."""
    graph = graph or current_graph()
    step = get_global_step(graph)
    if step is None:
        raise InvalidArgumentError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling increment."
        )
    read = global_step_read(graph)
    with building(graph), name_scope(None), name_scope(f"{step.op.name}/"), control_dependencies([read]):
        return assign_add(step, increment)


__all__ = [
    "assert_global_step",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
]
