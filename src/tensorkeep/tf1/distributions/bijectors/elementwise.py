"""Bijectors of single numbers: powers and exponentials, and functions that squash or fold the line."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.numbers import softplus_inverse
from tensorkeep.tf1.functions.arrays.shapes import identity, zeros
from tensorkeep.tf1.functions.control.assertions import (
    assert_less,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
)
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import exp, expm1, log, log1p, sigmoid, sqrt, square


def checked(bijector: Bijector, value: Tensor, check: Any, message: str) -> Tensor:
    """The value, which a run checks where the bijector validates its arguments."""
    if not bijector.validate_args:
        return value
    made: Operation = check(value, message=message)
    return with_dependencies([made], value)


class Identity(Bijector):
    """Changes nothing."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return zeros([], y.dtype)


class PowerTransform(Bijector):
    """(1 + x c)^(1 / c) of x from -1 / c on, for a power c of at least 0; e^x where c is 0."""

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        if power is None or power < 0:
            raise InvalidArgumentError(f"`power` must be a non-negative number, and is {power}.")
        self._power = power
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def power(self) -> float:
        """The c above."""
        return self._power

    def _forward(self, x: Any) -> Any:
        if self._power == 0.0:
            return exp(x)
        x = self._checked_input(x)
        return exp(log1p(x * self._power) / self._power)

    def _inverse(self, y: Any) -> Any:
        y = self._checked_output(y)
        if self._power == 0.0:
            return log(y)
        return (exp(log(y) * self._power) - 1.0) / self._power

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._power == 0.0:
            return x
        x = self._checked_input(x)
        return (1.0 / self._power - 1.0) * log1p(x * self._power)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self._power - 1.0) * log(self._checked_output(y))

    def _checked_input(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self._power}."
        check = assert_non_negative(1.0 + self._power * x, message=message)
        return with_dependencies([check], x)

    def _checked_output(self, y: Any) -> Any:
        return checked(self, y, assert_positive, "Inverse transformation input must be greater than 0.")


class Exp(PowerTransform):
    """e to the power of x."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0.0, validate_args, name)


class Sigmoid(Bijector):
    """1 / (1 + e^-x)."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(y) - log1p(-y)


class Softplus(Bijector):
    """c log(1 + e^(x / c)), a softened corner of a hinge; c is `hinge_softness`, or 1."""

    def __init__(
        self, hinge_softness: TensorLike | None = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        with name_scope(name):
            self._hinge_softness = None if hinge_softness is None else convert(hinge_softness, name="hinge_softness")
            if validate_args and self._hinge_softness is not None:
                zero = convert(0, self._hinge_softness.dtype)
                check = assert_none_equal(self._hinge_softness, zero, message="hinge_softness must be non-zero")
                self._hinge_softness = with_dependencies([check], self._hinge_softness)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def hinge_softness(self) -> Tensor | None:
        """The c above; None is 1."""
        return self._hinge_softness

    def _forward(self, x: Any) -> Any:
        soft = self._hinge_softness
        return softplus(x) if soft is None else soft * softplus(x / soft)

    def _inverse(self, y: Any) -> Any:
        soft = self._hinge_softness
        return softplus_inverse(y) if soft is None else soft * softplus_inverse(y / soft)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        soft = self._hinge_softness
        return -softplus(-x) if soft is None else -softplus(-x / soft)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        soft = self._hinge_softness
        # The slope at the input is 1 - e^-y.
        return -log_one_minus_exp(y if soft is None else y / soft)


class Softsign(Bijector):
    """x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + absolute(x))

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return y / (1.0 - absolute(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * log1p(absolute(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * log1p(-absolute(self._checked(y)))

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be between -1 and 1."
        return with_dependencies([assert_less(absolute(y), convert(1, y.dtype), message=message)], y)


class Square(Bijector):
    """x^2 of x that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return square(self._checked(x))

    def _inverse(self, y: Any) -> Any:
        return sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(2.0 * self._checked(x))

    def _checked(self, value: Any) -> Any:
        return checked(self, value, assert_non_negative, "All elements must be non-negative.")


class AbsoluteValue(Bijector):
    """|x|, which has two inputs for an output: inverses are the pair of them, -y and y."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Any:
        return absolute(x)

    def _inverse(self, y: Any) -> Any:
        y = checked(self, y, assert_non_negative, "Argument y was negative")
        return -y, identity(y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        flat = zeros([], y.dtype)
        return flat, flat


def log_one_minus_exp(y: Any) -> Any:
    """log(1 - e^-y) of y above 0, exact at both ends."""
    return log(-expm1(-y))
