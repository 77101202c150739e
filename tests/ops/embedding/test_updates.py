"""Updates of embedding variables: rows, slots, counts and versions, with and without counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.embedding.table.update_rules import RULES
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tests.ops.embedding_graphs import gathered, graph, handle, initializer, keys, session
from tests.ops.samples.embedding.lookups import RULES as NAMES

ROWS = np.array([[0.5, -1.0], [1.5, 2.0], [-2.5, 3.0]], np.float32)
NUMBERS = {
    "alpha": 0.1,
    "lr": 0.1,
    "decay_rate": 0.5,
    "baseline": 0.1,
    "beta1_power": 0.9,
    "beta2_power": 0.999,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "l1": 0.01,
    "l2": 0.02,
    "l2_shrinkage": 0.03,
    "lr_power": -0.5,
}
IDS = keys(4, -1, 4, 9)
GRADIENT = np.array([[1.0, 2.0], [0.5, -0.5], [0.25, 1.0], [3.0, -3.0]], np.float32)


class Update:
    """An update of one variable with its slots."""

    def __init__(self, rule: str, counts: Any = None, step: int = 7, **attrs: Any) -> None:
        self.emb = handle()
        slots = [handle(f"emb/slot_{number}") for number in range(RULES[rule].slots)]
        self.init = [initializer(self.emb, ROWS, **attrs)]
        self.init += [initializer(slot, [[0.25, 0.25]], self.emb) for slot in slots]
        self.powers: dict[str, Tensor] = {}
        spec = get_op(f"KvResourceSparseApply{rule}" + ("" if counts is None else "WithCounts"))
        arguments = [self._argument(arg.name, slots, counts, step, rule) for arg in spec.schema.inputs]
        self.apply: Operation = spec(*arguments)
        self.rows = [gathered(table, keys(4, -1, 9), is_inference=True) for table in (self.emb, *slots)]

    def _argument(self, name: str, slots: list[Tensor], counts: Any, step: int, rule: str) -> Any:
        if name in ("accum", "m"):
            return slots[0]
        if name in ("linear", "v", "accum_decay_power"):
            return slots[1]
        if rule == "AdamAsync" and name.endswith("_power"):
            power = get_op("VarHandleOp")(dtype=FLOAT32, shape=[1], shared_name=name, name=name)
            self.init.append(get_op("AssignVariableOp")(power, np.array([NUMBERS[name]], np.float32)))
            self.powers[name] = get_op("ReadVariableOp")(power, dtype=FLOAT32)
            return power
        given = {
            "var": self.emb,
            "grad": GRADIENT,
            "indices": IDS,
            "indices_counts": counts,
            "global_step": np.int64(step),
            "decay_step": np.int64(2),
        }
        return given[name] if name in given else np.float32(NUMBERS[name])


def expected(rule: str, step: int = 7) -> list[Any]:
    """The rows of 4, -1 and 9, and of their slots, by the rule itself."""
    rows = [ROWS[[1, 2, 0]].copy(), *(np.full((3, 2), 0.25, np.float32) for _ in range(RULES[rule].slots))]
    summed = np.stack([GRADIENT[0] + GRADIENT[2], GRADIENT[1], GRADIENT[3]])
    numbers = {"global_step": step, "decay_step": 2, "apply_sparse_rmsprop": False, **NUMBERS}
    RULES[rule].step(*rows, summed, **{word: np.float32(numbers[word]) for word in RULES[rule].numbers})
    return rows


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("counts", [None, keys(1, 2, 3, 4)])
def test_an_update_is_the_rule_on_summed_gradients(rule: str, counts: Any) -> None:
    with graph() as made:
        update = Update(rule, counts)
    with session(made) as run:
        run.run(update.init)
        run.run(update.apply)
        for found, wanted in zip(run.run(update.rows), expected(rule), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_every_rule_has_its_ops() -> None:
    assert set(NAMES) == set(RULES)


def test_an_update_counts_keys_and_stamps_them_with_the_step() -> None:
    with graph() as made:
        update = Update("Adagrad", record_freq=True, record_version=True)
        told = Update("Adagrad", keys(10, 20, 30, 40), step=8)
        asked = [get_op(op)(update.emb, keys(4, -1, 9, 5)) for op in ("EVGetFrequency", "EVGetVersion")]
    with session(made) as run:
        run.run(update.init)
        run.run(update.apply)
        assert [found.tolist() for found in run.run(asked)] == [[2, 1, 1, 0], [7, 7, 7, -1]]
        run.run(told.apply)
        assert [found.tolist() for found in run.run(asked)] == [[42, 21, 41, 0], [8, 8, 8, -1]]


def test_ftrl_is_not_told_the_step_and_stamps_nothing() -> None:
    with graph() as made:
        update = Update("Ftrl", record_version=True)
        versions = get_op("EVGetVersion")(update.emb, IDS)
    with session(made) as run:
        run.run(update.init)
        run.run(update.apply)
        assert run.run(versions).tolist() == [-1] * 4


def test_a_filter_lets_a_key_in_with_the_gradient_of_that_step() -> None:
    with graph() as made:
        update = Update("GradientDescent", filter_freq=2)
    with session(made) as run:
        run.run(update.init)
        run.run(update.apply)  # 4 occurs twice
        first = run.run(update.rows[0])
        run.run(update.apply)
        second = run.run(update.rows[0])
    np.testing.assert_allclose(first[0], ROWS[1] - (GRADIENT[0] + GRADIENT[2]) * np.float32(0.1), rtol=1e-6)
    assert first[1:].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(second[1], ROWS[2] - GRADIENT[1] * np.float32(0.1), rtol=1e-6)


def test_the_powers_of_an_asynchronous_adam_grow_with_each_update() -> None:
    with graph() as made:
        update = Update("AdamAsync")
    with session(made) as run:
        run.run(update.init)
        for _ in range(2):
            run.run(update.apply)
        found = run.run(update.powers)
    np.testing.assert_allclose(found["beta1_power"], [0.9**3], rtol=1e-6)
    np.testing.assert_allclose(found["beta2_power"], [0.999**3], rtol=1e-6)


def test_a_slot_of_another_table_is_refused() -> None:
    with graph() as made:
        emb, other = handle(), handle("other")
        init = [initializer(emb, ROWS), initializer(other, ROWS)]
        apply = get_op("KvResourceSparseApplyAdagrad")(emb, other, np.float32(1), GRADIENT, IDS, np.int64(0))
    with session(made) as run:
        run.run(init)
        with pytest.raises(InvalidArgumentError, match='"other" is no slot of "emb"'):
            run.run(apply)


@pytest.mark.parametrize("gradient", [GRADIENT[:2], GRADIENT[:, :1], GRADIENT.reshape(-1)])
def test_a_gradient_of_another_shape_is_refused(gradient: Any) -> None:
    with graph() as made:
        emb = handle()
        init = initializer(emb, ROWS)
        apply = get_op("KvResourceSparseApplyGradientDescent")(emb, np.float32(1), gradient, IDS, np.int64(0))
    with session(made) as run:
        run.run(init)
        with pytest.raises(InvalidArgumentError, match='gradient of "emb"'):
            run.run(apply)
