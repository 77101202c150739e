"""Optimizers to DeepRec's numbers, on embedding variables and on plain ones; recomputed from what its kernels do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.support.deeprec import unset_switches

KINDS = ["embedding", "reference", "resource"]
DECAYING = [tf.train.AdagradDecayOptimizer, tf.train.AdagradDecayOptimizerV2]


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


def variable_of(kind: str, rows: int = 8, dim: int = 3) -> Any:
    if kind == "embedding":
        return tf.get_embedding_variable("v", dim, initializer=tf.ones_initializer())
    return tf.get_variable("v", [rows, dim], initializer=tf.ones_initializer(), use_resource=kind == "resource")


def slot_of(name: str) -> Any:
    (found,) = (variable for variable in tf.global_variables() if variable.op.name == name)
    return found


# ------------------------------------------------------------------------------------------------------------- Ftrl


def test_ftrl_shortens_rows_as_a_whole() -> None:
    table = tf.get_embedding_variable("v", 3, initializer=tf.ones_initializer())
    rows = tf.nn.embedding_lookup(table, tf.constant([0, 0, 0, 1, 1], tf.int64))
    optimizer = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=2.0, l2_regularization_strength=1e-5)
    train = optimizer.minimize(tf.reduce_sum(2 * rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        after = session.run(tf.nn.embedding_lookup(table, [0, 1]))
    np.testing.assert_allclose(after, [[0.8282884] * 3, [0.7927219] * 3], rtol=1e-6)


@pytest.mark.parametrize("shrinkage", [0.0, 0.25])
def test_ftrl_of_keys_with_counts_is_the_same_step(shrinkage: float) -> None:
    """A filter asks for counts, and so for the other form of the op."""
    after = {}
    for filter_freq in (0, 2):
        with tf.Graph().as_default(), tf.Session() as session:
            option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=filter_freq))
            table = tf.get_embedding_variable("v", 3, initializer=tf.ones_initializer(), ev_option=option)
            ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1]], tf.constant([7, 7, 5, 5], tf.int64), [2, 2])
            rows = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")
            optimizer = tf.train.FtrlOptimizer(
                0.1, l1_regularization_strength=0.5, l2_shrinkage_regularization_strength=shrinkage
            )
            train = optimizer.minimize(tf.reduce_sum(rows * tf.constant([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
            session.run(tf.global_variables_initializer())
            session.run(train)
            after[filter_freq] = session.run(tf.nn.embedding_lookup(table, [7, 5]))
    np.testing.assert_array_equal(after[0], after[2])
    assert (after[0] != 1).all()


def test_with_shrinkage_the_accumulator_grows_by_the_gradient_without() -> None:
    table = tf.get_embedding_variable("v", 2, initializer=tf.ones_initializer())
    rows = tf.nn.embedding_lookup(table, tf.constant([4], tf.int64))
    optimizer = tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.5)
    train = optimizer.minimize(tf.reduce_sum(3 * rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        weights, accum, linear = (
            session.run(tf.nn.embedding_lookup(item, [4]))[0]
            for item in (table, slot_of("v/Ftrl"), slot_of("v/Ftrl_1"))
        )
    # The gradient is 3, with shrinkage 3 + 2 * 0.5 * 1 = 4, so that the step sees 0.1 + 16 accumulated.
    np.testing.assert_allclose(accum, [9.1, 9.1], rtol=1e-6)
    expected = 4 - (np.sqrt(16.1) - np.sqrt(0.1)) / 0.1
    np.testing.assert_allclose(linear, [expected, expected], rtol=1e-6)
    np.testing.assert_allclose(weights, -linear / (np.sqrt(16.1) / 0.1), rtol=1e-6)


def test_ftrl_of_a_dense_variable_is_as_in_tensorflow() -> None:
    """By element: those whose linear term is below the penalty are 0, whatever the others are."""
    variable = tf.get_variable("v", [1, 2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(variable * tf.constant([[1.0, 4.0]]))
    train = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=2.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        after = session.run(variable)
    assert after[0, 0] == 0
    assert after[0, 1] < 0


# ------------------------------------------------------------------------------------------------------ AdagradDecay


@pytest.mark.parametrize("optimizer", DECAYING)
@pytest.mark.parametrize("kind", KINDS)
def test_the_accumulator_decays_at_the_step_that_completes_a_period(kind: str, optimizer: Callable[..., Any]) -> None:
    variable = variable_of(kind)
    loss = tf.reduce_sum(2 * tf.nn.embedding_lookup(variable, tf.constant([0, 1, 2, 5, 6, 7], tf.int64)))
    step = tf.train.get_or_create_global_step()
    train = optimizer(0.1, step, accumulator_decay_step=2).minimize(loss, global_step=step)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            losses.append(session.run(loss))
            session.run(train)
    np.testing.assert_allclose(losses, [36, 32.444176, 29.847788, 27.74195, 25.852505], rtol=1e-6)


@pytest.mark.parametrize("optimizer", DECAYING)
@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_dense_gradient_decays_the_variable_as_a_whole(kind: str, optimizer: Callable[..., Any]) -> None:
    variable = variable_of(kind, rows=2)
    step = tf.train.get_or_create_global_step()
    train = optimizer(0.1, step, accumulator_decay_step=2, accumulator_decay_rate=0.5).minimize(
        tf.reduce_sum(variable * np.arange(1, 7, dtype=np.float32).reshape(2, 3)), global_step=step
    )
    weights, accum, gradient = np.ones((2, 3)), np.full((2, 3), 0.1), np.arange(1, 7).reshape(2, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(1, 6):
            session.run(train)
            accum = (accum * 0.5 if number % 2 == 0 else accum) + gradient**2
            weights -= 0.1 * gradient / np.sqrt(accum)
            np.testing.assert_allclose(session.run(variable), weights, rtol=1e-5)
        powers = session.run(slot_of("v/AdagradDecay_1"))
    assert powers.dtype == np.int64
    assert powers.reshape(-1).tolist() == [2] + [0] * (powers.size - 1)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_rows_count_their_decays_where_deeprec_does(kind: str) -> None:
    """In a slot of the variable's shape the n-th of all elements is row n's; in a narrow one each row has its own."""
    found = []
    for optimizer in DECAYING:
        with tf.Graph().as_default(), tf.Session() as session:
            variable = variable_of(kind)
            ids = tf.placeholder(tf.int64, [None])
            step = tf.train.get_or_create_global_step()
            loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, ids))
            train = optimizer(0.1, step, accumulator_decay_step=1).minimize(loss, global_step=step)
            session.run(tf.global_variables_initializer())
            for rows in ([0, 4, 7], [4, 7, 7], [7]):
                session.run(train, {ids: rows})
            found.append((session.run(slot_of("v/AdagradDecay_1")), session.run(variable)))
    (wide, one), (narrow, other) = found
    assert wide.tolist() == [[1, 0, 0], [0, 2, 0], [0, 3, 0]] + [[0, 0, 0]] * 5
    assert narrow.tolist() == [1, 0, 0, 0, 2, 0, 0, 3]
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("step_dtype", "expected"), [(tf.int64, np.int64), (tf.int32, np.int32)])
def test_the_count_of_decays_has_the_type_of_the_global_step(step_dtype: Any, expected: Any, tmp_path: Path) -> None:
    step = tf.get_variable("step", [], step_dtype, tf.zeros_initializer(), trainable=False)
    variable = variable_of("resource", rows=4, dim=2)
    train = tf.train.AdagradDecayOptimizer(0.1, step).minimize(tf.reduce_sum(variable), global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix = tf.train.Saver().save(session, str(tmp_path / "m"))
    stored = tf.train.load_variable(prefix, "v/AdagradDecay_1")
    assert (stored.dtype, stored.shape) == (expected, (4, 2))


@pytest.mark.parametrize(("optimizer", "width"), [(DECAYING[0], 3), (DECAYING[1], 1)])
@pytest.mark.parametrize("shards", [None, 2])
def test_a_table_stores_and_restores_the_count_of_decays(
    optimizer: Callable[..., Any], width: int, shards: int | None, tmp_path: Path
) -> None:
    def model() -> tuple[Any, Any]:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        table = tf.get_embedding_variable("v", 3, initializer=tf.ones_initializer(), partitioner=partitioner)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([2, 4], tf.int64)))
        return table, optimizer(0.1, step, accumulator_decay_step=1).minimize(loss, global_step=step)

    with tf.Graph().as_default(), tf.Session() as session:
        table, train = model()
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        prefix = tf.train.Saver().save(session, str(tmp_path / "m"))
        session.run(train)
        expected = session.run(tf.nn.embedding_lookup(table, [2, 4]))
    stem = "v/AdagradDecay_1" if shards is None else "v/part_0/AdagradDecay_1"
    stored = tf.train.load_variable(prefix, f"{stem}-values")
    assert stored.dtype == np.float32
    assert stored.tolist() == [[3.0] + [0.0] * (width - 1)] * 2
    with tf.Graph().as_default(), tf.Session() as session:
        table, train = model()
        tf.train.Saver().restore(session, prefix)
        session.run(train)
        np.testing.assert_array_equal(session.run(tf.nn.embedding_lookup(table, [2, 4])), expected)


@pytest.mark.parametrize("optimizer", DECAYING)
def test_keys_are_stamped_with_the_step_that_decays(optimizer: Callable[..., Any]) -> None:
    """Its op has one input for both; other optimizers stamp the step before the count goes up."""
    option = tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(steps_to_live=100))
    table = tf.get_embedding_variable("v", 3, ev_option=option)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([2], tf.int64)))
    train = optimizer(0.1, step).minimize(loss, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(table.get_version([2])).tolist() == [2]


# -------------------------------------------------------------------------------------------------------- AdamAsync


@pytest.mark.parametrize(("kind", "shape"), [("embedding", [1]), ("reference", []), ("resource", [])])
def test_the_powers_of_an_asynchronous_adam_are_shaped_as_in_deeprec(kind: str, shape: list[int]) -> None:
    variable = variable_of(kind)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, tf.constant([2], tf.int64)))
    train = tf.train.AdamAsyncOptimizer(0.1).minimize(loss)
    powers = [slot_of(f"v/AdamAsync_{number}") for number in (2, 3)]
    assert [power.shape.as_list() for power in powers] == [shape, shape]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(np.ravel(session.run(powers)), [0.81, 0.998001], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_slices_of_no_rows_are_no_step_of_an_asynchronous_adam(kind: str) -> None:
    variable = variable_of(kind)
    ids = tf.placeholder(tf.int64, [None])
    train = tf.train.AdamAsyncOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(variable, ids)))
    powers = [slot_of(f"v/AdamAsync_{number}") for number in (2, 3)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(powers)
        session.run(train, {ids: []})
        np.testing.assert_array_equal(session.run(powers), before)
        session.run(train, {ids: [3]})
        assert (np.ravel(session.run(powers)) < np.ravel(before)).all()


# ----------------------------------------------------------------------------------------------------- Collections


def test_a_program_that_runs_deeprecs_collections_of_initializers_works() -> None:
    table = variable_of("embedding")
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, [3])))
    with tf.Session() as session:
        session.run(tf.get_collection(tf.GraphKeys.EV_INIT_VAR_OPS))
        session.run(tf.get_collection(tf.GraphKeys.EV_INIT_SLOT_OPS))
        session.run(tf.global_variables_initializer())
        session.run(train)
    assert [item.op.name for item in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)] == ["v", "v/Adagrad"]


# ------------------------------------------------------------------------------------- Every optimizer, by hand


Numbers = dict[str, float]


def gradient_descent_by_hand(row: Numbers, grad: float, step: int) -> None:
    row["w"] -= 0.1 * grad


def adagrad_by_hand(row: Numbers, grad: float, step: int) -> None:
    row["a"] = row.get("a", 0.1) + grad**2
    row["w"] -= 0.1 * grad / row["a"] ** 0.5


def adam_by_hand(row: Numbers, grad: float, step: int, decay: float = 0.0) -> None:
    """`step` counts all steps, also those that the row has no part in: the powers of the betas are the optimizer's."""
    row["m"] = 0.9 * row.get("m", 0.0) + 0.1 * grad
    row["v"] = 0.999 * row.get("v", 0.0) + 0.001 * grad**2
    rate = 0.1 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
    row["w"] -= rate * row["m"] / (row["v"] ** 0.5 + 1e-8) + decay * row["w"]


def adam_w_by_hand(row: Numbers, grad: float, step: int) -> None:
    adam_by_hand(row, grad, step, decay=0.01)


def rms_prop_by_hand(row: Numbers, grad: float, step: int) -> None:
    row["v"] = 0.999 * row.get("v", 0.0) + 0.001 * grad**2
    row["m"] = 0.9 * row.get("m", 0.0) + 0.1 * grad / (row["v"] + 1e-8) ** 0.5
    row["w"] -= row["m"]


@pytest.mark.parametrize(
    ("optimizer", "by_hand"),
    [
        (lambda: tf.train.GradientDescentOptimizer(0.1), gradient_descent_by_hand),
        (lambda: tf.train.AdagradOptimizer(0.1), adagrad_by_hand),
        (lambda: tf.train.AdamOptimizer(0.1), adam_by_hand),
        (lambda: tf.train.AdamWOptimizer(0.01, 0.1), adam_w_by_hand),
        (lambda: tf.train.AdamAsyncOptimizer(0.1), adam_by_hand),
        (lambda: tf.train.AdamAsyncOptimizer(0.1, apply_sparse_rmsprop=True), rms_prop_by_hand),
    ],
)
@pytest.mark.parametrize("filter_freq", [0, 1])
def test_steps_on_rows_are_those_of_deeprecs_kernels(
    optimizer: Callable[[], Any], by_hand: Callable[[Numbers, float, int], None], filter_freq: int
) -> None:
    """Keys that are there twice count once, with the sum of their gradients; a filter asks for the ops with counts."""
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=filter_freq))
    table = tf.get_embedding_variable("v", 1, initializer=tf.ones_initializer(), ev_option=option)
    ids, weights = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
    places = tf.stack([tf.range(tf.size(ids, out_type=tf.int64)), tf.zeros_like(ids)], axis=1)
    sparse = tf.SparseTensor(places, ids, tf.stack([tf.size(ids, out_type=tf.int64), 1]))
    rows = tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="sum")
    train = optimizer().minimize(tf.reduce_sum(rows[:, 0] * weights))
    expected = {key: {"w": 1.0} for key in (3, 4, 1_003)}
    batches = [
        ([3, 4, 3], [1.0, -2.0, 0.5]),
        ([1_003], [0.25]),
        ([4, 1_003, 4, 4], [1.0, 3.0, -0.5, 2.0]),
        ([3], [1.0]),
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step, (keys, gradients) in enumerate(batches, 1):
            session.run(train, {ids: keys, weights: gradients})
            for key in set(keys):
                total = sum(grad for other, grad in zip(keys, gradients, strict=True) if other == key)
                by_hand(expected[key], total, step)
        found = session.run(tf.nn.embedding_lookup(table, [3, 4, 1_003]))[:, 0]
    np.testing.assert_allclose(found, [numbers["w"] for numbers in expected.values()], rtol=2e-5)
