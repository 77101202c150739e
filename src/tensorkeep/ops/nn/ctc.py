"""Connectionist temporal classification: labels for sequences whose timing is not known.

A path names a class or the blank at every step; repeats merge and blanks vanish. The blank is the last class. The loss
is the negative logarithm of the probability of all paths to the labels, found by the forward and backward recursions
over the labels with blanks around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, TensorKeepError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.nn._beam_search import best_beams
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import times
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

ctc_greedy_decoder = op(
    "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> "
    "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
    "merge_repeated: bool = false",
    "blank_index: int = -1",
    "T: {float, double} = float",
)
not_differentiable(ctc_greedy_decoder)


@ctc_greedy_decoder.shape
def ctc_greedy_decoder_shape(inputs: Tensor, sequence_length: Tensor) -> tuple[Shape, ...]:
    batch = merge_sizes(with_rank(inputs, 3)[1], with_rank(sequence_length, 1)[0])
    return Shape((None, 2)), Shape((None,)), Shape((2,)), Shape((batch, 1))


def _check_lengths(
    inputs: Array, sequence_length: Array, wrong_lengths: type[TensorKeepError] = FailedPreconditionError
) -> None:
    """Raises unless there is a length for each sequence. TensorFlow's decoders have another error than its loss."""
    if inputs.ndim != 3:
        raise InvalidArgumentError(f"inputs is not a 3-Tensor: {list(inputs.shape)}")
    if not inputs.size:
        raise InvalidArgumentError(f"inputs must not be empty, got shape {list(inputs.shape)}")
    if sequence_length.ndim != 1:
        raise InvalidArgumentError(f"sequence_length is not a vector: {list(sequence_length.shape)}")
    if sequence_length.shape != inputs.shape[1:2]:
        raise wrong_lengths(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {sequence_length.size} batch_size: "
            f"{inputs.shape[1]}"
        )
    if sequence_length.size and not 0 <= sequence_length.min() <= sequence_length.max() <= inputs.shape[0]:
        raise wrong_lengths(f"sequence_length {sequence_length.tolist()}: expected lengths of 0 to {inputs.shape[0]}")


@ctc_greedy_decoder.kernel
def ctc_greedy_decoder_kernel(
    inputs: Array, sequence_length: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Array, Array, Array, Array]:
    _check_lengths(inputs, sequence_length)
    steps, batch, classes = inputs.shape
    blank = blank_index if blank_index >= 0 else classes + blank_index
    if not 0 <= blank < classes:
        raise InvalidArgumentError(f"blank_index expected to be between 0 and {classes - 1} but was {blank_index}")
    best = np.argmax(inputs, axis=2) if inputs.size else np.zeros((steps, batch), np.int64)
    is_inside = np.arange(steps)[:, None] < sequence_length
    peaks = np.max(inputs, axis=2) if inputs.size else np.zeros((steps, batch), inputs.dtype)
    scores = -np.add.reduce(np.where(is_inside, peaks, inputs.dtype.type(0)), axis=0, dtype=inputs.dtype)
    kept = is_inside & (best != blank)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    rows, at = np.nonzero(kept.T)
    counts = kept.sum(axis=0)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if batch else np.zeros(0, np.int64)
    places = np.stack((rows, np.arange(rows.size) - starts[rows]), axis=1).astype(np.int64)
    shape = np.array([batch, counts.max() if batch else 0], np.int64)
    return places, best[at, rows].astype(np.int64), shape, scores[:, None]


ctc_beam_search_decoder = op(
    "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> decoded_indices: top_paths * int64, "
    "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T",
    "beam_width: int >= 1",
    "top_paths: int >= 1",
    "merge_repeated: bool = true",
    "T: {float, double} = float",
)
not_differentiable(ctc_beam_search_decoder)


@ctc_beam_search_decoder.shape
def ctc_beam_search_decoder_shape(inputs: Tensor, sequence_length: Tensor, *, top_paths: int) -> tuple[Any, ...]:
    batch = merge_sizes(with_rank(inputs, 3)[1], with_rank(sequence_length, 1)[0])
    several = [[shape] * top_paths for shape in (Shape((None, 2)), Shape((None,)), Shape((2,)))]
    return (*several, Shape((batch, top_paths)))


@ctc_beam_search_decoder.kernel
def ctc_beam_search_decoder_kernel(
    inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[list[Array], list[Array], list[Array], Array]:
    _check_lengths(inputs, sequence_length)
    if top_paths > beam_width:
        raise InvalidArgumentError("requested more paths than the beam width.")
    batch = inputs.shape[1]
    scores = np.zeros((batch, top_paths), inputs.dtype)
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    for row in range(batch):
        found = best_beams(inputs[: int(sequence_length[row]), row], beam_width, top_paths)
        if len(found) < top_paths:
            raise InvalidArgumentError("Less leaves in the beam search than requested.")
        for i, beam in enumerate(found):
            scores[row, i] = beam.total
            paths[i].append(beam.labels(merge_repeated))
    sparse = [_as_sparse(rows) for rows in paths]
    return [item[0] for item in sparse], [item[1] for item in sparse], [item[2] for item in sparse], scores


def _as_sparse(rows: list[list[int]]) -> tuple[Array, Array, Array]:
    """Sequences of labels as a sparse matrix: indices, values, shape."""
    places = [(row, at) for row, labels in enumerate(rows) for at in range(len(labels))]
    values = np.array([label for labels in rows for label in labels], np.int64)
    shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
    return np.array(places, np.int64).reshape(-1, 2), values, shape


# ------------------------------------------------------------------------------------------------------ Loss

ctc_loss = op(
    "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> loss: T, gradient: T",
    "preprocess_collapse_repeated: bool = false",
    "ctc_merge_repeated: bool = true",
    "ignore_longer_outputs_than_inputs: bool = false",
    "T: {float, double} = float",
)


@ctc_loss.shape
def ctc_loss_shape(
    inputs: Tensor, labels_indices: Tensor, labels_values: Tensor, sequence_length: Tensor
) -> tuple[Shape, Shape]:
    known, places, values = with_rank(inputs, 3), with_rank(labels_indices, 2), with_rank(labels_values, 1)
    merge_sizes(places[0], values[0])
    batch = merge_sizes(known[1], with_rank(sequence_length, 1)[0])
    return Shape((batch,)), Shape((known[0], batch, known[2]))


@ctc_loss.kernel
def ctc_loss_kernel(
    inputs: Array,
    labels_indices: Array,
    labels_values: Array,
    sequence_length: Array,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Array, Array]:
    _check_lengths(inputs, sequence_length, InvalidArgumentError)
    losses = np.zeros(inputs.shape[1], inputs.dtype)
    gradient = np.zeros(inputs.shape, inputs.dtype)
    labels = _labels_of(labels_indices, labels_values, inputs.shape[1], inputs.shape[2])
    for row, label in enumerate(labels):
        steps = int(sequence_length[row])
        if steps == 0:
            continue
        if preprocess_collapse_repeated and label.size:
            label = label[np.concatenate(([True], label[1:] != label[:-1]))]
        needed = label.size + (int(np.count_nonzero(label[1:] == label[:-1])) if ctc_merge_repeated else 0)
        if needed > steps:
            if ignore_longer_outputs_than_inputs:
                continue
            raise InvalidArgumentError(
                f"Not enough time for target transition sequence (required: {needed}, available: {steps}){row}You can "
                "turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
            )
        losses[row], gradient[:steps, row] = _loss_of(inputs[:steps, row].astype(np.float64), label, ctc_merge_repeated)
    return losses, gradient


def _labels_of(indices: Array, values: Array, batch: int, classes: int) -> list[Array]:
    if indices.ndim != 2 or indices.shape != (values.size, 2):
        raise InvalidArgumentError(
            f"labels_indices {list(indices.shape)} and labels_values {list(values.shape)}: expected [n, 2] and [n]"
        )
    if values.size and not 0 <= indices[:, 0].min() <= indices[:, 0].max() < batch:
        raise InvalidArgumentError(f"labels_indices name rows from 0 to {batch - 1} of the batch, and others")
    if values.size and not 0 <= values.min() <= values.max() < classes - 1:
        raise InvalidArgumentError(
            f"Saw a non-null label (index >= num_classes - 1) or a negative one, among labels from {values.min()} to "
            f"{values.max()} with {classes - 1} classes beside the blank"
        )
    return [values[indices[:, 0] == row] for row in range(batch)]


def _loss_of(logits: Array, label: Array, merges: bool) -> tuple[Any, Array]:
    """The loss of one sequence, and its gradient with respect to the logits."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    blank = logits.shape[1] - 1
    extended = np.full(2 * label.size + 1, blank)
    extended[1::2] = label
    emitted = logs[:, extended]
    stays = np.ones(extended.size, bool) if merges else extended == blank
    skips = extended != blank
    skips[:2] = False
    if merges:
        skips[2:] &= extended[2:] != extended[:-2]
    forward = _recursion(emitted, stays, skips)
    mirrored = np.concatenate((skips[2:], [False, False]))[: extended.size][::-1]
    backward = _recursion(emitted[::-1, ::-1], stays[::-1], mirrored)[::-1, ::-1]
    paths = forward + backward - emitted
    ends = forward[-1, -2:] if extended.size > 1 else forward[-1]
    total = np.logaddexp.reduce(ends)
    gradient = np.exp(logs)
    if np.isfinite(total):
        shares = np.exp(paths - total)
        for step in range(len(gradient)):
            np.subtract.at(gradient[step], extended, shares[step])
    return -total, gradient


def _recursion(emitted: Array, stays: Array, skips: Array) -> Array:
    """The logarithm of the probability of all ways to each place at each step."""
    alpha = np.full(emitted.shape, -np.inf)
    alpha[0, :2] = emitted[0, :2]
    for step in range(1, len(emitted)):
        before = alpha[step - 1]
        ways = np.where(stays, before, -np.inf)
        ways[1:] = np.logaddexp(ways[1:], before[:-1])
        ways[2:] = np.logaddexp(ways[2:], np.where(skips[2:], before[:-2], -np.inf))
        alpha[step] = ways + emitted[step]
    return alpha


@ctc_loss.gradient
def ctc_loss_gradient(op: Operation, dloss: Tensor, dgradient: Tensor) -> Gradients:
    kept = emit(
        "PreventGradient",
        op.outputs[1],
        message=(
            "Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's "
            "interaction  with tf.gradients()"
        ),
    )
    return [times(emit("ExpandDims", dloss, -1), kept), None, None, None]
