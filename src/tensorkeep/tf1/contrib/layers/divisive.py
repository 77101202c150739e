"""Generalized divisive normalization: each channel divided by what all channels of its place are together.

    y[i] = x[i] / sqrt(beta[i] + sum over j of gamma[j, i] * x[j]^2)

Beta and gamma are kept as square roots, a little above zero. Where a root is below its bound, the bound counts, and the
gradient is passed on only if it leads upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import ones, reshape, transpose
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient
from tensorkeep.tf1.functions.linear_algebra.matrices import eye
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.convolution import convolution
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal, less, logical_or, maximum, sqrt, square
from tensorkeep.tf1.layers.arguments import LayerOption, known_dimension
from tensorkeep.tf1.layers.base import Layer

_AXES: Final = {"channels_first": 1, "channels_last": -1}


class GDN(Layer):
    """See `gdn`."""

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Callable[..., Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **dict[str, Any](kwargs)
        )
        if data_format not in _AXES:
            raise InvalidArgumentError(
                f"Unsupported `data_format` for GDN layer: {data_format}. Known: {', '.join(sorted(_AXES))}"
            )
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init, self._offset = beta_min, gamma_init, reparam_offset

    def build(self, input_shape: TensorShape) -> None:
        if input_shape.rank not in (3, 4, 5):
            raise InvalidArgumentError(
                f"gdn takes examples of channels and of one to three other dimensions, got the shape {input_shape}"
            )
        self._channels = channels = known_dimension(
            input_shape, _AXES[self.data_format], "The channel dimension of the inputs"
        )
        lowest = self._offset**2

        def first_beta(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
            return sqrt(ones(shape, dtype=dtype) + lowest)

        def first_gamma(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
            return sqrt(self._gamma_init * eye(shape[0], dtype=dtype) + lowest)

        beta = self.add_weight("reparam_beta", [channels], initializer=first_beta)
        gamma = self.add_weight("reparam_gamma", [channels, channels], initializer=first_gamma)
        self.beta = square(_bounded_value(beta, (self._beta_min + lowest) ** 0.5)) - lowest
        self.gamma = square(_bounded_value(gamma, self._offset)) - lowest
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, each divided by its pool, or times it."""
        rank = inputs.static_shape.rank
        assert rank is not None  # `build` looked
        to_last = [0, *range(2, rank), 1]
        is_first = self.data_format == "channels_first"
        values = transpose(inputs, to_last) if is_first else inputs
        kernel = reshape(self.gamma, [1] * (rank - 2) + [self._channels, self._channels])
        pool = sqrt(bias_add(convolution(square(values), kernel, "VALID"), self.beta))
        outputs: Tensor = values * pool if self.inverse else values / pool
        if is_first:
            outputs = transpose(outputs, [0, rank - 1, *range(1, rank - 1)])
        outputs.set_shape(inputs.static_shape)
        return outputs


def _bounded_value(value: Any, bound: float) -> Any:
    """The maximum of a value and a bound, whose gradient also lets values below the bound grow."""

    @custom_gradient
    def bounded(x: Tensor) -> Any:
        def gradient(dy: Tensor) -> Tensor:
            return cast(logical_or(greater_equal(x, bound), less(dy, 0)), dy.dtype) * dy

        return maximum(x, bound), gradient

    return bounded(convert(value))


def gdn(
    inputs: TensorLike,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """Each channel divided by the root of a weighted sum of squares of all channels; times it, if `inverse`."""
    given = convert(inputs)
    layer = GDN(
        inverse, beta_min, gamma_init, reparam_offset, data_format, activity_regularizer, trainable, name,
        dtype=given.dtype.base_dtype, _scope=name, _reuse=reuse,
    )  # fmt: skip
    found: Tensor = layer.apply(given)
    return found
