"""Layers of pools: the maxima or the means of windows, in one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, squeeze, transpose
from tensorkeep.tf1.functions.nn.pooling import avg_pool, avg_pool3d, avg_pool_v2, max_pool, max_pool3d
from tensorkeep.tf1.layers.arguments import (
    data_format_of,
    function_of_layer,
    numbers,
    output_length,
    padding_of,
    tensor_format,
)
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.input_spec import InputSpec


class _Pooling(Layer):
    """What pools share; `pool` is the function of `tf.nn` that they call."""

    spatial: ClassVar[int]
    pool: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise InvalidArgumentError("Argument `strides` must not be None.")
        super().__init__(name=name, **dict[str, Any](kwargs))
        self.pool_size = numbers(pool_size, self.spatial, "pool_size")
        self.strides = numbers(strides, self.spatial, "strides", allows_zero=True)
        self.padding = padding_of(padding)
        if self.padding == "causal":
            raise InvalidArgumentError(f"Invalid padding: {padding}")
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        windows = zip(sizes[first : first + self.spatial], self.pool_size, self.strides, strict=True)
        found = [output_length(size, window, self.padding, step) for size, window, step in windows]
        return TensorShape([*sizes[:first], *found, *sizes[first + self.spatial :]])

    def _pooled(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...], **options: Any) -> Any:
        return type(self).pool(inputs, ksize=sizes, strides=strides, padding=self.padding.upper(), **options)


class _Pooling1D(_Pooling):
    spatial: ClassVar[int] = 1

    def call(self, inputs: Any) -> Any:
        """Pools rows as images of one column; images have their channels last, as TensorFlow without a GPU has it."""
        is_first = self.data_format == "channels_first"
        axis = 3 if is_first else 2
        images = expand_dims(inputs, axis)
        if is_first:
            images = transpose(images, (0, 2, 3, 1))
        outputs = self._pooled(images, (1, *self.pool_size, 1, 1), (1, *self.strides, 1, 1), data_format="NHWC")
        if is_first:
            outputs = transpose(outputs, (0, 3, 1, 2))
        return squeeze(outputs, axis)


class _Pooling2D(_Pooling):
    spatial: ClassVar[int] = 2

    def call(self, inputs: Any) -> Any:
        letters = tensor_format(self.data_format, 4)
        if self.data_format == "channels_first":
            return self._pooled(inputs, (1, 1, *self.pool_size), (1, 1, *self.strides), data_format=letters)
        return self._pooled(inputs, (1, *self.pool_size, 1), (1, *self.strides, 1), data_format=letters)


class _Pooling3D(_Pooling):
    spatial: ClassVar[int] = 3

    def call(self, inputs: Any) -> Any:
        is_first = self.data_format == "channels_first"
        if is_first:
            inputs = transpose(inputs, (0, 2, 3, 4, 1))
        outputs = self._pooled(inputs, (1, *self.pool_size, 1), (1, *self.strides, 1))
        return transpose(outputs, (0, 4, 1, 2, 3)) if is_first else outputs


class MaxPooling1D(_Pooling1D):
    """The maximum of each window of rows."""

    pool = max_pool


class MaxPooling2D(_Pooling2D):
    """The maximum of each window of images."""

    pool = max_pool


class MaxPooling3D(_Pooling3D):
    """The maximum of each window of space."""

    pool = max_pool3d


class AveragePooling1D(_Pooling1D):
    """The mean of each window of rows."""

    pool = avg_pool


class AveragePooling2D(_Pooling2D):
    """The mean of each window of images."""

    pool = avg_pool_v2


class AveragePooling3D(_Pooling3D):
    """The mean of each window of space."""

    pool = avg_pool3d


max_pooling1d = function_of_layer(MaxPooling1D, "max_pooling1d", takes_reuse=False)
max_pooling2d = function_of_layer(MaxPooling2D, "max_pooling2d", takes_reuse=False)
max_pooling3d = function_of_layer(MaxPooling3D, "max_pooling3d", takes_reuse=False)
average_pooling1d = function_of_layer(AveragePooling1D, "average_pooling1d", takes_reuse=False)
average_pooling2d = function_of_layer(AveragePooling2D, "average_pooling2d", takes_reuse=False)
average_pooling3d = function_of_layer(AveragePooling3D, "average_pooling3d", takes_reuse=False)
