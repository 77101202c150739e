"""Bijectors that scale and shift: by numbers, by matrices, and by linear operators."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.scales import scale_operator
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_none_equal
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, log


class AffineScalar(Bijector):
    """scale x + shift, of single numbers."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        dtype = _known_dtype(shift, scale)
        with name_scope(name):
            # Numbers of Python go with values of any type.
            self._shift: Any = shift if _is_number(shift) and dtype is None else _converted(shift, dtype, "shift")
            self._scale: Any = scale if _is_number(scale) and dtype is None else _converted(scale, dtype, "scale")
            if validate_args and scale is not None:
                factor = convert(self._scale)
                check = assert_none_equal(
                    factor, convert(0, factor.dtype), message="Argument `scale` was zero: it has no inverse."
                )
                self._scale = with_dependencies([check], factor)
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=dtype,
            forward_min_event_ndims=0,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """What is added; None is nothing."""
        return None if self._shift is None else convert(self._shift)

    @property
    def scale(self) -> Tensor | None:
        """What is multiplied by; None is 1."""
        return None if self._scale is None else convert(self._scale)

    def _forward(self, x: Any) -> Any:
        y = x if self._scale is None else x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype) if self._scale is None else log(absolute(convert(self._scale, x.dtype)))


class AffineLinearOperator(Bijector):
    """scale @ x + shift, of vectors, with a linear operator as the scale."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        if scale is not None and not isinstance(scale, LinearOperator):
            raise WrongTypeError(f"scale is not an instance of tf.linalg.LinearOperator, but {scale!r}")
        if scale is not None and not scale.is_non_singular:
            raise InvalidArgumentError(
                "Scale matrix must be non-singular: tell its operator so, by is_non_singular=True"
            )
        dtype = _common_dtype(scale, shift)
        with name_scope(name):
            self._shift = _converted(shift, dtype, "shift")
        self._scale = scale
        super().__init__(
            graph_parents=[] if scale is None else scale.graph_parents,
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=dtype,
            forward_min_event_ndims=1,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """What is added; None is nothing."""
        return self._shift

    @property
    def scale(self) -> LinearOperator | None:
        """What is multiplied by; None is the identity."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x if self._scale is None else self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype) if self._scale is None else self._scale.log_abs_determinant()


class Affine(Bijector):
    """scale @ x + shift, of vectors, the scale being the sum of what is given.

    Given are a multiple of the identity, a diagonal, a lower triangle, and a product V D V^T of a thin matrix V
    (`scale_perturb_factor`) and a diagonal D (`scale_perturb_diag`, or ones); nothing is the identity.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        given = (shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor)
        dtype = _common_dtype(*given) or FLOAT32
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise InvalidArgumentError("scale_perturb_diag goes with scale_perturb_factor, which is not given")
        with name_scope(name):
            self._shift = _converted(shift, dtype, "shift")
            self._scale: Any = None  # a number where it is a multiple of the identity, else an operator
            if all(each is None for each in given[2:]):
                if scale_identity_multiplier is not None:
                    self._scale = convert(scale_identity_multiplier, dtype, name="scale_identity_multiplier")
            else:
                self._scale = scale_operator(
                    dtype, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag
                )
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=dtype,
            forward_min_event_ndims=1,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """What is added; None is nothing."""
        return self._shift

    @property
    def scale(self) -> Any:
        """What is multiplied by: a linear operator, a number for a multiple of the identity, 1.0 for the identity."""
        return 1.0 if self._scale is None else self._scale

    def _forward(self, x: Any) -> Any:
        if isinstance(self._scale, LinearOperator):
            y: Any = self._scale.matvec(x)
        else:
            y = x if self._scale is None else expand_dims(self._scale, -1) * x
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        if isinstance(self._scale, LinearOperator):
            return self._scale.solvevec(x)
        return x if self._scale is None else x / expand_dims(self._scale, -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._scale is None:
            return zeros([], x.dtype)
        if isinstance(self._scale, LinearOperator):
            return self._scale.log_abs_determinant()
        known = x.get_shape()[-1:].num_elements()
        size = cast(shape_of(x)[-1], x.dtype) if known is None else float(known)
        return size * log(absolute(self._scale))


def _known_dtype(*values: Any) -> DType | None:
    """The type of the first value that has one; None if all are numbers or lists of them."""
    found = (getattr(value, "dtype", None) for value in values)
    first = next((dtype for dtype in found if dtype is not None), None)
    return None if first is None else DType.of(first).base_dtype


def _common_dtype(*values: Any) -> DType | None:
    """The type of the first value that has one; float32 of numbers of Python, None of nothing."""
    is_nothing = all(value is None for value in values)
    return _known_dtype(*values) or (None if is_nothing else FLOAT32)


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _converted(value: Any, dtype: DType | None, name: str) -> Tensor | None:
    return None if value is None else convert(value, dtype or FLOAT32, name=name)
