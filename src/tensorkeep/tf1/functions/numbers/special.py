"""Special functions: of the gamma, beta, zeta and Bessel families, and inverses of the error functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.numbers import arithmetic
from tensorkeep.ops.numbers import special as ops
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import lgamma, negative
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


def _scoped_function(spec: Any, scope: str, doc: str) -> Callable[..., Tensor]:
    """A function whose operation stands in a scope of the function's name."""

    def function(x: Any, name: str | None = None) -> Tensor:
        with scope_of(name, scope, x):
            return emit(spec, x)

    function.__doc__ = doc
    return function


erfinv = _scoped_function(ops.erfinv, "erfinv", "The inverse of the error function.")
ndtri = _scoped_function(ops.ndtri, "ndtri", "The inverse of the normal distribution.")
dawsn = _scoped_function(ops.dawsn, "dawsn", "Dawson's integral.")
expint = _scoped_function(ops.expint, "expint", "The exponential integral Ei.")
fresnel_cos = _scoped_function(ops.fresnel_cos, "fresnel_cos", "Fresnel's integral of the cosine.")
fresnel_sin = _scoped_function(ops.fresnel_sin, "fresnel_sin", "Fresnel's integral of the sine.")
spence = _scoped_function(ops.spence, "spence", "Spence's integral, the dilogarithm of 1 - x.")
bessel_i0 = _scoped_function(ops.bessel_i0, "bessel_i0", "The modified Bessel function of the first kind, of order 0.")
bessel_i0e = _scoped_function(ops.bessel_i0e, "bessel_i0e", "`bessel_i0(x) * exp(-|x|)`.")
bessel_i1 = _scoped_function(ops.bessel_i1, "bessel_i1", "The modified Bessel function of the first kind, of order 1.")
bessel_i1e = _scoped_function(ops.bessel_i1e, "bessel_i1e", "`bessel_i1(x) * exp(-|x|)`.")
bessel_k0 = _scoped_function(ops.bessel_k0, "bessel_k0", "The modified Bessel function of the second kind, of order 0.")
bessel_k0e = _scoped_function(ops.bessel_k0e, "bessel_k0e", "`bessel_k0(x) * exp(x)`.")
bessel_k1 = _scoped_function(ops.bessel_k1, "bessel_k1", "The modified Bessel function of the second kind, of order 1.")
bessel_k1e = _scoped_function(ops.bessel_k1e, "bessel_k1e", "`bessel_k1(x) * exp(x)`.")
bessel_j0 = _scoped_function(ops.bessel_j0, "bessel_j0", "The Bessel function of the first kind, of order 0.")
bessel_j1 = _scoped_function(ops.bessel_j1, "bessel_j1", "The Bessel function of the first kind, of order 1.")
bessel_y0 = _scoped_function(ops.bessel_y0, "bessel_y0", "The Bessel function of the second kind, of order 0.")
bessel_y1 = _scoped_function(ops.bessel_y1, "bessel_y1", "The Bessel function of the second kind, of order 1.")


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `erfc`."""
    with scope_of(name, "erfcinv", x):
        x = convert(x, name="start")
        with name_scope("mul") as product:
            half = arithmetic.mul(constant(0.5, x.dtype.base_dtype, name="x"), x, name=product)
        return emit(arithmetic.mul, negative(ndtri(half)), np.sqrt(0.5), name="mul")


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function, along the last axis."""
    with scope_of(name, "lbeta", x):
        x = convert(x, name="x")
        log_product = reduce_sum(lgamma(x), [-1])
        total = lgamma(reduce_sum(x, [-1]))
        return emit(arithmetic.sub, log_product, total, name="sub")


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function."""
    return emit(ops.igamma, a, x, name=name)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function."""
    return emit(ops.igammac, a, x, name=name)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of `digamma`."""
    return emit(ops.polygamma, a, x, name=name)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function."""
    return emit(ops.zeta, x, q, name=name)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function."""
    return emit(ops.betainc, a, b, x, name=name)


__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "betainc",
    "dawsn",
    "erfcinv",
    "erfinv",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "igamma",
    "igammac",
    "lbeta",
    "ndtri",
    "polygamma",
    "spence",
    "zeta",
]
