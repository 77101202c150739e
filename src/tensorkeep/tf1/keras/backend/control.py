"""Values chosen by conditions or by the phase of training, and functions applied to each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, identity, tile, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control import higher_order
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.logging import Print
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.layers.base import learning_phase


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One expression or the other, by a single condition; or element by element, by many."""
    asked = convert(condition)
    if asked.dtype.base_dtype is not BOOL:
        asked = cast(asked, BOOL)
    rank = asked.get_shape().rank
    if not rank:
        return cond(asked, _function(then_expression), _function(else_expression))
    then, other = (convert(item() if callable(item) else item) for item in (then_expression, else_expression))
    wanted = then.get_shape().rank
    if wanted is None or rank > wanted:
        raise InvalidArgumentError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. "
            f"ndim(condition)={rank}, ndim(then_expression)={wanted}"
        )
    if rank < wanted:
        for _ in range(wanted - rank):
            asked = expand_dims(asked, -1)
        sizes = shape_of(then)
        asked = tile(asked, [1 if at < rank else sizes[at] for at in range(wanted)])
    return where(asked, then, other)


def _function(expression: Any) -> Callable[[], Any]:
    return expression if callable(expression) else lambda: expression


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` in training, `alt` otherwise; either may be a function that gives it."""
    phase = learning_phase() if training is None else training
    if not isinstance(phase, Tensor):
        chosen = x if phase else alt
        return chosen() if callable(chosen) else chosen
    return switch(phase, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` in training, `x` otherwise."""
    return in_train_phase(alt, x, training)


def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    return higher_order.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    return higher_order.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    return higher_order.foldr(fn, elems, initializer=initializer, name=name)


def print_tensor(x: TensorLike, message: str = "") -> Tensor:
    """The tensor itself, which is shown whenever it is computed."""
    return identity(Print(x, [x], message))
