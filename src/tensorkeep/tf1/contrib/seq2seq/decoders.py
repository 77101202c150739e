"""Decoding in a loop, and a decoder that samples as a helper says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.seq2seq.helpers import Helper
from tensorkeep.tf1.functions.arrays.shapes import fill, where, zeros, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.contexts import current_context, while_context
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.numbers.elementwise import greater_equal, less_equal, logical_not, logical_or
from tensorkeep.tf1.functions.numbers.reductions import reduce_all
from tensorkeep.tf1.functions.structures import assert_same_structure, flatten, map_structure
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.cells import CellLike, Sizes, State, check_cell, joined_shape
from tensorkeep.tf1.layers.recurrent import with_batch_and_time_exchanged
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


class Decoder(ABC):
    """What decodes step by step: how it begins, what a step gives, and what becomes of all steps in the end."""

    @property
    @abstractmethod
    def batch_size(self) -> Tensor:
        """How many sequences are decoded."""

    @property
    @abstractmethod
    def output_size(self) -> Structure:
        """The sizes of the outputs of a step, without the batch."""

    @property
    @abstractmethod
    def output_dtype(self) -> Structure:
        """The types of the outputs of a step."""

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Which sequences have ended before they begin, the first inputs, and the first state."""

    @abstractmethod
    def step(self, time: Tensor, inputs: Structure, state: State, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """The outputs of a step, the next state, the next inputs, and which sequences have ended."""

    def finalize(self, outputs: Structure, final_state: State, sequence_lengths: Tensor) -> tuple[Any, Any]:
        """The outputs of all steps and the last state, as the program gets them."""
        return outputs, final_state

    @property
    def tracks_own_finished(self) -> bool:
        """Whether the decoder itself says which sequences have ended, also of those that had."""
        return False


class BasicDecoderOutput(NamedTuple):
    """What a step gives: the outputs of the cell, and what was sampled of them."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """Runs a cell, and has a helper sample and say what is next."""

    def __init__(self, cell: CellLike, helper: Helper, initial_state: State, output_layer: Layer | None = None) -> None:
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise WrongTypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not callable(output_layer):
            raise WrongTypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._initial_state = cell, helper, initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Tensor:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return layer_size(self._cell, self._output_layer)

    @property
    def output_size(self) -> BasicDecoderOutput:
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        dtype = flatten(self._initial_state)[0].dtype
        kinds = map_structure(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(kinds, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        finished, inputs = self._helper.initialize()
        return finished, inputs, self._initial_state

    def step(self, time: Tensor, inputs: Structure, state: State, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        with name_scope(name or "BasicDecoderStep"):
            outputs, new_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sampled = self._helper.sample(time=time, outputs=outputs, state=new_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=new_state, sample_ids=sampled
            )
        return BasicDecoderOutput(outputs, sampled), next_state, next_inputs, finished


def layer_size(cell: CellLike, layer: Layer | None) -> Sizes:
    """How wide the outputs of a cell are, after a layer if there is one."""
    if layer is None:
        return cell.output_size
    if hasattr(layer, "units"):
        return TensorShape([layer.units])
    size: Any = cell.output_size
    found: Sizes = layer.compute_output_shape(TensorShape([None]).concatenate(TensorShape(size)))[1:]
    return found


# ---------------------------------------------------------------------------------------------------- The loop


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any, Tensor]:
    """The outputs of a decoder until all sequences have ended, its last state, and the lengths of the sequences.

    With `impute_finished` sequences that have ended keep their states and give zeros.
    """
    if not isinstance(decoder, Decoder):
        raise WrongTypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as opened:
        in_loop = while_context(current_context(current_graph())) is not None
        if opened.caching_device is None and not in_loop:
            opened.set_caching_device(lambda op: op.device)
        most = None
        if maximum_iterations is not None:
            most = convert(maximum_iterations, INT32, name="maximum_iterations")
            if most.get_shape().rank != 0:
                raise InvalidArgumentError("maximum_iterations must be a scalar")
        return _Loop(decoder, impute_finished, most).run(output_time_major, parallel_iterations, swap_memory)


class _Loop:
    """The loop of `dynamic_decode`."""

    def __init__(self, decoder: Decoder, imputes: bool, most: Any) -> None:
        self.decoder, self.imputes, self.most = decoder, imputes, most

    def run(self, time_major: bool, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any, Tensor]:
        decoder = self.decoder
        finished, inputs, state = decoder.initialize()
        self.zeros = zero_outputs(decoder.output_size, decoder.output_dtype, decoder.batch_size)
        if self.most is not None:
            finished = logical_or(finished, less_equal(self.most, 0))
        lengths = zeros_like(finished, dtype=INT32)
        time = constant(0, dtype=INT32)
        arrays = map_structure(self._array, decoder.output_size, decoder.output_dtype)
        found = while_loop(
            lambda *parts: logical_not(reduce_all(parts[4])),
            self._step,
            [time, arrays, state, inputs, finished, lengths],
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        _, arrays, state, _, _, lengths = found
        outputs = map_structure(lambda array: array.stack(), arrays)
        outputs, state = decoder.finalize(outputs, state, lengths)
        if not time_major:
            outputs = map_structure(with_batch_and_time_exchanged, outputs)
        return outputs, state, lengths

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        batch = self.decoder.batch_size
        known = constant_value(batch) if isinstance(batch, Tensor) else batch
        rows = TensorShape([None if known is None else int(known)])
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=rows.concatenate(TensorShape(size)))

    def _step(self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        decoder = self.decoder
        outputs, new_state, next_inputs, has_ended = decoder.step(time, inputs, state)
        ended = has_ended if decoder.tracks_own_finished else logical_or(has_ended, finished)
        if self.most is not None:
            ended = logical_or(ended, greater_equal(time + 1, self.most))
        lengths = where(logical_not(finished), fill(shape_of(lengths), time + 1), lengths)
        assert_same_structure(state, new_state)
        assert_same_structure(inputs, next_inputs)
        emitted = outputs
        if self.imputes:
            emitted = map_structure(lambda out, zero: where(finished, zero, out), outputs, self.zeros)
            new_state = map_structure(lambda new, old: self._kept(new, old, finished), new_state, state)
        arrays = map_structure(lambda array, value: array.write(time, value), arrays, emitted)
        return [time + 1, arrays, new_state, next_inputs, ended, lengths]

    def _kept(self, new: Any, old: Any, finished: Any) -> Any:
        if isinstance(old, TensorArray):
            return new
        new.set_shape(old.get_shape())
        return new if new.get_shape().rank == 0 else where(finished, old, new)


def zero_outputs(sizes: object, dtypes: object, batch: Tensor) -> Any:
    def zero(size: Any, dtype: Any) -> Tensor:
        return zeros(joined_shape(batch, size), dtype=dtype)

    return map_structure(zero, sizes, dtypes)
