"""Variables of a model: made, listed and found.

A model variable is one that a model needs to make predictions; it is in the collection of model variables as well.
Slices of a partitioned variable are listed one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.building import device as on_device
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.variables.global_step import Step, assert_global_step, get_global_step
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import (
    AggregationLike,
    CollectionNames,
    InitializerLike,
    Partitioner,
    Regularizer,
    SynchronizationLike,
)
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable
from tensorkeep.tf1.variables.variable import Variable

GLOBAL_AND_MODEL: Final = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES)


def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Step | None = None) -> Step | None:
    """The global step that is given, if it is a valid one, or that of the graph."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def local_variable(
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """A variable that is not saved and not trained."""
    return _untrained_variable(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Variable:
    """A variable that is saved and not trained."""
    return _untrained_variable(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def _untrained_variable(
    collection: str, initial_value: Any, validate_shape: bool, name: Any, use_resource: Any
) -> Variable:
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    return Variable(
        initial_value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@add_arg_scope
def variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: SynchronizationLike = VariableSynchronization.AUTO,
    aggregation: AggregationLike = VariableAggregation.NONE,
) -> Any:
    """The variable of that name in the current scope, found or made, on a device."""
    wanted = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    getter: Callable[..., Any] = get_variable
    if custom_getter is not None:
        getter = partial(custom_getter, reuse=get_variable_scope().reuse)
    with on_device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(wanted)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = FLOAT32,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: SynchronizationLike = VariableSynchronization.AUTO,
    aggregation: AggregationLike = VariableAggregation.NONE,
) -> Any:
    """As `variable`, in the collection of model variables too."""
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or ()), *GLOBAL_AND_MODEL],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def add_model_variable(var: Variable) -> None:
    """Puts a variable into the collection of model variables, if it is not there."""
    graph = current_graph()
    if not any(var is other for other in get_collection(graph, GraphKeys.MODEL_VARIABLES)):
        add_to_collection(graph, GraphKeys.MODEL_VARIABLES, var)


# ---------------------------------------------------------------------------------------------------- Lists


def get_variables(
    scope: str | VariableScope | None = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection whose names begin with a scope and end with a suffix; both are expressions."""
    text = scope.name if isinstance(scope, VariableScope) else scope
    if suffix is not None:
        ended = suffix if ":" in suffix else f"{suffix}:"
        text = f"{text or ''}.*{ended}"
    return get_collection(current_graph(), collection, text)


def get_model_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of model variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: str | VariableScope | None = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of those that are trained."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: str | VariableScope | None = None) -> list[Any]:
    """The variables whose names end with a suffix."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: str | VariableScope | None = None) -> list[Any]:
    """The variables that were given that name, in whatever scope."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The variables of some scopes, or all, without those of other scopes."""
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, list | tuple):
            raise WrongTypeError(f"{name} is provided but is not a list or a tuple: {scopes!r}")
    wanted = get_variables() if include is None else [item for scope in include for item in get_variables(scope)]
    unwanted = {id(item) for scope in exclude or () for item in get_variables(scope)}
    return [item for item in wanted if id(item) not in unwanted]


def get_unique_variable(var_op_name: str) -> Variable:
    """The one variable whose operation has that name."""
    found = get_variables(scope=var_op_name)
    if not found:
        raise InvalidArgumentError(f"Couldn't find variable {var_op_name}")
    item: Variable
    for item in found:
        if item.op.name == var_op_name:
            return item
    names = ", ".join(item.op.name for item in found)
    raise InvalidArgumentError(f"Variable {var_op_name} does not uniquely identify a variable: {names}")


def get_variable_full_name(var: Variable) -> str:
    """The name of a variable in checkpoints: that of the whole for a slice of a partitioned one."""
    info = getattr(var, "_save_slice_info", None)
    return str(info.full_name if info else var.op.name)


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names have one of some expressions in them, or begin with it, and none of others."""
    matches: Callable[[str, str], object] = re.search if reg_search else re.match

    def fits(item: Any, patterns: Sequence[str]) -> bool:
        return any(matches(pattern, item.name) for pattern in patterns)

    found = [item for item in var_list if include_patterns is None or fits(item, include_patterns)]
    return [item for item in found if exclude_patterns is None or not fits(item, exclude_patterns)]


class VariableDeviceChooser:
    """A device function that puts variables on the tasks of a job in turn; without tasks, on one device."""

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Operation) -> str:
        job, task = None, None
        if self._num_tasks > 0:
            job, task = self._job_name, self._next_task_id
            self._next_task_id = (task + 1) % self._num_tasks
        spec = DeviceSpec(
            job=job,
            replica=self._replica,
            task=task,
            device_type=self._device_type,
            device_index=self._device_index,
        )
        return spec.to_string()
