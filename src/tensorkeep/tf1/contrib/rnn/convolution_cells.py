"""Cells whose gates are convolutions: of rows, images or volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, split
from tensorkeep.tf1.functions.nn.convolution import convolution
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid, tanh
from tensorkeep.tf1.layers.cells import LSTMStateTuple, RNNCell, State
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scopes import get_variable

if TYPE_CHECKING:
    from typing_extensions import Required, Unpack  # in `typing` since Python 3.11

    class ConvolutionOptions(TypedDict, total=False):
        """What cells of a number of dimensions are told, as `ConvLSTMCell` takes it."""

        input_shape: Required[Sequence[int]]
        output_channels: Required[int]
        kernel_shape: Required[Sequence[int]]
        use_bias: bool
        skip_connection: bool
        forget_bias: float
        initializers: InitializerLike


class ConvLSTMCell(RNNCell):
    """An LSTM whose inputs and states are rows, images or volumes, of a shape without the batch."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: InitializerLike = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise InvalidArgumentError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims, self._kernel_shape = conv_ndims, list(kernel_shape)
        self._use_bias, self._forget_bias, self._skip = use_bias, forget_bias, skip_connection
        self._channels = output_channels
        shape = list(input_shape)
        total = output_channels + shape[-1] if skip_connection else output_channels
        self._state = TensorShape([*shape[:-1], output_channels])
        self._output = TensorShape([*shape[:-1], total])

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._state, self._state)

    @property
    def output_size(self) -> TensorShape:
        return self._output

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        cell, hidden = state
        gates = self._convolved([inputs, hidden])
        taken, new, kept, shown = split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_cell = sigmoid(kept + self._forget_bias) * cell + sigmoid(taken) * tanh(new)
        output = tanh(new_cell) * sigmoid(shown)
        if self._skip:
            output = concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)

    def _convolved(self, parts: list[Any]) -> Tensor:
        rank = self._conv_ndims + 2
        for part in parts:
            if part.get_shape().rank != rank or part.get_shape()[-1].value is None:
                raise InvalidArgumentError(
                    f"Conv Linear expects {rank}D arguments of known channels: {part.get_shape()}"
                )
        depth = sum(part.get_shape()[-1].value for part in parts)
        wide, dtype = 4 * self._channels, parts[0].dtype
        kernel = get_variable("kernel", [*self._kernel_shape, depth, wide], dtype=dtype)
        outputs = convolution(concat(parts, rank - 1), kernel, padding="SAME")
        if not self._use_bias:
            return outputs
        return outputs + get_variable("biases", [wide], dtype=dtype, initializer=Constant(0.0, dtype=dtype))


class Conv1DLSTMCell(ConvLSTMCell):
    """An LSTM of rows."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Unpack[ConvolutionOptions]) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """An LSTM of images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Unpack[ConvolutionOptions]) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """An LSTM of volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Unpack[ConvolutionOptions]) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
