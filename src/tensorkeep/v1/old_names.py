"""Names that TensorFlow had before 1.0 whose arguments are not those of any later one.

Summaries by their tags; losses of `tf.nn.seq2seq`, whose functions take logits before labels; linear maps with a scope.
The others are plain other names, and stand in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib import legacy_seq2seq
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

Tags = TensorLike
"""A tag, or several: text."""


def scalar_summary(
    tags: Tags, values: TensorLike, collections: Sequence[Hashable] | None = None, name: str | None = None
) -> Tensor:
    """A summary of numbers under tags, which stay as they are."""
    return _collect_summary(emit("ScalarSummary", tags, values, name=name), collections)


def histogram_summary(
    tag: Tags, values: TensorLike, collections: Sequence[Hashable] | None = None, name: str | None = None
) -> Tensor:
    """A summary of how numbers are distributed, under a tag."""
    return _collect_summary(emit("HistogramSummary", tag, values, name=name), collections)


def image_summary(
    tag: Tags,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Sequence[Hashable] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of some images of a batch, under a tag."""
    return _collect_summary(emit("ImageSummary", tag, tensor, max_images=max_images, name=name), collections)


def audio_summary(
    tag: Tags,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[Hashable] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of some sounds of a batch, under a tag."""
    made = emit("AudioSummaryV2", tag, tensor, sample_rate, max_outputs=max_outputs, name=name)
    return _collect_summary(made, collections)


def _collect_summary(summary: Tensor, collections: Sequence[Hashable] | None) -> Tensor:
    add_to_collections(summary.graph, [GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


Loss = Callable[[Any, Any], Any]
"""A function of logits and labels, by position."""


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Loss | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of each example over all steps."""
    function = _by_keyword(softmax_loss_function)
    return legacy_seq2seq.sequence_loss_by_example(logits, targets, weights, average_across_timesteps, function, name)


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Loss | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of all steps, and of all examples or their mean."""
    averages = average_across_timesteps, average_across_batch
    return legacy_seq2seq.sequence_loss(logits, targets, weights, *averages, _by_keyword(softmax_loss_function), name)


def model_with_buckets(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], Any]],
    softmax_loss_function: Loss | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """The outputs and the losses for each bucket of lengths, with the same variables."""
    inputs = encoder_inputs, decoder_inputs, targets, weights, buckets
    function = _by_keyword(softmax_loss_function)
    return legacy_seq2seq.model_with_buckets(*inputs, seq2seq, function, per_example_loss, name)


def _by_keyword(function: Loss | None) -> Callable[..., Any] | None:
    return None if function is None else lambda labels, logits: function(logits, labels)


def linear(
    args: Tensor | Sequence[Tensor],
    output_size: int,
    bias: bool,
    bias_start: float = 0.0,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """`sum(args[i] * Matrix[i]) + Bias`, with these variables in a scope that is called "Linear" by default."""
    inputs = [args] if isinstance(args, Tensor) else list(args)
    joined = inputs[0] if len(inputs) == 1 else concat(inputs, 1)
    with variable_scope(scope or "Linear"):
        width = joined.get_shape().with_rank(2)[1]
        product = matmul(joined, get_variable("Matrix", [width, output_size], dtype=joined.dtype))
        if not bias:
            return product
        return product + get_variable("Bias", [output_size], dtype=joined.dtype, initializer=Constant(bias_start))
