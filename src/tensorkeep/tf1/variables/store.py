"""The variables that get_variable has made in a graph, by name: found again, or made.

Rules and messages are those of `_VariableStore` in TensorFlow's python/ops/variable_scope.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
from tensorkeep.tf1.variables.initializers import (
    Initializer,
    glorot_uniform_initializer,
    made_initializer,
    zeros_initializer,
)
from tensorkeep.tf1.variables.modes import checked_modes
from tensorkeep.tf1.variables.options import (
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    Reuse,
    VariableOptions,
)
from tensorkeep.tf1.variables.partitioned import PartitionedVariable, PartitionInfo
from tensorkeep.tf1.variables.regularizers import LazyTensor
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import Variable


class VariableStore:
    """Variables by name. What a partitioner cut is also here in parts, as name/part_0 and so on."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        """Variables, and hash tables, which are none."""
        self.partitioned: dict[str, Any] = {}

    def get_variable(
        self, name: str, options: VariableOptions, custom_getter: CustomGetter | None = None
    ) -> Variable | PartitionedVariable:
        """The variable of that name, found or made as `reuse` says; by way of the custom getter if there is one."""
        if custom_getter is not None and not callable(custom_getter):
            raise InvalidArgumentError(f"Passed a custom_getter which is not callable: {custom_getter}")
        modes = checked_modes(options.synchronization, options.aggregation, options.trainable, name)
        arguments = {
            **vars(options),
            "dtype": options.base_dtype,
            **dict(zip(("synchronization", "aggregation", "trainable"), modes, strict=True)),
        }
        if custom_getter is None:
            return self._true_getter(name, **arguments)
        if not _takes(custom_getter, "constraint"):
            del arguments["constraint"]
        made: Variable | PartitionedVariable = custom_getter(getter=self._true_getter, name=name, **arguments)
        return made

    def _true_getter(self, name: str, *given: Any, **named: Any) -> Variable | PartitionedVariable:
        """What a custom getter calls in the end: with a name, and options in their order or by their names."""
        options = VariableOptions(*given, **named)
        partitioner, shape = options.partitioner, options.shape
        is_scalar = isinstance(shape, Sequence | TensorShape) and TensorShape(shape).rank == 0
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise InvalidArgumentError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(name, options)
        if options.reuse is True and partitioner is None and name in self.partitioned:
            return self.get_partitioned(name, options)
        if f"{name}/part_0" in self.variables:
            raise InvalidArgumentError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._get_single(name, options)

    # ------------------------------------------------------------------------------------------ in one

    def _get_single(self, name: str, options: VariableOptions, part: PartitionInfo | None = None) -> Variable:
        initializer, dtype = options.initializer, options.base_dtype
        from_value = initializer is not None and not callable(initializer)
        if options.shape is not None and from_value:
            raise InvalidArgumentError("If initializer is a constant, do not specify shape.")
        known = None if options.shape is None else TensorShape(options.shape)
        found = self.variables.get(name)
        if found is not None:
            return self._reused(found, name, known, dtype, options.reuse)
        if options.reuse is True:
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
            value, variable_dtype = _initial_value(initializer, known, dtype, part)
        in_graph = variable_state().use_resource
        made: Variable = Variable(
            value, name=name, dtype=variable_dtype, shape=known, trainable=options.trainable,
            collections=options.collections, caching_device=options.caching_device,
            validate_shape=options.validate_shape, constraint=options.constraint,
            use_resource=in_graph if options.use_resource is None else options.use_resource,
            synchronization=options.synchronization, aggregation=options.aggregation,
        )  # fmt: skip
        self.variables[name] = made
        if options.regularizer:
            _add_regularization(made, name, options.regularizer)
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

    def get_partitioned(self, name: str, options: VariableOptions) -> PartitionedVariable:
        """The partitioned variable of that name, found or made."""
        if name in self.variables:
            raise InvalidArgumentError(
                "A partitioner was provided, but an unpartitioned version of the variable was found: "
                f"{name}.  Perhaps a variable of the same name was already created without partitioning?"
            )
        full, dtype = TensorShape(options.shape), options.base_dtype
        if isinstance(options.initializer, Tensor):
            full = full.merge_with(options.initializer.shape)
        partitioner = options.partitioner
        partitions = None if partitioner is None else _partitions(partitioner, full, dtype)
        found = self.partitioned.get(name)
        if found is not None:
            return self._reused_parts(found, name, full, dtype, partitions, options.reuse)
        if options.reuse is True:
            raise InvalidArgumentError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                "to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        assert partitions is not None  # without a partitioner, only what exists is asked for
        whole = self._made_in_parts(name, replace(options, dtype=dtype), full, partitions)
        self.partitioned[name] = whole
        return whole

    def _made_in_parts(
        self, name: str, options: VariableOptions, full: TensorShape, partitions: Sequence[int]
    ) -> PartitionedVariable:
        axis, count = _cut_axis(partitions)
        self._check_existing_parts(name, count)
        sizes = [int(size) for size in full]
        dtype = options.base_dtype
        parts = []
        for i, (offset, part_shape) in enumerate(_slices(sizes, count, axis)):
            part_name = f"{name}/part_{i}"
            initializer, dtype, initial_shape = self._part_initializer(
                name, part_name, options.initializer, dtype, offset, part_shape
            )
            of_part = replace(options, shape=initial_shape, dtype=dtype, initializer=initializer)
            with name_scope(None):
                part = self._get_single(part_name, of_part, PartitionInfo(sizes, offset))
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, part_shape))
            parts.append(part)
        return PartitionedVariable(name, full, dtype, parts, partitions)

    @staticmethod
    def _part_initializer(
        name: str, part_name: str, initializer: InitializerLike, dtype: DType, offset: list[int], shape: list[int]
    ) -> tuple[InitializerLike, DType, list[int] | None]:
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


def default_initializer(name: str, dtype: DType) -> Initializer:
    """The initializer of a variable that was given none: Glorot's for floats, zeros for others that have a zero."""
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype in (BOOL, STRING):
        return zeros_initializer()
    raise InvalidArgumentError(f"An initializer for variable {name} of <dtype: '{dtype}'> is required")


def _initial_value(
    initializer: InitializerLike, shape: TensorShape | None, dtype: DType, part: PartitionInfo | None
) -> tuple[InitializerLike, DType | None]:
    """What the variable is made of, a value or a function that makes one, and the type it is told to have."""
    if not callable(initializer):
        return initializer, None
    make = made_initializer(initializer)
    parameters = _parameters(make)
    if shape is not None and shape.is_fully_defined():
        if "partition_info" in parameters:
            return partial(make, shape.as_list(), dtype=dtype, partition_info=part), dtype
        return partial(make, shape.as_list(), dtype=dtype), dtype
    if all(parameter.default is not parameter.empty for parameter in parameters.values()):
        return make, None
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


def _add_regularization(variable: Variable, name: str, regularizer: Regularizer) -> None:
    def make() -> Tensor:
        with colocate_with(variable), name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
            assert loss is not None  # it gave one just now
            return loss

    if regularizer(variable) is not None:
        add_to_collection(current_graph(), GraphKeys.REGULARIZATION_LOSSES, LazyTensor(make))


# ---------------------------------------------------------------------------------------------------- Cutting


def _partitions(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> Sequence[int]:
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


def _cut_axis(partitions: Sequence[int]) -> tuple[int, int]:
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
