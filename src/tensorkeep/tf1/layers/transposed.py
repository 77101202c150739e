"""Layers of transposed convolutions: from what a convolution gives back to the shape of what it takes."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.shapes import stack, transpose
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import atrous_conv2d_transpose
from tensorkeep.tf1.functions.nn.convolution import conv2d_transpose as nn_conv2d_transpose
from tensorkeep.tf1.functions.nn.convolution import conv3d_transpose as nn_conv3d_transpose
from tensorkeep.tf1.layers.arguments import (
    ActivationLike,
    Function,
    LayerOption,
    WeightOptions,
    Windows,
    function_of_layer,
    tensor_format,
    with_defaults,
)
from tensorkeep.tf1.layers.convolutional import ConvolutionLayer
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike


class _TransposedConvolution(ConvolutionLayer):
    """The gradient of a convolution, with a kernel and a bias of its own."""

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        activation: ActivationLike = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike = None,
        bias_initializer: InitializerLike = Zeros(),
        kernel_regularizer: Function | None = None,
        bias_regularizer: Function | None = None,
        activity_regularizer: Function | None = None,
        kernel_constraint: Function | None = None,
        bias_constraint: Function | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: LayerOption,
    ) -> None:
        options: dict[str, Any] = dict(kwargs)
        super().__init__(
            filters,
            Windows(kernel_size, strides, padding, data_format, options.pop("dilation_rate", 1)),
            activation,
            use_bias,
            {
                "kernel": WeightOptions(kernel_initializer, kernel_regularizer, kernel_constraint),
                "bias": WeightOptions(bias_initializer, bias_regularizer, bias_constraint),
            },
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            name=name,
            **options,
        )
        self.kernel: Any = None

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        rank = self.spatial + 2
        if input_shape.rank != rank:
            raise InvalidArgumentError(f"Inputs should have rank {rank}. Received input_shape={input_shape}.")
        channels = self.input_channels(input_shape)
        self.input_spec = InputSpec(ndim=rank, axes={self.channel_axis: channels})
        self.kernel = self.add_weight_of("kernel", "kernel", (*self.kernel_size, self.filters, channels))
        self.add_bias_weight()
        self.built = True

    def _reaches(self) -> list[int]:
        """How far a window reaches along each spatial axis, the places that it leaves out among it."""
        return [(size - 1) * rate + 1 for size, rate in zip(self.kernel_size, self.dilation_rate, strict=True)]

    def _lengths(self, sizes: list[Any]) -> list[Any]:
        """The sizes of the outputs along the spatial axes: numbers, tensors, or None."""
        found = []
        for size, window, step in zip(sizes, self._reaches(), self.strides, strict=True):
            length = None if size is None else size * step
            more = max(window - step, 0)
            found.append(length if length is None or self.padding == "same" else length + more)
        return found

    def _shape(self, batch: Any, lengths: list[Any]) -> list[Any]:
        return [batch, self.filters, *lengths] if self.is_channels_first else [batch, *lengths, self.filters]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape(self._shape(sizes[0], self._lengths([sizes[axis] for axis in self._axes()])))

    def _axes(self) -> range:
        first = 2 if self.is_channels_first else 1
        return range(first, first + self.spatial)

    def _finished(self, outputs: Tensor, input_shape: TensorShape) -> Tensor:
        if input_shape.rank:
            sizes = input_shape.as_list()
            outputs.set_shape(self._shape(sizes[0], self._lengths([sizes[axis] for axis in self._axes()])))
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=tensor_format(self.data_format, 4))
        return self.activated_outputs(outputs)


@with_defaults(strides=(1, 1))
class Conv2DTranspose(_TransposedConvolution):
    """A transposed convolution of images. Its windows may leave places out, as many in rows as in columns."""

    spatial = 2

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        if len(set(self.dilation_rate)) > 1:
            raise InvalidArgumentError(
                f"Expected the 2 dimensions of the `dilation_rate` argument to be equal to each other. Received: "
                f"dilation_rate={self.dilation_rate}"
            )
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Images have their channels last for the operation, as TensorFlow without a GPU has it."""
        sizes, shape = shape_of(inputs), inputs.get_shape()
        batch = sizes[0]
        known = [None, None] if shape.rank is None else [shape.as_list()[axis] for axis in self._axes()]
        lengths = [sizes[axis] if size is None else size for axis, size in zip(self._axes(), known, strict=True)]
        wanted: Any = stack(self._shape(batch, self._lengths(lengths)))
        if self.is_channels_first:
            images = transpose(inputs, (0, 2, 3, 1))
            wanted = stack([wanted[0], wanted[2], wanted[3], wanted[1]])
        else:
            images = inputs
            _ = wanted[0]  # TensorFlow looks whether it is there, and leaves the slice in the graph
        rate = self.dilation_rate[0]
        if rate > 1:
            outputs = atrous_conv2d_transpose(images, self.kernel, wanted, rate, self.tensor_padding)
        else:
            strides = (1, *self.strides, 1)
            outputs = nn_conv2d_transpose(images, self.kernel, wanted, strides, padding=self.tensor_padding)
        if self.is_channels_first:
            outputs = transpose(outputs, (0, 3, 1, 2))
        return self._finished(outputs, shape)


@with_defaults(strides=(1, 1, 1))
class Conv3DTranspose(_TransposedConvolution):
    """A transposed convolution of space."""

    spatial = 3

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        if max(self.dilation_rate) > 1:
            raise InvalidArgumentError(
                f"{type(self).__name__} with dilation_rate={self.dilation_rate}: only those of images can be dilated "
                f"(TensorFlow takes the argument, and computes without it)"
            )
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        sizes = shape_of(inputs)
        batch, lengths = sizes[0], [sizes[axis] for axis in self._axes()]
        wanted = stack(self._shape(batch, self._lengths(lengths)))
        outputs = nn_conv3d_transpose(
            inputs,
            self.kernel,
            wanted,
            (1, 1, *self.strides) if self.is_channels_first else (1, *self.strides, 1),
            data_format=tensor_format(self.data_format, 5),
            padding=self.tensor_padding,
        )
        return self._finished(outputs, inputs.get_shape())


conv2d_transpose = function_of_layer(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = function_of_layer(Conv3DTranspose, "conv3d_transpose")
