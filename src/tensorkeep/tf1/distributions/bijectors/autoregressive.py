"""Masked autoregressive flows, and the layers they are made of.

Each element of an output is an element of the input, scaled and shifted by what a network makes of the elements of the
output before it. From outputs to inputs that is one pass; from inputs to outputs one pass for each element. `Invert`
of a flow is an inverse autoregressive flow, which is quick the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.bijectors.base import ConditionalBijector
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, stop_gradient, unstack, zeros, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import exp
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.layers.core import Dense
from tensorkeep.tf1.variables.initializers import GlorotNormal
from tensorkeep.tf1.variables.template import Template, make_template

ShiftAndLogScale = Callable[..., tuple[Any, Any]]


class MaskedAutoregressiveFlow(ConditionalBijector):
    """y_i = x_i e^log_scale_i + shift_i, both made of y_0 to y_(i - 1) by `shift_and_log_scale_fn(y)`.

    The function has to keep to that; `masked_autoregressive_default_template` makes one that does. A log scale of None
    leaves volumes as they are. `unroll_loop` writes the passes of `forward` into the graph instead of a loop.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: ShiftAndLogScale,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Any, **condition: Any) -> Any:
        size = x.get_shape()[-1:].num_elements() if x.get_shape().rank is not None else None

        def passed(y: Any) -> Any:
            shift, log_scale = self._shift_and_log_scale_fn(y, **condition)
            scaled = x if log_scale is None else x * exp(log_scale)
            return scaled if shift is None else scaled + shift

        if self._unroll_loop:
            if size is None:
                raise InvalidArgumentError("`unroll_loop` needs events of a size that is known before a run")
            y = zeros_like(x)
            for _ in range(size):
                y = passed(y)
            return y
        # Variables cannot be made in a loop: the first call makes them before it.
        y = passed(zeros_like(x))
        count = shape_of(x)[-1] if size is None else size
        _, y = while_loop(
            lambda index, _: index < count, lambda index, y: (index + 1, passed(y)), (convert(1, name="index"), y)
        )
        y.set_shape(x.get_shape())
        return y

    def _inverse(self, y: Any, **condition: Any) -> Any:
        shift, log_scale = self._shift_and_log_scale_fn(y, **condition)
        moved = y if shift is None else y - shift
        return moved if log_scale is None else moved * exp(-log_scale)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y, **condition)
        return zeros([], y.dtype) if log_scale is None else -reduce_sum(log_scale, axis=-1)


def _mask(blocks: int, inputs: int, outputs: int, is_exclusive: bool) -> Array:
    """Ones where an output may see an input: [inputs, outputs]. Both are cut into `blocks` runs of equal length.

    An output sees the runs up to its own, or with `is_exclusive` those before it. Outputs that are left over see all
    inputs but those left over, which none sees.
    """
    of_input, of_output = inputs // blocks, outputs // blocks
    columns, rows = np.arange(inputs), np.arange(outputs)
    into = columns // of_input if of_input else np.full(inputs, blocks)
    out = rows // of_output if of_output else np.full(outputs, blocks)
    sees = into[:, None] < out[None, :] if is_exclusive else into[:, None] <= out[None, :]
    return np.asarray(sees & (into < blocks)[:, None])


def masked_dense(
    inputs: TensorLike,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Callable[..., Tensor] | None = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """A dense layer in which an output sees the inputs of its own block and those before; `exclusive`, those before.

    Further arguments are those of `tf.layers.Dense`.
    """
    given: Any = convert(inputs)
    depth = given.get_shape()[-1:].num_elements() if given.get_shape().rank else None
    if depth is None:
        raise UnimplementedError("Rightmost dimension must be known prior to graph execution.")
    if num_blocks is None or num_blocks < 1:
        raise InvalidArgumentError(f"num_blocks has to be at least 1, and is {num_blocks}")
    mask = _mask(num_blocks, depth, units, exclusive)
    drawn = GlorotNormal() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: object = None) -> Any:
        return convert(mask.astype(given.dtype.as_numpy_dtype)) * drawn(shape, dtype)

    def masked_constraint(kernel: Any) -> Any:
        return convert(mask.astype(kernel.dtype.base_dtype.as_numpy_dtype)) * kernel

    own: dict[str, Any] = {"kernel_initializer": masked_initializer, "kernel_constraint": masked_constraint}
    placed: dict[str, Any] = {"name": name, "dtype": given.dtype.base_dtype, "_scope": name, "_reuse": reuse}
    taken = sorted(set(kwargs) & {*own, *placed})
    if taken:
        raise WrongTypeError(f"masked_dense() says {', '.join(taken)} of its layer itself: leave them out")
    layer = Dense(units, *args, **{**kwargs, **own, **placed})
    found: Tensor = layer.apply(given)
    return found


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[[Tensor], Tensor] | None = relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Template:
    """A function for `MaskedAutoregressiveFlow`: masked dense layers, and shifts and log scales as the last.

    Layers need at least as many units as events have elements, or what is before them is not seen at all.
    """

    def shift_and_log_scale(x: TensorLike) -> tuple[Tensor, Tensor | None]:
        given: Any = convert(x)
        depth = given.get_shape()[-1:].num_elements() if given.get_shape().rank else None
        if depth is None:
            raise UnimplementedError("Rightmost dimension must be known prior to graph execution.")
        shape = given.get_shape().as_list() if given.get_shape().is_fully_defined() else shape_of(given)
        y = reshape(given, [1, depth]) if given.get_shape().rank == 1 else given
        for index, units in enumerate(hidden_layers):
            options = {"num_blocks": depth, "exclusive": index == 0, "activation": activation, **kwargs}
            y = masked_dense(y, units, *args, **options)
        options = {"num_blocks": depth, "exclusive": not hidden_layers, "activation": None, **kwargs}
        y = masked_dense(y, (1 if shift_only else 2) * depth, *args, **options)
        if shift_only:
            return reshape(y, shape), None
        shift, log_scale = unstack(reshape(y, concat([shape, [2]], 0)), num=2, axis=-1)
        clip = clip_by_value if log_scale_clip_gradient else _clip_keeping_gradients
        return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

    return make_template(name or "masked_autoregressive_default_template", shift_and_log_scale)


def _clip_keeping_gradients(values: Tensor, low: float, high: float) -> Tensor:
    """Values between two limits, whose gradients are those without limits."""
    found: Tensor = values + stop_gradient(clip_by_value(values, low, high) - values)
    return found
