"""Connectionist temporal classification, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.nn import ctc
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    either,
    expand_dims,
    ones_like,
    pad,
    reshape,
    scope_of,
    shape,
    transpose,
    where,
)
from tensorkeep.tf1.functions.arrays.shapes import unique as find_unique
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask, scatter_nd, sequence_mask
from tensorkeep.tf1.functions.control.higher_order import map_fn
from tensorkeep.tf1.functions.numbers.elementwise import cast, logical_and, not_equal
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum


def ctc_loss(
    labels: TensorLike,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """The loss of sparse labels for sequences of logits, [time, batch, classes]; the last class is the blank."""
    if not isinstance(labels, SparseTensor):
        raise WrongTypeError(
            f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: "
            f"{type(labels).__name__}"
        )
    inputs = convert(either("logits", logits, "inputs", inputs), name="logits")
    if not time_major:
        inputs = transpose(inputs, [1, 0, 2])
    dtype = inputs.dtype.base_dtype
    is_half = dtype in (FLOAT16, BFLOAT16)
    loss: Tensor = ctc.ctc_loss(
        cast(inputs, FLOAT32) if is_half else inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )[0]
    return cast(loss, dtype) if is_half else loss


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the most probable class at each step, and the negative sum of the greatest logits."""
    indices, values, shape, scores = ctc.ctc_greedy_decoder(
        inputs, sequence_length, merge_repeated=merge_repeated, blank_index=blank_index
    )
    return [SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The most probable label sequences that a beam search finds, and the logarithms of their probabilities."""
    found = ctc.ctc_beam_search_decoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    parts = zip(found.decoded_indices, found.decoded_values, found.decoded_shape, strict=True)
    return [SparseTensor(*part) for part in parts], found.log_probability


def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder` that keeps repeated labels, which blanks part."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def ctc_loss_v2(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: TensorLike | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The loss of labels, sparse or [batch, label], for sequences of logits. `unique` saves no work here.

    Dense labels become sparse ones. Labels that are too long for their sequence are an error.
    """
    logits = convert(logits, name="logits")
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise InvalidArgumentError("Argument `blank_index` must be provided when labels is a SparseTensor.")
        classes = size_along(logits, 2)
        blank = blank_index + classes if blank_index < 0 else blank_index
        if isinstance(classes, Tensor) or blank != classes - 1:
            logits, labels = _blank_last(logits, labels, blank)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)
    with scope_of(name, "ctc_loss_dense", logits, labels, label_length, logit_length):
        sparse = _sparse_labels(convert(labels, name="labels"), convert(label_length, name="label_length"))
        blank = 0 if blank_index is None else blank_index
        blank = blank + size_along(logits, 2) if blank < 0 else blank
        logits, sparse = _blank_last(logits, sparse, blank)
        return ctc_loss(sparse, logits, cast(logit_length, INT32), time_major=logits_time_major)


def _blank_last(logits: Tensor, labels: SparseTensor, blank: Any) -> tuple[Tensor, SparseTensor]:
    """Logits whose last class is the blank, and labels to go with them."""
    parts = [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]]
    moved = concat(parts, axis=2)
    values = where(labels.values < blank, labels.values, labels.values - 1)
    return moved, SparseTensor(labels.indices, values, labels.dense_shape)


def _sparse_labels(labels: Tensor, lengths: Tensor) -> SparseTensor:
    """As many labels of each row as its length says."""
    is_label = sequence_mask(lengths, size_along(labels, 1))
    values = cast(boolean_mask(labels, is_label), INT32)
    return SparseTensor(where(is_label), values, shape(labels, out_type=INT64))


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Labels of which repeats in a row are merged, and the lengths that are left."""
    with scope_of(name, "collapse_repeated_labels", labels, seq_length):
        labels, seq_length = convert(labels, name="labels"), convert(seq_length, name="seq_length")
        is_first = concat([ones_like(labels[:, :1], BOOL), not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        is_kept = logical_and(is_first, sequence_mask(seq_length, maxlen=size_along(labels, 1)))
        lengths = reduce_sum(cast(is_kept, INT32), axis=1)
        longest = reduce_max(lengths)
        is_place = sequence_mask(lengths, maxlen=longest)
        flat_labels, flat_kept = reshape(labels, [-1]), reshape(is_kept, [-1])
        flat_place = reshape(is_place, [-1])
        numbers = number_range(size_along(flat_place, 0))
        flat = scatter_nd(
            indices=expand_dims(boolean_mask(numbers, flat_place), axis=1),
            updates=boolean_mask(flat_labels, flat_kept),
            shape=shape(flat_place),
        )
        rows = size_along(labels, 0)
        return reshape(flat, [rows, longest]), cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Tensor]:
    """The different labels of each row, padded with zeros, and where among them each label is."""
    with scope_of(name, "ctc_unique_labels", labels):
        labels = convert(labels, name="labels")

        def of_row(row: Tensor) -> list[Tensor]:
            found = find_unique(row)
            padded = pad(found.y, [[0, size_along(found.idx, 0) - size_along(found.y, 0)]])
            return [cast(padded, INT64), found.idx]

        each: list[Tensor] = map_fn(of_row, labels, dtype=[INT64, INT32])
        return each


def size_along(tensor: Tensor, axis: int) -> int | Tensor:
    """How many elements a tensor has along an axis: a number if it is known and not 0, else a tensor."""
    known = tensor.static_shape
    return (None if known.rank is None else known[axis]) or shape(tensor)[axis]


__all__ = [
    "collapse_repeated",
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_v2",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_loss_v2",
    "ctc_unique_labels",
]
