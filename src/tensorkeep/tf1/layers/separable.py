"""Layers of separable convolutions: of each channel by itself, and then across channels."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, squeeze
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import separable_conv2d as nn_separable_conv2d
from tensorkeep.tf1.layers.arguments import (
    ActivationLike,
    Function,
    LayerOption,
    WeightOptions,
    Windows,
    function_of_layer,
    output_length,
    tensor_format,
    with_defaults,
)
from tensorkeep.tf1.layers.convolutional import ConvolutionLayer
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike


class _SeparableConvolution(ConvolutionLayer):
    """A depthwise convolution, then a pointwise one, and a bias."""

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: IntegersLike = 1,
        depth_multiplier: int = 1,
        activation: ActivationLike = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike = None,
        pointwise_initializer: InitializerLike = None,
        bias_initializer: InitializerLike = Zeros(),
        depthwise_regularizer: Function | None = None,
        pointwise_regularizer: Function | None = None,
        bias_regularizer: Function | None = None,
        activity_regularizer: Function | None = None,
        depthwise_constraint: Function | None = None,
        pointwise_constraint: Function | None = None,
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
                "depthwise": WeightOptions(depthwise_initializer, depthwise_regularizer, depthwise_constraint),
                "pointwise": WeightOptions(pointwise_initializer, pointwise_regularizer, pointwise_constraint),
                "bias": WeightOptions(bias_initializer, bias_regularizer, bias_constraint),
            },
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            name=name,
            **dict[str, Any](kwargs),
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.is_channels_first else 1
        windows = zip(
            sizes[first : first + self.spatial], self.kernel_size, self.strides, self.dilation_rate, strict=True
        )
        found = [output_length(size, window, self.padding, step, rate) for size, window, step, rate in windows]
        inner = [self.filters, *found] if self.is_channels_first else [*found, self.filters]
        return TensorShape([sizes[0], *inner])

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        channels = self.input_channels(input_shape)
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={self.channel_axis: channels})
        self.depthwise_kernel = self.add_weight_of(
            "depthwise", "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier)
        )
        self.pointwise_kernel = self.add_weight_of(
            "pointwise",
            "pointwise_kernel",
            (*(1,) * self.spatial, self.depth_multiplier * channels, self.filters),
        )
        self.add_bias_weight()
        self.built = True

    def _separated(self, images: Any, kernels: tuple[Any, Any], strides: tuple[int, ...], rate: Any) -> Any:
        letters = tensor_format(self.data_format, 4)
        around = (1, 1, *strides) if self.is_channels_first else (1, *strides, 1)
        outputs = nn_separable_conv2d(
            images, *kernels, strides=around, padding=self.tensor_padding, rate=rate, data_format=letters
        )
        return bias_add(outputs, self.bias, data_format=letters) if self.use_bias else outputs


class SeparableConv1D(_SeparableConvolution):
    """A separable convolution of rows."""

    spatial = 1
    can_be_causal = True

    def call(self, inputs: Tensor) -> Tensor:
        axis = 2 if self.is_channels_first else 1
        images = expand_dims(self.padded_inputs(inputs), axis)
        kernels = expand_dims(self.depthwise_kernel, 0), expand_dims(self.pointwise_kernel, 0)
        outputs = self._separated(images, kernels, self.strides * 2, (1, *self.dilation_rate))
        return self.activated_outputs(squeeze(outputs, [axis]))


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class SeparableConv2D(_SeparableConvolution):
    """A separable convolution of images."""

    spatial = 2

    def call(self, inputs: Tensor) -> Tensor:
        kernels = self.depthwise_kernel, self.pointwise_kernel
        return self.activated_outputs(self._separated(inputs, kernels, self.strides, self.dilation_rate))


separable_conv1d = function_of_layer(SeparableConv1D, "separable_conv1d")
separable_conv2d = function_of_layer(SeparableConv2D, "separable_conv2d")
