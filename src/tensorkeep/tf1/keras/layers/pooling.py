"""Layers of pools: the maxima or the means of windows, or of whole rows, images and spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_mean, reduce_sum
from tensorkeep.tf1.keras.backend.settings import chosen_data_format
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers import pooling
from tensorkeep.tf1.layers.arguments import output_length
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import LayerOptions


class _Pooling(pooling._Pooling, Layer):
    """What pools share: windows follow each other without a gap unless strides are told."""

    _configured = ("strides", "pool_size", "padding", "data_format")

    def __init__(
        self,
        pool_size: IntegersLike = 2,
        strides: IntegersLike | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        chosen = "channels_last" if data_format is None and self.spatial == 1 else chosen_data_format(data_format)
        super().__init__(pool_size, pool_size if strides is None else strides, padding, chosen, **kwargs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for at in range(self.spatial):
            sizes[first + at] = output_length(sizes[first + at], self.pool_size[at], self.padding, self.strides[at])
        return TensorShape(sizes)


class MaxPooling1D(_Pooling, pooling.MaxPooling1D):
    """The maximum of each window of rows."""


class MaxPooling2D(_Pooling, pooling.MaxPooling2D):
    """The maximum of each window of images."""


class MaxPooling3D(_Pooling, pooling.MaxPooling3D):
    """The maximum of each window of space."""


class AveragePooling1D(_Pooling, pooling.AveragePooling1D):
    """The mean of each window of rows."""


class AveragePooling2D(_Pooling, pooling.AveragePooling2D):
    """The mean of each window of images."""


class AveragePooling3D(_Pooling, pooling.AveragePooling3D):
    """The mean of each window of space."""


class _GlobalPooling(Layer):
    """One number for each channel."""

    spatial: ClassVar[int]
    _configured = ("data_format",)

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.keepdims = keepdims
        default = data_format is None and self.spatial == 1
        self.data_format = "channels_last" if default else chosen_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    def get_config(self) -> dict[str, Any]:
        told = super().get_config()
        return {**told, "keepdims": True} if self.keepdims else told  # what TensorFlow 1.15 has no word for

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes: list[Any] = TensorShape(input_shape).as_list()
        if self.keepdims:
            return TensorShape([1 if at in self._axes else size for at, size in enumerate(sizes)])
        return TensorShape([sizes[0], sizes[1 if self.data_format == "channels_first" else -1]])

    @property
    def _axes(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self.spatial))


class _GlobalMeans(_GlobalPooling):
    def call(self, inputs: Tensor) -> Tensor:
        return reduce_mean(inputs, axis=self._axes, keepdims=self.keepdims)


class _GlobalMaxima(_GlobalPooling):
    def call(self, inputs: Tensor) -> Tensor:
        return reduce_max(inputs, axis=self._axes, keepdims=self.keepdims)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of each channel over the steps of sequences that are not masked."""

    spatial = 1

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        axis = self._axes[0]
        if mask is None:
            return reduce_mean(inputs, axis=axis, keepdims=self.keepdims)
        weights = expand_dims(cast(mask, inputs.dtype.base_dtype), 2 if axis == 1 else 1)
        total = reduce_sum(inputs * weights, axis=axis, keepdims=self.keepdims)
        return total / reduce_sum(weights, axis=axis, keepdims=self.keepdims)

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return None


class GlobalMaxPooling1D(_GlobalPooling):
    """The maximum of each channel over the steps of sequences."""

    spatial = 1

    def call(self, inputs: Tensor) -> Tensor:
        return reduce_max(inputs, axis=self._axes[0], keepdims=self.keepdims)


class GlobalAveragePooling2D(_GlobalMeans):
    """The mean of each channel of images."""

    spatial = 2


class GlobalMaxPooling2D(_GlobalMaxima):
    """The maximum of each channel of images."""

    spatial = 2


class GlobalAveragePooling3D(_GlobalMeans):
    """The mean of each channel of space."""

    spatial = 3


class GlobalMaxPooling3D(_GlobalMaxima):
    """The maximum of each channel of space."""

    spatial = 3
