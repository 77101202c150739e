"""What the modules of `contrib.seq2seq` have besides its names: programs build attention of their own on it.

Arguments of TensorFlow 1.15 and of the versions before it are told apart by their types.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.seq2seq import attention, mechanisms
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, squeeze
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.numbers.elementwise import rsqrt, square, tanh
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.variables.variable import Variable

Factor: TypeAlias = "Tensor | Variable"


def bahdanau_score(
    processed_query: Tensor,
    keys: Tensor,
    attention_v: Factor | bool,
    attention_g: Factor | None = None,
    attention_b: Factor | None = None,
) -> Tensor:
    """v * tanh(keys + query), of variables that are given; of new ones if `attention_v` says whether to normalize.

    A factor and a bias normalize together: one without the other changes nothing.
    """
    if isinstance(attention_v, bool):
        units: Any = keys.get_shape()[2].value
        return mechanisms.bahdanau_score(processed_query, keys, units, attention_v)
    spread = keys + expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return reduce_sum(attention_v * tanh(spread), [2])
    normed = attention_g * attention_v * rsqrt(reduce_sum(square(attention_v)))
    return reduce_sum(normed * tanh(spread + attention_b), [2])


def luong_score(query: Tensor, keys: Tensor, scale: Factor | bool | None) -> Tensor:
    """The products of keys and query, times a number that is given, or a new variable if `scale` is True."""
    if isinstance(scale, bool):
        return mechanisms.luong_score(query, keys, scale)
    score: Any = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    found: Tensor = score if scale is None else scale * score
    return found


def maybe_mask_score(
    score: Tensor,
    memory_sequence_length: TensorLike | None = None,
    memory_mask: TensorLike | None = None,
    score_mask_value: TensorLike | None = None,
) -> Tensor:
    """Scores, with a value after the ends of sequences; the third argument was that value before TensorFlow 1.15."""
    if memory_mask is not None and not getattr(memory_mask, "shape", ()):
        memory_mask, score_mask_value = None, memory_mask
    _expect_no_mask(memory_mask)
    value: Any = float("-inf") if score_mask_value is None else score_mask_value
    return attention.masked_score(score, memory_sequence_length, value)


def prepare_memory(
    memory: Structure,
    memory_sequence_length: TensorLike | None = None,
    memory_mask: TensorLike | None = None,
    check_inner_dims_defined: bool = True,
) -> Structure:
    """Memories with zeros after the ends of sequences; the third argument was the last before TensorFlow 1.15."""
    if isinstance(memory_mask, bool):
        check_inner_dims_defined, memory_mask = memory_mask, None
    _expect_no_mask(memory_mask)
    found: Structure = attention.prepared_memory(memory, memory_sequence_length, check_inner_dims_defined)
    return found


def _expect_no_mask(mask: object) -> None:
    if mask is not None:
        raise UnimplementedError("memory_mask: memories are cut off by memory_sequence_length here")


def monotonic_probability_fn(
    score: Tensor, previous_alignments: Tensor, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    """Where attention goes that never goes back, of scores with noise."""
    found: Tensor = mechanisms.monotonic_probabilities(sigmoid_noise, mode, seed)(score, previous_alignments)
    return found
