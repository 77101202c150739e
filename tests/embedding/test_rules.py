"""Steps on rows of a table are those on dense variables, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.embedding.rules import RULES
from tensorkeep.embedding.table import EmbeddingTable
from tensorkeep.graph.opspec import get_op
from tensorkeep.ops import training
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tests.embedding.implementations import IMPLEMENTATIONS

assert training.__name__  # its ops are registered

# The dense op's numbers in its order, with the gradient among them, and its flags.
DENSE: dict[str, tuple[list[Any], dict[str, bool]]] = {
    "GradientDescent": ([0.3, "grad"], {}),
    "Adagrad": ([0.3, "grad"], {"update_slots": True}),
    "Adam": ([0.729, 0.997, 0.3, 0.9, 0.999, 1e-6, "grad"], {"use_nesterov": False}),
    "Ftrl": (["grad", 0.3, 0.02, 0.03, -0.5], {"multiply_linear_by_lr": False}),
    "FtrlV2": (["grad", 0.3, 0.02, 0.03, 0.04, -0.5], {"multiply_linear_by_lr": False}),
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
        table.apply(
            "AdagradDecay",
            [[1.0]],
            [7],
            lr=0.1,
            decay_step=2,
            decay_rate=0.5,
            baseline=0.8,
            global_step=step,
        )
    # 0.1; +1, +1; at step 2 it is halved, +1, +1; at step 4 again, +1
    assert table.lookup([7], "accum")[0, 0] == pytest.approx(((2.1 / 2 + 2) / 2) + 1)
    assert table.lookup([7], "power").tolist() == [[2]]
    table.apply("AdagradDecay", [[0.0]], [7], lr=0.1, decay_step=2, decay_rate=0.01, baseline=0.8, global_step=6)
    assert table.lookup([7], "accum")[0, 0] == np.float32(0.8)


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
