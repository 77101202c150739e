"""Chains of element-wise operations give what these give one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep.ops.every  # noqa: F401 - makes ops known by their names
from tensorkeep.arrays import Array
from tensorkeep.graph.registry.opspec import get_op, kernel_of
from tensorkeep.native.chains import MOST_REGISTERS, SMALLEST, Chain, Instruction, Operation
from tests.native.implementations import implementation

pytestmark = pytest.mark.usefixtures("native")

_EXACT = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
    Operation.MAXIMUM: np.maximum,
    Operation.MINIMUM: np.minimum,
    Operation.SQUARED_DIFFERENCE: kernel_of(get_op("SquaredDifference")),
    Operation.NEGATE: np.negative,
    Operation.RELU: kernel_of(get_op("Relu")),
    Operation.RELU6: kernel_of(get_op("Relu6")),
    Operation.RSQRT: kernel_of(get_op("Rsqrt")),
    Operation.SQRT: np.sqrt,
    Operation.SQUARE: np.square,
    Operation.ABS: np.abs,
    Operation.SIGMOID_GRADIENT: lambda y, dy: dy * y * (1 - y),
    Operation.TANH_GRADIENT: lambda y, dy: dy * (1 - y * y),
    Operation.RELU_GRADIENT: lambda dy, x: dy * (x > 0),
    Operation.LEAKY_RELU: lambda x, slope: np.where(x > 0, x, x * slope),
    Operation.LEAKY_RELU_GRADIENT: lambda dy, x, slope: np.where(x > 0, dy, dy * slope),
    Operation.CHOOSE: np.where,
    Operation.GREATER: np.greater,
    Operation.GREATER_EQUAL: np.greater_equal,
    Operation.LESS: np.less,
    Operation.LESS_EQUAL: np.less_equal,
}
_CLOSE = {
    Operation.SIGMOID: kernel_of(get_op("Sigmoid")),
    Operation.TANH: np.tanh,
    Operation.EXP: np.exp,
    Operation.ERF: kernel_of(get_op("Erf")),
    Operation.ERFC: kernel_of(get_op("Erfc")),
}
_OF_TRUTHS = (Operation.CHOOSE, Operation.GREATER, Operation.GREATER_EQUAL, Operation.LESS, Operation.LESS_EQUAL)
_SIGNS_OF_ZERO_DO_NOT_MATTER = [
    op for op in _EXACT if op not in (Operation.DIVIDE, Operation.RSQRT, Operation.LEAKY_RELU_GRADIENT, *_OF_TRUTHS)
]


def _operands(operation: Operation) -> int:
    if operation in (Operation.LEAKY_RELU_GRADIENT, Operation.CHOOSE):
        return 3
    return 2 if operation < Operation.NEGATE or operation >= Operation.SIGMOID_GRADIENT else 1


def _numbers(seed: int, *shape: int) -> Array:
    """Numbers of all sizes, some of which are none."""
    random = np.random.default_rng(seed)
    numbers = random.standard_normal(shape) * 10.0 ** random.integers(-3, 3, shape)
    special = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38], shape)
    return np.where(random.random(shape) < 0.02, special, numbers).astype(np.float32)


def _run(chain: Chain, *arrays: Any) -> Array:
    with implementation("native"):
        found = chain(*arrays)
    assert found is not None
    return found


def _one_by_one(instructions: list[Instruction], *arrays: Array) -> Array:
    values = list(arrays)
    with np.errstate(all="ignore"):
        for instruction in instructions:
            kernel: Any = {**_EXACT, **_CLOSE}[instruction.operation]
            values.append(kernel(*(values[index] for index in instruction.operands)))
    return values[-1]


@pytest.mark.parametrize("operation", _EXACT)
def test_arithmetic_has_the_bits_of_numpy(operation: Operation) -> None:
    count = _operands(operation)
    arrays = [_numbers(seed, SMALLEST + 7) for seed in range(count)]
    if operation is Operation.CHOOSE:
        arrays[0] = arrays[0] > 0
    step = Instruction(operation, tuple(range(count)))
    np.testing.assert_array_equal(_run(Chain(count, [step]), *arrays), _one_by_one([step], *arrays))


@pytest.mark.parametrize("operation", _CLOSE)
def test_exponentials_agree_but_for_the_last_bits(operation: Operation) -> None:
    x = np.concatenate([_numbers(1, SMALLEST), np.linspace(-110, 110, 9999, dtype=np.float32)])
    step = Instruction(operation, (0,))
    np.testing.assert_allclose(_run(Chain(1, [step]), x), _one_by_one([step], x), rtol=1e-6, atol=3e-38)


@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=5),
    st.lists(
        st.tuples(st.sampled_from(_SIGNS_OF_ZERO_DO_NOT_MATTER), st.integers(0, 99), st.integers(0, 99)),
        min_size=1,
        max_size=9,
    ),
    st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=4),
    st.integers(0, 9),
)
def test_chains_over_arrays_that_are_stretched_agree(
    sizes: list[int], steps: list[tuple[Operation, int, int]], kept: list[list[bool]], seed: int
) -> None:
    shape = (-(-SMALLEST // int(np.prod(sizes))), *sizes)
    others = [tuple(size if keep else 1 for size, keep in zip(shape[1:], mask, strict=False)) for mask in kept]
    arrays = [_numbers(seed + at, *each) for at, each in enumerate([shape, *others])]
    instructions: list[Instruction] = []
    for operation, first, second in steps:
        before = 0 if not instructions else len(arrays) + len(instructions) - 1  # so that all have the whole shape
        other = second % (len(arrays) + len(instructions))
        pair = (before, other) if first % 2 else (other, before)
        instructions.append(Instruction(operation, pair if _operands(operation) == 2 else (before,)))
    if not Chain.fits(len(arrays), instructions):
        return
    chain = Chain(len(arrays), instructions)
    with implementation("native"):
        found = chain(*arrays)
    if found is not None:
        np.testing.assert_array_equal(found, _one_by_one(instructions, *arrays))


def test_the_result_takes_the_place_of_an_input_that_nobody_else_sees() -> None:
    steps = [Instruction(Operation.MULTIPLY, (0, 1)), Instruction(Operation.ADD, (2, 0))]
    x, scale = _numbers(1, SMALLEST, 3), np.ones(3, np.float32)
    expected = _one_by_one(steps, x.copy(), scale)
    result = _run(Chain(2, steps, reusable=[0]), x, scale)
    assert result is x
    np.testing.assert_array_equal(result, expected)
    x.flags.writeable = False
    assert _run(Chain(2, steps, reusable=[0]), x, scale) is not x


def _dropout() -> list[Instruction]:
    """A truth, numbers and a scale: what is kept is scaled."""
    return [Instruction(Operation.MULTIPLY, (1, 2)), Instruction(Operation.CHOOSE, (0, 4, 3))]


@pytest.mark.parametrize("shape", [(SMALLEST, 3), (5, 4099), (3, 70, 64), (SMALLEST + 1,)], ids=str)
@pytest.mark.parametrize("seen", ["whole", "row", "column"])
def test_truths_may_be_stretched_as_numbers_are(shape: tuple[int, ...], seen: str) -> None:
    ones = {"whole": shape, "row": shape[-1:], "column": (*shape[:-1], 1)}[seen]
    truths = np.random.default_rng(0).random(ones) < 0.5
    arrays = [truths, _numbers(1, *shape), np.float32(1.5), np.float32(0)]
    found = _run(Chain(4, _dropout()), *arrays)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.where(truths, arrays[1] * np.float32(1.5), np.float32(0)))


def test_a_comparison_at_the_end_gives_truths_and_one_before_chooses() -> None:
    x, y = _numbers(1, SMALLEST, 3), _numbers(2, 3)
    truths = _run(Chain(2, [Instruction(Operation.NEGATE, (0,)), Instruction(Operation.LESS, (2, 1))]), x, y)
    assert truths.dtype == np.bool_
    np.testing.assert_array_equal(truths, -x < y)
    steps = [Instruction(Operation.GREATER, (0, 1)), Instruction(Operation.CHOOSE, (2, 0, 1))]
    np.testing.assert_array_equal(_run(Chain(2, steps), x, y), np.where(x > y, x, y))


def test_constants_count_as_inputs_after_those_given() -> None:
    x = _numbers(1, SMALLEST, 3)
    chain = Chain(
        1, [Instruction(Operation.LEAKY_RELU, (0, 2)), Instruction(Operation.MULTIPLY, (3, 1))], (), (3.0, 0.25)
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(_run(chain, x), np.where(x > 0, x, x * np.float32(0.25)) * np.float32(3))


def test_truths_in_the_place_of_numbers_and_numbers_in_that_of_truths_are_left_to_numpy() -> None:
    x, truths = _numbers(1, SMALLEST), np.ones(SMALLEST, bool)
    with implementation("native"):
        assert Chain(1, [Instruction(Operation.NEGATE, (0,))])(truths) is None
        assert Chain(4, _dropout())(x, x, np.float32(1), np.float32(0)) is None


@given(
    st.sampled_from([(SMALLEST, 3), (SMALLEST, 1030), (70, 64), (3, 1, 5000), (2, 40, 3000), (SMALLEST, 1)]),
    st.sampled_from(["whole", "column"]),
    st.booleans(),
)
def test_sums_of_rows_are_those_of_the_result(shape: tuple[int, ...], seen: str, keeps_axis: bool) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    y = np.random.default_rng(1).standard_normal(shape if seen == "whole" else (*shape[:-1], 1)).astype(np.float32)
    with implementation("native"):
        found = Chain(2, [Instruction(Operation.MULTIPLY, (0, 1))]).row_sums(keeps_axis, x, y)
    if shape[-1] == 1 or np.prod(shape) < SMALLEST:
        return
    assert found is not None
    expected = (x.astype(np.float64) * y).sum(axis=-1, keepdims=keeps_axis)
    assert (found.shape, found.dtype) == (expected.shape, np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_threads_compute_parts_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", "3")
    steps = [Instruction(Operation.MULTIPLY, (0, 1))]
    x, scale = np.ones((1 << 18, 40), np.float32), np.arange(40, dtype=np.float32)
    np.testing.assert_array_equal(_run(Chain(2, steps), x, scale), x * scale)
    sums = Chain(2, [Instruction(Operation.MULTIPLY, (0, 1))]).row_sums(False, x, scale)
    np.testing.assert_array_equal(sums, np.full(1 << 18, scale.sum()))
    flat = np.arange(1 << 23, dtype=np.float32)
    np.testing.assert_array_equal(_run(Chain(1, [Instruction(Operation.NEGATE, (0,))]), flat), -flat)


@pytest.mark.parametrize(
    "arrays",
    [
        (np.ones(3, np.float32), np.ones(3, np.float32)),
        (np.ones((SMALLEST, 3), np.float32), np.ones(4, np.float32)),
        (np.ones((SMALLEST, 1), np.float32), np.ones(4, np.float32)),
        (np.ones((SMALLEST, 3), np.float64), np.ones(3, np.float64)),
        (np.ones((SMALLEST, 0), np.float32), np.ones(1, np.float32)),
    ],
    ids=["few elements", "other shapes", "a stretched array", "other types", "nothing"],
)
def test_what_it_cannot_do_is_left_to_numpy(arrays: tuple[Array, Array]) -> None:
    chain = Chain(2, [Instruction(Operation.NEGATE, (0,)), Instruction(Operation.ADD, (2, 1))])
    with implementation("native"):
        assert chain(*arrays) is None


def test_without_the_library_all_is_left_to_numpy() -> None:
    with implementation("NumPy"):
        assert Chain(1, [Instruction(Operation.NEGATE, (0,))])(np.ones(SMALLEST, np.float32)) is None


def test_too_many_results_at_a_time_do_not_fit() -> None:
    squares = [Instruction(Operation.SQUARE, (0,)) for _ in range(MOST_REGISTERS + 1)]
    sums = [Instruction(Operation.ADD, (at + 1, at + 2)) for at in range(MOST_REGISTERS)]
    assert Chain.fits(1, squares[:3])
    assert not Chain.fits(1, squares + sums)
    assert not Chain.fits(99, squares[:1])
