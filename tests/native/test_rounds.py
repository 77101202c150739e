"""Loops over small matrices by the compiled library give what NumPy gives, round by round, but for the last bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.native.chains import Operation
from tensorkeep.native.layers import functions, packed_matrix
from tensorkeep.native.rounds import Instruction, Move, Operand, code_of, run_rounds

pytestmark = pytest.mark.usefixtures("native")


def _random(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@given(
    st.integers(1, 40),
    st.integers(1, 6),
    st.sampled_from([1, 3, 16, 17, 33, 70]),
    st.integers(0, 50),
    st.integers(0, 40),
)
def test_a_plain_recurrence_is_that_of_numpy(rows: int, rounds: int, width: int, seed: int, cut: int) -> None:
    """h' = tanh(x + h · R) where a mask says so, all of them written, x in the middle of wider rows.

    Some rows run by themselves, and those behind them read a sequence that begins with theirs.
    """
    compiled = functions()
    assert compiled is not None
    x, mask = (
        _random(rounds, rows, width + 5, seed=seed),
        (_random(rounds, rows, 1, seed=seed + 1) > 0).astype(np.float32),
    )
    start, matrix = _random(rows, width, seed=seed + 2), _random(width, width, seed=seed + 3)
    state, product, made = start.copy(), np.empty((rows, width), np.float32), np.empty((rows, width), np.float32)
    written, packed = np.empty((rounds, rows, width), np.float32), packed_matrix(compiled, matrix)
    code = code_of(
        [
            Instruction(Move.PRODUCT, 2, (0, 1), width, width),
            Instruction(Operation.ADD, 4, (2, 3), width),
            Instruction(Operation.TANH, 4, (4,), width),
            Instruction(Move.CHOOSE, 2, (5, 4, 0), width),
            Instruction(Move.COPY, 6, (2,), width),
            Instruction(Move.COPY, 0, (2,), width),
        ]
    )
    cut = min(cut, rows)
    for some in (range(cut), range(cut, rows)):
        part = np.ascontiguousarray(x[:, some.start : some.stop])
        operands = [
            Operand.of_matrix(state),
            Operand.of_vector(packed),
            Operand.of_matrix(product),
            Operand.of_sequence(part, some.start).from_column(3),
            Operand.of_matrix(made),
            Operand.of_sequence(mask),
            Operand.of_sequence(written),
        ]
        run_rounds(compiled, code, operands, rounds, some)
    expected = start
    for step in range(rounds):
        new = np.tanh(x[step, :, 3 : 3 + width] + expected @ matrix)
        expected = np.where(mask[step] != 0, new, expected)
        np.testing.assert_allclose(written[step], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(state, written[-1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_stay_in_their_rows(bad: float) -> None:
    compiled = functions()
    assert compiled is not None
    x = np.ones((3, 2, 4), np.float32)
    x[1, 0, 2] = bad
    state = np.zeros((2, 4), np.float32)
    code = code_of([Instruction(Operation.ADD, 0, (0, 1), 4)])
    run_rounds(compiled, code, [Operand.of_matrix(state), Operand.of_sequence(x)], 3, range(2))
    np.testing.assert_array_equal(state, x.sum(axis=0))


def test_no_rounds_change_nothing() -> None:
    compiled = functions()
    assert compiled is not None
    state = np.ones((2, 4), np.float32)
    code = code_of([Instruction(Operation.ADD, 0, (0, 0), 4)])
    run_rounds(compiled, code, [Operand.of_matrix(state)], 0, range(2))
    np.testing.assert_array_equal(state, np.ones((2, 4)))
