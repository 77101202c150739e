"""`tf.contrib.crf`: conditional random fields over chains of tags.

The score of a chain is the sum of a score for each tag, of the inputs, and one for each tag after another, of the
transition parameters. `inputs` are [batch, time, tags]; sequences may be shorter than the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64, DType
from tensorkeep.errors import UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    ones_like,
    reshape,
    reverse_sequence,
    squeeze,
    stack,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather, gather_nd, sequence_mask
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, less_equal, maximum
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_logsumexp, reduce_max, reduce_sum
from tensorkeep.tf1.layers.cells import RNNCell, State
from tensorkeep.tf1.layers.recurrent import dynamic_rnn
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


def _mask(lengths: Any, like: Any, dtype: DType = FLOAT32) -> Tensor:
    return sequence_mask(lengths, maxlen=shape_of(like)[1], dtype=dtype)


def _is_one_step(inputs: Tensor) -> Any:
    known = inputs.get_shape()[1].value
    return equal(shape_of(inputs)[1], 1) if known is None else known == 1


def crf_unary_score(tag_indices: Tensor, sequence_lengths: TensorLike, inputs: Tensor) -> Tensor:
    """The sum of the scores of the tags themselves."""
    sizes = shape_of(inputs)
    batch, length, tags = sizes[0], sizes[1], sizes[2]
    flat = reshape(inputs, [-1])
    starts = expand_dims(number_range(batch) * length * tags, 1)
    starts = starts + expand_dims(number_range(length) * tags, 0)
    if tag_indices.dtype is INT64:
        starts = cast(starts, INT64)
    places = reshape(starts + tag_indices, [-1])
    scores = reshape(gather(flat, places), [batch, length])
    return reduce_sum(scores * _mask(sequence_lengths, tag_indices), 1)


def crf_binary_score(tag_indices: Tensor, sequence_lengths: TensorLike, transition_params: Tensor) -> Tensor:
    """The sum of the scores of tags after one another."""
    tags = transition_params.get_shape()[0].value or shape_of(transition_params)[0]
    count = shape_of(tag_indices)[1] - 1
    before = slice_of(tag_indices, [0, 0], [-1, count])
    after = slice_of(tag_indices, [0, 1], [-1, count])
    scores = gather(reshape(transition_params, [-1]), before * tags + after)
    kept = slice_of(_mask(sequence_lengths, tag_indices), [0, 1], [-1, -1])
    return reduce_sum(scores * kept, 1)


def crf_sequence_score(
    inputs: TensorLike, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """The score of chains of tags; zero for chains that are empty."""
    found, tags, lengths = convert(inputs), convert(tag_indices), convert(sequence_lengths)
    transitions = convert(transition_params)

    def one() -> Tensor:
        batch = shape_of(found, out_type=tags.dtype)[0]
        rows = reshape(number_range(batch), [-1, 1])
        scores = gather_nd(squeeze(found, [1]), concat([rows, tags], axis=1))
        return where(less_equal(lengths, 0), zeros_like(scores), scores)

    def many() -> Tensor:
        return crf_unary_score(tags, lengths, found) + crf_binary_score(tags, lengths, transitions)

    scores: Tensor = smart_cond(_is_one_step(found), one, many)
    return scores


def crf_multitag_sequence_score(
    inputs: TensorLike, tag_bitmap: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """The score of all chains together whose tags a bitmap allows."""
    found, allowed = convert(inputs), cast(tag_bitmap, BOOL)
    worst = float("-inf") * ones_like(found)
    filtered = where(allowed, found, worst)

    def one() -> Tensor:
        return reduce_logsumexp(squeeze(filtered, [1]), axis=[1], keepdims=False)

    scores: Tensor = smart_cond(
        _is_one_step(found), one, lambda: crf_log_norm(filtered, sequence_lengths, transition_params)
    )
    return scores


def crf_log_norm(inputs: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike) -> Tensor:
    """The logarithm of the sum of the exponentials of the scores of all chains; zero for chains that are empty."""
    found, lengths, transitions = convert(inputs), convert(sequence_lengths), convert(transition_params)
    first = squeeze(slice_of(found, [0, 0, 0], [-1, 1, -1]), [1])

    def one() -> Tensor:
        norm = reduce_logsumexp(first, [1])
        return where(less_equal(lengths, 0), zeros_like(norm), norm)

    def many() -> Tensor:
        rest = slice_of(found, [0, 1, 0], [-1, -1, -1])
        counts = maximum(constant(0, lengths.dtype), lengths - 1)
        _, alphas = dynamic_rnn(
            CrfForwardRnnCell(transitions), rest, sequence_length=counts, initial_state=first, dtype=FLOAT32
        )
        norm = reduce_logsumexp(alphas, [1])
        return where(less_equal(lengths, 0), zeros_like(norm), norm)

    norms: Tensor = smart_cond(_is_one_step(found), one, many)
    return norms


def crf_log_likelihood(
    inputs: TensorLike,
    tag_indices: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike | None = None,
) -> tuple[Tensor, Any]:
    """The logarithm of the probability of chains, and the transition parameters: a variable if none are given."""
    found = convert(inputs)
    tags = found.get_shape()[2].value
    transitions: Any = transition_params
    if transitions is None:
        transitions = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(found, tag_indices, sequence_lengths, transitions)
    return score - crf_log_norm(found, sequence_lengths, transitions), transitions


class _ChainCell(RNNCell):
    """A cell over chains of tags, whose state is as wide as there are tags."""

    def __init__(self, transition_params: TensorLike) -> None:
        super().__init__()
        self._transitions = expand_dims(transition_params, 0)
        self._num_tags = convert(transition_params).get_shape()[0].value

    @property
    def state_size(self) -> Any:
        return self._num_tags

    @property
    def output_size(self) -> Any:
        return self._num_tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        return self.call(inputs, state)

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Any, Any]:
        """One step along the chains."""
        raise UnimplementedError("Abstract method")


class CrfForwardRnnCell(_ChainCell):
    """The sums over all chains up to a tag."""

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Any, Any]:
        sums = expand_dims(state, 2) + self._transitions
        new = inputs + reduce_logsumexp(sums, [1])
        return new, new


class CrfDecodeForwardRnnCell(_ChainCell):
    """The best chain up to a tag: its score, and the tag before as output."""

    def call(self, inputs: Tensor, state: Tensor) -> tuple[Any, Any]:
        scores = expand_dims(state, 2) + self._transitions
        new = inputs + reduce_max(scores, [1])
        return cast(argmax(scores, 1), INT32), new


class CrfDecodeBackwardRnnCell(RNNCell):
    """The tags of the best chain, from its end."""

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(self, inputs: Structure, state: State, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        given: Any = inputs
        rows = shape_of(given)[0]
        places = stack([number_range(rows), squeeze(state, [1])], axis=1)
        new = expand_dims(gather_nd(given, places), -1)
        return new, new


def crf_decode(
    potentials: TensorLike, transition_params: TensorLike, sequence_length: TensorLike
) -> tuple[Tensor, Tensor]:
    """The tags of the best chains, [batch, time], and their scores."""
    found, lengths = convert(potentials), convert(sequence_length)
    if not lengths.dtype.is_integer:
        raise WrongTypeError(f"sequence_length must be of whole numbers, not {lengths.dtype.name}")

    def one() -> tuple[Tensor, Tensor]:
        only = squeeze(found, [1])
        return cast(expand_dims(argmax(only, axis=1), 1), INT32), reduce_max(only, axis=1)

    def many() -> tuple[Tensor, Tensor]:
        return _best_chains(found, transition_params, lengths)

    best: tuple[Tensor, Tensor] = smart_cond(_is_one_step(found), one, many)
    return best


def _best_chains(potentials: Tensor, transitions: Any, lengths: Tensor) -> tuple[Tensor, Tensor]:
    tags = potentials.get_shape()[2].value
    assert tags is not None
    first = squeeze(slice_of(potentials, [0, 0, 0], [-1, 1, -1]), [1])
    rest = slice_of(potentials, [0, 1, 0], [-1, -1, -1])
    counts = maximum(constant(0, lengths.dtype), lengths - 1)
    with variable_scope("crf_fwd"):
        pointers, last = dynamic_rnn(CrfDecodeForwardRnnCell(transitions), rest, counts, first, INT32, time_major=False)
    turned = reverse_sequence(pointers, counts, seq_axis=1)
    ends = expand_dims(cast(argmax(last, axis=1), INT32), -1)
    with variable_scope("crf_bwd"):
        before, _ = dynamic_rnn(CrfDecodeBackwardRnnCell(tags), turned, counts, ends, INT32, time_major=False)
    chains = concat([ends, squeeze(before, [2])], axis=1)
    return reverse_sequence(chains, lengths, seq_axis=1), reduce_max(last, axis=1)


def viterbi_decode(score: Array, transition_params: Array) -> tuple[list[int], float]:
    """The tags of the best chain of one sequence, [time, tags], and its score; outside of graphs."""
    best = np.zeros_like(score)
    pointers = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for step in range(1, score.shape[0]):
        sums = np.expand_dims(best[step - 1], 1) + transition_params
        best[step] = score[step] + np.max(sums, 0)
        pointers[step] = np.argmax(sums, 0)
    chain = [int(np.argmax(best[-1]))]
    for pointer in reversed(pointers[1:]):
        chain.append(int(pointer[chain[-1]]))
    return chain[::-1], float(np.max(best[-1]))
