"""What programs may say of a variable, as types, and all that they say of one, as frozen values.

`get_variable` and `tf.Variable` have TensorFlow's long signatures. Behind these, what was said travels as one value:
`VariableOptions` from `get_variable` by way of scope and store, `VariableArguments` from `tf.Variable` by way of the
creators to the class that makes the nodes. Fields stand in the order of TensorFlow's arguments (`_true_getter` in
python/ops/variable_scope.py, `VariableV1` in python/ops/variable_v1.py), so that positional calls mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.proto.messages import VariableDef
from tensorkeep.tf1.variables.modes import ReuseMode, VariableAggregation, VariableSynchronization

InitializerLike: TypeAlias = "Callable[..., TensorLike] | TensorLike | None"
"""What makes an initial value, given a shape and a type; or the value itself."""
Regularizer: TypeAlias = Callable[..., Tensor | None]
"""Of a variable its loss, or None if it has none."""
Partitioner: TypeAlias = Callable[..., Sequence[int]]
"""Of a shape and a type, into how many parts each axis is cut."""
Constraint: TypeAlias = Callable[..., TensorLike]
"""Of the value of a variable the one that an optimizer leaves there."""
CustomGetter: TypeAlias = Callable[..., Any]
"""Called with a getter and all arguments of `get_variable`, by name; what it gives is what the program gets."""
CollectionNames: TypeAlias = Collection[Hashable]
Reuse: TypeAlias = bool | ReuseMode | None
SynchronizationLike: TypeAlias = VariableSynchronization | int | None
AggregationLike: TypeAlias = VariableAggregation | int | None


@dataclass(frozen=True)
class VariableOptions:
    """What `get_variable` is told of a variable besides its name. None is what the scope says."""

    shape: ShapeLike = None
    dtype: DTypeLike | None = FLOAT32
    initializer: InitializerLike = None
    regularizer: Regularizer | None = None
    reuse: Reuse = None
    trainable: bool | None = None
    collections: CollectionNames | None = None
    caching_device: DeviceLike = None
    partitioner: Partitioner | None = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Constraint | None = None
    synchronization: SynchronizationLike = VariableSynchronization.AUTO
    aggregation: AggregationLike = VariableAggregation.NONE

    @property
    def base_dtype(self) -> DType:
        """The type of the values, which the program or the scope has told."""
        return DType.of(self.dtype).base_dtype


@dataclass(frozen=True)
class VariableArguments:
    """What `tf.Variable` is called with."""

    initial_value: InitializerLike = None
    trainable: bool | None = None
    collections: CollectionNames | None = None
    validate_shape: bool = True
    caching_device: DeviceLike = None
    name: str | None = None
    variable_def: VariableDef | None = None
    dtype: DTypeLike | None = None
    expected_shape: ShapeLike = None
    import_scope: str | None = None
    constraint: Constraint | None = None
    use_resource: bool | None = None
    synchronization: SynchronizationLike = VariableSynchronization.AUTO
    aggregation: AggregationLike = VariableAggregation.NONE
    shape: ShapeLike = None
