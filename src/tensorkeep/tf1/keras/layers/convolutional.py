"""Layers of convolutions; and layers that enlarge, pad and crop what these go over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import pad
from tensorkeep.tf1.functions.arrays.slicing import getitem
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import depthwise_conv2d
from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers
from tensorkeep.tf1.keras.backend.arrays import repeat_elements, resize_images
from tensorkeep.tf1.keras.backend.settings import chosen_data_format
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers import convolutional, separable, transposed
from tensorkeep.tf1.layers.arguments import WeightOptions, Windows, numbers, output_length, tensor_format
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        ActivationOption,
        AnyOption,
        ConstraintOption,
        InitializerOption,
        LayerOptions,
        NamedOptions,
        RegularizerOption,
    )

_WINDOWS = ("filters", "kernel_size", "strides", "padding", "data_format")
_ENDS = ("activity_regularizer", "kernel_constraint", "bias_constraint")
_KERNEL = ("kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer")

MarginsLike: TypeAlias = "int | Sequence[int | Sequence[int]]"
"""What is added or taken around inputs: one number for all axes, one for each, or a pair for each."""


def _resolved_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a layer whose initializers, regularizers, constraints and activations may be given by name."""
    found = dict(arguments)
    for name, value in arguments.items():
        if name.endswith("_initializer"):
            found[name] = initializers.get(value)
        elif name.endswith("_regularizer"):
            found[name] = regularizers.get(value)
        elif name.endswith("_constraint"):
            found[name] = constraints.get(value)
        elif name == "activation":
            found[name] = activations.get(value)
        elif name == "data_format":
            found[name] = chosen_data_format(value)
    return found


class _Convolution(convolutional._Convolution, Layer):
    """What convolutions share."""

    _configured = (*_WINDOWS, "dilation_rate", "activation", "use_bias", *_KERNEL, *_ENDS)

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: IntegersLike = 1,
        activation: ActivationOption = None,
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        told = _resolved_arguments(
            {
                "data_format": data_format,
                "activation": activation,
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "activity_regularizer": activity_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            }
        )
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            dilation_rate=dilation_rate,
            use_bias=use_bias,
            **told,
            **dict[str, Any](kwargs),
        )

    def build(self, input_shape: Any) -> None:
        convolutional._Convolution.build(self, TensorShape(input_shape))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return self._output_shape(TensorShape(input_shape))


class Conv1D(_Convolution, convolutional.Conv1D):
    """A convolution of rows."""

    def __init__(self, filters: int, kernel_size: IntegersLike, *args: AnyOption, **kwargs: AnyOption) -> None:
        if len(args) < 3 and kwargs.get("data_format") is None:
            kwargs["data_format"] = "channels_last"
        super().__init__(filters, kernel_size, *tuple[Any, ...](args), **dict[str, Any](kwargs))


class Conv2D(_Convolution, convolutional.Conv2D):
    """A convolution of images."""


class Conv3D(_Convolution, convolutional.Conv3D):
    """A convolution of space."""


class _TransposedConvolution(transposed._TransposedConvolution, Layer):
    """What transposed convolutions share."""

    _configured = (*_WINDOWS, "dilation_rate", "output_padding", "activation", "use_bias", *_KERNEL, *_ENDS)

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        output_padding: IntegersLike | None = None,
        data_format: str | None = None,
        dilation_rate: IntegersLike = 1,
        activation: ActivationOption = None,
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        told = _resolved_arguments(
            {
                "data_format": data_format,
                "activation": activation,
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "activity_regularizer": activity_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            }
        )
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            use_bias=use_bias,
            **told,
            **dict[str, Any](kwargs, dilation_rate=dilation_rate),
        )
        self.output_padding = None
        if output_padding is not None:
            self.output_padding = numbers(output_padding, self.spatial, "output_padding", allows_zero=True)
            for step, extra in zip(self.strides, self.output_padding, strict=True):
                if step <= extra:
                    raise InvalidArgumentError(
                        f"Stride {self.strides} must be greater than output padding {self.output_padding}"
                    )

    def build(self, input_shape: Any) -> None:
        super().build(TensorShape(input_shape))

    def _lengths(self, sizes: list[Any]) -> list[Any]:
        if self.output_padding is None:
            return super()._lengths(sizes)
        found = []
        for at, (size, window, step) in enumerate(zip(sizes, self._reaches(), self.strides, strict=True)):
            around = window // 2 if self.padding == "same" else 0
            extra = self.output_padding[at]
            found.append(None if size is None else (size - 1) * step + window - 2 * around + extra)
        return found

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape(self._shape(sizes[0], self._lengths([sizes[axis] for axis in self._axes()])))


class Conv2DTranspose(_TransposedConvolution, transposed.Conv2DTranspose):
    """A transposed convolution of images."""


class Conv3DTranspose(_TransposedConvolution, transposed.Conv3DTranspose):
    """A transposed convolution of space."""


class _SeparableConvolution(separable._SeparableConvolution, Layer):
    """What separable convolutions share."""

    _configured = (
        *_WINDOWS, "dilation_rate", "depth_multiplier", "activation", "use_bias", "depthwise_initializer",
        "pointwise_initializer", "bias_initializer", "depthwise_regularizer", "pointwise_regularizer",
        "bias_regularizer", "activity_regularizer", "depthwise_constraint", "pointwise_constraint", "bias_constraint",
    )  # fmt: skip

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: IntegersLike = 1,
        depth_multiplier: int = 1,
        activation: ActivationOption = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerOption = "glorot_uniform",
        pointwise_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        depthwise_regularizer: RegularizerOption = None,
        pointwise_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        depthwise_constraint: ConstraintOption = None,
        pointwise_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        told = _resolved_arguments(
            {
                "data_format": data_format,
                "activation": activation,
                "depthwise_initializer": depthwise_initializer,
                "pointwise_initializer": pointwise_initializer,
                "bias_initializer": bias_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "pointwise_regularizer": pointwise_regularizer,
                "bias_regularizer": bias_regularizer,
                "activity_regularizer": activity_regularizer,
                "depthwise_constraint": depthwise_constraint,
                "pointwise_constraint": pointwise_constraint,
                "bias_constraint": bias_constraint,
            }
        )
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            dilation_rate=dilation_rate,
            depth_multiplier=depth_multiplier,
            use_bias=use_bias,
            **told,
            **dict[str, Any](kwargs),
        )

    def build(self, input_shape: Any) -> None:
        separable._SeparableConvolution.build(self, TensorShape(input_shape))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return _convolved_shape(self, TensorShape(input_shape), self.filters)


class SeparableConv1D(_SeparableConvolution, separable.SeparableConv1D):
    """A separable convolution of rows."""


class SeparableConv2D(_SeparableConvolution, separable.SeparableConv2D):
    """A separable convolution of images."""


def _convolved_shape(layer: Any, input_shape: TensorShape, channels: int | None) -> TensorShape:
    sizes = input_shape.as_list()
    spatial = sizes[2:] if layer.is_channels_first else sizes[1:-1]
    windows = zip(spatial, layer.kernel_size, layer.strides, layer.dilation_rate, strict=True)
    found = [output_length(size, window, layer.padding, step, rate) for size, window, step, rate in windows]
    return TensorShape([sizes[0], channels, *found] if layer.is_channels_first else [sizes[0], *found, channels])


class DepthwiseConv2D(convolutional.ConvolutionLayer, Layer):
    """A convolution of each channel by itself."""

    spatial = 2
    _configured = (
        "kernel_size", "strides", "padding", "data_format", "dilation_rate", "depth_multiplier", "activation",
        "use_bias", "depthwise_initializer", "bias_initializer", "depthwise_regularizer", "bias_regularizer",
        "activity_regularizer", "depthwise_constraint", "bias_constraint",
    )  # fmt: skip

    def __init__(
        self,
        kernel_size: IntegersLike,
        strides: IntegersLike = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: ActivationOption = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        depthwise_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        depthwise_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        dilation_rate: IntegersLike = (1, 1),
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        depthwise = WeightOptions(
            initializers.get(depthwise_initializer),
            regularizers.get(depthwise_regularizer),
            constraints.get(depthwise_constraint),
        )
        bias = WeightOptions(
            initializers.get(bias_initializer), regularizers.get(bias_regularizer), constraints.get(bias_constraint)
        )
        super().__init__(
            1,
            Windows(kernel_size, strides, padding, chosen_data_format(data_format), dilation_rate),
            activations.get(activation),
            use_bias,
            {"depthwise": depthwise, "bias": bias},
            activity_regularizer=regularizers.get(activity_regularizer),
            **dict[str, Any](kwargs),
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_kernel: Any = None

    def build(self, input_shape: TensorShape) -> None:
        shape = TensorShape(input_shape)
        if shape.rank is None or shape.rank < 4:
            raise InvalidArgumentError(f"Inputs to `DepthwiseConv2D` should have rank 4. Received input shape: {shape}")
        channels = self.input_channels(shape)
        self.depthwise_kernel = self.add_weight_of(
            "depthwise", "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier)
        )
        self.filters = channels * self.depth_multiplier
        self.add_bias_weight()
        self.input_spec = InputSpec(ndim=4, axes={self.channel_axis: channels})
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        letters = tensor_format(self.data_format, 4)
        outputs = depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=(1, 1, *self.strides) if self.is_channels_first else (1, *self.strides, 1),
            padding=self.tensor_padding,
            rate=self.dilation_rate,
            data_format=letters,
        )
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=letters)
        return self.activated_outputs(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape)
        channels = shape.as_list()[1 if self.is_channels_first else 3]
        return _convolved_shape(self, shape, None if channels is None else channels * self.depth_multiplier)


# ---------------------------------------------------------------------------------------------------- Enlarging


class _Spatial(Layer):
    """A layer that goes over the axes of rows, images or space between batch and channels."""

    spatial: ClassVar[int] = 1

    def __init__(self, data_format: str | None = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.data_format = chosen_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    @property
    def _first_axis(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _with_lengths(self, input_shape: Any, change: Any) -> TensorShape:
        """The shape with other sizes along the axes in between."""
        sizes = TensorShape(input_shape).as_list()
        for at in range(self.spatial):
            axis = self._first_axis + at
            size = sizes[axis]
            sizes[axis] = None if size is None else change(at, size)
        return TensorShape(sizes)


class UpSampling1D(_Spatial):
    """Each row several times."""

    _configured = ("size",)

    def __init__(self, size: int = 2, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__("channels_last", **kwargs)
        self.size = int(size)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return self._with_lengths(input_shape, lambda at, length: length * self.size)

    def call(self, inputs: Tensor) -> Tensor:
        return repeat_elements(inputs, self.size, 1)


class UpSampling2D(_Spatial):
    """Images enlarged by whole numbers, by the nearest pixel or in between."""

    spatial = 2
    _configured = ("size", "data_format", "interpolation")

    def __init__(
        self,
        size: IntegersLike = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = numbers(size, 2, "size")
        if interpolation not in ("nearest", "bilinear"):
            raise InvalidArgumentError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return self._with_lengths(input_shape, lambda at, length: length * self.size[at])

    def call(self, inputs: Tensor) -> Tensor:
        height, width = self.size
        return resize_images(inputs, height, width, self.data_format, interpolation=self.interpolation)


class UpSampling3D(_Spatial):
    """Space enlarged by whole numbers."""

    spatial = 3
    _configured = ("size", "data_format")

    def __init__(
        self, size: IntegersLike = (2, 2, 2), data_format: str | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = numbers(size, 3, "size")

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return self._with_lengths(input_shape, lambda at, length: length * self.size[at])

    def call(self, inputs: Tensor) -> Tensor:
        for at, times in enumerate(self.size):
            inputs = repeat_elements(inputs, times, self._first_axis + at)
        return inputs


# ---------------------------------------------------------------------------------------------------- Padding, cropping


def _pairs(value: MarginsLike, count: int, name: str) -> tuple[tuple[int, int], ...]:
    """What is added or taken before and after each axis: one number for all, one for each, or a pair for each."""
    if isinstance(value, int):
        return ((value, value),) * count
    if not isinstance(value, Sequence) or len(value) != count:
        raise InvalidArgumentError(f"`{name}` should have {count} elements. Found: {value}")
    return tuple(
        (item, item) if isinstance(item, int) else _pair(item, f"entry {at} of {name}") for at, item in enumerate(value)
    )


def _pair(value: IntegersLike, name: str) -> tuple[int, int]:
    first, second = numbers(value, 2, name, allows_zero=True)
    return first, second


class ZeroPadding1D(_Spatial):
    """Zeros before and after rows."""

    _configured = ("padding",)

    def __init__(self, padding: IntegersLike = 1, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__("channels_last", **kwargs)
        self.padding = _pair(padding, "padding")

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return self._with_lengths(input_shape, lambda at, length: length + sum(self.padding))

    def call(self, inputs: Tensor) -> Tensor:
        return pad(inputs, [[0, 0], list(self.padding), [0, 0]])


class _ZeroPadding(_Spatial):
    _configured = ("padding", "data_format")

    def __init__(
        self, padding: MarginsLike = 1, data_format: str | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = _pairs(padding, self.spatial, "padding")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return self._with_lengths(input_shape, lambda at, length: length + sum(self.padding[at]))

    def call(self, inputs: Tensor) -> Tensor:
        inner = [list(pair) for pair in self.padding]
        none = [[0, 0]]
        return pad(inputs, none + (none + inner if self.data_format == "channels_first" else inner + none))


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images."""

    spatial = 2


class ZeroPadding3D(_ZeroPadding):
    """Zeros around space."""

    spatial = 3


class _Cropping(_Spatial):
    _configured: ClassVar[tuple[str, ...]] = ("cropping", "data_format")

    def __init__(self, cropping: MarginsLike, data_format: str | None = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping: Any = _pairs(cropping, self.spatial, "cropping")

    def _crops(self) -> tuple[tuple[int, int], ...]:
        found: tuple[tuple[int, int], ...] = self.cropping
        return found

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        crops = self._crops()
        return self._with_lengths(input_shape, lambda at, length: length - sum(crops[at]))

    def call(self, inputs: Tensor) -> Tensor:
        sizes: list[Any] = inputs.get_shape().as_list()
        parts: list[Any] = [slice(None)] * (self.spatial + 2)
        for at, (before, after) in enumerate(self._crops()):
            axis = self._first_axis + at
            if sizes[axis] is not None and before + after >= sizes[axis]:
                raise InvalidArgumentError(
                    f"cropping {self.cropping} of layer {self.name} leaves nothing of inputs of shape {tuple(sizes)}"
                )
            parts[axis] = slice(before, -after or None)
        return getitem(inputs, tuple(parts))


class Cropping1D(_Cropping):
    """Rows without those at the ends."""

    _configured: ClassVar[tuple[str, ...]] = ("cropping",)

    def __init__(self, cropping: IntegersLike = (1, 1), **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__((_pair(cropping, "cropping"),), "channels_last", **kwargs)
        self.cropping = _pair(cropping, "cropping")

    def _crops(self) -> tuple[tuple[int, int], ...]:
        return (self.cropping,)


class Cropping2D(_Cropping):
    """Images without their borders."""

    spatial = 2

    def __init__(
        self, cropping: MarginsLike = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(_Cropping):
    """Space without its borders."""

    spatial = 3

    def __init__(
        self,
        cropping: MarginsLike = ((1, 1), (1, 1), (1, 1)),
        data_format: str | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)
