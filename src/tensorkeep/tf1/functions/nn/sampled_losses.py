"""Losses over many classes that look at the true ones and at a sample of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.sparse.tensors import sparse_to_dense
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    ones,
    ones_like,
    reshape,
    scope_of,
    shape,
    stack,
    stop_gradient,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from tensorkeep.tf1.functions.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tensorkeep.tf1.functions.numbers.elementwise import cast, log, multiply


def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: per row of `inputs`, how badly true classes are told from sampled ones.

    `labels` has the `num_true` true classes of each row. Samples are drawn by how frequent classes are, if they are
    numbered from the most to the least frequent, unless `sampled_values` are given.
    """
    logits, expected = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        None,
    )
    return _row_sums(sigmoid_cross_entropy_with_logits(labels=expected, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """The cross entropy of a softmax over the true classes and a sample of the others, per row of `inputs`.

    For training only: it is less than the cross entropy over all classes. Arguments are those of `nce_loss`.
    """
    logits, expected = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
    )
    expected = stop_gradient(expected, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=expected, logits=logits)


def sampled_sparse_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_sparse_softmax_loss",
) -> Tensor:
    """`sampled_softmax_loss` of one true class for each row, of which the first logit is."""
    logits, _ = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        1,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        None,
    )
    first = zeros(shape(logits)[:1], INT64)
    return sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Sequence[Tensor] | None,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """Logits of the true classes, then of the sampled ones; and what they should be."""
    if hasattr(weights, "_variable_list"):  # a partitioned variable
        weights = list(weights)
    tables = weights if isinstance(weights, list) else [weights]
    with scope_of(name, "compute_sampled_logits", *tables, biases, inputs, labels):
        if labels.dtype is not INT64:
            labels = cast(labels, INT64)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_count, sampled_count = (stop_gradient(value) for value in sampled_values)
        sampled = cast(sampled, INT64)
        ids = concat([flat, sampled], 0)
        true_weights, sampled_weights = _true_and_sampled_rows(tables, ids, flat, inputs, partition_strategy)
        sampled_logits = matmul(inputs, sampled_weights, transpose_b=True)
        all_biases = _as_type(embedding_lookup(biases, ids, partition_strategy=partition_strategy), inputs)
        true_biases = slice_of(all_biases, [0], shape(flat))
        sampled_biases = slice_of(all_biases, shape(flat), [-1])
        true_logits = _row_dots(inputs, true_weights, num_true)
        true_logits = true_logits + reshape(true_biases, [-1, num_true])
        sampled_logits = sampled_logits + sampled_biases
        if remove_accidental_hits:
            hits = _accidental_hits(labels, sampled, num_true, num_sampled, sampled_logits)
            sampled_logits = sampled_logits + hits
        true_logits = true_logits - log(true_count)
        sampled_logits = sampled_logits - log(sampled_count)
        logits = concat([true_logits, sampled_logits], 1)
        expected = concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)
        return logits, expected


def _true_and_sampled_rows(
    tables: list[Any], ids: Tensor, flat: Tensor, inputs: Tensor, partition_strategy: str
) -> tuple[Tensor, Tensor]:
    rows = _as_type(embedding_lookup(tables, ids, partition_strategy=partition_strategy), inputs)
    true_rows = slice_of(rows, [0, 0], stack([shape(flat)[0], -1]))
    return true_rows, slice_of(rows, stack([shape(flat)[0], 0]), [-1, -1])


def _row_dots(inputs: Tensor, rows: Tensor, num_true: int) -> Tensor:
    """The product of each input with each of its `num_true` rows."""
    width = shape(rows)[1:2]
    by_input = concat([[-1, num_true], width], 0)
    products = multiply(expand_dims(inputs, 1), reshape(rows, by_input))
    return reshape(_row_sums(reshape(products, concat([[-1], width], 0))), [-1, num_true])


def _accidental_hits(labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, logits: Tensor) -> Tensor:
    """A matrix that is hugely negative where a sampled class is a true one, and zero elsewhere."""
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    columns = [reshape(rows, [-1, 1]), reshape(cast(places, INT32), [-1, 1])]
    indices = concat(columns, 1, "sparse_indices")
    size = concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    weights = _as_type(weights, logits)
    return emit(sparse_to_dense, indices, size, weights, default_value=0.0, validate_indices=False)


def _row_sums(x: Tensor) -> Tensor:
    count = stack([shape(x)[1], 1])
    return reshape(matmul(x, ones(count, x.dtype)), [-1])


def _as_type(x: Tensor, like: Any) -> Tensor:
    return x if x.dtype.base_dtype is like.dtype.base_dtype else cast(x, like.dtype)


__all__ = ["nce_loss", "sampled_softmax_loss"]
