"""Cells that compute their gates in one go, and fused ones that take a whole sequence.

A fused cell takes inputs with time first, [time, batch, depth], or a list of steps, and gives the outputs of all steps
and the last state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit_tensors
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    reverse,
    reverse_sequence,
    split,
    stack,
    transpose,
    unstack,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather_nd, sequence_mask
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cast, sigmoid, tanh
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_max
from tensorkeep.tf1.layers.arguments import known_dimension
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.cells import CellLike, LayerRNNCell, LSTMStateTuple, State
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.layers.recurrent import dynamic_rnn, static_rnn
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.scope import VariableScope


class LSTMBlockCell(LayerRNNCell):
    """A basic LSTM with the variables "kernel" and "bias", which may have peepholes and clip its memory."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1.0 if cell_clip is None else cell_clip

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth = known_dimension(input_shape, -1, "The last dimension of the inputs")
        self._kernel, self._bias, self._peepholes = _block_weights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        if len(state) != 2:
            raise InvalidArgumentError("Expecting state to be a tuple with length 2.")
        c, h = state
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        f = f + self._forget_bias
        if self._use_peephole:
            i, f = i + self._peepholes[0] * c, f + self._peepholes[1] * c
        new_c = sigmoid(i) * tanh(j) + sigmoid(f) * c
        if self._cell_clip > 0:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        if self._use_peephole:
            o = o + self._peepholes[2] * new_c
        new_h = sigmoid(o) * tanh(new_c)
        return new_h, LSTMStateTuple(new_c, new_h)


def _block_weights(layer: Layer, depth: int, units: int, has_peepholes: bool) -> tuple[Any, Any, list[Any]]:
    kernel = layer.add_weight("kernel", [depth + units, 4 * units])
    bias = layer.add_weight("bias", [4 * units], initializer=Constant(0.0))
    names = ("w_i_diag", "w_f_diag", "w_o_diag") if has_peepholes else ()
    return kernel, bias, [layer.add_weight(name, [units]) for name in names]


class GRUBlockCell(LayerRNNCell):
    """A gated recurrent unit with the variables "w_ru", "b_ru", "w_c" and "b_c"."""

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (num_units is None) == (cell_size is None):
            raise InvalidArgumentError("Exactly one of num_units or cell_size must be provided.")
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units or cell_size or 0

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth, units = known_dimension(input_shape, -1, "The last dimension of the inputs"), self._num_units
        gates, gate_bias, candidate, candidate_bias = self._names
        self._gates = self.add_weight(gates, [depth + units, 2 * units])
        self._gate_bias = self.add_weight(gate_bias, [2 * units], initializer=Constant(1.0))
        self._candidate = self.add_weight(candidate, [depth + units, units])
        self._candidate_bias = self.add_weight(candidate_bias, [units], initializer=Constant(0.0))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, which is the new state."""
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gates), self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        joined = matmul(concat([inputs, reset * state], 1), self._candidate)
        new = (1 - update) * tanh(bias_add(joined, self._candidate_bias)) + update * state
        return new, new


class GRUBlockCellV2(GRUBlockCell):
    """A GRUBlockCell whose variables have the names that those of a GRUCell have."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


# ---------------------------------------------------------------------------------------------------- Fused


class FusedRNNCell(ABC):
    """What takes a whole sequence with time first."""

    @abstractmethod
    def __call__(
        self,
        inputs: Tensor | Sequence[Tensor],
        initial_state: State | None = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: str | VariableScope | None = None,
    ) -> tuple[Any, Any]:
        """The outputs of all steps, and the last state."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """A fused cell made of a plain one, unrolled or in a loop."""

    def __init__(self, cell: CellLike, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self,
        inputs: Tensor | Sequence[Tensor],
        initial_state: State | None = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: str | VariableScope | None = None,
    ) -> tuple[Any, Any]:
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(
                self._cell,
                stack(inputs) if is_list else inputs,
                sequence_length=sequence_length,
                initial_state=initial_state,
                dtype=dtype,
                time_major=True,
                scope=scope,
            )
            return (unstack(outputs, num=len(inputs)) if is_list else outputs), state
        steps: Any = inputs if is_list else unstack(inputs)
        found, state = static_rnn(self._cell, steps, initial_state, dtype, sequence_length, scope=scope)
        return (found if is_list else stack(found)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads sequences from their ends."""

    def __init__(self, cell: FusedRNNCell) -> None:
        self._cell = cell

    def _turned(self, value: Any, lengths: Any) -> Any:
        if isinstance(value, list):
            return unstack(self._turned(stack(value), lengths), num=len(value))
        if lengths is None:
            return reverse(value, [0])
        return reverse_sequence(value, lengths, 0, 1)

    def __call__(
        self,
        inputs: Tensor | Sequence[Tensor],
        initial_state: State | None = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: str | VariableScope | None = None,
    ) -> tuple[Any, Any]:
        turned = map_structure_of(inputs, lambda value: self._turned(value, sequence_length))
        outputs, state = self._cell(
            turned, initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return map_structure_of(outputs, lambda value: self._turned(value, sequence_length)), state


def map_structure_of(value: object, change: Callable[[Any], Any]) -> Any:
    """What a function makes of a value, or of each part of a tuple; a list is one value: the steps of a sequence."""
    return tuple(change(part) for part in value) if isinstance(value, tuple) else change(value)


class LSTMBlockWrapper(Layer, FusedRNNCell):
    """The base of fused LSTM cells: override `num_units` and `_call_cell`."""

    @property
    @abstractmethod
    def num_units(self) -> int:
        """How many units the cell has."""

    @abstractmethod
    def _call_cell(
        self, inputs: Tensor, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> tuple[Tensor, Tensor]:
        """The memories and the outputs of all steps."""

    def __call__(self, inputs: Tensor | Sequence[Tensor], *args: object, **kwargs: object) -> tuple[Any, Any]:
        is_list = isinstance(inputs, list)
        outputs, state = Layer.__call__(self, stack(inputs) if is_list else inputs, *args, **kwargs)
        return (unstack(outputs, num=len(inputs)) if is_list else outputs), state

    def call(
        self,
        inputs: Tensor,
        initial_state: State | None = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
    ) -> tuple[Tensor, LSTMStateTuple]:
        """The outputs of all steps, and the last state of each sequence; outputs after an end are zero."""
        batch = inputs.get_shape()[1].value or shape_of(inputs)[1]
        if initial_state is None:
            if dtype is None:
                raise InvalidArgumentError("Either initial_state or dtype needs to be specified")
            zero = zeros(stack([batch, self.num_units]), dtype=dtype)
            initial_state = LSTMStateTuple(zero, zero)
        elif len(initial_state) != 2:
            raise InvalidArgumentError("Expecting initial_state to be a tuple with length 2 or None")
        c, h = initial_state
        lengths = None if sequence_length is None else cast(sequence_length, INT32)
        memories, outputs = self._call_cell(inputs, c, h, inputs.dtype, lengths)
        if lengths is None:
            return outputs, LSTMStateTuple(memories[-1], outputs[-1])
        count = inputs.get_shape()[0].value or shape_of(inputs)[0]
        mask = expand_dims(transpose(sequence_mask(lengths, count, dtype=inputs.dtype), [1, 0]), -1)
        places = stack([lengths, number_range(batch)], axis=1)  # one further, since the first state is before the first
        last = LSTMStateTuple(
            gather_nd(concat([expand_dims(c, 0), memories], 0), places),
            gather_nd(concat([expand_dims(h, 0), outputs], 0), places),
        )
        return outputs * mask, last


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """A basic LSTM over a whole sequence in one operation, with the variables "kernel" and "bias"."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        Layer.__init__(self, _reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=3)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip = -1.0 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth = known_dimension(input_shape, -1, "The last dimension of the inputs")
        self._kernel, self._bias, self._peepholes = _block_weights(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self, inputs: Tensor, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> tuple[Tensor, Tensor]:
        count = cast(shape_of(inputs)[0], INT64)
        most = count if sequence_length is None else cast(reduce_max(sequence_length), INT64)
        none = zeros([self._num_units], dtype)
        found = emit_tensors(
            "BlockLSTM",
            most,
            inputs,
            initial_cell_state,
            initial_output,
            self._kernel,
            *(self._peepholes or [none, none, none]),
            self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return found[1], found[6]
