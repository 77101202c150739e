"""Softmax, the losses that begin with one, and half the sum of squares.

All subtract the maximum of a row first, so that no exponential overflows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.io.machine.blas import inner_product
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.layers import in_parts, sparse_cross_entropy
from tensorkeep.native.layers import softmax as compiled_softmax
from tensorkeep.native.networks import fused_sparse_cross_entropy
from tensorkeep.ops.nn.windows import narrow_array, widen_array
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import minus, negative, plus, reduce_sum, times
from tensorkeep.ops.shared.half_sums import half_sums
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import broadcast, scalar, with_rank, with_rank_at_least
from tensorkeep.shapes import Shape

_CACHED: Final = 1 << 17  # logits that stay in the cache from one pass over them to the next
_MULTIPLICATIONS: Final = 32  # that take as long as the exponential of a logit, and what is done with it

softmax = op("Softmax(logits: T) -> softmax: T", "T: {half, bfloat16, float, double}")


@softmax.shape
def softmax_shape(logits: Tensor) -> Shape:
    return with_rank_at_least(logits, 1)


@softmax.kernel
def softmax_kernel(logits: Array) -> Array:
    if logits.dtype.itemsize == 2 and logits.size:
        _, powers, sums = _half_powers(logits)
        return powers * np.reciprocal(sums)
    found = compiled_softmax(logits)
    if found is not None:
        return found
    _, powers, sums = _powers(widen_array(logits))
    np.divide(powers, sums, out=powers)
    return narrow_array(powers, logits.dtype)


def _powers(logits: Array, out: Array | None = None) -> tuple[Array, Array, Array]:
    """The logits less their maximum, the exponentials of that, which go to `out`, and their sums."""
    if not logits.size:
        if not logits.ndim:
            raise InvalidArgumentError("logits must have >= 1 dimension, got []")
        return logits.copy(), logits.copy(), np.zeros((*logits.shape[:-1], 1), logits.dtype)
    if not logits.ndim:
        raise InvalidArgumentError("logits must have >= 1 dimension, got []")
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    powers = np.exp(shifted, out=out)
    return shifted, powers, np.add.reduce(powers, axis=-1, keepdims=True)


def _half_powers(logits: Array) -> tuple[Array, Array, Array]:
    """The same of halves, of which TensorFlow rounds every step to a half."""
    shifted = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    powers = np.exp(shifted.astype(np.float32)).astype(logits.dtype)
    return shifted, powers, half_sums(powers)


@softmax.gradient
def softmax_gradient(op: Operation, dy: Tensor) -> Gradients:
    y = op.outputs[0]
    return times(minus(dy, reduce_sum(times(dy, y), -1, keep_dims=True)), y)


log_softmax = op("LogSoftmax(logits: T) -> logsoftmax: T", "T: {half, bfloat16, float, double}")
log_softmax.shape(softmax_shape)


@log_softmax.kernel
def log_softmax_kernel(logits: Array) -> Array:
    if logits.dtype.itemsize == 2 and logits.size:
        shifted, _, sums = _half_powers(logits)
        result: Array = shifted - np.log(sums.astype(np.float32)).astype(sums.dtype)
        return result
    shifted, _, sums = _powers(widen_array(logits))
    shifted -= np.log(sums)
    return narrow_array(shifted, logits.dtype)


@log_softmax.gradient
def log_softmax_gradient(op: Operation, dy: Tensor) -> Gradients:
    y = emit("Exp", op.outputs[0])
    return minus(dy, times(reduce_sum(dy, -1, keep_dims=True), y))


# ------------------------------------------------------------------------------------------------------ Losses

softmax_cross_entropy_with_logits = op(
    "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T",
    "T: {half, bfloat16, float, double}",
)


@softmax_cross_entropy_with_logits.shape
def softmax_cross_entropy_with_logits_shape(features: Tensor, labels: Tensor) -> tuple[Shape, Shape]:
    known = features.static_shape
    if known.rank in (None, 2) and known.with_rank(2).is_compatible(labels.static_shape):
        rows = known.with_rank(2).merge(labels.static_shape)
    else:
        rows = broadcast(features, labels)
    if rows.rank != 2:
        raise InvalidArgumentError(f"Shape must be broadcasted with rank 2, but is rank is {rows.rank or 'unknown'}.")
    return Shape(rows.dims[:1] if rows.dims else None), rows


@softmax_cross_entropy_with_logits.kernel
def softmax_cross_entropy_with_logits_kernel(features: Array, labels: Array) -> tuple[Array, Array]:
    dtype = features.dtype
    logits, targets = np.broadcast_arrays(features, labels)
    if logits.ndim != 2:
        raise InvalidArgumentError(
            f"logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional: "
            f"logits_size={list(features.shape)} labels_size={list(labels.shape)}"
        )
    if dtype.itemsize == 2 and logits.size:
        losses, chances = _half_losses(logits)
        return half_sums(targets * losses)[:, 0], chances - targets
    targets = widen_array(targets)
    shifted, powers, sums = _powers(widen_array(logits))
    np.subtract(np.log(sums), shifted, out=shifted)
    shifted *= targets
    powers /= sums
    powers -= targets
    return narrow_array(np.add.reduce(shifted, axis=1), dtype), narrow_array(powers, dtype)


def _half_losses(logits: Array) -> tuple[Array, Array]:
    """The loss of each class if it is the right one, and its chance, of halves, rounded where TensorFlow rounds."""
    shifted, powers, sums = _half_powers(logits)
    return np.log(sums.astype(np.float32)).astype(sums.dtype) - shifted, powers / sums


@softmax_cross_entropy_with_logits.gradient
def softmax_cross_entropy_with_logits_gradient(op: Operation, dloss: Tensor, dbackprop: Tensor) -> Gradients:
    logits = op.inputs[0]
    grad = _logits_gradient(op, dloss, dbackprop)
    return grad, _by_row(dloss, negative(log_softmax(logits)))


def _by_row(factors: Tensor, rows: Tensor) -> Any:
    return times(emit("ExpandDims", factors, -1), rows)


def _logits_gradient(op: Operation, dloss: Tensor, dbackprop: Tensor) -> Any:
    """The gradient of the logits: the loss's, and that of the second output where one came."""
    grad = _by_row(dloss, op.outputs[1])
    if dbackprop is None or dbackprop.op.type == "ZerosLike":  # none came
        return grad
    y = softmax(op.inputs[0])
    product = emit("BatchMatMulV2", emit("ExpandDims", dbackprop, 1), emit("ExpandDims", y, 2), name="MatMul")
    squeezed = emit("Squeeze", product, squeeze_dims=[1])
    return plus(grad, times(minus(dbackprop, squeezed), y))


sparse_softmax_cross_entropy_with_logits = op(
    "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T",
    "T: {half, bfloat16, float, double}",
    "Tlabels: {int32, int64} = int64",
)


@sparse_softmax_cross_entropy_with_logits.shape
def sparse_softmax_cross_entropy_with_logits_shape(features: Tensor, labels: Tensor) -> tuple[Shape, Shape]:
    rows, known = with_rank(features, 2), with_rank(labels, 1)
    count = merge_sizes(rows[0], known[0])
    return Shape((count,)), Shape((count, rows[1]))


@sparse_softmax_cross_entropy_with_logits.kernel
def sparse_softmax_cross_entropy_with_logits_kernel(features: Array, labels: Array) -> tuple[Array, Array]:
    dtype = features.dtype
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise InvalidArgumentError(
            f"logits and labels must have the same first dimension, got logits shape {list(features.shape)} and labels "
            f"shape {list(labels.shape)}"
        )
    if not features.shape[1]:
        raise InvalidArgumentError(f"Must have at least one class, but got logits shape {list(features.shape)}")
    if (fused := fused_sparse_cross_entropy(features, labels)) is not None:
        return fused
    _check_labels(labels, features.shape[1])
    if (found := sparse_cross_entropy(features, labels)) is not None:
        return found
    chosen = np.arange(0, features.size, features.shape[1]) + labels  # counted through all rows: one index is faster
    if dtype.itemsize == 2:
        all_losses, powers = _half_losses(features) if features.size else (features, features)
        losses = all_losses.take(chosen)
    else:
        losses, powers = _losses_and_powers(widen_array(features), labels)
    powers.put(chosen, powers.take(chosen) - powers.dtype.type(1))
    return narrow_array(losses, dtype), narrow_array(powers, dtype)


def _losses_and_powers(logits: Array, labels: Array) -> tuple[Array, Array]:
    """The loss of each row, and its softmax; as many rows at a time as stay in the cache, by several threads."""
    rows, classes = logits.shape
    losses, powers = np.empty(rows, logits.dtype), result_array(logits.shape, logits.dtype)

    def work(begin: int, end: int) -> None:
        step = max(1, _CACHED // classes)
        for first in range(begin, end, step):
            some = slice(first, min(first + step, end))
            with np.errstate(all="ignore"):  # as in runs: this may be another thread
                shifted, found, sums = _powers(logits[some], powers[some])
                losses[some] = np.log(sums[:, 0]) - shifted[np.arange(len(shifted)), labels[some]]
                found /= sums

    in_parts(work, rows, _MULTIPLICATIONS * logits.size)
    return losses, powers


def _check_labels(labels: Array, classes: int) -> None:
    unsigned = labels.view(np.uint32 if labels.dtype.itemsize == 4 else np.uint64)  # where a negative label is large
    if labels.size and np.maximum.reduce(unsigned) >= classes:
        bad = (labels < 0) | (labels >= classes)
        raise InvalidArgumentError(
            f"Received a label value of {labels[bad][0]} which is outside the valid range of [0, {classes}).  "
            f"Label values: {' '.join(map(str, labels[:100].tolist()))}"
        )


@sparse_softmax_cross_entropy_with_logits.gradient
def sparse_softmax_cross_entropy_with_logits_gradient(op: Operation, dloss: Tensor, dbackprop: Tensor) -> Gradients:
    return _logits_gradient(op, dloss, dbackprop), None


l2_loss = op("L2Loss(t: T) -> output: T", "T: {half, bfloat16, float, double}")
l2_loss.shape(scalar)


@l2_loss.kernel
def l2_loss_kernel(t: Array) -> Array:
    flat = widen_array(t).reshape(-1)
    return narrow_array(inner_product(flat, flat) / flat.dtype.type(2), t.dtype)


@l2_loss.gradient
def l2_loss_gradient(op: Operation, dy: Tensor) -> Gradients:
    return times(op.inputs[0], dy)
