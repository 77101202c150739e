"""Activations as layers, some of which learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater
from tensorkeep.tf1.keras import constraints, initializers, regularizers
from tensorkeep.tf1.keras.activations import softmax
from tensorkeep.tf1.keras.backend.activating import elu
from tensorkeep.tf1.keras.backend.activating import relu as keras_relu
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import ConstraintOption, InitializerOption, LayerOptions, RegularizerOption


class _Elementwise(Layer):
    """A function of each number."""

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


def _number(value: Any) -> Any:
    """A number of NumPy as Python's, for configurations."""
    return value.item() if hasattr(value, "item") else value


class LeakyReLU(_Elementwise):
    """`x`, and `alpha * x` below zero."""

    _configured = ("alpha",)

    def __init__(self, alpha: float = 0.3, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.alpha = float(_number(alpha))

    def call(self, inputs: Tensor) -> Tensor:
        return keras_relu(inputs, alpha=self.alpha)


class ELU(_Elementwise):
    """`x`, and `alpha * (exp(x) - 1)` below zero."""

    _configured = ("alpha",)

    def __init__(self, alpha: float = 1.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.alpha = float(_number(alpha))

    def call(self, inputs: Tensor) -> Tensor:
        return elu(inputs, self.alpha)


class ThresholdedReLU(_Elementwise):
    """`x`, and zero up to `theta`."""

    _configured = ("theta",)

    def __init__(self, theta: float = 1.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.theta = float(_number(theta))

    def call(self, inputs: Tensor) -> Tensor:
        return inputs * cast(greater(inputs, self.theta), inputs.dtype.base_dtype)


class Softmax(_Elementwise):
    """Probabilities along an axis."""

    _configured = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Tensor) -> Tensor:
        return softmax(inputs, axis=self.axis)


class ReLU(_Elementwise):
    """`x` between a threshold and a greatest value."""

    _configured = ("max_value", "negative_slope", "threshold")

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0,
        threshold: float = 0,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0:
            raise InvalidArgumentError(f"max_value of ReLU layer cannot be negative: {max_value}")
        if negative_slope < 0:
            raise InvalidArgumentError(f"negative_slope of ReLU layer cannot be negative: {negative_slope}")
        self.max_value = None if max_value is None else float(_number(max_value))
        self.negative_slope, self.threshold = float(_number(negative_slope)), float(_number(threshold))

    def call(self, inputs: Tensor) -> Tensor:
        return keras_relu(inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold)


class PReLU(_Elementwise):
    """`x`, and `alpha * x` below zero, where `alpha` is learned."""

    _configured = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: InitializerOption = "zeros",
        alpha_regularizer: RegularizerOption = None,
        alpha_constraint: ConstraintOption = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        self.shared_axes: Any = (
            shared_axes if shared_axes is None or isinstance(shared_axes, list | tuple) else [shared_axes]
        )
        self.alpha: Any = None

    def build(self, input_shape: TensorShape) -> None:
        sizes = TensorShape(input_shape).as_list()
        shape = sizes[1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = self.add_weight(
            shape=shape,
            name="alpha",
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        shared = set(self.shared_axes or ())
        fixed = {axis: size for axis, size in enumerate(sizes) if axis and axis not in shared}
        self.input_spec = InputSpec(ndim=len(sizes), axes=fixed)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = relu(inputs) + -self.alpha * relu(-inputs)
        return outputs
