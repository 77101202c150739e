"""Batch normalization as a bijector: outputs to inputs normalizes, inputs to outputs undoes it."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.functions.arrays.shapes import reshape, zeros
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.normalization import moments
from tensorkeep.tf1.functions.numbers.elementwise import log, sqrt
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.layers.normalization import BatchNormalization as NormalizationLayer


class BatchNormalization(Bijector):
    """The inverse gives batches the mean 0 and the deviation 1 along the last axis, or those that a layer learns.

    With `training` the inverse uses the moments of the batch, and moves the averages by operations in the collection
    UPDATE_OPS; `forward` always undoes it by the averages. The first call has to be of the inverse, or of a density.
    """

    def __init__(
        self,
        batchnorm_layer: NormalizationLayer | None = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        self.batchnorm = (
            NormalizationLayer(gamma_constraint=lambda gamma: relu(gamma) + 1e-6)
            if batchnorm_layer is None
            else batchnorm_layer
        )
        _check_layer(self.batchnorm)
        self._training = training
        super().__init__(validate_args=validate_args, forward_min_event_ndims=len(self.batchnorm.axis), name=name)

    def _forward(self, x: Any) -> Any:
        layer = self.batchnorm
        if not layer.built:
            raise InvalidArgumentError(
                f"{self.name}: forward undoes what the inverse does, and needs its averages: call inverse, or "
                "log_prob of a distribution, before it"
            )
        rank, axes = x.get_shape().rank, self._axes(x)
        sizes = [x.get_shape()[axis].value if axis in axes else 1 for axis in range(rank)]

        def spread(variable: Any) -> Any:
            return reshape(variable, sizes)

        plain = x - spread(layer.beta) if layer.center else x
        plain = plain / spread(layer.gamma) if layer.scale else plain
        return plain * sqrt(spread(layer.moving_variance) + layer.epsilon) + spread(layer.moving_mean)

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _axes(self, value: Any) -> list[int]:
        """The axes that are normalized each by itself."""
        rank = value.get_shape().rank
        return [axis % rank for axis in self.batchnorm.axis]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        if not self.batchnorm.built:
            self.inverse(y)
        return self._log_scale(y, self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_scale(x, False)

    def _log_scale(self, value: Any, is_batch: bool) -> Any:
        """The sum of the logarithms of what elements are multiplied by."""
        layer, axes = self.batchnorm, self._axes(value)
        variance: Any = layer.moving_variance
        if is_batch:
            _, variance = moments(value, [axis for axis in range(value.get_shape().rank) if axis not in axes])
        total = reduce_sum(log(layer.gamma)) if layer.scale else zeros([], value.dtype)
        return total - 0.5 * reduce_sum(log(variance + layer.epsilon))


def _check_layer(layer: object) -> None:
    if not isinstance(layer, NormalizationLayer):
        raise WrongTypeError(f"batchnorm_layer must be an instance of BatchNormalization layer, and is {layer!r}")
    if layer.renorm:
        raise InvalidArgumentError("BatchNorm Bijector does not support renormalization: make the layer without renorm")
    if layer.virtual_batch_size:
        raise InvalidArgumentError("BatchNorm Bijector does not support virtual batch sizes: make the layer without")
