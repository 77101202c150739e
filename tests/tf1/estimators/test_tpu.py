"""TPU estimators, which run on the CPU."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1.programs.finding import module_at

tpu: Any = tf.contrib.tpu
X = np.linspace(-1, 1, 40, dtype=np.float32).reshape(-1, 1)


def line(features: Any, labels: Any, mode: str, params: Any) -> Any:
    assert params["use_tpu"] is False
    slope = tf.get_variable("slope", [1], initializer=tf.zeros_initializer())
    found = features["x"] * slope
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(
            mode, predictions={"y": found, "size": tf.fill([tf.shape(found)[0]], params["batch_size"])}
        )
    loss = tf.losses.mean_squared_error(labels, found)
    if mode == tf.estimator.ModeKeys.EVAL:

        def metrics(labels: Any, found: Any) -> Any:
            return {"error": tf.metrics.mean_absolute_error(labels, found)}

        return tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metrics, {"labels": labels, "found": found}))
    count = tf.get_variable("host_calls", [], tf.int64, initializer=tf.zeros_initializer(), trainable=False)
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
    step = optimizer.minimize(loss, tf.train.get_global_step())
    return tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=step, host_call=(lambda loss: tf.assign_add(count, 1), [loss])
    )


def points(params: Any) -> Any:
    assert "use_tpu" not in params
    return tf.data.Dataset.from_tensor_slices(({"x": X}, 2 * X)).repeat(20).batch(params["batch_size"])


def made(folder: Path, **options: Any) -> Any:
    config = tpu.RunConfig(model_dir=str(folder), tpu_config=tpu.TPUConfig(iterations_per_loop=5, num_shards=8))
    sizes = {"train_batch_size": 20, "eval_batch_size": 10, "predict_batch_size": 8}
    return tpu.TPUEstimator(line, config=config, **{"use_tpu": False, **sizes, **options})


def test_a_model_is_trained_evaluated_and_asked_in_batches_of_the_mode(tmp_path: Path) -> None:
    model = made(tmp_path).train(points, max_steps=30)
    assert model.get_variable_value("slope")[0] == pytest.approx(2, abs=0.05)
    assert model.get_variable_value("host_calls") == 30
    found = model.evaluate(points, steps=4)
    assert found["error"] < 0.05
    rows = list(model.predict(lambda params: tf.data.Dataset.from_tensors({"x": X})))
    assert {int(row["size"]) for row in rows} == {8}


def test_a_program_that_wants_a_tpu_is_told_that_there_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "tensorkeep"):
        made(tmp_path, use_tpu=True)
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu", zone="a", project="b")
        tpu.RunConfig(cluster=resolver, model_dir=str(tmp_path))
    text = " ".join(record.getMessage() for record in caplog.records)
    assert "there is no TPU here: the model runs on the CPU" in text
    assert "everything runs on the CPU of this process" in text
    assert resolver.get_master() == ""


def test_what_a_tpu_estimator_refuses(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="must be provided with type"):
        tpu.TPUEstimator(line, config=tf.estimator.RunConfig(str(tmp_path)))
    with pytest.raises(InvalidArgumentError, match="reserved keys"):
        made(tmp_path, params={"batch_size": 3})
    with pytest.raises(InvalidArgumentError, match="a tuple of a function and its tensors"):
        tpu.TPUEstimatorSpec("eval", loss=tf.zeros([]), eval_metrics={"a": 1})
    with pytest.raises(InvalidArgumentError, match="does not match method args"):
        tpu.TPUEstimatorSpec("eval", loss=tf.zeros([]), eval_metrics=(lambda a, b: {}, [1]))


def test_what_is_done_on_all_cores_is_done_on_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        total = tpu.cross_replica_sum(tf.constant([1.0, 2.0]))
        assert session.run(total).tolist() == [1.0, 2.0]
        assert session.run(tpu.shard(lambda x: x + 1, [tf.constant(1)], num_shards=8)) == 2
        session.run([tpu.initialize_system(), tpu.shutdown_system()])
        with tf.tpu.bfloat16_scope():
            variable = tf.get_variable("v", [2], dtype=tf.bfloat16, initializer=tf.ones_initializer())
        assert variable.dtype == tf.bfloat16
        assert [(item.op.name, item.dtype.base_dtype) for item in tf.global_variables()] == [("v", tf.float32)]


def test_computations_for_a_tpu_run_where_they_are() -> None:
    written = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(written.initializer)
        assert session.run(tpu.rewrite(lambda x: x + 1.0, [2.0])) == [3.0]
        assert session.run(tpu.rewrite(lambda: {"a": tf.constant(1.0)})) == {"a": 1.0}
        assert session.run(tpu.rewrite(lambda: (tf.constant(4.0), written.assign(2.0).op))) == [4.0]
        assert session.run(tpu.rewrite(lambda: written.assign(3.0).op)) is None
        assert session.run(written) == 3.0
        assert session.run(tpu.replicate(lambda x: (x, x), [[5.0]])) == [[5.0, 5.0]]
        assert session.run(tpu.batch_parallel(lambda x: x * 2.0, [tf.ones([2])])).tolist() == [2.0, 2.0]
        assert session.run(tpu.outside_compilation(tf.add, 1.0, y=2.0)) == 3.0
    with pytest.raises(tf.errors.UnimplementedError, match="on 2 cores, and there is one"):
        tpu.replicate(lambda x: x, [[1.0], [2.0]])


def test_how_many_cores_there_are_is_known_within_a_block() -> None:
    function = module_at("python.tpu.tpu_function")
    assert function is not None
    with function.tpu_shard_context(8):
        assert function.get_tpu_context().number_of_shards == 8
        with pytest.raises(tf.errors.FailedPreconditionError, match="cannot be nested"), function.tpu_shard_context(2):
            pass
    assert function.get_tpu_context().number_of_shards is None
