"""Layers like convolutions, with weights of their own at each place.

`implementation` says how the weights lie: 1, the windows of each place as rows; 2, a dense matrix from all inputs to
all outputs, of which only what is connected counts; 3, the values of that matrix where it is connected, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import reshape, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_dense_matmul
from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers
from tensorkeep.tf1.keras.backend.networks import bias_add, local_conv1d, local_conv2d
from tensorkeep.tf1.keras.backend.settings import chosen_data_format
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers.arguments import numbers, output_length, padding_of
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        ActivationOption,
        ConstraintOption,
        InitializerOption,
        NamedOptions,
        RegularizerOption,
    )


class _LocallyConnected(Layer):
    """What they share."""

    spatial: ClassVar[int] = 1
    _mask: Array
    _cells: Array
    _matrix: tuple[int, int]
    _configured = (
        "filters", "kernel_size", "strides", "padding", "data_format", "activation", "use_bias", "kernel_initializer",
        "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
        "bias_constraint", "implementation",
    )  # fmt: skip

    def __init__(
        self,
        filters: int,
        kernel_size: IntegersLike,
        strides: IntegersLike = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: ActivationOption = None,
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        implementation: int = 1,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = filters
        self.kernel_size = numbers(kernel_size, self.spatial, "kernel_size")
        self.strides = numbers(strides, self.spatial, "strides")
        self.padding = padding_of(padding)
        if implementation not in (1, 2, 3):
            raise InvalidArgumentError(f"Unrecognized implementation mode: {implementation}. There are 1, 2 and 3")
        if self.padding != "valid" and (implementation == 1 or self.padding != "same"):
            raise InvalidArgumentError(
                f"Invalid border mode for {type(self).__name__} with implementation={implementation}: {padding}. "
                'With 1 only "valid" is supported, with 2 and 3 also "same"'
            )
        self.data_format = chosen_data_format(data_format)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    @property
    def _is_first(self) -> bool:
        return self.data_format == "channels_first"

    def _lengths(self, sizes: Sequence[Any]) -> tuple[Any, ...]:
        windows = zip(sizes, self.kernel_size, self.strides, strict=True)
        return tuple(output_length(size, window, self.padding, step) for size, window, step in windows)

    def _split(self, input_shape: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        """The sizes of batches, of channels, and in between."""
        sizes = TensorShape(input_shape).as_list()
        return (sizes[0], sizes[1], tuple(sizes[2:])) if self._is_first else (sizes[0], sizes[-1], tuple(sizes[1:-1]))

    def build(self, input_shape: Any) -> None:
        _, channels, sizes = self._split(input_shape)
        if channels is None or None in sizes:
            raise InvalidArgumentError(
                f"The dimensions of the inputs to a {type(self).__name__} layer should be fully-defined, but layer "
                f"{self.name} received the inputs shape {input_shape}"
            )
        places = self._lengths(sizes)
        if min(places) <= 0:
            raise InvalidArgumentError(
                f"layer {self.name}: windows of {self.kernel_size} have no place in inputs of shape {input_shape}"
            )
        self._places, self._sizes = tuple(places), sizes
        self.kernel = self._weight("kernel", self._kernel_shape(channels))
        self.bias = self._weight("bias", (*places, self.filters)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={1 if self._is_first else -1: channels})
        self.built = True

    def _weight(self, kind: str, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            kind,
            shape,
            initializer=getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _whole(self, sizes: tuple[int, ...], channels: int) -> tuple[int, ...]:
        return (channels, *sizes) if self._is_first else (*sizes, channels)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        if self.implementation == 1:
            return (prod(self._places), prod(self.kernel_size) * channels, self.filters)
        given, made = self._whole(self._sizes, channels), self._whole(self._places, self.filters)
        connected = _connections(self._sizes, self._places, self.kernel_size, self.strides, self.padding)
        mask = self._spread_mask(connected)
        if self.implementation == 2:
            vars(self)["_mask"] = mask.astype(self.dtype or "float32")
            return (*given, *made)
        whole = np.broadcast_to(mask, (*given, *made)).reshape(prod(given), prod(made))
        vars(self)["_cells"] = np.argwhere(whole.T)  # [output, input], row by row
        vars(self)["_matrix"] = (prod(made), prod(given))
        return (len(self._cells),)

    def _spread_mask(self, connected: Array) -> Array:
        """[inputs…, outputs…] with an axis for the channels of each."""
        both = (1, *self._sizes, 1, *self._places) if self._is_first else (*self._sizes, 1, *self._places, 1)
        return connected.reshape(both)

    def call(self, inputs: Tensor) -> Tensor:
        outputs = self._local(inputs) if self.implementation == 1 else self._multiply_inputs(inputs)
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias, self.data_format)
        activated: Tensor = self.activation(outputs)
        return activated

    def _local(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _multiply_inputs(self, inputs: Any) -> Any:
        """The outputs, by one product with the matrix [inputs, outputs], which is zero where they do not meet."""
        flat = reshape(inputs, [shape_of(inputs)[0], -1])
        made = self._whole(self._places, self.filters)
        if self.implementation == 2:
            kernel = reshape(self.kernel * self._mask, [-1, prod(made)])
            found = matmul(flat, kernel, b_is_sparse=True)
        else:
            matrix = SparseTensor(self._cells, self.kernel.value(), self._matrix)
            found = transpose(sparse_tensor_dense_matmul(matrix, flat, adjoint_b=True))
        return reshape(found, [shape_of(found)[0], *made])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, _, sizes = self._split(input_shape)
        return TensorShape([batch, *self._whole(self._lengths(sizes), self.filters)])


class LocallyConnected1D(_LocallyConnected):
    """Like a convolution of rows, with weights of its own at each place."""

    def _local(self, inputs: Any) -> Any:
        return local_conv1d(inputs, self.kernel, self.kernel_size, self.strides, self.data_format)


class LocallyConnected2D(_LocallyConnected):
    """Like a convolution of images, with weights of its own at each place."""

    spatial = 2

    def _local(self, inputs: Any) -> Any:
        return local_conv2d(inputs, self.kernel, self.kernel_size, self.strides, self._places, self.data_format)


def _connections(
    sizes: tuple[int, ...], places: tuple[int, ...], windows: Sequence[int], strides: Sequence[int], padding: str
) -> Array:
    """Which inputs are in the window of which output: [inputs…, outputs…]."""
    found = np.zeros((*sizes, *places), bool)
    for place in product(*map(range, places)):
        inside: list[Any] = []
        for at, size, window, step in zip(place, sizes, windows, strides, strict=True):
            first = at * step - (window // 2 if padding == "same" else 0)
            inside.append(slice(max(0, first), min(size, first + window)))
        found[tuple(inside) + place] = True
    return found
