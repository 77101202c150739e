"""Linear algebra beside TensorFlow's: the same nodes, gradients among them, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.ops.linear_algebra._factors import cholesky
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.linear_algebra import matrices
from tests.interop.programs import build, our_names, v1

LINALG = {
    "det": "matrix_determinant",
    "diag": "matrix_diag",
    "slogdet": "log_matrix_determinant",
    "tensor_diag": "diag",
    **{
        name: name
        for name in matrices.__all__
        if name.startswith(("adjoint", "logdet", "lu", "matrix_rank", "matvec", "normalize", "pinv", "tridiagonal"))
    },
}
OURS = our_names(
    matrices,
    gradients=reverse_walk.gradients,
    linalg=SimpleNamespace(**{name: getattr(matrices, ours) for name, ours in LINALG.items()}),
)
Program = Callable[[Any], Any]

A = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
B = np.arange(12, dtype=np.float32).reshape(3, 4) / 3
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]])
SQUARES = np.stack([SQUARE, SQUARE + np.eye(3)])
COMPLEX = (SQUARE + 1j * np.triu(SQUARE, 1)).astype(np.complex64)


def unknown(tf: Any, value: Any, name: str, shape: Any = None) -> Any:
    """A tensor whose shape is not known, though its value is fed by default."""
    return tf.placeholder(v1.as_dtype(value.dtype).name, shape, name)


PRODUCTS: dict[str, Program] = {
    "matmul": lambda tf: tf.matmul(A, B),
    "matmul turned": lambda tf: [
        tf.matmul(A, A, transpose_a=True),
        tf.matmul(A, A, transpose_b=True, name="p"),
        tf.matmul(COMPLEX, COMPLEX, adjoint_a=True),
        tf.matmul(COMPLEX, COMPLEX, transpose_b=True),
    ],
    "matmul of batches": lambda tf: [
        tf.matmul(SQUARES, SQUARES),
        tf.matmul(tf.constant(SQUARES), SQUARE, transpose_a=True),
        tf.matmul(np.stack([COMPLEX] * 2), COMPLEX, transpose_b=True),
    ],
    "matmul of lists": lambda tf: tf.matmul([[1.0, 2.0]], tf.constant([[3.0], [4.0]])),
    "sparse products": lambda tf: [
        tf.matmul(A, B, a_is_sparse=True),
        tf.matmul(tf.constant(A), B, b_is_sparse=True, transpose_b=False),
        tf.matmul(SQUARE, SQUARE, a_is_sparse=True),
        tf.sparse_matmul(A, B, b_is_sparse=True, name="s"),
    ],
    "other types": lambda tf: tf.matmul(
        np.array([[1, 2]], np.int8), np.array([[3], [4]], np.int8), output_type=tf.int32
    ),
    "the operator": lambda tf: [tf.constant(A) @ B, tf.constant(SQUARES) @ SQUARES, A @ tf.constant(B)],
    "matvec": lambda tf: [
        tf.linalg.matvec(A, np.ones(3, np.float32)),
        tf.linalg.matvec(SQUARES, np.ones((2, 3)), transpose_a=True, name="v"),
    ],
    "einsum": lambda tf: [
        tf.einsum("ij,jk->ik", tf.constant(A), tf.constant(B)),
        tf.einsum("ij,jk", tf.constant(A), tf.constant(B)),
        tf.einsum("ii", tf.constant(SQUARE)),
        tf.einsum("...ij,jk->...ik", tf.constant(SQUARES), tf.constant(SQUARE), name="e"),
    ],
    "einsum of three": lambda tf: [
        tf.einsum("ij,jk,kl->il", tf.constant(A), tf.constant(B), tf.constant(B.T)),
        tf.einsum("a,b,ab->", tf.constant(A[:, 0]), tf.constant(A[0]), tf.constant(A)),
        tf.einsum("ab,ab,ab->a", tf.constant(A), tf.constant(A), tf.constant(A)),
    ],
    "tensordot": lambda tf: [
        tf.tensordot(A, B, 1),
        tf.tensordot(SQUARES, SQUARES, [[1, 2], [2, 1]]),
        tf.tensordot(SQUARES, SQUARE, [-1, 0], name="t"),
        tf.tensordot(A, B, [[1], [0]]),
        tf.tensordot(A, A, 2),
        tf.tensordot(A, A, 0),
    ],
}

MATRICES: dict[str, Program] = {
    "norms": lambda tf: [
        tf.norm(A),
        tf.norm(A, axis=1),
        tf.norm(A, 1, axis=0, keepdims=True),
        tf.norm(A, np.inf),
        tf.norm(A, 3, axis=-1, name="three"),
        tf.norm(A, "fro", axis=[0, 1]),
        tf.norm(A, 1, axis=(0, 1)),
        tf.norm(A, np.inf, axis=[-2, -1], keep_dims=True),
        tf.norm(tf.constant(COMPLEX)),
    ],
    "normalized": lambda tf: [
        *tf.linalg.normalize(A),
        *tf.linalg.normalize(A, 1, axis=1, name="rows"),
        *tf.linalg.normalize(tf.constant(COMPLEX)),
    ],
    "traces": lambda tf: [tf.trace(SQUARE), tf.trace(SQUARES, name="t")],
    "eye": lambda tf: [
        tf.eye(3),
        tf.eye(2, 4),
        tf.eye(2, batch_shape=[3], dtype=tf.float64),
        tf.eye(tf.constant(2), name="e"),
        tf.eye(2, 3, batch_shape=[2, 2], dtype=tf.int32),
    ],
    "diagonals": lambda tf: [
        tf.matrix_diag(A),
        tf.matrix_diag(A, k=1, name="d", padding_value=7.0),
        tf.matrix_diag_part(SQUARES),
        tf.matrix_diag_part(SQUARE, k=(-1, 1)),
        tf.matrix_set_diag(SQUARE, np.ones(3)),
        tf.matrix_band_part(SQUARE, 1, -1),
        tf.diag(A),
        tf.diag_part(SQUARE),
        tf.linalg.diag(tf.constant([True, False])),
        tf.linalg.tensor_diag([1.0, 2.0]),
    ],
    "systems": lambda tf: [
        tf.matrix_inverse(SQUARE),
        tf.matrix_inverse(SQUARES, adjoint=True, name="i"),
        tf.matrix_determinant(SQUARES),
        tf.linalg.slogdet(SQUARES)[1],
        tf.matrix_solve(SQUARE, np.ones((3, 1))),
        tf.cholesky(SQUARES),
        tf.cholesky_solve(tf.cholesky(SQUARE), np.ones((3, 2))),
        tf.matrix_triangular_solve(SQUARE, np.ones((3, 2)), lower=False),
        tf.linalg.logdet(SQUARES),
        tf.matrix_square_root(SQUARE),
        tf.linalg.adjoint(COMPLEX),
    ],
    "least squares": lambda tf: [
        tf.matrix_solve_ls(np.vstack([SQUARE, SQUARE]), np.ones((6, 2))),
        tf.matrix_solve_ls(SQUARE[:2], np.ones((2, 1)), l2_regularizer=0.5),
        tf.matrix_solve_ls(SQUARE, np.ones((3, 1)), fast=False),
    ],
    "factors": lambda tf: [
        tf.qr(SQUARE)[1],
        tf.svd(SQUARES, compute_uv=False),
        tf.svd(COMPLEX, compute_uv=False),
        tf.self_adjoint_eigvals(SQUARES),
        tf.linalg.lu(SQUARES)[0],
        tf.linalg.pinv(SQUARE[:2]),
        tf.linalg.matrix_rank(SQUARES),
        tf.linalg.lu_solve(*tf.linalg.lu(SQUARE), np.ones((3, 1))),
        tf.linalg.lu_solve(*tf.linalg.lu(SQUARES), np.ones((2, 3, 1))),
        tf.linalg.lu_reconstruct(*tf.linalg.lu(SQUARE)),
        tf.linalg.lu_matrix_inverse(*tf.linalg.lu(SQUARE)),
    ],
    "three diagonals": lambda tf: [
        tf.linalg.tridiagonal_solve(tf.constant(SQUARE), tf.constant(np.ones((3, 1)))),
        tf.linalg.tridiagonal_solve(tf.constant(SQUARE), tf.constant(np.ones(3)), name="t"),
        tf.linalg.tridiagonal_solve(tf.constant(SQUARE), tf.constant(np.ones((3, 3))), diagonals_format="matrix"),
    ],
}


def _check(program: Program) -> None:
    ours, theirs = build(program, OURS).run()[0]
    for mine, other in zip(
        ours if isinstance(ours, list) else [ours], theirs if isinstance(theirs, list) else [theirs], strict=True
    ):
        assert np.asarray(mine).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_products_are_tensorflows(name: str) -> None:
    _check(PRODUCTS[name])


@pytest.mark.parametrize("name", sorted(MATRICES))
def test_functions_of_matrices_are_tensorflows(name: str) -> None:
    _check(MATRICES[name])


def _tensordots(tf: Any) -> Any:
    a, b = unknown(tf, A, "a", [None, 3]), unknown(tf, B, "b")
    return [tf.tensordot(a, b, 1), tf.tensordot(b, a, [[0], [1]]), tf.tensordot(a, a, [[0, 1], [0, 1]])]


def _identities(tf: Any) -> Any:
    size = tf.placeholder(tf.int32, [], "size")
    return [tf.eye(size), tf.eye(size, 3), tf.eye(2, size, batch_shape=[2])]


def test_tensordot_of_unknown_shapes_is_tensorflows() -> None:
    built = build(_tensordots, OURS)
    for mine, other in zip(*built.run(feeds={"a:0": A, "b:0": B})[0], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)


def test_identities_of_a_size_that_is_a_tensor_are_tensorflows() -> None:
    build(_identities, OURS).expect_same_values(feeds={"size:0": 2})


GRADIENTS: dict[str, Program] = {
    "matmul": lambda tf: _gradients(tf, tf.matmul, A, B),
    "matmul, complex": lambda tf: _gradients(tf, tf.matmul, COMPLEX, COMPLEX),
    "batches": lambda tf: _gradients(tf, tf.matmul, SQUARES, SQUARES),
    "stretched batches": lambda tf: _gradients(tf, tf.matmul, SQUARES, SQUARE),
    "einsum": lambda tf: _gradients(tf, lambda a, b: tf.einsum("ij,jk->ik", a, b), A, B),
    "einsum with sums": lambda tf: _gradients(tf, lambda a, b: tf.einsum("aij,jk->ak", a, b), SQUARES, SQUARE),
    "einsum stretched": lambda tf: _gradients(tf, lambda a, b: tf.einsum("...ij,jk->...ik", a, b), SQUARES, SQUARE),
    "einsum of one": lambda tf: _gradients(tf, lambda a: tf.einsum("ijk->ki", a), SQUARES),
    "inverse": lambda tf: _gradients(tf, tf.matrix_inverse, SQUARES),
    "determinant": lambda tf: _gradients(tf, tf.matrix_determinant, SQUARES),
    "logarithm of a determinant": lambda tf: _gradients(tf, lambda a: tf.linalg.slogdet(a)[1], SQUARES),
    "cholesky": lambda tf: _gradients(tf, tf.cholesky, SQUARES),
    "solve": lambda tf: _gradients(tf, tf.matrix_solve, SQUARES, SQUARES),
    "triangular solve": lambda tf: _gradients(tf, tf.matrix_triangular_solve, SQUARES, SQUARES),
    "triangular solve, stretched": lambda tf: _gradients(tf, tf.matrix_triangular_solve, SQUARE, SQUARES),
    "root": lambda tf: _gradients(tf, tf.matrix_square_root, SQUARE),
    "roots": lambda tf: _gradients(tf, tf.matrix_square_root, SQUARES),
    "singular values": lambda tf: _gradients(tf, lambda a: tf.svd(a, compute_uv=False), SQUARES),
    "singular vectors": lambda tf: _gradients(tf, lambda a: tf.svd(a)[0], SQUARES),
    "wide singular vectors": lambda tf: _gradients(tf, lambda a: tf.svd(a)[0], A),
    "eigenvalues": lambda tf: _gradients(tf, tf.self_adjoint_eigvals, SQUARES),
    "eigenvectors": lambda tf: _gradients(tf, lambda a: tf.self_adjoint_eig(a)[0], SQUARES),
    "qr": lambda tf: _gradients(tf, lambda a: tf.qr(a)[1], SQUARES),
    "wide qr": lambda tf: _gradients(tf, lambda a: tf.qr(a)[1], A),
    "diag": lambda tf: _gradients(tf, tf.matrix_diag, A),
    "diag part": lambda tf: _gradients(tf, tf.matrix_diag_part, SQUARES),
    "set diag": lambda tf: _gradients(tf, tf.matrix_set_diag, SQUARE, np.ones(3)),
    "band part": lambda tf: _gradients(tf, lambda a: tf.matrix_band_part(a, 1, 0), SQUARE),
    "trace": lambda tf: _gradients(tf, tf.trace, SQUARES),
    "norm": lambda tf: _gradients(tf, tf.norm, A),
    "three diagonals": lambda tf: _gradients(tf, tf.linalg.tridiagonal_solve, SQUARE, np.ones((3, 1))),
    "least squares": lambda tf: _gradients(tf, lambda a: tf.matrix_solve_ls(a, np.ones((2, 1)), 0.5), SQUARE[:2]),
}


def _gradients(tf: Any, function: Callable[..., Any], *values: Any) -> Any:
    inputs = [tf.constant(value, name=f"value_{i}") for i, value in enumerate(values)]
    result = function(*inputs)
    given = None
    if np.iscomplexobj(values[0]):
        given = tf.constant(np.ones(result.shape.as_list()), values[0].dtype, name="given")
    return tf.gradients(result, inputs, given)


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients_are_tensorflows_nodes(name: str) -> None:
    _check(GRADIENTS[name])


def test_the_lower_half_of_a_factor_that_does_not_exist_is_tensorflows() -> None:
    negative = np.array([[1.0, 0.0], [0.0, -1.0]])  # TensorFlow leaves open what is in the upper half
    with v1.Graph().as_default(), v1.Session() as session:
        theirs = session.run(v1.linalg.cholesky(negative))
    np.testing.assert_array_equal(np.tril(cholesky(negative)), np.tril(theirs))
