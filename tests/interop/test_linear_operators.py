"""Linear operators beside TensorFlow's: what they are, what they do, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as their_tf

import tensorkeep.v1 as our_tf
from tests.support.depth import thinned

Make = Callable[[Any], Any]

RANDOM = np.random.default_rng(6)
N = RANDOM.normal
A, B, C = N(size=(3, 3)), N(size=(2, 2, 2)), N(size=(2, 3))
PD = A @ A.T + np.eye(3)
PDS = B @ B.swapaxes(-1, -2) + np.eye(2)
CX = (N(size=(3, 3)) + 1j * N(size=(3, 3))).astype(np.complex128)
SPECTRUM = np.fft.fft([4.0, 1.0, 0.5, 1.5])
SPECTRUM_2D = np.fft.fft2(np.eye(2, 3) * 3 + 0.2)
SPECTRUM_3D = np.fft.fftn(RANDOM.uniform(size=(2, 2, 2)) + 5 * np.eye(8)[0].reshape(2, 2, 2))
BANDED = np.triu(np.tril(PD, 1), -1) + 4 * np.eye(3)
KNOWN = {"is_self_adjoint": True, "is_positive_definite": True}


def op(tf: Any, kind: str, *args: Any, **options: Any) -> Any:
    return getattr(tf.linalg, f"LinearOperator{kind}")(*args, **options)


OPERATORS: dict[str, Make] = {
    "full": lambda tf: op(tf, "FullMatrix", PD),
    "full, known": lambda tf: op(tf, "FullMatrix", PDS, **KNOWN),
    "full, complex": lambda tf: op(tf, "FullMatrix", CX, is_non_singular=True),
    "full, wide": lambda tf: op(tf, "FullMatrix", C),
    "diag": lambda tf: op(tf, "Diag", [1.0, -2.0, 3.0]),
    "diag, known": lambda tf: op(tf, "Diag", np.exp(C), is_positive_definite=True),
    "diag, complex": lambda tf: op(tf, "Diag", CX[0]),
    "identity": lambda tf: op(tf, "Identity", 3),
    "identity of a batch": lambda tf: op(tf, "Identity", 2, batch_shape=[2], dtype=tf.float64),
    "scaled": lambda tf: op(tf, "ScaledIdentity", 3, 2.5),
    "scaled of a batch": lambda tf: op(tf, "ScaledIdentity", 2, np.array([2.0, 0.5]), is_positive_definite=True),
    "zeros": lambda tf: op(tf, "Zeros", 3),
    "zeros, wide": lambda tf: op(tf, "Zeros", 2, 3, batch_shape=[2], is_square=False, is_self_adjoint=False),
    "lower": lambda tf: op(tf, "LowerTriangular", A),
    "lower of a batch": lambda tf: op(tf, "LowerTriangular", B, is_non_singular=True),
    "householder": lambda tf: op(tf, "Householder", A[0]),
    "householder of a batch": lambda tf: op(tf, "Householder", C),
    "permutation": lambda tf: op(tf, "Permutation", [2, 0, 1]),
    "permutation of a batch": lambda tf: op(tf, "Permutation", [[1, 0, 2], [2, 0, 1]], dtype=tf.float64),
    "tridiag": lambda tf: op(tf, "Tridiag", A + np.array([[0.0], [4.0], [0.0]])),
    "tridiag, sequence": lambda tf: op(
        tf, "Tridiag", [tf.constant(A[0]), tf.constant(A[1] + 5), tf.constant(A[2])], diagonals_format="sequence"
    ),
    "tridiag, matrix": lambda tf: op(tf, "Tridiag", BANDED, diagonals_format="matrix"),
    "toeplitz": lambda tf: op(tf, "Toeplitz", [4.0, 1.0, 2.0], [4.0, 0.5, -1.0]),
    "toeplitz of a batch": lambda tf: op(tf, "Toeplitz", C + np.eye(3)[0] * 5, np.array([5.0, 1.0, 0.25])),
    "circulant": lambda tf: op(tf, "Circulant", SPECTRUM.astype(np.complex64)),
    "circulant, real": lambda tf: op(tf, "Circulant", [4.0, 2.0, 1.0, 2.0], input_output_dtype=tf.float32),
    "circulant, hermitian": lambda tf: op(tf, "Circulant", SPECTRUM, input_output_dtype=tf.float64),
    "circulant 2d": lambda tf: op(tf, "Circulant2D", SPECTRUM_2D, input_output_dtype=tf.complex128),
    "circulant 3d": lambda tf: op(tf, "Circulant3D", SPECTRUM_3D, input_output_dtype=tf.float64),
    "composition": lambda tf: op(tf, "Composition", [op(tf, "FullMatrix", PD), op(tf, "Diag", A[0])]),
    "composition, wide": lambda tf: op(tf, "Composition", [op(tf, "FullMatrix", C), op(tf, "FullMatrix", PD)]),
    "adjoint": lambda tf: op(tf, "Adjoint", op(tf, "FullMatrix", CX, is_non_singular=True)),
    "adjoint, wide": lambda tf: op(tf, "Adjoint", op(tf, "FullMatrix", C)),
    "inversion": lambda tf: op(tf, "Inversion", op(tf, "FullMatrix", PD, **KNOWN)),
    "kronecker": lambda tf: op(tf, "Kronecker", [op(tf, "FullMatrix", PDS), op(tf, "Diag", A[0])]),
    "kronecker of three": lambda tf: op(
        tf,
        "Kronecker",
        [op(tf, "FullMatrix", each, **KNOWN) for each in (PDS, PDS[0])] + [op(tf, "Diag", np.exp(A[1]), **KNOWN)],
    ),
    "block diag": lambda tf: op(tf, "BlockDiag", [op(tf, "FullMatrix", PDS), op(tf, "Diag", A[0])]),
    "block diag, known": lambda tf: op(
        tf, "BlockDiag", [op(tf, "FullMatrix", PD, **KNOWN), op(tf, "Identity", 2, dtype=tf.float64)]
    ),
    "block triangle": lambda tf: op(
        tf,
        "BlockLowerTriangular",
        [
            [op(tf, "FullMatrix", PDS, is_non_singular=True)],
            [op(tf, "FullMatrix", C.T), op(tf, "LowerTriangular", A, is_non_singular=True)],
        ],
    ),
    "low rank": lambda tf: op(
        tf, "LowRankUpdate", op(tf, "Diag", np.exp(A[0]), is_positive_definite=True), C.T, np.exp(C[0, :2]),
        is_diag_update_positive=True,
    ),
    "low rank, two sides": lambda tf: op(
        tf, "LowRankUpdate", op(tf, "FullMatrix", PD), C.T, C[0, :2], A[:, :2], is_non_singular=True
    ),
    "low rank, ones": lambda tf: op(tf, "LowRankUpdate", op(tf, "Identity", 3, dtype=tf.float64), C.T),
    "composition of operators": lambda tf: op(tf, "FullMatrix", PD).matmul(op(tf, "Diag", A[0]), adjoint=True),
    "product of diagonals": lambda tf: op(tf, "Diag", A[0]) @ op(tf, "Diag", A[1]),
    "solution of operators": lambda tf: op(tf, "FullMatrix", PD, **KNOWN).solve(op(tf, "Diag", A[0])),
}  # fmt: skip

LEADS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda operator: operator,
    "adjoint": lambda operator: operator.adjoint(),
    "H": lambda operator: operator.H,
    "inverse": lambda operator: operator.inverse(),
    "cholesky": lambda operator: operator.cholesky(),
}


def described(operator: Any) -> dict[str, Any]:
    """What is known of an operator before it runs."""
    return {
        "shape": operator.shape.as_list(),
        "batch_shape": operator.batch_shape.as_list(),
        "rank": operator.tensor_rank,
        "dtype": operator.dtype.name,
        "hints": (
            operator.is_non_singular,
            operator.is_self_adjoint,
            operator.is_positive_definite,
            operator.is_square,
        ),
    }


def numbers(tf: Any, operator: Any) -> dict[str, Any]:
    """Tensors with what an operator does: what is refused while the graph is built is an error's name."""
    rows, columns = operator.shape.as_list()[-2:]
    kind = operator.dtype.as_numpy_dtype
    fresh = np.random.default_rng(7)
    right, left = fresh.normal(size=(columns, 2)).astype(kind), fresh.normal(size=(rows, 2)).astype(kind)
    wide = fresh.normal(size=(3, 1, columns, 2)).astype(kind)
    asked: dict[str, Callable[[], Any]] = {
        "matmul": lambda: operator.matmul(right),
        "matmul, adjoint": lambda: operator.matmul(left, adjoint=True),
        "matmul, adjoint of x": lambda: operator.matmul(right.T.conj(), adjoint_arg=True),
        "matmul, batch": lambda: operator.matmul(wide),
        "matvec": lambda: operator.matvec(right[:, 0]),
        "matvec, adjoint": lambda: operator.matvec(left[:, 0], adjoint=True),
        "solve": lambda: operator.solve(left),
        "solve, adjoint": lambda: operator.solve(right, adjoint=True),
        "solve, adjoint of rhs": lambda: operator.solve(left.T.conj(), adjoint_arg=True),
        "solve, batch": lambda: operator.solve(wide),
        "solvevec": lambda: operator.solvevec(left[:, 0]),
        "dense": operator.to_dense,
        "det": operator.determinant,
        "log det": operator.log_abs_determinant,
        "diag": operator.diag_part,
        "trace": operator.trace,
        "sum": lambda: operator.add_to_tensor(np.ones([rows, columns], kind)),
        "shape": operator.shape_tensor,
        "batch shape": operator.batch_shape_tensor,
        "domain": operator.domain_dimension_tensor,
        "range": operator.range_dimension_tensor,
        "rank": operator.tensor_rank_tensor,
        "cond": operator.cond,
    }
    if operator.is_self_adjoint:
        asked["eigvals"] = operator.eigvals
    return {name: refusable(make) for name, make in asked.items()}


def refusable(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except NotImplementedError:
        return "NotImplementedError"
    except (AttributeError, TypeError, ValueError):  # TensorFlow is refused some by its own hand
        return "refused"


def computed(tf: Any, make: Make, lead: str) -> Any:
    """What an operator, or one that it leads to, is and does; the name of the error if there is none such."""
    with tf.Graph().as_default(), tf.Session() as session:
        operator = refusable(lambda: LEADS[lead](make(tf)))
        if isinstance(operator, str):
            return operator, {}, {}
        tensors = numbers(tf, operator)
        refused = {name: value for name, value in tensors.items() if isinstance(value, str)}
        run = session.run({name: value for name, value in tensors.items() if not isinstance(value, str | np.ndarray)})
        shapes = {name: tensors[name].shape.as_list() for name in run if tensors[name].shape.rank is not None}
        return type(operator).__name__, {**described(operator), **refused}, (run, shapes)


MADE_OF_KNOWN = ("identity", "scaled of a batch", "kronecker of three")
FORGETS_ITS_TYPE = ("circulant, hermitian", "circulant 2d", "circulant 3d")  # the adjoint, in TensorFlow 2.21
MORE = [(name, "inverse") for name in OPERATORS]
MORE += [(name, "adjoint") for name in OPERATORS if name not in FORGETS_ITS_TYPE]
MORE += [(name, "cholesky") for name in OPERATORS if "known" in name or name in MADE_OF_KNOWN]


def compare(name: str, lead: str) -> None:
    ours, theirs = (computed(tf, OPERATORS[name], lead) for tf in (our_tf, their_tf))
    assert ours[0] == theirs[0]
    for key, said in theirs[1].items():
        assert said == "refused" or ours[1][key] == said, key  # what TensorFlow refuses of batches works here
    found, shapes = ours[2] or ({}, {})
    expected = theirs[2][0] if theirs[2] else {}
    assert bool(found) == bool(expected)
    for key, value in expected.items():
        tolerance = 1e-8 if value.dtype in (np.float64, np.complex128) else 2e-4
        np.testing.assert_allclose(found[key], value, rtol=tolerance, atol=tolerance, err_msg=key)
        assert found[key].dtype == value.dtype, key
        assert all(mine in (None, size) for mine, size in zip(shapes.get(key, []), value.shape, strict=False)), key


@pytest.mark.parametrize("name", thinned(list(OPERATORS), 2))
def test_operators_do_what_tensorflow_s_do(name: str) -> None:
    compare(name, "itself")


@pytest.mark.parametrize("led", thinned(MORE, 12), ids=str)
def test_operators_lead_to_those_that_tensorflow_s_lead_to(led: tuple[str, str]) -> None:
    compare(*led)


def test_assertions_hold_and_fail_as_tensorflow_s() -> None:
    asked = ("assert_non_singular", "assert_positive_definite", "assert_self_adjoint")
    makes: list[Make] = [
        *(OPERATORS[name] for name in ("full", "diag", "scaled", "lower", "circulant", "toeplitz", "kronecker")),
        lambda tf: op(tf, "FullMatrix", [[1.0, 2.0], [2.0, 4.0]]),
        lambda tf: op(tf, "Diag", [1.0, 0.0]),
        lambda tf: op(tf, "ScaledIdentity", 2, 0.0),
        lambda tf: op(tf, "Circulant", np.array([1.0, 0.0], np.complex64)),
    ]
    for make in makes:
        outcomes = []
        for tf in (our_tf, their_tf):
            with tf.Graph().as_default(), tf.Session() as session:
                operator = make(tf)
                outcomes.append([_holds(tf, session, getattr(operator, name)) for name in asked])
        for name, mine, other in zip(asked, *outcomes, strict=True):
            assert mine is other or other is None, (type(operator).__name__, name)


def _holds(tf: Any, session: Any, make: Callable[[], Any]) -> bool | None:
    """Whether an assertion holds; None where TensorFlow cannot build it."""
    try:
        session.run(make())
    except (NotImplementedError, TypeError):
        assert tf is their_tf
        return None
    except (tf.errors.InvalidArgumentError, ValueError):
        return False
    return True


def test_hints_that_contradict_are_refused_as_by_tensorflow() -> None:
    makes: list[Make] = [
        lambda tf: op(tf, "FullMatrix", PD, is_positive_definite=True, is_non_singular=False),
        lambda tf: op(tf, "FullMatrix", PD, is_self_adjoint=True, is_square=False),
        lambda tf: op(tf, "FullMatrix", PD, is_square=False).is_square,
        lambda tf: op(tf, "Diag", [1.0], is_self_adjoint=False),
        lambda tf: op(tf, "Identity", 2, is_self_adjoint=False),
        lambda tf: op(tf, "Identity", -1),
        lambda tf: op(tf, "LowerTriangular", A, is_square=False),
        lambda tf: op(tf, "Householder", A[0], is_positive_definite=True),
        lambda tf: op(tf, "Permutation", [0.5, 1.5]),
        lambda tf: op(tf, "Circulant", [1.0], is_self_adjoint=False),
        lambda tf: op(tf, "Composition", []),
        lambda tf: op(tf, "Composition", [op(tf, "FullMatrix", C), op(tf, "FullMatrix", C)]).matvec([1.0, 2, 3]),
        lambda tf: op(tf, "FullMatrix", C).inverse(),
        lambda tf: op(tf, "FullMatrix", PD).cholesky(),
        lambda tf: op(tf, "Diag", [1.0, 2.0]).matmul(op(tf, "Diag", [1.0, 2.0, 3.0])),
        lambda tf: op(tf, "FullMatrix", PD).matmul(np.ones([2, 2])),
    ]
    for number, make in enumerate(makes):
        for tf in (our_tf, their_tf):
            with tf.Graph().as_default():
                assert refusable(partial(make, tf)) == "refused", (number, tf.__name__)


@pytest.mark.parametrize("name", ["block diag", "block triangle"])
def test_blocks_take_a_list_of_blocks(name: str) -> None:
    parts = [N(size=(2, 2)), N(size=(3, 2))]
    found = []
    for tf in (our_tf, their_tf):
        with tf.Graph().as_default(), tf.Session() as session:
            operator = OPERATORS[name](tf)
            given = [tf.constant(part) for part in parts]
            vectors = [tf.constant(part[:, 0]) for part in parts]
            asked = [operator.matmul(given), operator.solve(given, adjoint=True), operator.matvec(vectors)]
            found.append(session.run([*asked, operator.matmul(given, adjoint=True), operator.solvevec(vectors)]))
    for ours, theirs in zip(*found, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_circulants_have_a_kernel_and_blocks(depth: int) -> None:
    spectrum = (SPECTRUM, SPECTRUM_2D, SPECTRUM_3D)[depth - 1].astype(np.complex64)
    found = []
    for tf in (our_tf, their_tf):
        with tf.Graph().as_default(), tf.Session() as session:
            operator = op(tf, "Circulant" + ("", "2D", "3D")[depth - 1], spectrum)
            kernel, sizes = session.run([operator.convolution_kernel(), operator.block_shape_tensor()])
            if tf is our_tf:  # TensorFlow 2.21 compares numbers of different types in it
                session.run(operator.assert_hermitian_spectrum())
            found.append((kernel, sizes.tolist(), operator.block_shape.as_list(), operator.block_depth))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5, atol=1e-6)
    assert found[0][1:] == found[1][1:]


def test_sizes_that_are_not_known_are_those_that_come() -> None:
    for tf in (our_tf, their_tf):
        with tf.Graph().as_default(), tf.Session() as session:
            matrix, rows = tf.placeholder(tf.float64, [None, None]), tf.placeholder(tf.int32, [])
            whole = op(tf, "FullMatrix", matrix)
            both = op(tf, "BlockDiag", [whole, op(tf, "Identity", rows, dtype=tf.float64)])
            assert both.shape.as_list() == [None, None]
            feeds = {matrix: PD, rows: 2}
            sizes, dense, product = session.run([both.shape_tensor(), both.to_dense(), both.matvec(np.ones(5))], feeds)
            assert sizes.tolist() == [5, 5]
            assert dense.shape == (5, 5)
            np.testing.assert_allclose(product, [*PD.sum(1), 1, 1])


def test_operators_of_programs_need_no_more_than_products() -> None:
    for tf in (our_tf, their_tf):

        class Doubled(tf.linalg.LinearOperator):  # type: ignore[misc, name-defined]
            """Twice its argument, and the first row moved to the end."""

            def __init__(self, rows: int, tf: Any = tf) -> None:
                super().__init__(tf.float64, is_non_singular=True, is_square=True, name="Doubled")
                self._rows, self._tf = rows, tf

            def _shape(self) -> Any:
                return self._tf.TensorShape([self._rows, self._rows])

            def _shape_tensor(self) -> Any:
                return self._tf.constant([self._rows, self._rows])

            def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
                given = self._tf.linalg.adjoint(x) if adjoint_arg else x
                return 2 * self._tf.roll(given, 1 if adjoint else -1, axis=-2)

        with tf.Graph().as_default(), tf.Session() as session:
            operator = Doubled(3)
            dense, det, back = session.run(
                [operator.to_dense(), operator.determinant(), operator.solvevec(operator.matvec(A[0]))]
            )
            np.testing.assert_allclose(dense, 2 * np.roll(np.eye(3), -1, axis=0))
            assert det == pytest.approx(8)
            np.testing.assert_allclose(back, A[0])
