"""Recurrent layers whose steps are images: a long short-term memory of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import split, zeros, zeros_like
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.keras.backend.networks import bias_add, conv2d
from tensorkeep.tf1.keras.backend.settings import chosen_data_format
from tensorkeep.tf1.keras.engine.base_layer import untracked_method
from tensorkeep.tf1.keras.layers.recurrent import CellLayer
from tensorkeep.tf1.keras.layers.recurrent_cells import WEIGHTS, LSTMCell
from tensorkeep.tf1.layers.arguments import Training, numbers, output_length, padding_of
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.layers.options import ActivationOption, AnyOption, ShapesLike

_WINDOWS = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")


class ConvLSTM2DCell(LSTMCell):
    """A cell of a long short-term memory whose products are convolutions."""

    _configured = (
        *_WINDOWS, "activation", "recurrent_activation", "use_bias", *WEIGHTS, "unit_forget_bias", "dropout",
        "recurrent_dropout",
    )  # fmt: skip

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: IntegersLike = (1, 1),
        activation: ActivationOption = "tanh",
        recurrent_activation: ActivationOption = "hard_sigmoid",
        **kwargs: AnyOption,
    ) -> None:
        super().__init__(filters, activation, recurrent_activation, **dict[str, Any](kwargs))
        self.filters = filters
        self.kernel_size = numbers(kernel_size, 2, "kernel_size")
        self.strides = numbers(strides, 2, "strides")
        self.padding = padding_of(padding)
        self.data_format = chosen_data_format(data_format)
        self.dilation_rate = numbers(dilation_rate, 2, "dilation_rate")
        self.kernel_shape: tuple[int, ...] = ()

    @property
    def is_channels_first(self) -> bool:
        return self.data_format == "channels_first"

    def build(self, input_shape: TensorShape) -> None:
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1 if self.is_channels_first else -1]
        if channels is None:
            raise InvalidArgumentError(
                f"The channel dimension of the inputs of {self.name} should be defined. Found None in {tuple(sizes)}"
            )
        vars(self)["kernel_shape"] = (*self.kernel_size, channels, self.filters * 4)
        self.kernel = self._weight("kernel", "kernel", self.kernel_shape)
        own = (*self.kernel_size, self.filters, self.filters * 4)
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", own)
        self.bias = self._weight("bias", "bias", self._bias_shape()) if self.use_bias else None
        self.built = True

    def convolved_inputs(self, inputs: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
        """Inputs by a kernel, in the windows that the program told."""
        found = conv2d(inputs, kernel, self.strides, self.padding, self.data_format, self.dilation_rate)
        return found if bias is None else bias_add(found, bias, self.data_format)

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: Training = None) -> tuple[Tensor, list[Tensor]]:
        before, carry = states[0], states[1]
        kernels, own = split(self.kernel, 4, axis=3), split(self.recurrent_kernel, 4, axis=3)
        biases = [None] * 4 if self.bias is None else split(self.bias, 4)
        given = zip(self._inputs(inputs, training), kernels, biases, strict=True)
        parts = [self.convolved_inputs(*item) for item in given]
        held = [
            conv2d(state, kernel, (1, 1), "same", self.data_format)
            for state, kernel in zip(self._states(before, training), own, strict=True)
        ]
        i, f, c, o = (part + state for part, state in zip(parts, held, strict=True))
        gate = self.recurrent_activation
        carry = gate(f) * carry + gate(i) * self.activation(c)
        output = gate(o) * self.activation(carry)
        return output, [output, carry]


class ConvLSTM2D(CellLayer):
    """A long short-term memory whose steps are images: [batch, time, rows, columns, channels]."""

    _cell_type = ConvLSTM2DCell
    _of_cell = (
        *_WINDOWS, "activation", "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
        "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer",
        "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout", "recurrent_dropout",
    )  # fmt: skip

    def __init__(self, filters: int, kernel_size: IntegersLike, *args: AnyOption, **kwargs: AnyOption) -> None:
        if kwargs.get("unroll"):
            raise WrongTypeError("Unrolling isn't possible with convolutional RNNs: leave `unroll` out.")
        super().__init__(filters, kernel_size, *args, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    @untracked_method
    def build(self, input_shape: TensorShape) -> None:
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(shape).as_list()
        self.input_spec = [InputSpec(shape=[sizes[0] if self.stateful else None, None, *sizes[2:]])]
        if not self.cell.built:
            self.cell.build(TensorShape([sizes[0], *sizes[2:]]))
            vars(self.cell)["built"] = True
        if self.stateful:
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs: Tensor) -> list[Any]:
        """States of zeros, of the shape that convolutions of the inputs have."""
        first = reduce_sum(zeros_like(inputs), 1)
        kernel = zeros((*self.cell.kernel_shape[:-1], self.cell.filters), first.dtype)
        return [self.cell.convolved_inputs(first, kernel)] * 2

    def _image_shape(self, sizes: list[Any]) -> list[Any]:
        """The shape of one output, without batch and time, for inputs of some sizes."""
        cell = self.cell
        windows = zip(
            sizes[3:] if cell.is_channels_first else sizes[2:-1],
            cell.kernel_size,
            cell.strides,
            cell.dilation_rate,
            strict=True,
        )
        found = [output_length(size, window, cell.padding, step, rate) for size, window, step, rate in windows]
        return [cell.filters, *found] if cell.is_channels_first else [*found, cell.filters]

    def _kept_shapes(self) -> list[tuple[int, ...]]:
        sizes: list[Any] = TensorShape(self.input_spec[0].shape).as_list()
        shape = (sizes[0], *self._image_shape(sizes))
        if None in shape:
            raise InvalidArgumentError(
                f"Layer {self.name} is stateful, and needs to know the size of its batches and images, but its inputs "
                f"are of shape {tuple(sizes)}. Say it by `batch_input_shape` of the first layer, or `batch_shape` of "
                "Input"
            )
        return [shape] * 2

    def compute_output_shape(self, input_shape: ShapesLike) -> TensorShape | list[TensorShape]:
        shape: Any = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(shape).as_list()
        image = self._image_shape(sizes)
        output = TensorShape([sizes[0], sizes[1], *image] if self.return_sequences else [sizes[0], *image])
        return [output, *([TensorShape([sizes[0], *image])] * 2)] if self.return_state else output
