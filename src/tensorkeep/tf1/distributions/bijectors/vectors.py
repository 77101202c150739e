"""Bijectors of vectors: their elements in another order or form, on a simplex, and in ascending order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.functions.arrays.shapes import concat, invert_permutation, reshape, where_v2, zeros, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import log_softmax, softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, equal, exp, log
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum


class Permute(Bijector):
    """The last dimension in another order: element i of an output is element permutation[i] of the input."""

    def __init__(self, permutation: TensorLike, validate_args: bool = False, name: str | None = None) -> None:
        with name_scope(name or "permute"):
            order = convert(permutation, name="permutation")
            if not order.dtype.is_integer:
                raise WrongTypeError(f"permutation.dtype ({order.dtype.name}) should be of integer type.")
            known = constant_value(order)
            if known is not None and not np.array_equal(np.sort(known), np.arange(known.size)):
                raise InvalidArgumentError(
                    f"Permutation over `d` must contain exactly one of each of `{{0, 1, ..., d}}`, and is {known}"
                )
            self._permutation = order
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name or "permute",
        )

    @property
    def permutation(self) -> Tensor:
        """The order."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return gather(x, self._permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self._permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype)


class Reshape(Bijector):
    """Events in another shape of as many elements; -1 stands for one size that follows from the others."""

    def __init__(
        self,
        event_shape_out: ShapeLike,
        event_shape_in: ShapeLike = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name or "reshape"):
            self._out = _event_sizes(event_shape_out, "event_shape_out")
            self._in = _event_sizes(event_shape_in, "event_shape_in")
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            forward_min_event_ndims=self._in.get_shape().element_count() or 0,
            inverse_min_event_ndims=self._out.get_shape().element_count() or 0,
            name=name or "reshape",
        )

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, self._out, self._in)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype)

    def _reshaped(self, x: Any, source: Tensor, target: Tensor) -> Any:
        ndims = source.get_shape().element_count() or 0
        sizes: Any = shape_of(x)
        stop = sizes.get_shape().element_count()
        assert ndims <= (stop if stop is not None else ndims)  # event_ndims were checked
        before = sizes[: shape_of(sizes)[0] - ndims] if stop is None else sizes[: stop - ndims]
        event = sizes[shape_of(sizes)[0] - ndims :] if stop is None else sizes[stop - ndims :]
        into = _resolved_sizes(target, event)
        if self.validate_args:
            wanted = _resolved_sizes(source, event)
            into = with_dependencies([assert_equal(event, wanted, message="Input `event_shape` does not match.")], into)
        known = x.get_shape()
        shape = TensorShape(None)
        if known.rank is not None:
            event_shape = self._known(known[known.rank - ndims :], source, target)
            shape = known[: known.rank - ndims].concatenate(event_shape)
        found = reshape(x, concat([before, into], 0))
        found.set_shape(shape)
        return found

    def _known(self, event: TensorShape, source: Tensor, target: Tensor) -> TensorShape:
        """The shape that an event of a shape becomes, as far as it is known."""
        told, into = constant_value(source), constant_value(target)
        ndims = source.get_shape().element_count()
        if event.rank is not None and event.rank != ndims:
            raise InvalidArgumentError(f"{self.name}: the event has {event.rank} dimensions {event}, and not {ndims}")
        if told is not None and event.rank is not None:
            wrong = [(e, t) for e, t in zip(event.as_list(), told.tolist(), strict=True) if None is not e != t >= 0]
            if wrong:
                raise InvalidArgumentError(f"{self.name}: an event has the shape {event}, and not {told.tolist()}")
        if into is None:
            return TensorShape([None] * (target.get_shape().element_count() or 0))
        count = event.num_elements() if event.is_fully_defined() else None
        fixed = int(np.prod([size for size in into.tolist() if size >= 0], dtype=np.int64))
        if count is not None and (count % fixed if -1 in into else count != fixed):
            raise InvalidArgumentError(f"{self.name}: {count} elements {event} do not fit the shape {into.tolist()}")
        rest = None if count is None or not fixed else count // fixed
        return TensorShape([rest if size < 0 else size for size in into.tolist()])

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return self._known(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return self._known(output_shape, self._out, self._in)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return _resolved_sizes(self._out, input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _resolved_sizes(self._in, output_shape)


def _event_sizes(shape: Any, name: str) -> Tensor:
    sizes = convert(shape, INT32, name=name)
    if sizes.get_shape().rank != 1 or sizes.get_shape().element_count() is None:
        raise InvalidArgumentError(f"{name} has to be a vector of known length, and is {sizes}")
    known = constant_value(sizes)
    if known is not None and ((known < -1).any() or (known == -1).sum() > 1):
        raise InvalidArgumentError(f"{name} must have at most one -1, and is {known.tolist()}")
    return sizes


def _resolved_sizes(target: Tensor, event: Any) -> Tensor:
    """The target with the size that follows in the place of -1."""
    known = constant_value(target)
    if known is not None and (known >= 0).all():
        return target
    rest = reduce_prod(event) // reduce_prod(where_v2(equal(target, -1), 1 + 0 * target, target))
    return where_v2(equal(target, -1), rest + 0 * target, target)


class SoftmaxCentered(Bijector):
    """The softmax of vectors that a zero has been added to at the end: vectors of one element more, of sum 1."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return _longer(input_shape, 1, self.name)

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return _longer(output_shape, -1, self.name)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x: Any) -> Any:
        return softmax(concat([x, zeros_like(x[..., :1])], -1))

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return log(y[..., :-1]) - log(y[..., -1:])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._volume(reduce_sum(log_softmax(concat([x, zeros_like(x[..., :1])], -1)), -1), x, 1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._volume(reduce_sum(log(self._checked(y)), -1), y, 0)

    def _volume(self, logs: Any, like: Any, more: int) -> Any:
        """The factor by which areas grow on the simplex, whose edges are not at right angles: sqrt(n) beside."""
        known = like.get_shape()[-1:].num_elements()
        size = (
            cast(shape_of(like)[-1] + more, like.dtype) if known is None else convert(float(known + more), like.dtype)
        )
        return logs + 0.5 * log(size)

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        checks: list[Operation] = [assert_positive(y, message="probabilities have to be positive")]
        return with_dependencies(checks, y)


def _longer(shape: TensorShape, by: int, name: str) -> TensorShape:
    if shape.rank == 0:
        raise InvalidArgumentError(f"{name}: an event has to be a vector, and is a single number")
    if shape.rank is None:
        return shape
    last = shape.as_list()[-1]
    return shape[:-1].concatenate([None if last is None else last + by])


class Ordered(Bijector):
    """Vectors in ascending order as any vectors: the first element, and logarithms of the steps that follow."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        return concat([x[..., :1], log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y: Any) -> Any:
        return cumsum(concat([y[..., :1], exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return reduce_sum(y[..., 1:], -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x)
        return -reduce_sum(log(x[..., 1:] - x[..., :-1]), -1)

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        message = "Forward transformation input must be strictly increasing."
        check = assert_positive(x[..., 1:] - x[..., :-1], message=message)
        return with_dependencies([check], x)
