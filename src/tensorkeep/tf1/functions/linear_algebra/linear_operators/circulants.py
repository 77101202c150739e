"""Operators that convolve around, in 1 to 3 dimensions: circulant matrices, which Fourier transforms make diagonal."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    matrix_transpose,
    ones,
    reshape,
    reverse,
    roll,
    shape,
)
from tensorkeep.tf1.functions.control.assertions import assert_less, assert_positive
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import expect_hint
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, log, real
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum
from tensorkeep.tf1.functions.numbers.signal import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_FORWARD = {1: fft, 2: fft2d, 3: fft3d}
_INVERSE = {1: ifft, 2: ifft2d, 3: ifft3d}
_NEAR = {"float32": 1e-3, "float64": 1e-6}


class _Circulant(LinearOperator):
    """The inverse transform of the spectrum times the transform of what it is given.

    What it is given is a vector for the last `depth` dimensions of the spectrum, flattened.
    """

    _depth = 1

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = COMPLEX64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        called = name or type(self).__name__
        with name_scope(called):
            self._spectrum = convert(spectrum, name="spectrum")
        if not (self._spectrum.dtype.is_floating or self._spectrum.dtype.is_complex):
            raise InvalidArgumentError(
                f"Argument spectrum must have floating or complex type, got {self._spectrum.dtype.name}"
            )
        rank = self._spectrum.static_shape.rank
        if rank is not None and rank < self._depth:
            raise InvalidArgumentError(f"Argument spectrum must have at least {self._depth} dimensions.  Found: {rank}")
        if not self._spectrum.dtype.is_complex:
            said = "A real spectrum always corresponds to a self-adjoint operator."
            is_self_adjoint = expect_hint(is_self_adjoint, True, said)
        is_square = expect_hint(is_square, True, "A [[nested] block] circulant operator is always square.")
        super().__init__(
            input_output_dtype,
            [self._spectrum],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            called,
        )

    # --------------------------------------------------------------------------------------------------- what it is

    @property
    def spectrum(self) -> Tensor:
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """1 for a circulant matrix, 2 for one whose blocks are such, 3 for one whose blocks' blocks are."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        found: Tensor = shape(self._spectrum)[-self._depth :]
        return found

    def _shape(self) -> TensorShape:
        known = self._spectrum.shape
        if known.rank is None:
            return known
        count = known[-self._depth :].num_elements()
        return known[: -self._depth].concatenate([count, count])

    def _shape_tensor(self) -> Tensor:
        known = shape(self._spectrum)
        count = reduce_prod(known[-self._depth :], keepdims=True)
        return concat([known[: -self._depth], count, count], 0)

    @property
    def _wide(self) -> DType:
        return COMPLEX128 if self.dtype in (FLOAT64, COMPLEX128) else COMPLEX64

    @property
    def _flat_spectrum(self) -> Tensor:
        known = shape(self._spectrum)
        return reshape(self._spectrum, concat([known[: -self._depth], [-1]], 0))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """What it convolves with: the inverse transform of the spectrum."""
        with name_scope(f"{self.name}/{name}"):
            return self._own(_INVERSE[self._depth](cast(self._spectrum, self._wide)))

    def _own(self, value: Tensor) -> Tensor:
        return cast(value, self.dtype) if self.dtype.is_complex else cast(real(value), self.dtype)

    # --------------------------------------------------------------------------------------------------- what it does

    def _convolved(self, x: Tensor, factor: Tensor, adjoint_arg: bool) -> Tensor:
        given = cast(adjoint_of(x) if adjoint_arg else x, self._wide)
        rows = matrix_transpose(given)
        blocks = reshape(rows, concat([shape(rows)[:-1], self.block_shape_tensor()], 0))
        found = _INVERSE[self._depth](expand_dims(factor, -1 - self._depth) * _FORWARD[self._depth](blocks))
        flat = reshape(found, concat([shape(found)[: -self._depth], [-1]], 0))
        product = self._own(matrix_transpose(flat))
        if (static := self._static_product(x, adjoint_arg)) is not None:
            product.set_shape(static)
        return product

    def _static_product(self, x: Tensor, adjoint_arg: bool) -> list[int | None] | None:
        rank, mine = x.static_shape.rank, self.shape.rank
        if rank is None or mine is None:
            return None
        columns = x.static_shape[-2 if adjoint_arg else -1]
        return [None] * (max(rank, mine) - 2) + [self.range_dimension.value, columns]

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factor = cast(self._spectrum, self._wide)
        return self._convolved(x, conj(factor) if adjoint else factor, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factor = cast(self._spectrum, self._wide)
        return self._convolved(rhs, 1.0 / (conj(factor) if adjoint else factor), adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._cast(reduce_prod(self._flat_spectrum, axis=[-1]))

    def _log_abs_determinant(self) -> Tensor:
        return self._cast(reduce_sum(log(absolute(self._flat_spectrum)), axis=[-1]))

    def _trace(self) -> Tensor:
        return self._cast(reduce_sum(self._flat_spectrum, axis=[-1]))

    def _cast(self, value: Tensor) -> Tensor:
        return self._own(cast(value, self._wide))

    def _diag_part(self) -> Tensor:
        mean = self._cast(reduce_mean(self._flat_spectrum, axis=[-1], keepdims=True))
        return mean * ones(self.shape_tensor()[-1:], self.dtype)

    def _eigvals(self) -> Tensor:
        return self._flat_spectrum

    def _cond(self) -> Tensor:
        sizes = absolute(self._flat_spectrum)
        return reduce_max(sizes, axis=[-1]) / reduce_min(sizes, axis=[-1])

    # --------------------------------------------------------------------------------------------------- checks

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails unless the spectrum is one of real numbers, by its symmetry."""
        with name_scope(f"{self.name}/{name}"):
            whole, axes = cast(self._spectrum, self._wide), list(range(-self._depth, 0))
            turned = roll(reverse(whole, axes), [1] * self._depth, axes)
            apart = reduce_max(absolute(whole - conj(turned)))
            checked: Operation = assert_less(apart, self._near(apart), message="Spectrum was not Hermitian")
            return checked

    def _near(self, value: Tensor) -> Tensor:
        return convert(_NEAR[value.dtype.name], value.dtype)

    def _assert_non_singular(self) -> Operation:
        least = reduce_min(absolute(self._spectrum))
        message = "Singular operator:  zero (or near zero) values in spectrum."
        checked: Operation = assert_less(
            self._near(least) * reduce_max(absolute(self._spectrum)), least, message=message
        )
        return checked

    def _assert_positive_definite(self) -> Operation:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        checked: Operation = assert_positive(real(cast(self._spectrum, self._wide)), message=message)
        return checked

    def _assert_self_adjoint(self) -> Operation:
        whole = cast(self._spectrum, self._wide)
        apart = reduce_max(absolute(whole - conj(whole)))
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        checked: Operation = assert_less(apart, self._near(apart), message=message)
        return checked

    def _linop_adjoint(self) -> LinearOperator:
        return self._like(conj(self._spectrum), **self._hints())

    def _linop_inverse(self) -> LinearOperator:
        return self._like(1.0 / self._spectrum, **self._hints())

    def _multiplied(self, right: LinearOperator) -> LinearOperator:
        if type(right) is not type(self) or right.dtype is not self.dtype:
            return super()._multiplied(right)
        both: Any = right
        return self._like(cast(self.spectrum, self._wide) * cast(both.spectrum, self._wide))

    def _like(self, spectrum: Tensor, **hints: Any) -> LinearOperator:
        return type(self)(spectrum, self.dtype, **hints)


class LinearOperatorCirculant(_Circulant):
    """A matrix each of whose columns is the one before it, turned down by one."""

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = COMPLEX64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, input_output_dtype, *hints, name)


class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks: it convolves around in two dimensions."""

    _depth = 2

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = COMPLEX64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, input_output_dtype, *hints, name)


class LinearOperatorCirculant3D(_Circulant):
    """The same in three dimensions."""

    _depth = 3

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = COMPLEX64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(spectrum, input_output_dtype, *hints, name)
