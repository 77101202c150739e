"""Layers of images [batch, rows, columns, channels] and of sequences [batch, steps, channels]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.layers.core import activated_tensor, check_activation
from tensorkeep.saved_model.layers.weights import (
    Sizes,
    array_of,
    check_input,
    check_sizes,
    optional_array,
    set_fields,
    weight,
)
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, pad, squeeze, stack
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import conv2d, conv2d_transpose, depthwise_conv2d
from tensorkeep.tf1.functions.nn.pooling import avg_pool, max_pool
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_mean

Padding: TypeAlias = str | int | Sequence[tuple[int, int]]
"""VALID, SAME as TensorFlow has it, or how much to add: a number for all sides (PyTorch's), or pairs."""


def _pair(value: int | Sequence[int], what: str) -> tuple[int, int]:
    found = (value, value) if isinstance(value, int) else tuple(value)
    if len(found) != 2 or any(size < 1 for size in found):
        raise InvalidArgumentError(f"{what} must be one or two positive numbers, got {value!r}")
    return found[0], found[1]


def _padding(value: Padding, dimensions: int = 2) -> str | tuple[tuple[int, int], ...]:
    if isinstance(value, str):
        if value.upper() not in ("VALID", "SAME"):
            raise InvalidArgumentError(f'padding must be "VALID", "SAME", a number or pairs, got {value!r}')
        return value.upper()
    pairs = ((value, value),) * dimensions if isinstance(value, int) else tuple(map(tuple, value))
    if len(pairs) != dimensions or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise InvalidArgumentError(f"padding must have {dimensions} pairs of numbers, got {value!r}")
    return tuple((int(before), int(after)) for before, after in pairs)


def _padded_images(x: Tensor, padding: str | tuple[tuple[int, int], ...], value: float = 0) -> tuple[Tensor, str]:
    """The images with explicit padding put around them, and the padding that the operation is to do: "VALID", or as
    named.
    """
    if isinstance(padding, str):
        return x, padding
    if not any(map(any, padding)):
        return x, "VALID"
    return pad(x, [(0, 0), *padding, (0, 0)], constant_values=value), "VALID"


@dataclass(frozen=True, eq=False)
class Conv2D:
    """A convolution of images. The kernel is [rows, columns, channels, outputs]: PyTorch's weight transposed by
    (2, 3, 1, 0).
    """

    kernel: Any
    bias: Any = None
    strides: int | Sequence[int] = 1
    padding: Padding = "VALID"
    dilations: int | Sequence[int] = 1
    activation: str | None = None

    def __post_init__(self) -> None:
        kernel, bias = array_of(self.kernel, (4,), "the kernel"), optional_array(self.bias, (1,), "the bias")
        check_sizes("Conv2D", kernel.shape[3], bias=bias)
        check_activation(self.activation)
        set_fields(
            self,
            kernel=kernel,
            bias=bias,
            strides=_pair(self.strides, "strides"),
            dilations=_pair(self.dilations, "dilations"),
            padding=_padding(self.padding),
        )

    @property
    def takes(self) -> Sizes:
        return (None, None, None, self.kernel.shape[2])

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (4,), self.kernel.shape[2])
        with name_scope("conv2d"):
            images, padding = _padded_images(x, self.padding)  # type: ignore[arg-type]
            kernel = weight(self.kernel, x.dtype, "kernel")
            found = conv2d(images, kernel, self.strides, padding, dilations=self.dilations)
            biased = found if self.bias is None else bias_add(found, weight(self.bias, x.dtype, "bias"))
            return activated_tensor(biased, self.activation)


@dataclass(frozen=True, eq=False)
class DepthwiseConv2D:
    """A convolution of each channel by itself. The kernel is [rows, columns, channels, multiplier]."""

    kernel: Any
    bias: Any = None
    strides: int = 1
    padding: Padding = "VALID"
    activation: str | None = None

    def __post_init__(self) -> None:
        kernel, bias = array_of(self.kernel, (4,), "the kernel"), optional_array(self.bias, (1,), "the bias")
        check_sizes("DepthwiseConv2D", kernel.shape[2] * kernel.shape[3], bias=bias)
        check_activation(self.activation)
        set_fields(self, kernel=kernel, bias=bias, padding=_padding(self.padding))
        _pair(self.strides, "strides")

    @property
    def takes(self) -> Sizes:
        return (None, None, None, self.kernel.shape[2])

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (4,), self.kernel.shape[2])
        with name_scope("depthwise_conv2d"):
            images, padding = _padded_images(x, self.padding)  # type: ignore[arg-type]
            strides = [1, self.strides, self.strides, 1]
            found = depthwise_conv2d(images, weight(self.kernel, x.dtype, "kernel"), strides, padding)
            biased = found if self.bias is None else bias_add(found, weight(self.bias, x.dtype, "bias"))
            return activated_tensor(biased, self.activation)


@dataclass(frozen=True, eq=False)
class Conv2DTranspose:
    """The transpose of a convolution. The kernel is [rows, columns, outputs, channels], PyTorch's weight transposed
    by (2, 3, 1, 0).
    """

    kernel: Any
    bias: Any = None
    strides: int | Sequence[int] = 1
    padding: str = "VALID"
    activation: str | None = None

    def __post_init__(self) -> None:
        kernel, bias = array_of(self.kernel, (4,), "the kernel"), optional_array(self.bias, (1,), "the bias")
        check_sizes("Conv2DTranspose", kernel.shape[2], bias=bias)
        check_activation(self.activation)
        padding = _padding(self.padding)
        if not isinstance(padding, str):
            raise InvalidArgumentError('Conv2DTranspose: padding must be "VALID" or "SAME"')
        set_fields(self, kernel=kernel, bias=bias, padding=padding, strides=_pair(self.strides, "strides"))

    @property
    def takes(self) -> Sizes:
        return (None, None, None, self.kernel.shape[3])

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (4,), self.kernel.shape[3])
        with name_scope("conv2d_transpose"):
            kernel = weight(self.kernel, x.dtype, "kernel")
            found = conv2d_transpose(x, kernel, self._shape_after(x), self.strides, self.padding)
            biased = found if self.bias is None else bias_add(found, weight(self.bias, x.dtype, "bias"))
            return activated_tensor(biased, self.activation)

    def _shape_after(self, x: Tensor) -> Tensor:
        sizes = shape_of(x)
        strides = np.array(self.strides, np.int32)
        more = np.maximum(np.array(self.kernel.shape[:2], np.int32) - strides, 0)
        image = sizes[1:3] * strides + (more if self.padding == "VALID" else 0)
        return stack([sizes[0], image[0], image[1], self.kernel.shape[2]])


@dataclass(frozen=True, eq=False)
class Conv1D:
    """A convolution of sequences. The kernel is [steps, channels, outputs], PyTorch's weight transposed by (2, 1, 0).
    CAUSAL padding lets a step see only those before it.
    """

    kernel: Any
    bias: Any = None
    stride: int = 1
    padding: str | int = "VALID"
    dilation: int = 1
    activation: str | None = None

    def __post_init__(self) -> None:
        kernel = array_of(self.kernel, (3,), "the kernel")
        is_causal = isinstance(self.padding, str) and self.padding.upper() == "CAUSAL"
        before = self.dilation * (len(kernel) - 1)
        padding: Any = ((before, 0),) if is_causal else self.padding
        set_fields(
            self, kernel=kernel, padding=_padding(padding if not isinstance(padding, int) else ((padding, padding),), 1)
        )
        self._of_images()

    def _of_images(self) -> Conv2D:
        """This convolution as one of images that have a single row."""
        padding: Any = self.padding if isinstance(self.padding, str) else ((0, 0), *self.padding)  # type: ignore[misc]
        return Conv2D(
            self.kernel[None], self.bias, (1, self.stride), padding, (1, self.dilation), activation=self.activation
        )

    @property
    def takes(self) -> Sizes:
        return (None, None, self.kernel.shape[1])

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (3,), self.kernel.shape[1])
        with name_scope("conv1d"):
            return squeeze(self._of_images()(expand_dims(x, 1)), [1])


# -------------------------------------------------------------------------------------------------------------- pooling


@dataclass(frozen=True)
class MaxPool2D:
    """The greatest number of each window; the windows lie side by side unless strides are told."""

    size: int | Sequence[int] = 2
    strides: int | Sequence[int] | None = None
    padding: Padding = "VALID"
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        _set_windows(self)

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (4,), None)
        images, padding = _padded_images(x, self.padding, x.dtype.array_dtype.type(-np.inf))  # type: ignore[arg-type]
        return max_pool(images, self.size, self.strides, padding)


@dataclass(frozen=True)
class AveragePool2D:
    """The average of each window. What a number or pairs add at the sides counts as zeros; SAME does not count it."""

    size: int | Sequence[int] = 2
    strides: int | Sequence[int] | None = None
    padding: Padding = "VALID"
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        _set_windows(self)

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (4,), None)
        images, padding = _padded_images(x, self.padding)  # type: ignore[arg-type]
        return avg_pool(images, self.size, self.strides, padding)


def _set_windows(layer: MaxPool2D | AveragePool2D) -> None:
    size = _pair(layer.size, "size")
    strides = size if layer.strides is None else _pair(layer.strides, "strides")
    set_fields(layer, size=size, strides=strides, padding=_padding(layer.padding))


@dataclass(frozen=True)
class GlobalAveragePool:
    """The average of each channel over all that lies between it and the batch."""

    takes: Sizes | None = None

    def __call__(self, x: Tensor) -> Tensor:
        rank = check_input(self, x, (3, 4, 5), None)
        return reduce_mean(x, list(range(1, rank - 1)))


@dataclass(frozen=True)
class GlobalMaxPool:
    """The greatest number of each channel over all that lies between it and the batch."""

    takes: Sizes | None = None

    def __call__(self, x: Tensor) -> Tensor:
        rank = check_input(self, x, (3, 4, 5), None)
        return reduce_max(x, list(range(1, rank - 1)))
