"""A decoder that keeps the best sequences so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.seq2seq.beam_choices import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    Search,
    attention_probabilities,
    beam_search_step,
)
from tensorkeep.tf1.contrib.seq2seq.decoders import Decoder
from tensorkeep.tf1.contrib.seq2seq.helpers import EmbeddingLike
from tensorkeep.tf1.contrib.seq2seq.tiling import gather_tree, gather_tree_from_array
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, one_hot, reshape, size, stack, tile, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_max
from tensorkeep.tf1.functions.structures import flatten, map_structure
from tensorkeep.tf1.layers.cells import CellLike, State, check_cell


class FinalBeamSearchDecoderOutput(NamedTuple):
    """What a beam search gives in the end: whole sequences, [batch, time, beam], and what its steps gave."""

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """Decodes with `beam_width` sequences for each of the batch, by their probabilities.

    The initial state of the cell must be tiled by `tile_batch`; so must memories that it attends to.
    """

    def __init__(
        self,
        cell: CellLike,
        embedding: EmbeddingLike,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: State,
        beam_width: int,
        output_layer: Callable[..., Tensor] | None = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_cell("cell", cell)
        if output_layer is not None and not callable(output_layer):
            raise WrongTypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell: Any = cell
        self._output_layer, self._reorder_tensor_arrays = output_layer, reorder_tensor_arrays
        self._embedding_fn = embedding if callable(embedding) else partial(embedding_lookup, embedding)
        start = convert(start_tokens, INT32, name="start_tokens")
        if start.get_shape().rank != 1:
            raise InvalidArgumentError("start_tokens must be a vector")
        end = convert(end_token, INT32, name="end_token")
        if end.get_shape().rank != 0:
            raise InvalidArgumentError("end_token must be a scalar")
        self._batch_size = size(start)
        self._known_batch = start.get_shape()[0].value
        self._beam_width, self._end_token = beam_width, end
        self._search = Search(self._batch_size, beam_width, end, length_penalty_weight, coverage_penalty_weight)
        self._initial_cell_state = map_structure(self._maybe_split_batch_beams, initial_state)
        self._start_inputs = self._embedding_fn(tile(expand_dims(start, 1), [1, beam_width]))
        self._finished = one_hot(
            zeros(expand_dims(self._batch_size, 0), INT32), beam_width, on_value=False, off_value=True, dtype=BOOL
        )

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, and so does what says whether they have ended."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        width = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=width, predicted_ids=width, parent_ids=width)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        dtype = flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(scores=dtype, predicted_ids=INT32, parent_ids=INT32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        dtype = flatten(self._initial_cell_state)[0].dtype
        first = zeros(expand_dims(self._batch_size, 0), INT32)
        scores = one_hot(first, self._beam_width, on_value=0.0, off_value=-np.inf, dtype=dtype)
        weight = self._search.coverage_penalty_weight
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=scores,
            finished=self._finished,
            lengths=zeros(stack([self._batch_size, self._beam_width]), INT64),
            accumulated_attention_probs=attention_probabilities(self._initial_cell_state, weight),
        )
        return self._finished, self._start_inputs, state

    def step(self, time: Tensor, inputs: Structure, state: State, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        with name_scope(name or "BeamSearchDecoderStep"):
            beams: Any = state
            cell_state = map_structure(self._maybe_merge_batch_beams, beams.cell_state)
            outputs, next_cell_state = self._cell(map_structure(self._maybe_merge_batch_beams, inputs), cell_state)
            outputs = map_structure(self._maybe_split_batch_beams, outputs)
            next_cell_state = map_structure(self._maybe_split_batch_beams, next_cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            found, new_state = beam_search_step(outputs, next_cell_state, beams, self._search)
            tokens = found.predicted_ids
            next_inputs = cond(
                reduce_all(new_state.finished), lambda: self._start_inputs, lambda: self._embedding_fn(tokens)
            )
        return found, new_state, next_inputs, new_state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Whole sequences, and the state with its histories in their order."""
        longest = cast(reduce_max(final_state.lengths, axis=1), INT32)
        tokens = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            ordered = map_structure(
                lambda part: self._maybe_sort_array_beams(part, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=ordered)
        return FinalBeamSearchDecoderOutput(tokens, outputs), final_state

    # ------------------------------------------------------------------------------------------ batches and beams

    def _maybe_split_batch_beams(self, value: Any, s: Any = None) -> Any:
        """[batch * beam, ...] as [batch, beam, ...]"""
        if isinstance(value, TensorArray) or value.get_shape().rank == 0:
            return value
        parts: Any = [self._batch_size, self._beam_width]
        result = reshape(value, concat([parts, shape_of(value)[1:]], 0))
        known = TensorShape([self._known_batch, self._beam_width])
        result.set_shape(known.concatenate(value.get_shape()[1:]))
        return result

    def _maybe_merge_batch_beams(self, value: Any, s: Any = None) -> Any:
        """[batch, beam, ...] as [batch * beam, ...]"""
        if isinstance(value, TensorArray) or value.get_shape().rank == 0:
            return value
        result = reshape(value, concat([[self._batch_size * self._beam_width], shape_of(value)[2:]], 0))
        rows = None if self._known_batch is None else self._known_batch * self._beam_width
        result.set_shape(TensorShape([rows]).concatenate(value.get_shape()[2:]))
        return result

    def _maybe_sort_array_beams(self, value: Any, parents: Any, lengths: Any) -> Any:
        if not isinstance(value, TensorArray):
            return value
        return gather_tree_from_array(value.stack(), parents, lengths)
