"""Batch normalization and layer normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.nn.normalization import batch_normalization, moments
from tensorkeep.tf1.keras import constraints, initializers, regularizers
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers import normalization
from tensorkeep.tf1.layers.arguments import Function, Training

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        ActivityOptions,
        ConstraintOption,
        InitializerOption,
        RegularizerOption,
    )


class BatchNormalization(normalization.BatchNormalization, Layer):
    """Gives its inputs the mean `beta` and the standard deviation `gamma`, along all axes but some.

    Training uses the moments of the batch, and `fit` moves the averages with each step.
    """

    _configured = (
        "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer",
        "moving_mean_initializer", "moving_variance_initializer", "beta_regularizer", "gamma_regularizer",
        "beta_constraint", "gamma_constraint",
    )  # fmt: skip

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: Tensor | float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerOption = "zeros",
        gamma_initializer: InitializerOption = "ones",
        moving_mean_initializer: InitializerOption = "zeros",
        moving_variance_initializer: InitializerOption = "ones",
        beta_regularizer: RegularizerOption = None,
        gamma_regularizer: RegularizerOption = None,
        beta_constraint: ConstraintOption = None,
        gamma_constraint: ConstraintOption = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, TensorLike] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Function | None = None,
        name: str | None = None,
        **kwargs: Unpack[ActivityOptions],
    ) -> None:
        super().__init__(
            axis,
            momentum,
            epsilon,
            center,
            scale,
            initializers.get(beta_initializer),
            initializers.get(gamma_initializer),
            initializers.get(moving_mean_initializer),
            initializers.get(moving_variance_initializer),
            regularizers.get(beta_regularizer),
            regularizers.get(gamma_regularizer),
            constraints.get(beta_constraint),
            constraints.get(gamma_constraint),
            renorm,
            renorm_clipping,
            renorm_momentum,
            fused,
            trainable,
            virtual_batch_size,
            adjustment,
            name,
            **dict[str, Any](kwargs),
        )
        self.supports_masking = True

    def build(self, input_shape: TensorShape) -> None:
        normalization.BatchNormalization.build(self, TensorShape(input_shape))

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:  # type: ignore[override]
        return normalization.BatchNormalization.call(self, inputs, training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        if self.adjustment is not None:
            raise NotImplementedError("BatchNormalization with `adjustment`, a function, cannot be written down")
        config = {"axis": list(self.axis), **super().get_config()}
        if self.renorm:
            config.update(renorm=True, renorm_clipping=self.renorm_clipping, renorm_momentum=self.renorm_momentum)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


class LayerNormalization(Layer):
    """Gives each item the mean `beta` and the standard deviation `gamma` along some axes."""

    _configured = (
        "axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "beta_regularizer",
        "gamma_regularizer", "beta_constraint", "gamma_constraint",
    )  # fmt: skip

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerOption = "zeros",
        gamma_initializer: InitializerOption = "ones",
        beta_regularizer: RegularizerOption = None,
        gamma_regularizer: RegularizerOption = None,
        beta_constraint: ConstraintOption = None,
        gamma_constraint: ConstraintOption = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Unpack[ActivityOptions],
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, int | list | tuple):
            raise InvalidArgumentError(f"Expected an int or a list of ints for the argument 'axis', got {axis!r}")
        self.axis: Any = axis if isinstance(axis, int) else list(axis)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = (
            initializers.get(beta_initializer),
            initializers.get(gamma_initializer),
        )
        self.beta_regularizer, self.gamma_regularizer = (
            regularizers.get(beta_regularizer),
            regularizers.get(gamma_regularizer),
        )
        self.beta_constraint, self.gamma_constraint = (
            constraints.get(beta_constraint),
            constraints.get(gamma_constraint),
        )
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: TensorShape) -> None:
        shape = TensorShape(input_shape)
        if shape.rank is None:
            raise InvalidArgumentError("Input shape has undefined rank.")
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [axis + shape.rank if axis < 0 else axis for axis in axes]
        if any(not 0 <= axis < shape.rank for axis in axes) or len(set(axes)) != len(axes):
            raise InvalidArgumentError(f"Invalid axis: {self.axis} of inputs of shape {shape}")
        self.axis = axes
        sizes = [shape[axis].value for axis in axes]
        if self.scale:
            self.gamma = self._weight("gamma", sizes)
        if self.center:
            self.beta = self._weight("beta", sizes)
        self.built = True

    def _weight(self, name: str, sizes: list[Any]) -> Any:
        return self.add_weight(
            name=name,
            shape=sizes,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
        )

    def call(self, inputs: Tensor) -> Tensor:
        shape: Any = inputs.get_shape()
        sizes = [shape[axis].value if axis in self.axis else 1 for axis in range(shape.rank)]

        def broadcast(value: Any) -> Any:
            if value is None or list(self.axis) == [shape.rank - 1]:
                return value
            return reshape(value, sizes)

        mean, variance = moments(inputs, list(self.axis), keep_dims=True)
        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        outputs = batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)
        outputs.set_shape(shape)
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape
