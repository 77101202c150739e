"""Steps on rows of a table: those of DeepRec's ops, and to the last bit TensorFlow's where these are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.update_rules import RULES
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.training import optimizer_steps
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tests.embedding.implementations import IMPLEMENTATIONS

assert optimizer_steps.__name__  # its ops are registered

DECAY = {"lr": 0.1, "baseline": 0.8}

# The dense op's numbers in its order, with the gradient among them, and its flags.
DENSE: dict[str, tuple[list[Any], dict[str, bool]]] = {
    "GradientDescent": ([0.3, "grad"], {}),
    "Adagrad": ([0.3, "grad"], {"update_slots": True}),
    "Adam": ([0.729, 0.997, 0.3, 0.9, 0.999, 1e-6, "grad"], {"use_nesterov": False}),
}


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", DENSE)
def test_a_step_on_a_table_is_that_on_a_dense_variable(rule: str, dtype: str, is_native: bool) -> None:
    random = np.random.default_rng(4)
    given, flags = DENSE[rule]
    initial = [random.uniform(0.1, 1, (20, 5)).astype(dtype) for _ in range(RULES[rule].slots + 1)]
    table = EmbeddingTable(5, initial=initial[0], value_dtype=dtype, native=is_native)
    for number, slot in enumerate(initial[1:]):
        table.add_column(f"slot{number}", 5, slot)
    variables = []
    for values in initial:
        variables.append(VariableResource("v", DType.of(values.dtype), Shape(values.shape)))
        variables[-1].assign(values.copy())
    kernel = get_op(f"ResourceApply{rule}").kernel_function
    assert kernel is not None
    for _ in range(3):
        gradient = random.normal(size=(20, 5)).astype(dtype)
        kernel(*variables, *(gradient if v == "grad" else np.array(v, dtype) for v in given), **flags)
        numbers = dict(zip(RULES[rule].numbers, [v for v in given if v != "grad"], strict=True))
        order = random.permutation(20)
        table.apply(rule, gradient[order], order, **numbers)
    for column, variable in zip(table.columns, variables, strict=True):
        np.testing.assert_array_equal(table.lookup(np.arange(20), column.name), variable.read())


def test_adagrad_decay_decays_once_in_a_period_and_not_below_the_baseline() -> None:
    table = EmbeddingTable(1, initial=1.0)
    table.add_column("accum", 1, 0.1)
    table.add_column("power", 1, 0.0)
    for step in range(5):
        table.apply("AdagradDecay", [[1.0]], [7], decay_step=2, decay_rate=0.5, global_step=step, **DECAY)
    # 0.1; +1, +1; at step 2 it is halved, +1, +1; at step 4 again, +1
    assert table.lookup([7], "accum")[0, 0] == pytest.approx(((2.1 / 2 + 2) / 2) + 1)
    assert table.lookup([7], "power").tolist() == [[2]]
    table.apply("AdagradDecay", [[0.0]], [7], decay_step=2, decay_rate=0.01, global_step=6, **DECAY)
    assert table.lookup([7], "accum")[0, 0] == np.float32(0.8)


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@pytest.mark.parametrize("width", [1, 3])
def test_how_often_a_row_has_decayed_is_the_first_number_of_the_slot(width: int, is_native: bool) -> None:
    """A DeepRec checkpoint has [2, 0, 0] there, or with its second version of the optimizer [2]."""
    table = EmbeddingTable(3, native=is_native)
    table.add_column("accum", 3, 0.5)
    table.add_column("power", width)
    table.assign([4, 9], np.ones((2, 3)))
    table.assign([4], [[2.0, 0.0, 0.0][:width]], "power")
    table.apply("AdagradDecay", np.zeros((2, 3)), [4, 9], decay_step=10, decay_rate=0.1, global_step=25, **DECAY)
    np.testing.assert_array_equal(table.lookup([4, 9], "accum"), np.array([[0.5] * 3, [0.8] * 3], np.float32))
    assert table.lookup([4, 9], "power").tolist() == [[2.0, 0.0, 0.0][:width], [1.0, 0.0, 0.0][:width]]


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_periods_of_decay_are_counted_in_whole_numbers(is_native: bool) -> None:
    """Of the weights' type, 100,000,001 steps would be 100,000,000: a period too early, or too late."""
    table = EmbeddingTable(1, native=is_native)
    table.add_column("accum", 1, 9.0)
    table.add_column("power", 1, 0.0)
    for step in (100_000_001, 100_000_002):
        table.apply("AdagradDecay", [[0.0]], [1], decay_step=100_000_002, decay_rate=0.5, global_step=step, **DECAY)
        assert table.lookup([1], "power").tolist() == [[float(step == 100_000_002)]]


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ({"decay_step": 0, "global_step": 1}, InvalidArgumentError, "decay_step of AdagradDecay is 0, expected 1 or m"),
        ({"decay_step": 2, "global_step": -1}, InvalidArgumentError, "global_step .* is -1, expected 0 or more"),
        ({"decay_step": 1.5, "global_step": 1}, WrongTypeError, "decay_step .* is 1.5, expected a whole number"),
    ],
)
def test_steps_that_are_none_are_refused(numbers: dict[str, Any], error: type[Exception], message: str) -> None:
    table = EmbeddingTable(1)
    table.add_column("accum", 1)
    table.add_column("power", 1)
    with pytest.raises(error, match=message):
        table.apply("AdagradDecay", [[1.0]], [1], decay_rate=0.5, **DECAY, **numbers)


def test_only_the_count_of_decays_may_be_narrower_than_the_weights() -> None:
    table = EmbeddingTable(3)
    table.add_column("narrow", 1)
    table.add_column("wide", 3)
    numbers = {"decay_step": 2, "decay_rate": 0.5, "global_step": 1, **DECAY}
    table.apply("AdagradDecay", [[1.0] * 3], [1], slots=["wide", "narrow"], **numbers)
    with pytest.raises(InvalidArgumentError, match=r'slots like the weights, float32 \[3\], expected; got "narrow"'):
        table.apply("AdagradDecay", [[1.0] * 3], [1], slots=["narrow", "wide"], **numbers)


def ftrl_by_hand(
    rows: list[list[float]], grad: list[float], lr: float, l1: float, l2: float, shrinkage: float, power: float
) -> list[list[float]]:
    """DeepRec's step on one row, in plain arithmetic: weights, accumulator and linear term afterwards."""
    weights, accum, linear = rows
    push = [g + 2 * shrinkage * w for g, w in zip(grad, weights, strict=True)]
    grown = [a + p * p for a, p in zip(accum, push, strict=True)]
    linear = [
        n + p - (new**-power - old**-power) / lr * w
        for n, p, new, old, w in zip(linear, push, grown, accum, weights, strict=True)
    ]
    length = sum(n * n for n in linear) ** 0.5
    weights = [
        (l1 - length) / ((new**-power / lr + 2 * l2) * length) * n if length > l1 else 0.0
        for new, n in zip(grown, linear, strict=True)
    ]
    return [weights, [a + g * g for a, g in zip(accum, grad, strict=True)], linear]


@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
@pytest.mark.parametrize("power", [-0.5, -0.4])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize("l1", [0.0, 0.7, 2.5])
def test_the_first_penalty_of_ftrl_is_on_rows(l1: float, shrinkage: float, power: float, is_native: bool) -> None:
    random = np.random.default_rng(7)
    dim, keys = 11, [3, 1_000_003, 12]
    table = EmbeddingTable(dim, initial=0.25, value_dtype=np.float64, native=is_native)
    table.add_column("accum", dim, 0.1)
    table.add_column("linear", dim, 0.0)
    expected = {key: [[0.25] * dim, [0.1] * dim, [0.0] * dim] for key in keys}
    rule, more = ("FtrlV2", {"l2_shrinkage": shrinkage}) if shrinkage else ("Ftrl", {})
    for _ in range(4):
        gradient = random.normal(size=(len(keys), dim))
        table.apply(rule, gradient, keys, lr=0.2, l1=l1, l2=0.01, lr_power=power, **more)
        for key, row in zip(keys, gradient.tolist(), strict=True):
            expected[key] = ftrl_by_hand(expected[key], row, 0.2, l1, 0.01, shrinkage, power)
    for number, column in enumerate(("", "accum", "linear")):
        np.testing.assert_allclose(table.lookup(keys, column), [expected[key][number] for key in keys], rtol=1e-12)


def test_ftrl_makes_a_row_zero_whose_linear_term_is_no_longer_than_the_penalty() -> None:
    table = EmbeddingTable(2, initial=0.0)
    table.add_column("accum", 2, 0.1)
    table.add_column("linear", 2, 0.0)
    table.apply("Ftrl", [[3.0, 4.0], [3.0, 4.1]], [1, 2], lr=0.1, l1=5.0, l2=0.0)
    assert table.lookup([1]).tolist() == [[0.0, 0.0]]
    assert (table.lookup([2]) < 0).all()


def test_adam_w_shrinks_rows_whatever_the_learning_rate() -> None:
    numbers = {"beta1_power": 0.9, "beta2_power": 0.999, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    table = EmbeddingTable(2, initial=1.0)
    table.add_column("m", 2)
    table.add_column("v", 2)
    table.apply("AdamW", [[0.0, 0.0]], [1], lr=5.0, weight_decay=0.25, **numbers)
    assert table.lookup([1]).tolist() == [[0.75, 0.75]]


def test_asynchronous_adam_is_adam_or_rms_prop() -> None:
    numbers = {"beta1_power": 0.9, "beta2_power": 0.99, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "lr": 0.1}
    rows = {}
    for name, more in (("Adam", {}), ("AdamAsync", {}), ("AdamAsync", {"apply_sparse_rmsprop": True})):
        table = EmbeddingTable(2, initial=1.0)
        table.add_column("m", 2)
        table.add_column("v", 2)
        table.apply(name, [[0.5, -2.0]], [1], **numbers, **more)
        rows[name, bool(more)] = table.lookup([1])
    np.testing.assert_array_equal(rows["Adam", False], rows["AdamAsync", False])
    expected = 1 - 0.1 * np.array([0.5, -2.0]) / np.sqrt(0.01 * np.array([0.25, 4.0]) + 1e-8)
    np.testing.assert_allclose(rows["AdamAsync", True][0], expected, atol=1e-5)
