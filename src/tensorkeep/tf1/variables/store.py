"""The variables that get_variable has made in a graph, by name: found again, or made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tensorkeep.dtypes import BOOL, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import colocate_with, current_graph, init_scope, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.slicing import slice as part_of
from tensorkeep.tf1.variables.initializers import glorot_uniform_initializer, zeros_initializer
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization, checked_modes
from tensorkeep.tf1.variables.partitioned import PartitionedVariable, PartitionInfo
from tensorkeep.tf1.variables.regularizers import LazyTensor
from tensorkeep.tf1.variables.scope import Reuse, variable_state
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import Variable


class VariableStore:
    """Variables by name. What a partitioner cut is also here in parts, as name/part_0 and so on."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        """Variables, and hash tables, which are none."""
        self.partitioned: dict[str, Any] = {}

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = DType.of("float32"),
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable of that name, found or made as `reuse` says; by way of the custom getter if there is one."""
        if custom_getter is not None and not callable(custom_getter):
            raise InvalidArgumentError(f"Passed a custom_getter which is not callable: {custom_getter}")
        synchronization, aggregation, trainable = checked_modes(synchronization, aggregation, trainable, name)
        arguments: dict[str, Any] = {
            "name": name,
            "shape": shape,
            "dtype": DType.of(dtype).base_dtype,
            "initializer": initializer,
            "regularizer": regularizer,
            "reuse": reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "validate_shape": validate_shape,
            "use_resource": use_resource,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        if custom_getter is None:
            return self._true_getter(**arguments, constraint=constraint)
        if _takes(custom_getter, "constraint"):
            arguments["constraint"] = constraint
        return custom_getter(getter=self._true_getter, **arguments)

    def _true_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = DType.of("float32"),
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """What a custom getter calls in the end. Its signature is theirs."""
        options = {
            "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device,
            "validate_shape": validate_shape,
            "use_resource": use_resource,
            "constraint": constraint,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        dtype = DType.of(dtype).base_dtype
        is_scalar = isinstance(shape, Sequence | TensorShape) and TensorShape(shape).rank == 0
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise InvalidArgumentError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(name, partitioner, shape, dtype, initializer, regularizer, reuse, **options)
        if reuse is True and partitioner is None and name in self.partitioned:
            return self.get_partitioned(name, None, shape, dtype, initializer, regularizer, reuse, **options)
        if f"{name}/part_0" in self.variables:
            raise InvalidArgumentError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._get_single(name, shape, dtype, initializer, regularizer, reuse, **options)

    # ------------------------------------------------------------------------------------------ in one

    def _get_single(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        initializer: Any,
        regularizer: Any,
        reuse: Reuse,
        partition_info: PartitionInfo | None = None,
        **options: Any,
    ) -> Variable:
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise InvalidArgumentError("If initializer is a constant, do not specify shape.")
        known = None if shape is None else TensorShape(shape)
        found = self.variables.get(name)
        if found is not None:
            return self._reused(found, name, known, dtype, reuse)
        if reuse is True:
            raise InvalidArgumentError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            if known is None:
                raise InvalidArgumentError(
                    f"Variable {name} did not get an initializer, so its `shape` argument must be specified."
                )
            initializer = default_initializer(name, dtype)
        with init_scope():
            value, variable_dtype = _initial_value(initializer, from_value, known, dtype, partition_info)
        if options["use_resource"] is None:
            options["use_resource"] = variable_state().use_resource
        made: Variable = Variable(initial_value=value, name=name, dtype=variable_dtype, shape=known, **options)
        self.variables[name] = made
        if regularizer:
            _add_regularization(made, name, regularizer)
        return made

    @staticmethod
    def _reused(found: Variable, name: str, shape: TensorShape | None, dtype: DType, reuse: Reuse) -> Variable:
        if reuse is False:
            raise InvalidArgumentError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        if not isinstance(found, Variable):
            raise InvalidArgumentError(
                f"Trying to reuse variable {name}, but an existing variable is a {type(found).__name__}, can not reuse "
                "it."
            )
        if shape is not None and not shape.is_compatible_with(found.get_shape()):
            raise InvalidArgumentError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.get_shape()}."
            )
        if dtype is not found.dtype.base_dtype:
            raise InvalidArgumentError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}."
            )
        return found

    # ------------------------------------------------------------------------------------------ in parts

    def get_partitioned(
        self,
        name: str,
        partitioner: Any,
        shape: Any,
        dtype: DType,
        initializer: Any,
        regularizer: Any,
        reuse: Reuse,
        **options: Any,
    ) -> PartitionedVariable:
        """The partitioned variable of that name, found or made."""
        if name in self.variables:
            raise InvalidArgumentError(
                "A partitioner was provided, but an unpartitioned version of the variable was found: "
                f"{name}.  Perhaps a variable of the same name was already created without partitioning?"
            )
        full = TensorShape(shape)
        if isinstance(initializer, Tensor):
            full = full.merge_with(initializer.shape)
        partitions = _partitions(partitioner, full, dtype) if not reuse or partitioner else None
        found = self.partitioned.get(name)
        if found is not None:
            return self._reused_parts(found, name, full, dtype, partitions, reuse)
        if reuse is True:
            raise InvalidArgumentError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                "to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        if partitions is None:
            partitions = _partitions(partitioner, full, dtype)
        axis, count = _cut(partitions)
        self._check_existing_parts(name, count)
        sizes = [int(size) for size in full]
        parts = []
        for i, (offset, part_shape) in enumerate(_slices(sizes, count, axis)):
            part_name = f"{name}/part_{i}"
            part_initializer, part_dtype, initial_shape = self._part_initializer(
                name, part_name, initializer, dtype, offset, part_shape
            )
            with name_scope(None):
                part = self._get_single(
                    part_name,
                    initial_shape,
                    part_dtype,
                    part_initializer,
                    regularizer,
                    reuse,
                    PartitionInfo(sizes, offset),
                    **options,
                )
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, part_shape))
            parts.append(part)
            dtype = part_dtype
        whole = PartitionedVariable(name, full, dtype, parts, partitions)
        self.partitioned[name] = whole
        return whole

    @staticmethod
    def _part_initializer(
        name: str, part_name: str, initializer: Any, dtype: DType, offset: list[int], shape: list[int]
    ) -> tuple[Any, DType, list[int] | None]:
        """What initializes one part, its type, and its shape unless the initial value tells it."""
        with name_scope(f"{part_name}/PartitionedInitializer"):
            if initializer is None:
                return default_initializer(name, dtype), dtype, shape
            if callable(initializer):
                return initializer, dtype, shape
            is_tensor = isinstance(initializer, Tensor)
            whole = initializer if is_tensor else convert(initializer, dtype)
            part = part_of(whole, offset, shape)
            return part, part.dtype.base_dtype, None

    @staticmethod
    def _reused_parts(
        found: PartitionedVariable,
        name: str,
        shape: TensorShape,
        dtype: DType,
        partitions: Sequence[int] | None,
        reuse: Reuse,
    ) -> PartitionedVariable:
        if reuse is False:
            raise InvalidArgumentError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if not isinstance(found, PartitionedVariable):
            raise InvalidArgumentError(
                f"Trying to reuse partitioned variable {name}, but an existing variable is a {type(found).__name__}, "
                "can not reuse it."
            )
        trying = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.get_shape()):
            raise InvalidArgumentError(f"{trying} shape {shape} and found shape {found.get_shape()}.")
        if dtype is not found.dtype.base_dtype:
            raise InvalidArgumentError(f"{trying} dtype {dtype.name} and found dtype {found.dtype.name}.")
        if partitions is not None and list(found._get_partitions()) != list(partitions):
            raise InvalidArgumentError(
                f"{trying} partitions {partitions} and found partitions {found._get_partitions()}."
            )
        return found

    def _check_existing_parts(self, name: str, count: int) -> None:
        if f"{name}/part_0" not in self.variables:
            return
        told = (
            "Partitioner returned a different partitioning than what was already found.  Partitioner returned "
            f"{count} shards, and shard {name}/part_0 was found, but"
        )
        if f"{name}/part_{count - 1}" not in self.variables:
            raise InvalidArgumentError(f"{told} {name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self.variables:
            raise InvalidArgumentError(f"{told} so was the extra shard {name}/part_{count}.")


def variable_store(graph: Graph | None = None) -> VariableStore:
    """The store of a graph."""
    found: VariableStore = variable_state(graph).stores.setdefault("get_variable", VariableStore())
    return found


# ---------------------------------------------------------------------------------------------------- Initial values


def default_initializer(name: str, dtype: DType) -> Any:
    """What initializes a variable for which nobody has said."""
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype in (BOOL, STRING):
        return zeros_initializer()
    raise InvalidArgumentError(f"An initializer for variable {name} of <dtype: '{dtype}'> is required")


def _initial_value(
    initializer: Any, from_value: bool, shape: TensorShape | None, dtype: DType, part: PartitionInfo | None
) -> tuple[Any, DType | None]:
    """What the variable is made of, a value or a function that makes one, and the type it is told to have."""
    if from_value:
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape is not None and shape.is_fully_defined():
        if "partition_info" in _parameters(initializer):
            return partial(initializer, shape.as_list(), dtype=dtype, partition_info=part), dtype
        return partial(initializer, shape.as_list(), dtype=dtype), dtype
    if all(parameter.default is not parameter.empty for parameter in _parameters(initializer).values()):
        return initializer, None
    raise InvalidArgumentError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
        "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions do not tell
        return {}
    return {name: parameter for name, parameter in found.items() if parameter.kind in kinds}


def _takes(function: Callable[..., Any], name: str) -> bool:
    found = inspect.signature(function).parameters
    return name in found or any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in found.values())


def _add_regularization(variable: Variable, name: str, regularizer: Callable[[Any], Any]) -> None:
    def make() -> Any:
        with colocate_with(variable), name_scope(f"{name}/Regularizer/"):
            return regularizer(variable)

    if regularizer(variable) is not None:
        add_to_collection(current_graph(), GraphKeys.REGULARIZATION_LOSSES, LazyTensor(make))


# ---------------------------------------------------------------------------------------------------- Cutting


def _partitions(partitioner: Any, shape: TensorShape, dtype: DType) -> Sequence[int]:
    """Into how many parts each axis is cut, checked."""
    if not shape.is_fully_defined():
        raise InvalidArgumentError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if not shape.rank:
        raise InvalidArgumentError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, Sequence):
        raise InvalidArgumentError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.rank:
        raise InvalidArgumentError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {partitions} vs. {shape}"
        )
    if any(count < 1 for count in partitions):
        raise InvalidArgumentError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise InvalidArgumentError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {partitions}"
        )
    return partitions


def _cut(partitions: Sequence[int]) -> tuple[int, int]:
    """The axis that is cut, and into how many parts."""
    return next(((axis, count) for axis, count in enumerate(partitions) if count > 1), (0, 1))


def _slices(full_shape: list[int], count: int, axis: int) -> Iterator[tuple[list[int], list[int]]]:
    """The offset and shape of each part. The first ones are longer by one where the parts cannot be equal."""
    size, longer = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    for i in range(count):
        shape = list(full_shape)
        shape[axis] = size + (i < longer)
        yield list(offset), shape
        offset[axis] += shape[axis]
