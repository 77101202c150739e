"""Layers of convolutions, in one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, pad, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import convolution
from tensorkeep.tf1.functions.numbers.elementwise import add
from tensorkeep.tf1.layers.arguments import (
    ActivationLike,
    Function,
    LayerOption,
    WeightOptions,
    Windows,
    activation_of,
    data_format_of,
    function_of_layer,
    initializer_of,
    known_dimension,
    numbers,
    output_length,
    padding_of,
    tensor_format,
    with_defaults,
)
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.variable import Variable


class ConvolutionLayer(Layer):
    """What all layers of convolutions share: windows, an activation, a bias.

    `spatial` is the number of dimensions that windows have.
    """

    spatial: ClassVar[int]
    can_be_causal: ClassVar[bool] = False

    def __init__(
        self,
        filters: int,
        windows: Windows,
        activation: ActivationLike,
        use_bias: bool,
        weight_options: Mapping[str, WeightOptions],
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(**dict[str, Any](kwargs))
        self.filters = int(filters)
        if self.filters <= 0:
            raise InvalidArgumentError(
                f"Invalid value for argument `filters`. Expected a strictly positive value. Received filters={filters}."
            )
        self.kernel_size = numbers(windows.size, self.spatial, "kernel_size")
        self.strides = numbers(windows.strides, self.spatial, "strides")
        self.padding = padding_of(windows.padding)
        self.data_format = data_format_of(windows.data_format)
        self.dilation_rate = numbers(windows.dilation_rate, self.spatial, "dilation_rate")
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self._weight_options = {
            kind: replace(options, initializer=initializer_of(options.initializer))
            for kind, options in weight_options.items()
        }
        for kind, options in self._weight_options.items():  # `kernel_initializer` and so on, as Keras has them
            for name, value in vars(options).items():
                setattr(self, f"{kind}_{name}", value)
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=self.spatial + 2)
        if self.padding == "causal" and not self.can_be_causal:
            raise InvalidArgumentError("Causal padding is only supported for `Conv1D`and `SeparableConv1D`.")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise InvalidArgumentError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    @property
    def is_channels_first(self) -> bool:
        return self.data_format == "channels_first"

    @property
    def channel_axis(self) -> int:
        return -1 - self.spatial if self.is_channels_first else -1

    @property
    def tensor_padding(self) -> str:
        """The padding of the operation: causal padding is made before it."""
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def input_channels(self, input_shape: TensorShape) -> int:
        return known_dimension(input_shape, self.channel_axis, "The channel dimension of the inputs")

    def add_weight_of(self, kind: str, name: str, shape: tuple[int, ...]) -> Variable | PartitionedVariable:
        """A variable that is made with the options given for its kind: "kernel", "bias", "depthwise", …"""
        options = self._weight_options[kind]
        return self.add_weight(
            name,
            shape,
            initializer=options.initializer,
            regularizer=options.regularizer,
            constraint=options.constraint,
        )

    def add_bias_weight(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight_of("bias", "bias", (self.filters,))

    def padded_inputs(self, inputs: Tensor) -> Tensor:
        """The inputs, with zeros before them if the padding is causal: no output then sees what comes after it."""
        if self.padding != "causal":
            return inputs
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        rank = inputs.static_shape.rank
        batches = [[0, 0]] * (1 if rank is None else rank - 2)
        last = [[0, 0], [before, 0]] if self.is_channels_first else [[before, 0], [0, 0]]
        return pad(inputs, batches + last)

    def activated_outputs(self, outputs: Tensor) -> Tensor:
        return outputs if self.activation is None else self.activation(outputs)


class _Convolution(ConvolutionLayer):
    """activation(inputs * kernel + bias)"""

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: IntegersLike = 1,
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
        super().__init__(
            filters,
            Windows(kernel_size, strides, padding, data_format, dilation_rate),
            activation,
            use_bias,
            {
                "kernel": WeightOptions(kernel_initializer, kernel_regularizer, kernel_constraint),
                "bias": WeightOptions(bias_initializer, bias_regularizer, bias_constraint),
            },
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            name=name,
            **dict[str, Any](kwargs),
        )
        self.kernel: Any = None

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        channels = self.input_channels(input_shape)
        self._output_shape(input_shape)
        self.kernel = self.add_weight_of("kernel", "kernel", (*self.kernel_size, channels, self.filters))
        self.add_bias_weight()
        self.input_spec = InputSpec(min_ndim=self.spatial + 2, axes={self.channel_axis: channels})
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        outputs = convolution(
            self.padded_inputs(inputs),
            self.kernel,
            strides=list(self.strides),
            padding=self.tensor_padding,
            dilations=list(self.dilation_rate),
            data_format=tensor_format(self.data_format, self.spatial + 2),
            name=type(self).__name__,
        )
        if self.use_bias:
            outputs = self._biased(outputs)
        if inputs.get_shape().rank:
            outputs.set_shape(self._output_shape(inputs.get_shape()))
        return self.activated_outputs(outputs)

    def _biased(self, outputs: Tensor) -> Tensor:
        if self.spatial == 1 and self.is_channels_first:
            return add(outputs, reshape(self.bias, (1, self.filters, 1)), name="add")
        letters = tensor_format(self.data_format, self.spatial + 2)
        rank = outputs.get_shape().rank
        if rank is None or rank <= self.spatial + 2:
            return bias_add(outputs, self.bias, data_format=letters)
        inner = self.spatial + 1
        with name_scope("squeeze_batch_dims"):
            shape = outputs.get_shape()
            sizes: Any = shape[-inner:].as_list() if shape[-inner:].is_fully_defined() else shape_of(outputs)[-inner:]
            batch: Any = shape[:-inner].as_list() if shape[:-inner].is_fully_defined() else shape_of(outputs)[:-inner]
            flat = [-1, *sizes] if isinstance(sizes, list) else concat(([-1], sizes), axis=-1)
            biased = bias_add(reshape(outputs, flat), self.bias, data_format=letters)
            rest = biased.get_shape()[-inner:]
            last: Any = rest.as_list() if rest.is_fully_defined() else shape_of(biased)[-inner:]
            return reshape(biased, concat((batch, last), axis=-1))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return self._output_shape(TensorShape(input_shape))

    def _output_shape(self, input_shape: TensorShape) -> TensorShape:
        sizes = input_shape.as_list()
        batch = len(sizes) - self.spatial - 1
        spatial = sizes[batch + 1 :] if self.is_channels_first else sizes[batch:-1]
        windows = zip(spatial, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        found = [output_length(size, window, self.padding, step, rate) for size, window, step, rate in windows]
        if any(size is not None and size < 0 for size in found):
            raise InvalidArgumentError(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. Consider increasing "
                f"the input size. Received input shape {sizes} which would produce output shape with a zero or "
                "negative value in a dimension."
            )
        inner = [self.filters, *found] if self.is_channels_first else [*found, self.filters]
        return TensorShape([*sizes[:batch], *inner])


class Conv1D(_Convolution):
    """A convolution of rows."""

    spatial = 1
    can_be_causal = True


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class Conv2D(_Convolution):
    """A convolution of images."""

    spatial = 2


@with_defaults(strides=(1, 1, 1), dilation_rate=(1, 1, 1))
class Conv3D(_Convolution):
    """A convolution of space."""

    spatial = 3


conv1d = function_of_layer(Conv1D, "conv1d")
conv2d = function_of_layer(Conv2D, "conv2d")
conv3d = function_of_layer(Conv3D, "conv3d")
