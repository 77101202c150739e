"""Flows with coupling layers: a part of each vector stays, and says how the rest is scaled and shifted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.bijectors.autoregressive import ShiftAndLogScale
from tensorkeep.tf1.distributions.bijectors.base import ConditionalBijector
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, split, squeeze, zeros
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.elementwise import exp
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.layers.core import Dense
from tensorkeep.tf1.variables.template import Template, make_template


class RealNVP(ConditionalBijector):
    """The first `num_masked` elements as they are; the rest times e^log_scale and plus shift, made of the first.

    `shift_and_log_scale_fn(first, count)` gives both for `count` elements; a log scale of None leaves volumes as they
    are.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: ShiftAndLogScale,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise InvalidArgumentError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name or "real_nvp",
        )

    def _parts(self, x: Any, condition: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
        """The part that stays, the rest, and the shift and log scale for that."""
        size = x.get_shape()[-1:].num_elements() if x.get_shape().rank else None
        if size is None:
            raise UnimplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._num_masked >= size:
            raise InvalidArgumentError(
                f"Number of masked units {self._num_masked} must be smaller than the event size {size}."
            )
        first, rest = x[..., : self._num_masked], x[..., self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(first, size - self._num_masked, **condition)
        return first, rest, shift, log_scale

    def _forward(self, x: Any, **condition: Any) -> Any:
        first, rest, shift, log_scale = self._parts(x, condition)
        rest = rest if log_scale is None else rest * exp(log_scale)
        return concat([first, rest if shift is None else rest + shift], -1)

    def _inverse(self, y: Any, **condition: Any) -> Any:
        first, rest, shift, log_scale = self._parts(y, condition)
        rest = rest if shift is None else rest - shift
        return concat([first, rest if log_scale is None else rest * exp(-log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Any, **condition: Any) -> Any:
        log_scale = self._parts(x, condition)[3]
        return zeros([], x.dtype) if log_scale is None else reduce_sum(log_scale, axis=-1)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        log_scale = self._parts(y, condition)[3]
        return zeros([], y.dtype) if log_scale is None else -reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[[Tensor], Tensor] | None = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Template:
    """A function for `RealNVP`: dense layers, and shifts and log scales as the last."""

    def shift_and_log_scale(
        x: TensorLike, output_units: int, **condition_kwargs: object
    ) -> tuple[Tensor, Tensor | None]:
        if condition_kwargs:
            raise UnimplementedError(
                "Conditioning not implemented in the default template: write a function of "
                f"{', '.join(sorted(condition_kwargs))} by tf.make_template"
            )
        y: Any = convert(x)
        is_single = y.get_shape().rank == 1
        y = expand_dims(y, 0) if is_single else y
        for units in hidden_layers:
            y = Dense(units, *args, **{"activation": activation, **kwargs}).apply(y)
        y = Dense((1 if shift_only else 2) * output_units, *args, **{**kwargs, "activation": None}).apply(y)
        y = squeeze(y, [0]) if is_single else y
        if shift_only:
            return y, None
        shift, log_scale = split(y, 2, axis=-1)
        return shift, log_scale

    return make_template(name or "real_nvp_default_template", shift_and_log_scale)
