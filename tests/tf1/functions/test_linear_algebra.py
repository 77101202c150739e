"""Functions of matrices: what they compute, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.linear_algebra import matrices as la

SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]])


def run(build: Any, feeds: Any = None) -> Any:
    graph = Graph()
    with building(graph):
        fetched = build()
    return Session(graph).run(fetched, feeds)


def test_a_product_of_matrices_is_one_operation() -> None:
    with building(Graph()) as graph:
        product = la.matmul(np.ones((2, 3), np.float32), np.ones((3, 4), np.float32), name="p")
    assert (product.op.type, product.name, product.shape.as_list()) == ("MatMul", "p:0", [2, 4])
    assert len(graph.operations) == 3


def test_a_product_of_tensors_of_unknown_rank_is_one_of_batches() -> None:
    with building(Graph()):
        product = la.matmul(placeholder(FLOAT32), placeholder(FLOAT32))
    assert product.op.type == "BatchMatMulV2"


def test_a_matrix_cannot_be_transposed_and_adjoint_at_once() -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError, match="transpose_b"):
        la.matmul(SQUARE, SQUARE, transpose_b=True, adjoint_b=True)


def test_the_operator_is_the_function() -> None:
    assert run(lambda: constant(SQUARE) @ SQUARE) == pytest.approx(SQUARE @ SQUARE)


def test_einsum_multiplies_more_than_two_in_pairs() -> None:
    a, b, c = (np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2))
    with building(Graph()) as graph:
        found = la.einsum("ij,jk,kl->il", constant(a), constant(b), constant(c))
    assert [op.type for op in graph.operations].count("Einsum") == 2
    assert Session(graph).run(found) == pytest.approx(a @ b @ c)


def test_einsum_says_what_is_wrong_with_an_equation() -> None:
    with building(Graph()):
        x = constant(SQUARE)
        for equation, complaint in {
            "ij,jk->ik": "Got 1 inputs",
            "ij->k": "not present",
            "ij->ii": "more than once",
            "i#->i": "format",
        }.items():
            with pytest.raises(InvalidArgumentError, match=complaint):
                la.einsum(equation, x)
        with pytest.raises(WrongTypeError, match="colour"):
            la.einsum("ij->ji", x, colour="red")


@pytest.mark.parametrize(
    ("order", "axis"), [("euclidean", None), (1, 0), (np.inf, 1), (3, 1), (2, (0, 1)), (1, (0, 1))]
)
def test_norms_are_numpys(order: Any, axis: Any) -> None:
    wanted = np.linalg.norm(SQUARE, None if order == "euclidean" else order, axis)
    assert run(lambda: la.norm(SQUARE, order, axis)) == pytest.approx(wanted)


def test_a_norm_of_an_unknown_order_is_refused() -> None:
    with building(Graph()):
        with pytest.raises(InvalidArgumentError, match="vector norm"):
            la.norm(SQUARE, "nuclear")
        with pytest.raises(InvalidArgumentError, match="matrix norm"):
            la.norm(SQUARE, 3, axis=[0, 1])
        with pytest.raises(InvalidArgumentError, match="unique"):
            la.norm(SQUARE, axis=[1, 1])


def test_factors_make_the_matrix_again() -> None:
    def build() -> Any:
        s, u, v = la.svd(SQUARE)
        q, r = la.qr(SQUARE)
        values, vectors = la.self_adjoint_eig(SQUARE)
        lower = la.cholesky(SQUARE)
        return [
            la.matmul(u * s, v, adjoint_b=True),
            la.matmul(q, r),
            la.matmul(vectors * values, vectors, adjoint_b=True),
            la.matmul(lower, lower, adjoint_b=True),
            la.lu_reconstruct(*la.lu(SQUARE)),
        ]

    for again in run(build):
        np.testing.assert_allclose(again, SQUARE, atol=1e-12)


def test_eigenvectors_belong_to_eigenvalues() -> None:
    matrix = np.array([[2.0, 1.0], [0.0, 3.0]])
    values, vectors = run(lambda: la.eig(matrix))
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12)


def test_a_gradient_is_that_of_finite_differences() -> None:
    def total(matrix: Any) -> Any:
        return run(lambda: la.logdet(matrix))

    step = 1e-6
    (found,) = run(lambda: gradients(la.logdet(x := constant(SQUARE)), x))
    for i in range(3):
        change = np.zeros((3, 3))
        change[i, i] = step
        assert (total(SQUARE + change) - total(SQUARE - change)) / (2 * step) == pytest.approx(found[i, i], rel=1e-5)


def test_a_singular_matrix_has_no_inverse() -> None:
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        run(lambda: la.matrix_inverse(placeholder(FLOAT32, name="x")), {"x:0": np.zeros((2, 2), np.float32)})
