"""Layers of separable convolutions: of each channel by itself, and then across channels."""

from __future__ import annotations

from typing import Any

from tensorkeep.tf1.functions.arrays.shapes import expand_dims, squeeze
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import separable_conv2d as nn_separable_conv2d
from tensorkeep.tf1.layers.arguments import Function, applied, initializer_of, tensor_format, with_defaults
from tensorkeep.tf1.layers.convolutional import ConvolutionLayer
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Zeros


class _SeparableConvolution(ConvolutionLayer):
    """A depthwise convolution, then a pointwise one, and a bias."""

    def __init__(
        self,
        filters: Any,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        depthwise_regularizer: Function | None = None,
        pointwise_regularizer: Function | None = None,
        bias_regularizer: Function | None = None,
        activity_regularizer: Function | None = None,
        depthwise_constraint: Function | None = None,
        pointwise_constraint: Function | None = None,
        bias_constraint: Function | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            (kernel_size, strides, padding, data_format, dilation_rate),
            activation,
            (use_bias, bias_initializer, bias_regularizer, bias_constraint),
            activity_regularizer=activity_regularizer,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializer_of(depthwise_initializer)
        self.pointwise_initializer = initializer_of(pointwise_initializer)
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        channels = self.input_channels(input_shape)
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={self.channel_axis: channels})
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            (*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            (*(1,) * self.spatial, self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
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

    def call(self, inputs: Any) -> Any:
        axis = 2 if self.is_channels_first else 1
        images = expand_dims(self.padded(inputs), axis)
        kernels = expand_dims(self.depthwise_kernel, 0), expand_dims(self.pointwise_kernel, 0)
        outputs = self._separated(images, kernels, self.strides * 2, (1, *self.dilation_rate))
        return self.activated(squeeze(outputs, [axis]))


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class SeparableConv2D(_SeparableConvolution):
    """A separable convolution of images."""

    spatial = 2

    def call(self, inputs: Any) -> Any:
        kernels = self.depthwise_kernel, self.pointwise_kernel
        return self.activated(self._separated(inputs, kernels, self.strides, self.dilation_rate))


separable_conv1d = applied(SeparableConv1D, "separable_conv1d")
separable_conv2d = applied(SeparableConv2D, "separable_conv2d")

__all__ = ["SeparableConv1D", "SeparableConv2D", "separable_conv1d", "separable_conv2d"]
