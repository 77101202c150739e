"""What all metrics share: their variables, labels and weights brought to the shape of predictions, and collections.

A metric is two tensors: its value so far, and an update that takes another batch into account and gives the value after
it. What is counted is in local variables, which no checkpoint holds.

Variables, node names and messages of all metrics are those of TensorFlow's python/ops/metrics_impl.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, TensorSource
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, rank, scope_of, size, squeeze, zeros
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.losses import remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import equal
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.variable import Variable

Metric: TypeAlias = "tuple[Tensor, Counted]"
"""The value so far, and the update."""
Counted: TypeAlias = Variable | Tensor
"""What is counted: so far in a variable, or as it is after the update."""
Labels: TypeAlias = "TensorLike | SparseTensor | SparseTensorValue"
Typed: TypeAlias = Tensor | TensorSource | Array
"""What has a data type without being converted."""
Collections: TypeAlias = str | Collection[Hashable] | None
"""Names of collections."""

Parts = TypeVar("Parts")
Item = TypeVar("Item", Tensor, Tensor | Variable)


@dataclass(frozen=True)
class MetricOptions:
    """Into which collections the value and the update of a metric go, and what it is called."""

    metrics_collections: Collections = None
    updates_collections: Collections = None
    name: str | None = None

    def with_name(self, default: str) -> MetricOptions:
        """These options, with the name `default` unless the program has given one."""
        return self if self.name else replace(self, name=default)

    def for_inner(self, default: str) -> MetricOptions:
        """The same name, or the default, for a metric that another one is made of: it goes into no collections."""
        return MetricOptions(name=self.name or default)

    def record_value(self, value: Tensor) -> Tensor:
        return _collect(value, self.metrics_collections)

    def record_update(self, update: Counted) -> Counted:
        return _collect(update, self.updates_collections)

    def record(self, so_far: Parts, updated: Parts, make: Callable[[Parts, str], Tensor]) -> Metric:
        """The metric that is made, under a name, of what is counted so far, and of what is counted after the update."""
        value = self.record_value(make(so_far, "value"))
        return value, self.record_update(make(updated, "update_op"))


class LabelMetric(Protocol):
    """A metric of labels and predictions with the arguments that most functions of `tf.metrics` have."""

    def __call__(
        self,
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric: ...


def label_metric(
    make: Callable[[TensorLike, TensorLike, TensorLike | None, MetricOptions], Metric], name: str | None = None
) -> LabelMetric:
    """The function of `tf.metrics` that `make` says, of its name unless another is given, and with its docstring."""

    def function(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        return make(labels, predictions, weights, MetricOptions(metrics_collections, updates_collections, name))

    function.__name__ = function.__qualname__ = name or make.__name__
    function.__doc__, function.__module__ = make.__doc__, make.__module__
    return function


def metric_variable(shape: ShapeLike, dtype: DType, validate_shape: bool = True, name: str | None = None) -> Variable:
    """A local variable of zeros that a metric counts with."""
    return Variable(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def _collect(value: Item, collections: Collections) -> Item:
    if collections:
        add_to_collections(value.graph, collections, value)
    return value


class Shaped(Protocol):
    """What has a static shape: a tensor, a variable."""

    @property
    def shape(self) -> TensorShape: ...


def expect_compatible(first: Shaped, second: Shaped) -> None:
    """Raises an error unless two shapes may be equal."""
    if not plain_shape(first.shape).is_compatible(plain_shape(second.shape)):
        raise InvalidArgumentError(f"Shapes {first.shape} and {second.shape} are incompatible")


def match_ranks(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Predictions, labels and weights of one rank: a last dimension of size 1 goes, or is added to weights."""
    predictions = convert(predictions)
    labels, predictions = remove_squeezable_dimensions(labels, predictions)
    expect_compatible(predictions, labels)
    return predictions, labels, None if weights is None else match_weights(predictions, weights)


def match_weights(predictions: Tensor, weights: TensorLike) -> Tensor:
    """Weights of the rank of predictions; a single weight stays one."""
    weights = convert(weights)
    mine, theirs = weights.static_shape, predictions.static_shape
    if mine.rank == 0:
        return weights
    if mine.rank is None or theirs.rank is None:
        return _matched_when_run(weights, predictions)
    if mine.rank - theirs.rank == 1:
        return squeeze(weights, [-1])
    return expand_dims(weights, [-1]) if theirs.rank - mine.rank == 1 else weights


def _matched_when_run(weights: Tensor, predictions: Tensor) -> Tensor:
    weights_rank = rank(weights)
    difference = weights_rank - rank(predictions)
    mine = weights.static_shape
    can_squeeze = mine.rank is None or mine[-1] in (None, 1)

    def expanded() -> Tensor:
        found: Tensor = cond(equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)
        return found

    def squeezed() -> Tensor:
        return squeeze(weights, [-1]) if can_squeeze else weights

    def adjusted() -> Tensor:
        found: Tensor = cond(equal(difference, 1), squeezed, expanded)
        return found

    found: Tensor = cond(equal(weights_rank, 0), lambda: weights, adjusted)
    return found


def sparse_or_tensor(value: Labels) -> Tensor | SparseTensor:
    """A tensor, or the sparse tensor that it is or is the value of."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert(value)


def expanded_labels(labels: Labels, predictions: Tensor) -> Tensor | SparseTensor:
    """Labels of the rank of predictions: a last dimension is added where there is one label each."""
    with scope_of(None, "expand_labels", labels, predictions) as scope:
        given = sparse_or_tensor(labels)
        adjusted: Tensor | SparseTensor
        if isinstance(given, SparseTensor):
            sparse = given
            adjusted = cond(
                equal(rank(predictions), size(sparse.dense_shape) + 1),
                lambda: sparse_reshape(sparse, shape=concat((sparse.dense_shape, (1,)), 0), name=scope),
                lambda: sparse,
            )
            return adjusted
        tensor = given
        mine, theirs = tensor.static_shape.rank, predictions.static_shape.rank
        if mine is None or theirs is None:
            adjusted = cond(
                equal(rank(predictions), rank(tensor) + 1), lambda: expand_dims(tensor, -1, name=scope), lambda: tensor
            )
            return adjusted
        if mine == theirs:
            return tensor
        if theirs == mine + 1:
            return expand_dims(tensor, -1, name=scope)
        raise InvalidArgumentError(
            f"Unexpected labels shape {tensor.shape} for predictions shape {predictions.shape}. Predictions rank "
            "should be the same rank as labels rank or labels rank plus one ."
        )
