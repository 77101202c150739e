"""What all metrics share: their variables, labels and weights brought to the shape of predictions, and collections.

A metric is two tensors: its value so far, and an update that takes another batch into account and gives the value after
it. What is counted is in local variables, which no checkpoint holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, rank, scope_of, size, squeeze, zeros
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.nn.losses import remove_squeezable_dimensions
from tensorkeep.tf1.functions.numbers.elementwise import equal
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.variable import Variable

Metric: TypeAlias = tuple[Any, Any]
"""The value so far, and the update."""


def metric_variable(shape: Any, dtype: DType, validate_shape: bool = True, name: str | None = None) -> Variable:
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


def collected(value: Any, collections: Any) -> Any:
    """The value, which is now in the collections too, if any are given."""
    if collections:
        add_to_collections(value.graph, collections, value)
    return value


def made_of(
    so_far: Any, updated: Any, make: Callable[[Any, str], Any], metrics_collections: Any, updates_collections: Any
) -> Metric:
    """The metric that is made, under a name, of what is counted so far, and of what is counted after the update."""
    value = collected(make(so_far, "value"), metrics_collections)
    return value, collected(make(updated, "update_op"), updates_collections)


def expect_compatible(first: Any, second: Any) -> None:
    """Raises an error unless two shapes may be equal."""
    if not plain_shape(first.shape).is_compatible(plain_shape(second.shape)):
        raise InvalidArgumentError(f"Shapes {first.shape} and {second.shape} are incompatible")


def matched(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights of one rank: a last dimension of size 1 goes, or is added to weights."""
    predictions = convert(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        expect_compatible(predictions, labels)
    if weights is None:
        return predictions, labels, None
    weights = convert(weights)
    mine, theirs = weights.static_shape, predictions.static_shape
    if mine.rank == 0:
        return predictions, labels, weights
    if mine.rank is None or theirs.rank is None:
        return predictions, labels, _matched_when_run(weights, predictions)
    if mine.rank - theirs.rank == 1:
        weights = squeeze(weights, [-1])
    elif theirs.rank - mine.rank == 1:
        weights = expand_dims(weights, [-1])
    return predictions, labels, weights


def _matched_when_run(weights: Tensor, predictions: Tensor) -> Tensor:
    weights_rank = rank(weights)
    difference = weights_rank - rank(predictions)
    mine = weights.static_shape
    can_squeeze = mine.rank is None or mine[-1] in (None, 1)

    def expanded() -> Any:
        return cond(equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    def squeezed() -> Tensor:
        return squeeze(weights, [-1]) if can_squeeze else weights

    def adjusted() -> Any:
        return cond(equal(difference, 1), squeezed, expanded)

    found: Tensor = cond(equal(weights_rank, 0), lambda: weights, adjusted)
    return found


def sparse_or_tensor(value: Any) -> Any:
    """A tensor, or the sparse tensor that it is."""
    return value if isinstance(value, SparseTensor) else convert(value)


def expanded_labels(labels: Any, predictions: Tensor) -> Any:
    """Labels of the rank of predictions: a last dimension is added where there is one label each."""
    with scope_of(None, "expand_labels", labels, predictions) as scope:
        labels = sparse_or_tensor(labels)
        if isinstance(labels, SparseTensor):
            sparse = labels
            return cond(
                equal(rank(predictions), size(sparse.dense_shape) + 1),
                lambda: sparse_reshape(sparse, shape=concat((sparse.dense_shape, (1,)), 0), name=scope),
                lambda: sparse,
            )
        mine, theirs = labels.static_shape.rank, predictions.static_shape.rank
        if mine is None or theirs is None:
            return cond(
                equal(rank(predictions), rank(labels) + 1), lambda: expand_dims(labels, -1, name=scope), lambda: labels
            )
        if mine == theirs:
            return labels
        if theirs == mine + 1:
            return expand_dims(labels, -1, name=scope)
        raise InvalidArgumentError(
            f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}. Predictions rank "
            "should be the same rank as labels rank or labels rank plus one ."
        )
