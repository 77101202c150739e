"""The numbers behind linear algebra that NumPy does not have: triangular and banded systems, LU, matrix functions.

All take matrices as the last two dimensions of arrays, whatever the others are. All compute on one thread: a
decomposition is thousands of small products, each of which would wait for others.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.blas import ONE_THREAD
from tensorkeep.ops.shared.kernel_types import Array

_BLOCK: Final = 32  # rows; triangles of no more are solved as one
_LOGARITHM_NEAR: Final = 0.25  # norm of what is left of a matrix without the identity when its logarithm is a series
_MOST_ROOTS: Final = 60


def adjoint(matrix: Array) -> Array:
    turned = matrix.swapaxes(-1, -2)
    return turned.conj() if matrix.dtype.kind == "c" else turned


def identity_like(matrix: Array) -> Array:
    """Identity matrices of the shape of square ones."""
    return np.broadcast_to(np.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)


# ---------------------------------------------------------------------------------------------------- Triangles


@ONE_THREAD
def cholesky(matrix: Array) -> Array:
    """The lower factor of each matrix; NaN for one that is not positive definite."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        if matrix.ndim == 2:
            return np.tril(np.full_like(matrix, np.nan))
        return np.stack([cholesky(one) for one in matrix])


@ONE_THREAD
def solve_triangular(matrix: Array, rhs: Array, lower: bool) -> Array:
    """The solutions of triangular systems; the other half of each matrix is not read. Where a system has none, the
    result is not finite.
    """
    half = np.tril(matrix) if lower else np.triu(matrix)
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    found = np.empty((*batch, *rhs.shape[-2:]), np.result_type(matrix, rhs))
    _solve_block(half, rhs, found, lower)
    return found


def _solve_block(matrix: Array, rhs: Array, found: Array, lower: bool) -> None:
    size = matrix.shape[-1]
    if size <= _BLOCK:
        for step in range(size):
            row = step if lower else size - 1 - step
            known = slice(0, row) if lower else slice(row + 1, size)
            already = matrix[..., row : row + 1, known] @ found[..., known, :]
            found[..., row : row + 1, :] = (rhs[..., row : row + 1, :] - already) / matrix[
                ..., row : row + 1, row, None
            ]
        return
    middle = size // 2
    first, second = (slice(0, middle), slice(middle, size)) if lower else (slice(middle, size), slice(0, middle))
    _solve_block(matrix[..., first, first], rhs[..., first, :], found[..., first, :], lower)
    rest = rhs[..., second, :] - matrix[..., second, first] @ found[..., first, :]
    _solve_block(matrix[..., second, second], rest, found[..., second, :], lower)


def lower_upper(matrix: Array) -> tuple[Array, Array]:
    """The factors L and U in one matrix, and the order of rows, by elimination that takes the largest pivot."""
    size = matrix.shape[-1]
    flat = np.array(matrix).reshape(prod(matrix.shape[:-2]), size, size)
    order = np.tile(np.arange(size), (len(flat), 1))
    every = np.arange(len(flat))
    for step in range(size):
        pivot = step + np.abs(flat[:, step:, step]).argmax(axis=1)
        for rows in (flat, order):
            rows[every, pivot], rows[every, step] = rows[every, step], rows[every, pivot]
        top = flat[:, step, step]
        if np.any(top == 0):
            raise InvalidArgumentError("Input is not invertible.")
        flat[:, step + 1 :, step] /= top[:, None]
        flat[:, step + 1 :, step + 1 :] -= flat[:, step + 1 :, step, None] * flat[:, step, None, step + 1 :]
    return flat.reshape(matrix.shape), order.reshape(matrix.shape[:-1])


@ONE_THREAD
def cholesky_gradient(factor: Array, gradient: Array) -> Array:
    """The gradient of a matrix, as a symmetric one, by that of its Cholesky factor, of which the lower half counts."""
    factor = np.tril(factor)
    middle = np.tril(adjoint(factor) @ np.tril(gradient))
    each = np.arange(factor.shape[-1])
    middle[..., each, each] *= 0.5
    turned = adjoint(factor)
    left = solve_triangular(turned, middle, lower=False)
    whole = adjoint(solve_triangular(turned, adjoint(left), lower=False))
    found: Array = (whole + adjoint(whole)) / whole.dtype.type(2)
    return found


# ---------------------------------------------------------------------------------------------------- Three diagonals


def tridiagonal_solve(diagonals: Array, rhs: Array, pivots: bool) -> Array:
    """The solution for the upper, main and lower diagonals; the upper's last element and the lower's first are idle."""
    upper, main, lower = (np.array(diagonals[..., i, :]) for i in range(3))
    size = main.shape[-1]
    found = np.array(rhs)
    second = np.zeros_like(main)  # above the upper diagonal: what exchanged rows bring
    for i in range(size - 1):
        if pivots:
            swaps = np.abs(lower[..., i + 1]) > np.abs(main[..., i])
            _exchange(swaps, main[..., i], lower[..., i + 1])
            _exchange(swaps, upper[..., i], main[..., i + 1])
            if i + 2 < size:
                _exchange(swaps, second[..., i], upper[..., i + 1])
            _exchange(swaps[..., None], found[..., i, :], found[..., i + 1, :])
        _refuse_zeros(main[..., i])
        factor = lower[..., i + 1] / main[..., i]
        main[..., i + 1] -= factor * upper[..., i]
        if i + 2 < size:
            upper[..., i + 1] -= factor * second[..., i]
        found[..., i + 1, :] -= factor[..., None] * found[..., i, :]
    if size:
        _refuse_zeros(main[..., size - 1])
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            found[..., i, :] -= upper[..., i, None] * found[..., i + 1, :]
        if i + 2 < size:
            found[..., i, :] -= second[..., i, None] * found[..., i + 2, :]
        found[..., i, :] /= main[..., i, None]
    return found


def _exchange(swaps: Any, a: Any, b: Any) -> None:
    """Exchanges elements of two views where told."""
    kept = np.where(swaps, b, a)
    b[...] = np.where(swaps, a, b)
    a[...] = kept


def _refuse_zeros(pivots: Any) -> None:
    if np.any(pivots == 0):
        raise InvalidArgumentError("The first element of diagonal is zero, or the matrix is not invertible.")


def tridiagonal_product(upper: Array, main: Array, lower: Array, rhs: Array) -> Array:
    """The product of a matrix of three diagonals, each given as a row, with another."""
    found = main.swapaxes(-1, -2) * rhs
    found[..., :-1, :] += upper[..., :, :-1].swapaxes(-1, -2) * rhs[..., 1:, :]
    found[..., 1:, :] += lower[..., :, 1:].swapaxes(-1, -2) * rhs[..., :-1, :]
    return found


# ---------------------------------------------------------------------------------------------------- Functions


@ONE_THREAD
def square_root(matrix: Array) -> Array:
    """The principal square root of one matrix or several."""
    wide = matrix.astype(np.complex128)
    flat = wide.reshape(prod(matrix.shape[:-2]), *matrix.shape[-2:])
    roots = np.array([_root(one) for one in flat], np.complex128).reshape(wide.shape)
    return roots.astype(matrix.dtype) if matrix.dtype.kind == "c" else roots.real.astype(matrix.dtype)


def _root(matrix: Array) -> Array:
    """The principal square root of one matrix: by its eigenvalues if the eigenvectors are good, else by iterations."""
    if not matrix.size:
        return matrix
    if np.array_equal(matrix, adjoint(matrix)):
        values, vectors = np.linalg.eigh(matrix)
        return (vectors * np.sqrt(values.astype(np.complex128))) @ adjoint(vectors)
    values, vectors = np.linalg.eig(matrix)
    if np.linalg.cond(vectors) < 1e6:
        found: Array = (vectors * np.sqrt(values)) @ np.linalg.inv(vectors)
        return found
    return _iterated_root(matrix)


def _iterated_root(matrix: Array) -> Array:
    """Denman and Beavers' iteration: the root and its inverse approach each other's inverses."""
    root, inverse = matrix, np.eye(len(matrix), dtype=matrix.dtype)
    for _ in range(100):
        try:
            following, opposite = (root + np.linalg.inv(inverse)) / 2, (inverse + np.linalg.inv(root)) / 2
        except np.linalg.LinAlgError:
            break
        done = np.linalg.norm(following - root) <= 1e-15 * np.linalg.norm(following)
        root, inverse = following, opposite
        if done:
            break
    return root


@ONE_THREAD
def logarithm(matrix: Array) -> Array:
    """The principal logarithm: roots until little but the identity is left, whose logarithm is an integral."""
    flat = matrix.astype(np.complex128).reshape(prod(matrix.shape[:-2]), *matrix.shape[-2:])
    return np.array([_logarithm(one) for one in flat], matrix.dtype).reshape(matrix.shape)


def _logarithm(matrix: Array) -> Array:
    if not matrix.size:
        return matrix
    values, vectors = np.linalg.eig(matrix)
    if np.linalg.cond(vectors) < 1e6:
        found: Array = (vectors * np.log(values)) @ np.linalg.inv(vectors)
        return found
    identity = np.eye(len(matrix), dtype=matrix.dtype)
    roots = 0
    while np.linalg.norm(matrix - identity, 1) > _LOGARITHM_NEAR and roots < _MOST_ROOTS:
        matrix = _iterated_root(matrix)
        roots += 1
    rest = matrix - identity
    points, weights = np.polynomial.legendre.leggauss(16)
    total = np.zeros_like(matrix)
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        total += weight * np.linalg.solve(identity + point * rest, rest)
    return total * 2.0**roots


_PADE: Final = (
    64764752532480000,
    32382376266240000,
    7771770303897600,
    1187353796428800,
    129060195264000,
    10559470521600,
    670442572800,
    33522128640,
    1323241920,
    40840800,
    960960,
    16380,
    182,
    1,
)


@ONE_THREAD
def exponential(matrix: Array) -> Array:
    """e to a matrix: of it divided by a power of two, by Padé's quotient, squared as often."""
    if not matrix.size:
        return matrix
    wide = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
    norm = float(np.abs(wide).sum(axis=-2).max())
    squarings = max(0, int(np.ceil(np.log2(norm / 5.37)))) if np.isfinite(norm) and norm > 5.37 else 0
    power = wide / 2.0**squarings
    odd, even = np.zeros_like(wide), np.zeros_like(wide)
    term = identity_like(wide)
    for degree, factor in enumerate(_PADE):
        (odd if degree % 2 else even)[...] += factor * term
        term = term @ power
    found = np.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        found = found @ found
    return found.astype(matrix.dtype)
