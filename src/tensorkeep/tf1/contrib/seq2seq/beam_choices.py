"""What a beam search chooses: scores with penalties, masks, and the step that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, fill, one_hot, reshape, stack, tile, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather, gather_nd
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.nn.activations import log_softmax, top_k
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    div,
    equal,
    floordiv,
    log,
    logical_not,
    logical_or,
    minimum,
    mod,
)
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.structures import map_structure
from tensorkeep.tf1.layers.cells import State


class BeamSearchDecoderState(NamedTuple):
    """The state of a beam search: of each beam the cell's state, the score, whether it has ended, and its length."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What a step gives for each beam: its score, the token, and the beam that it came from."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


@dataclass(frozen=True)
class Search:
    """What a beam search is told."""

    batch_size: Any
    beam_width: int
    end_token: Any
    length_penalty_weight: float
    coverage_penalty_weight: float


def attention_probabilities(cell_state: Any, weight: float) -> Any:
    """Where the cell attends to now, if coverage has a price; an empty tuple otherwise."""
    if weight == 0.0:
        return ()
    found = [state.alignments for state in _attention_states(cell_state)]
    if not found:
        raise InvalidArgumentError(
            "a coverage penalty needs a cell that attends: a tf.contrib.seq2seq.AttentionWrapper"
        )
    parts = [part for item in found for part in (item if isinstance(item, tuple) else (item,))]
    return parts[0] if len(parts) == 1 else concat(parts, -1)


def _attention_states(state: Any) -> list[AttentionWrapperState]:
    if isinstance(state, AttentionWrapperState):
        return [state]
    if isinstance(state, tuple | list):
        return [found for part in state for found in _attention_states(part)]
    return []


def length_penalty(lengths: Tensor, weight: Tensor | float) -> Tensor | float:
    """By what the score of a sequence is divided: more for a longer one."""
    if not isinstance(weight, Tensor) and weight == 0:
        return 1.0
    factor = convert(weight, name="penalty_factor")
    return div((5.0 + cast(lengths, FLOAT32)) ** factor, (5.0 + 1.0) ** factor)


def scores_of(log_probs: Tensor, lengths: Tensor, search: Search, finished: Tensor, attended: Tensor) -> Tensor:
    """The scores of sequences, with the penalties for their lengths and for what they did not attend to."""
    penalty = length_penalty(lengths, search.length_penalty_weight)
    scores: Any = log_probs / (cast(penalty, log_probs.dtype) if isinstance(penalty, Tensor) else penalty)
    if search.coverage_penalty_weight == 0.0:
        return scores  # type: ignore[no-any-return]
    missed = reduce_sum(log(minimum(attended, 1.0)), 2) * cast(finished, FLOAT32)
    return scores + expand_dims(missed * search.coverage_penalty_weight, 2)  # type: ignore[no-any-return]


def masked_probs(probs: Tensor, end_token: Tensor, finished: Tensor) -> Tensor:
    """Probabilities of next tokens; of sequences that have ended only the end token."""
    words = shape_of(probs)[2]
    lowest = float(np.finfo(probs.dtype.as_numpy_dtype).min)
    row = one_hot(end_token, words, dtype=probs.dtype, on_value=0.0, off_value=lowest)
    only_end = tile(reshape(row, [1, 1, -1]), concat([shape_of(finished), [1]], 0))
    return where(tile(expand_dims(finished, 2), [1, 1, words]), only_end, probs)


def picked_values(indices: Tensor, values: Tensor, search: Search) -> Tensor:
    """Of each batch the values at some places, for all of its beams."""
    rows = expand_dims(number_range(search.batch_size), 1)
    places = stack([tile(rows, [1, search.beam_width]), indices], axis=2)
    result = gather_nd(reshape(values, [search.batch_size, -1]), places)
    result.set_shape(indices.get_shape())
    return result


def beam_search_step(
    logits: Tensor, next_cell_state: State, state: BeamSearchDecoderState, search: Search
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """The best beams after one more token of each."""
    is_open = logical_not(state.finished)
    step_probs = masked_probs(log_softmax(logits), search.end_token, state.finished)
    totals = expand_dims(state.log_probs, 2) + step_probs
    words = logits.get_shape()[-1].value or shape_of(logits)[-1]
    ends = fill([search.batch_size, search.beam_width], search.end_token)
    longer = one_hot(ends, words, on_value=constant(0, INT64), off_value=constant(1, INT64), dtype=INT64)
    lengths = expand_dims(cast(is_open, INT64), 2) * longer + expand_dims(state.lengths, 2)
    attended = state.accumulated_attention_probs
    if search.coverage_penalty_weight != 0.0:
        now = attention_probabilities(next_cell_state, search.coverage_penalty_weight)
        attended = attended + now * expand_dims(cast(is_open, FLOAT32), 2)
    scores = scores_of(totals, lengths, search, state.finished, attended)
    best, places = top_k(reshape(scores, [search.batch_size, -1]), k=search.beam_width)
    rows = logits.get_shape()[0].value
    best.set_shape([rows, search.beam_width])
    places.set_shape([rows, search.beam_width])
    tokens, parents = mod(places, words), cast(floordiv(places, words), INT32)
    had_ended = picked_values(parents, state.finished, search)
    new_lengths = picked_values(parents, state.lengths, search) + cast(logical_not(had_ended), INT64)
    if search.coverage_penalty_weight != 0.0:
        attended = _reordered_state(parents, attended, search)
    new_state = BeamSearchDecoderState(
        cell_state=map_structure(lambda part: _reordered_state(parents, part, search), next_cell_state),
        log_probs=picked_values(places, totals, search),
        finished=logical_or(had_ended, equal(tokens, search.end_token)),
        lengths=new_lengths,
        accumulated_attention_probs=attended,
    )
    return BeamSearchDecoderOutput(scores=best, predicted_ids=tokens, parent_ids=parents), new_state


def _reordered_state(parents: Tensor, value: Any, search: Search) -> Any:
    """A part of the state in the order of the new beams; what is not of beams stays as it is."""
    if isinstance(value, TensorArray) or value.get_shape().rank == 0:
        return value
    width = search.beam_width
    starts = expand_dims(number_range(search.batch_size) * width, 1)
    sizes = shape_of(value)
    rows = reshape(value, concat([[search.batch_size * width], sizes[2:]], 0))
    found = reshape(gather(rows, reshape(parents + starts, [-1])), sizes)
    found.set_shape(value.get_shape())
    return found
