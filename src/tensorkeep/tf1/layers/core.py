"""Dense layers, dropout, flattening."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Real
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, identity, reshape, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul, tensordot
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.activations import dropout as nn_dropout
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.layers.arguments import (
    ActivationLike,
    Function,
    LayerOption,
    Training,
    activation_of,
    data_format_of,
    function_of_layer,
    initializer_of,
    known_dimension,
)
from tensorkeep.tf1.layers.base import Layer, learning_phase
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike


class Dense(Layer):
    """activation(inputs @ kernel + bias)"""

    def __init__(
        self,
        units: int,
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
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **dict[str, Any](kwargs))
        self.units = int(units)
        if self.units < 0:
            raise InvalidArgumentError(
                f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
            )
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(min_ndim=2)
        self.kernel: Any = None
        self.bias: Any = None

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        dtype = self._dtype or FLOAT32
        if not (dtype.is_floating or dtype.is_complex):
            raise WrongTypeError(
                f"A Dense layer can only be built with a floating-point dtype. Received: dtype={dtype}"
            )
        last = known_dimension(input_shape, -1, "The last dimension of the inputs to a Dense layer")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            [last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        if self._dtype is not None and inputs.dtype.base_dtype is not self._dtype:
            inputs = cast(inputs, self._dtype)
        shape = inputs.get_shape()
        if shape.rank in (None, 2):
            outputs = matmul(inputs, self.kernel)
        else:
            outputs = tensordot(inputs, self.kernel, [[shape.rank - 1], [0]])
            outputs.set_shape([*shape[:-1], self.units])
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape[-1].value is None:
            raise InvalidArgumentError(f"The innermost dimension of input_shape must be defined, but saw: {shape}")
        return shape[:-1].concatenate(self.units)


dense = function_of_layer(Dense, "dense")


class Dropout(Layer):
    """Sets a part of its inputs to zero while training, and scales up the rest.

    Of a `seed` each call makes another, by counting up.
    """

    def __init__(
        self,
        rate: Tensor | float = 0.5,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(name=name, **dict[str, Any](kwargs))
        if isinstance(rate, int | float) and not 0 <= rate <= 1:
            raise InvalidArgumentError(f"Invalid value {rate} received for `rate`, expected a value between 0 and 1.")
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self._next_seed = seed

    def call(self, inputs: Tensor, training: Training = False) -> Tensor:
        if isinstance(self.rate, Real) and self.rate == 0:
            return identity(inputs)

        def dropped() -> Any:
            shape, seed = self._noise_shape(inputs), self._next_seed
            self._next_seed = None if seed is None else seed + 1
            return nn_dropout(inputs, noise_shape=shape, seed=seed, rate=self.rate)

        is_trained = learning_phase() if training is None else training
        outputs: Tensor = smart_cond(is_trained, dropped, lambda: identity(inputs))
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return TensorShape(input_shape)

    def _noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        sizes = shape_of(inputs)
        return convert([sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)])


def dropout(
    inputs: TensorLike,
    rate: Tensor | float = 0.5,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | None = None,
    training: Training = False,
    name: str | None = None,
) -> Tensor:
    """Sets a part of `inputs` to zero while training, and scales up the rest."""
    outputs: Tensor = Dropout(rate, noise_shape, seed, name)(inputs, training=training)
    return outputs


class Flatten(Layer):
    """Each item of a batch as one row."""

    def __init__(self, data_format: str | None = None, **kwargs: LayerOption) -> None:
        super().__init__(**dict[str, Any](kwargs))
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        shape = inputs.get_shape()
        if self.data_format == "channels_first" and shape.rank is not None and shape.rank > 1:
            inputs = transpose(inputs, perm=[0, *range(2, shape.rank), 1])
            shape = inputs.get_shape()
        if shape.rank == 1:
            return expand_dims(inputs, axis=1)
        sizes = inputs.static_shape.dims
        inner = [size for size in (sizes or ())[1:] if size is not None]
        if sizes is not None and len(inner) == len(sizes) - 1:
            return reshape(inputs, constant([-1, prod(inner)]))
        if sizes is not None and sizes[0] is not None:
            return reshape(inputs, constant([sizes[0], -1]))
        return reshape(inputs, [shape_of(inputs)[0], -1])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        batch, *inner = TensorShape(input_shape).as_list()
        known = [size for size in inner if size is not None]
        return TensorShape([batch, prod(known) if len(known) == len(inner) else None])


def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """Each item of a batch as one row."""
    rows: Tensor = Flatten(data_format, name=name)(inputs)
    return rows
