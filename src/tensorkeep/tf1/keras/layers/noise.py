"""Layers that add noise while training."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tensorkeep.graph.arguments import ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal
from tensorkeep.tf1.functions.random.numbers import random_normal, random_uniform
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.layers.base import learning_phase

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import LayerOptions


def _while_training(inputs: Tensor, noised: Callable[[], Tensor], training: Training) -> Tensor:
    is_trained = learning_phase() if training is None else training
    outputs: Tensor = smart_cond(is_trained, noised, lambda: identity(inputs))
    return outputs


class GaussianNoise(Layer):
    """Adds normally distributed noise."""

    _configured = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.stddev = stddev

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        def noised() -> Tensor:
            return inputs + random_normal(shape_of(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


class GaussianDropout(Layer):
    """Multiplies by normally distributed noise around one."""

    _configured = ("rate",)

    def __init__(self, rate: float, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = rate

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Tensor:
            stddev = (self.rate / (1.0 - self.rate)) ** 0.5
            return inputs * random_normal(shape_of(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


class AlphaDropout(Layer):
    """Drops to the least value of `selu`, so that means and variances stay."""

    _configured = ("rate",)

    def __init__(
        self, rate: float, noise_shape: ShapeLike = None, seed: int | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = shape_of(inputs) if self.noise_shape is None else self.noise_shape

        def noised() -> Tensor:
            least = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
            kept = cast(greater_equal(random_uniform(shape, seed=self.seed), self.rate), inputs.dtype)
            a = ((1 - self.rate) * (1 + self.rate * least**2)) ** -0.5
            b = -a * least * self.rate
            left: Tensor = a * (inputs * kept + least * (1 - kept)) + b
            return left

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape
