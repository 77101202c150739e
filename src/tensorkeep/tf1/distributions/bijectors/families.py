"""Bijectors that are the distribution functions of families, and one that skews and stretches the line."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.bijectors.elementwise import checked
from tensorkeep.tf1.functions.arrays.shapes import where_v2
from tensorkeep.tf1.functions.control.assertions import assert_less_equal, assert_non_negative, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    asinh,
    cosh,
    exp,
    expm1,
    log,
    log1p,
    sinh,
    sqrt,
    square,
    xlogy,
)
from tensorkeep.tf1.functions.numbers.elementwise import pow as power


class _Parametrized(Bijector):
    """What bijectors with parameters share."""

    def _set(self, name: str, validate_args: bool, **positive: TensorLike) -> None:
        """Converts parameters, which have to be above 0, and keeps them below their names."""
        with name_scope(name):
            for key, value in positive.items():
                tensor = convert(value, name=key)
                if validate_args:
                    message = f"Argument {key} must be positive"
                    tensor = with_dependencies([assert_positive(tensor, message=message)], tensor)
                setattr(self, f"_{key}", tensor)

    def _within_one(self, value: Tensor) -> Tensor:
        if not self.validate_args:
            return value
        checks = [
            assert_non_negative(value, message="input must be non-negative"),
            assert_less_equal(value, convert(1, value.dtype), message="input must be less than or equal to 1."),
        ]
        return with_dependencies(checks, value)


class Gumbel(_Parametrized):
    """e^-e^-((x - loc) / scale), the distribution function of Gumbel."""

    _loc: Tensor
    _scale: Tensor

    def __init__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, validate_args: bool = False, name: str = "gumbel"
    ) -> None:
        self._set(name, validate_args, scale=scale)
        with name_scope(name):
            self._loc = convert(loc, preferred_dtype=self._scale.dtype, name="loc")
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Tensor:
        return self._loc

    @property
    def scale(self) -> Tensor:
        return self._scale

    def _forward(self, x: Any) -> Any:
        return exp(-exp(-(x - self._loc) / self._scale))

    def _inverse(self, y: Any) -> Any:
        return self._loc - self._scale * log(-log(self._within_one(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self._loc) / self._scale
        return -z - exp(-z) - log(self._scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._within_one(y)
        return log(self._scale / (-log(y) * y))


class Weibull(_Parametrized):
    """1 - e^-((x / scale) ^ concentration) of x that are not negative, the distribution function of Weibull."""

    _scale: Tensor
    _concentration: Tensor

    def __init__(
        self,
        scale: TensorLike = 1.0,
        concentration: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ) -> None:
        self._set(name, validate_args, scale=scale, concentration=concentration)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def scale(self) -> Tensor:
        return self._scale

    @property
    def concentration(self) -> Tensor:
        return self._concentration

    def _forward(self, x: Any) -> Any:
        x = checked(self, x, assert_non_negative, "Forward transformation input must be at least 0.")
        return -expm1(-power(x / self._scale, self._concentration))

    def _inverse(self, y: Any) -> Any:
        return self._scale * power(-log1p(-self._within_one(y)), 1.0 / self._concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._within_one(y)
        rest = (1.0 / self._concentration - 1.0) * log(-log1p(-y))
        return -log1p(-y) + rest + log(self._scale / self._concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = checked(self, x, assert_non_negative, "Forward transformation input must be at least 0.")
        each = -power(x / self._scale, self._concentration) + xlogy(self._concentration - 1.0, x)
        return each + log(self._concentration) - self._concentration * log(self._scale)


class Kumaraswamy(_Parametrized):
    """(1 - (1 - x)^(1 / b))^(1 / a) of x between 0 and 1, by which uniform draws become those of Kumaraswamy."""

    _concentration1: Tensor
    _concentration0: Tensor

    def __init__(
        self,
        concentration1: TensorLike = 1.0,
        concentration0: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        self._set(name, validate_args, concentration1=concentration1, concentration0=concentration0)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def concentration1(self) -> Tensor:
        """The a above."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The b above."""
        return self._concentration0

    def _forward(self, x: Any) -> Any:
        x = self._within_one(x)
        return exp(log(-expm1(log1p(-x) / self._concentration0)) / self._concentration1)

    def _inverse(self, y: Any) -> Any:
        y = self._within_one(y)
        return -expm1(self._concentration0 * log1p(-power(y, self._concentration1)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._within_one(y)
        a, b = self._concentration1, self._concentration0
        return log(a) + log(b) + xlogy(a - 1.0, y) + (b - 1.0) * log1p(-power(y, a))


class SinhArcsinh(_Parametrized):
    """sinh((arcsinh(x) + skewness) tailweight): leans right where skewness is positive, heavy where tailweight is."""

    _tailweight: Tensor

    def __init__(
        self,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        self._set(name, validate_args, tailweight=1.0 if tailweight is None else tailweight)
        with name_scope(name):
            given = 0.0 if skewness is None else skewness
            self._skewness = convert(given, preferred_dtype=self._tailweight.dtype, name="skewness")
            if skewness is not None and tailweight is None:
                self._tailweight = convert(1.0, self._skewness.dtype)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def skewness(self) -> Tensor:
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return sinh((asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y: Any) -> Any:
        return sinh(asinh(y) / self._tailweight - self._skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        inner = (asinh(x) + self._skewness) * self._tailweight
        return _log_cosh(inner) + log(self._tailweight) - log(_hypotenuse(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        inner = asinh(y) / self._tailweight - self._skewness
        return _log_cosh(inner) - log(self._tailweight) - log(_hypotenuse(y))


def _hypotenuse(x: Any) -> Any:
    """sqrt(x^2 + 1), of numbers whose squares are too large as well."""
    large = absolute(x) > 1e15
    small = where_v2(large, 0.0 * x, x)
    return where_v2(large, absolute(x), sqrt(square(small) + 1.0))


def _log_cosh(x: Any) -> Any:
    """log(cosh(x)), of numbers whose cosh is too large as well."""
    far = absolute(x) > 30.0
    near = where_v2(far, 0.0 * x, x)
    return where_v2(far, absolute(x) - 0.6931471805599453, log(cosh(near)))
