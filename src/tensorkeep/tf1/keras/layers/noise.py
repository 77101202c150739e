"""Layers that add noise while training."""

from __future__ import annotations

from typing import Any

from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal
from tensorkeep.tf1.functions.random.numbers import random_normal, random_uniform
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers.base import learning_phase


def _while_training(inputs: Any, noised: Any, training: Any) -> Any:
    is_trained = learning_phase() if training is None else training
    return smart_cond(is_trained, noised, lambda: identity(inputs))


class GaussianNoise(Layer):
    """Adds normally distributed noise."""

    _configured = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        def noised() -> Any:
            return inputs + random_normal(shape_of(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype)

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class GaussianDropout(Layer):
    """Multiplies by normally distributed noise around one."""

    _configured = ("rate",)

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Any:
            stddev = (self.rate / (1.0 - self.rate)) ** 0.5
            return inputs * random_normal(shape_of(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype)

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class AlphaDropout(Layer):
    """Drops to the least value of `selu`, so that means and variances stay."""

    _configured = ("rate",)

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = shape_of(inputs) if self.noise_shape is None else self.noise_shape

        def noised() -> Any:
            least = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
            kept = cast(greater_equal(random_uniform(shape, seed=self.seed), self.rate), inputs.dtype)
            a = ((1 - self.rate) * (1 + self.rate * least**2)) ** -0.5
            b = -a * least * self.rate
            return a * (inputs * kept + least * (1 - kept)) + b

        return _while_training(inputs, noised, training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape
