"""`softplus_inverse` and `reduce_weighted_logsumexp`: numbers where a plain formula would lose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.graph.arguments import AxisLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import ones_like, squeeze, stop_gradient, where_v2, zeros_like
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import exp, expm1, is_finite, log, sign
from tensorkeep.tf1.functions.numbers.reductions import reduce_logsumexp, reduce_max, reduce_sum


def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """The number whose softplus, log(1 + e^y), is x, which is above 0."""
    with name_scope(name or "softplus_inverse"):
        given: Any = convert(x, name="x")
        # Where x is near 0, y is log(x); where it is large, y is x; to the precision of the type.
        limit = float(np.log(np.finfo(given.dtype.array_dtype).eps)) + 2.0
        is_small, is_large = given < np.exp(limit), given > -limit
        middle = where_v2(is_small | is_large, ones_like(given), given)
        found = middle + log(-expm1(-middle))
        small = where_v2(is_small, given, ones_like(given))
        return where_v2(is_small, log(small), where_v2(is_large, given, found))


def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: AxisLike = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """The logarithm of |sum of w e^logx| along axes, and with `return_sign` the sum's sign; w may be negative."""
    with name_scope(name or "reduce_weighted_logsumexp"):
        logs: Any = convert(logx, name="logx")
        if w is None:
            found = reduce_logsumexp(logs, axis=axis, keepdims=keep_dims)
            return (found, ones_like(found)) if return_sign else found
        weights: Any = convert(w, logs.dtype, name="w")
        # Weights are part of the largest summand, so that none is lost.
        largest = stop_gradient(reduce_max(logs + log(absolute(weights)), axis=axis, keepdims=True))
        largest = where_v2(is_finite(largest), largest, zeros_like(largest))
        total = reduce_sum(weights * exp(logs - largest), axis=axis, keepdims=keep_dims)
        base = largest if keep_dims else squeeze(largest, None if axis is None else axis)
        found = base + log(absolute(total))
        return (found, sign(total)) if return_sign else found
