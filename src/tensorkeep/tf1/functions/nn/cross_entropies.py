"""Losses of logits, element by element or row by row, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

import math
from typing import Any

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.nn import softmax as softmax_ops
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    either,
    ones_like,
    rank,
    reshape,
    scope_of,
    shape,
    stop_gradient,
    transpose,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import add, cast, exp, log, log1p, logical_and, subtract
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range


def _expect_both(
    function: str, unnamed: object, labels: TensorLike | None, logits: TensorLike | None
) -> tuple[TensorLike, TensorLike]:
    """Labels and logits, of which neither may be missing, or without a name: TensorFlow 0.x had them the other way."""
    if unnamed is not None:
        raise InvalidArgumentError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...): without names their order "
            "was another before TensorFlow 1.0"
        )
    if labels is None or logits is None:
        raise InvalidArgumentError(
            f"Both `labels` and `logits` must be provided for {function}. "
            f"Received: labels={labels!s} and logits={logits!s}"
        )
    return labels, logits


def _expect_same_shape(labels: Tensor, logits: Tensor, names: str = "`logits` and `labels`") -> None:
    if not labels.static_shape.is_compatible(logits.static_shape):
        raise InvalidArgumentError(f"{names} must have the same shape, received ({logits.shape} vs {labels.shape}).")


# ---------------------------------------------------------------------------------------------------- Softmax


def softmax_cross_entropy_with_logits(
    _sentinel: None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int | None = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """As `softmax_cross_entropy_with_logits_v2`, without a gradient for the labels."""
    dim = either("axis", axis, "dim", dim)
    labels, logits = _expect_both("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with scope_of(name, "softmax_cross_entropy_with_logits_sg", logits, labels) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis=dim, name=scope)


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike, logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """For each row, the cross entropy between the labels and the softmax of the logits."""
    axis = either("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with scope_of(name, "softmax_cross_entropy_with_logits", logits, labels) as scope:
        logits, labels = convert(logits, name="logits"), convert(labels, name="labels")
        is_half = logits.dtype.base_dtype in (FLOAT16, BFLOAT16)
        precise = cast(logits, FLOAT32) if is_half else logits
        labels = cast(labels, precise.dtype)
        count = rank(precise)
        if axis != -1:
            precise = _moved_to_end(precise, axis, count)
            labels = _moved_to_end(labels, axis, count)
        sizes = shape(precise)
        precise, labels = _flattened_rows(precise), _flattened_rows(labels)
        cost = softmax_ops.softmax_cross_entropy_with_logits(precise, labels, name=scope)[0]
        cost = reshape(cost, slice_of(sizes, [0], [subtract(count, 1)]))
        dims = logits.static_shape.dims
        if dims is not None:
            kept = list(dims)
            del kept[axis]
            cost.set_shape(Shape(tuple(kept)))
        found: Tensor = cast(cost, logits.dtype) if is_half else cost
        return found


def _moved_to_end(x: Tensor, axis: Any, count: Tensor) -> Tensor:
    order = concat([number_range(axis), number_range(axis + 1, count), [axis]], 0)
    return transpose(x, order)


def _flattened_rows(x: Tensor) -> Tensor:
    """A matrix of the same rows."""
    count = rank(x)
    last = slice_of(shape(x), [subtract(count, 1)], [1])
    rows = reshape(x, concat([[-1], last], 0))
    dims = x.static_shape.dims
    if dims is not None and None not in dims[:-1]:
        rows.set_shape(Shape((math.prod(size for size in dims[:-1] if size is not None), dims[-1])))
    return rows


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: None = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross entropy between classes given by number and the softmax of the logits."""
    _expect_both("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with scope_of(name, "SparseSoftmaxCrossEntropyWithLogits", labels, logits):
        labels, logits = convert(labels), convert(logits)
        is_half = logits.dtype.base_dtype is FLOAT16
        precise = cast(logits, FLOAT32) if is_half else logits
        labels_shape = shape(labels)
        is_known = _check_sparse_shapes(labels.static_shape, logits.static_shape)
        if logits.static_shape.rank == 2:
            cost: Tensor = softmax_ops.sparse_softmax_cross_entropy_with_logits(precise, labels, name=name)[0]
            return cast(cost, FLOAT16) if is_half else cost
        checks = [] if is_known else [assert_equal(shape(labels), shape(logits)[:-1])]
        with control_dependencies(checks):
            classes = shape(logits)[rank(logits) - 1]
            rows, flat = reshape(precise, [-1, classes]), reshape(labels, [-1])
            cost = softmax_ops.sparse_softmax_cross_entropy_with_logits(rows, flat, name=name)[0]
            cost = reshape(cost, labels_shape)
            cost.set_shape(labels.static_shape)
            return cast(cost, FLOAT16) if is_half else cost


def _check_sparse_shapes(labels: Shape, logits: Shape) -> bool:
    """Refuses what cannot be right, and says whether everything is known that there is to know."""
    if logits.rank == 0:
        raise InvalidArgumentError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if logits.rank is not None and labels.rank is not None and labels.rank != logits.rank - 1:
        raise InvalidArgumentError(
            f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape={labels} of rank "
            f"{labels.rank} and logits.shape={logits} of rank {logits.rank}"
        )
    is_known = labels.is_fully_known and logits.dims is not None and None not in logits.dims[:-1]
    if is_known and logits.dims is not None and labels.dims != logits.dims[:-1]:
        raise InvalidArgumentError(
            f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape={labels} "
            f"and logits.shape={logits}"
        )
    return is_known


# ---------------------------------------------------------------------------------------------------- Elements


def sigmoid_cross_entropy_with_logits(
    _sentinel: None = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """For each element, the cross entropy between a label and the sigmoid of a logit."""
    _expect_both("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with scope_of(name, "logistic_loss", logits, labels) as scope:
        logits, labels = convert(logits, name="logits"), convert(labels, name="labels")
        _expect_same_shape(labels, logits)
        zeros = zeros_like(logits, dtype=logits.dtype)
        is_positive = logits >= zeros
        positive = where(is_positive, logits, zeros)
        negative = where(is_positive, -logits, logits)
        difference = positive - logits * labels
        return add(difference, log1p(exp(negative)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: Tensor | float | None = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """As `sigmoid_cross_entropy_with_logits`, with a weight for the positive labels."""
    labels = either("labels", labels, "targets", targets)
    with scope_of(name, "logistic_loss", logits, labels) as scope:
        logits, labels = convert(logits, name="logits"), convert(labels, name="labels")
        _expect_same_shape(labels, logits)
        factor: Any = pos_weight
        weight = 1 + (factor - 1) * labels
        first = (1 - labels) * logits
        loss = log1p(exp(-absolute(logits)))
        return add(first, weight * (loss + relu(-logits)), name=scope)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """The negative log likelihood of a Poisson distribution, without the part that depends on the targets alone."""
    with scope_of(name, "log_poisson_loss", log_input, targets):
        log_input, targets = convert(log_input, name="log_input"), convert(targets, name="targets")
        _expect_same_shape(targets, log_input, "`log_input` and `targets`")
        result: Tensor = exp(log_input) - log_input * targets
        if compute_full_loss:
            half = constant(0.5, targets.dtype)
            two_pi = constant(2 * math.pi, targets.dtype)
            stirling = (targets * log(targets)) - targets + (half * log(two_pi * targets))
            zeros = zeros_like(targets, dtype=targets.dtype)
            ones = ones_like(targets, dtype=targets.dtype)
            is_small = logical_and(targets >= zeros, targets <= ones)
            result = result + where(is_small, zeros, stirling)
        return result


__all__ = [
    "log_poisson_loss",
    "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
    "weighted_cross_entropy_with_logits",
]
