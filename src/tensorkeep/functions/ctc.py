"""Connectionist temporal classification, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32
from tensorkeep.errors import WrongTypeError
from tensorkeep.functions.array import either, transpose
from tensorkeep.functions.math import cast
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops import ctc


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
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
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the most probable class at each step, and the negative sum of the greatest logits."""
    indices, values, shape, scores = ctc.ctc_greedy_decoder(
        inputs, sequence_length, merge_repeated=merge_repeated, blank_index=blank_index
    )
    return [SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The most probable label sequences that a beam search finds, and the logarithms of their probabilities."""
    found = ctc.ctc_beam_search_decoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    parts = zip(found.decoded_indices, found.decoded_values, found.decoded_shape, strict=True)
    return [SparseTensor(*part) for part in parts], found.log_probability


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder` that keeps repeated labels, which blanks part."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


__all__ = ["ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "ctc_loss"]
