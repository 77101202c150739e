"""Steps of several batches: DeepRec's `micro_batch_num`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import UnimplementedError

_KEYS: Final = np.random.RandomState(0).randint(0, 6, (24, 3)).astype(np.int64)
_TARGETS: Final = np.random.RandomState(1).randn(24, 1).astype(np.float32)
_OPTIMIZERS: Final[dict[str, Callable[[], Any]]] = {
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
}


def _rows_of_table(keys: Any) -> Any:
    filtered = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=3))
    table = tf.get_embedding_variable("table", 4, tf.int64, initializer=tf.ones_initializer(), ev_option=filtered)
    return tf.reduce_mean(tf.nn.embedding_lookup(table, keys), 1)


def _rows_of_variable(keys: Any) -> Any:
    rows = tf.get_variable("rows", [6, 4], initializer=tf.random_normal_initializer(seed=1))
    return tf.reduce_mean(tf.nn.embedding_lookup(rows, keys), 1)


def _last_state(keys: Any) -> Any:
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.constant_initializer(0.1))
    return tf.nn.dynamic_rnn(cell, tf.one_hot(keys, 5), dtype=tf.float32)[1]


_NETWORKS: Final = {"table": _rows_of_table, "rows": _rows_of_variable, "loop": _last_state}


def _train(
    network: str, optimizer: str, size: int, *, factor: int = 1, batches: int = 1
) -> tuple[list[float], list[Any]]:
    """The losses and all variables after an epoch of batches of a size, the loss taken so many times."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices((_KEYS, _TARGETS)).batch(size)
        iterator = dataset.make_initializable_iterator()
        keys, targets = iterator.get_next()
        found = tf.layers.dense(
            _NETWORKS[network](keys), 1, kernel_initializer=tf.constant_initializer(0.3), name="last"
        )
        loss = tf.losses.mean_squared_error(targets, found)
        step = tf.train.get_or_create_global_step()
        train = _OPTIMIZERS[optimizer]().minimize(factor * loss, global_step=step)
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.micro_batch_num = batches
        learned = [variable for variable in tf.trainable_variables() if "table" not in variable.name]
        with tf.variable_scope("", reuse=True):
            learned.extend([_NETWORKS["table"](tf.range(6, dtype=tf.int64)[:, None])] if network == "table" else [])
        with tf.Session(config=config) as session:
            session.run([tf.global_variables_initializer(), iterator.initializer])
            losses: list[float] = []
            with contextlib.suppress(tf.errors.OutOfRangeError):
                while True:
                    losses.append(session.run([loss, train])[0])
            return losses, session.run([step, *learned])


@pytest.mark.parametrize(
    ("network", "optimizer"),
    [
        ("table", "adagrad"),
        ("table", "adam"),
        ("table", "ftrl"),
        ("rows", "adagrad"),
        ("rows", "ftrl"),
        ("loop", "adam"),
    ],
)
def test_a_step_of_several_batches_sums_their_gradients(network: str, optimizer: str) -> None:
    # The sum of the gradients of three means is that of three times the mean over all three batches.
    losses, values = _train(network, optimizer, 4, batches=3)
    _, wanted = _train(network, optimizer, 12, factor=3)
    assert len(losses) == values[0] == 2
    assert losses[0] == _train(network, optimizer, 4)[0][0]  # the loss that is fetched is that of the first batch
    for value, other in zip(values, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-6)


def test_other_updates_take_the_first_batch_as_in_deeprec(caplog: pytest.LogCaptureFixture) -> None:
    assert _train("rows", "descent", 4, batches=3)[0] == _train("rows", "descent", 4)[0]
    losses, values = _train("rows", "adam", 4, batches=2)  # it has no op for the gradients of rows
    assert len(losses) == values[0] == 3
    told = [record.getMessage() for record in caplog.records]
    assert [line.rpartition(": ")[2] for line in told] == ["last/bias, last/kernel, rows", "rows"]
    assert told[0].startswith("micro_batch_num: as in DeepRec")


def test_random_numbers_and_names_of_batches() -> None:
    """Each batch has generators of its own, whose state lasts from step to step; what is fed is the same for all."""
    with tf.Graph().as_default():
        weight = tf.get_variable("w", [1], initializer=tf.zeros_initializer(), use_resource=True)
        drawn = tf.random_uniform([1], seed=3)
        scale = tf.placeholder_with_default(1.0, [])
        optimizer = tf.train.AdagradOptimizer(1.0, initial_accumulator_value=1e-12)
        ((gradient, _),) = optimizer.compute_gradients(tf.reduce_sum(weight * drawn * scale), [weight])
        train = optimizer.apply_gradients([(gradient, weight)])
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.micro_batch_num = 3
        accumulator = optimizer.get_slot(weight, "accumulator")
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            drawn_alone = [session.run(drawn) for _ in range(2)]
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            session.run(train, {scale: 2.0})
            first = session.run(accumulator)
            session.run([train, drawn])  # another plan goes on with the same generators
            np.testing.assert_allclose(first, (2 * 3 * drawn_alone[0]) ** 2, rtol=1e-5)
            np.testing.assert_allclose(session.run(accumulator) - first, (3 * drawn_alone[1]) ** 2, rtol=1e-5)
            handle = session.partial_run_setup([drawn], [scale])
            session.partial_run(handle, [drawn], {scale: 1.0})
            with pytest.raises(UnimplementedError, match="a partial run learns from one batch"):
                session.partial_run_setup([train], [scale])
