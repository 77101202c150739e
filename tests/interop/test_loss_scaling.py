"""Loss scaling beside TensorFlow's: the same graph, and the same scale, counts and variables after each step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as ours
from tensorkeep.proto.messages import VariableDef
from tests.interop.programs import Built, build, tensorflow_1, v1
from tests.interop.test_objects_saving import assert_same_folders, run_both

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
BAD = [np.inf, np.nan, -np.inf]
FACTORS = [1.0, 2.0, *BAD, 0.5, 1.0, 1.0, np.nan, 1.0, 1e10, 1.0]

SCALES: dict[str, Callable[[Any], Any]] = {
    "grows soon": lambda tf: tf.train.experimental.DynamicLossScale(8.0, 2, 4.0),
    "as it is made": lambda tf: "dynamic",
    "near one": lambda tf: tf.mixed_precision.DynamicLossScale(initial_loss_scale=1.5, increment_period=3),
    "near the largest": lambda tf: tf.mixed_precision.experimental.DynamicLossScale(2.0**126, 1, 8.0),
    "fixed": lambda tf: tf.train.experimental.FixedLossScale(128),
    "a number": lambda tf: 16,
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "GradientDescent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "Adam": lambda tf: tf.train.AdamOptimizer(0.05),
    "Momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
}


def _program(tf: Any, optimizer: str, scale: str, use_resource: bool) -> list[Any]:
    factor = tf.placeholder(tf.float32, [], name="factor")
    with tf.variable_scope("model", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.array([1.0, -2.0], np.float32))
        rows = tf.get_variable("rows", initializer=np.ones((3, 2), np.float32))
        tf.get_variable("unused", initializer=np.float32(1))
    loss = tf.reduce_sum(w * factor) + tf.reduce_sum(tf.nn.embedding_lookup(rows, [0, 2, 0]) * factor)
    step = tf.train.get_or_create_global_step()
    made = tf.train.experimental.MixedPrecisionLossScaleOptimizer(OPTIMIZERS[optimizer](tf), SCALES[scale](tf))
    pairs = made.compute_gradients(loss)
    with tf.control_dependencies([made.apply_gradients(pairs, step)]):
        done = tf.no_op(name="done")
    gradients = [getattr(gradient, "values", gradient) for gradient, _ in pairs if gradient is not None]
    return [done, gradients, tf.global_variables_initializer(), [item.name for item in made.variables()]]


def _steps(built: Built, factors: list[float]) -> Any:
    """Gradients and all variables after each step: ours and theirs."""
    with ours.Session(graph=built.graph) as session, tensorflow_1(), v1.Session(graph=built.their_graph) as theirs:
        session.run(built.result[2])
        theirs.run(built.their_result[2])
        variables = built.graph.collections["variables"]
        with built.their_graph.as_default():
            others = v1.global_variables()
        assert [variable.name for variable in variables] == [variable.name for variable in others]
        for factor in factors:
            mine = session.run(built.result[:2], {"factor:0": factor})[1]
            other = theirs.run(built.their_result[:2], {"factor:0": factor})[1]
            yield mine + session.run(variables), other + theirs.run(others)


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize(
    ("optimizer", "scale"),
    [*(("GradientDescent", scale) for scale in SCALES), ("Adam", "grows soon"), ("Momentum", "fixed")],
)
def test_graph_and_steps_equal_tensorflows(optimizer: str, scale: str, use_resource: bool) -> None:
    built = build(lambda tf: _program(tf, optimizer, scale, use_resource), ours)
    assert built.result[3] == built.their_result[3]
    for mine, other in _steps(built, FACTORS):
        for part, wanted in zip(mine, other, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=1e-6 if optimizer == "Adam" else 0)


def _saved(tf: Any, session: Any, folder: str) -> Any:
    optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.AdamOptimizer(0.1), tf.train.experimental.DynamicLossScale(4.0, 1)
    )
    w = tf.get_variable("w", initializer=np.float32(3), use_resource=True)
    step = tf.get_variable("step", initializer=np.int64(0), use_resource=True)
    train = optimizer.minimize(w * w, step)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, step=step)
    session.run(tf.global_variables_initializer())
    session.run(train)
    return checkpoint.save(f"{folder}/state", session=session).rpartition("/")[2]


def test_checkpoints_of_objects_are_tensorflows(tmp_path: Path) -> None:
    mine, other = run_both(_saved, tmp_path)
    assert mine == other
    assert_same_folders(tmp_path)


def test_scales_say_how_they_were_made() -> None:
    for tf in (ours, v1):
        with tf.Graph().as_default():
            dynamic = tf.mixed_precision.DynamicLossScale(4, 3, 5)
            assert dynamic.get_config() == {"initial_loss_scale": 4.0, "increment_period": 3, "multiplier": 5.0}
            assert repr(dynamic) == "DynamicLossScale(initial_loss_scale=4.0, increment_period=3, multiplier=5.0)"
            fixed = tf.mixed_precision.FixedLossScale.from_config({"loss_scale_value": 2})
            assert repr(fixed) == "FixedLossScale(2.0)"
            assert isinstance(fixed, tf.mixed_precision.LossScale)
            assert fixed.update([])[1] is True


@pytest.mark.parametrize("tf", [ours, v1], ids=["ours", "theirs"])
def test_wrong_arguments_are_refused(tf: Any) -> None:
    scaled = tf.train.experimental.MixedPrecisionLossScaleOptimizer
    with tf.Graph().as_default():
        for wrong in (0.5, "2"):
            with pytest.raises(ValueError, match="loss_scale_value must be"):
                tf.train.experimental.FixedLossScale(wrong)
        with pytest.raises(ValueError, match='"opt" must be'):
            scaled("no optimizer", 2)
        for other in ("static", None):
            with pytest.raises(ValueError, match=r"loss.scale"):
                scaled(tf.train.GradientDescentOptimizer(1.0), other)
        with pytest.raises(ValueError, match="must not already be"):
            tf.train.experimental.enable_mixed_precision_graph_rewrite(
                scaled(tf.train.GradientDescentOptimizer(1.0), 2)
            )


@pytest.mark.parametrize("tf", [ours, v1], ids=["ours", "theirs"])
def test_the_rewrite_scales_the_loss_and_computes_as_the_graph_says(tf: Any) -> None:
    """TensorFlow rewrites no graph without a GPU. 1e-30 would be 0 in float16."""
    try:
        with tensorflow_1(), tf.Graph().as_default(), tf.Session() as session:
            w = tf.get_variable("w", initializer=np.float32(1), use_resource=True)
            tiny = tf.matmul([[w]], [[1e-30]])
            optimizer = tf.mixed_precision.enable_mixed_precision_graph_rewrite(tf.train.GradientDescentOptimizer(1e30))
            assert isinstance(optimizer, tf.mixed_precision.MixedPrecisionLossScaleOptimizer)
            train = optimizer.minimize(tf.reduce_sum(tiny))
            session.run(tf.global_variables_initializer())
            session.run(train)
            found = session.run([w, *optimizer.variables()])
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
    np.testing.assert_allclose(found, [0, 2.0**15, 1], atol=1e-6)


def test_the_rewrite_tells_that_nothing_is_rewritten(caplog: pytest.LogCaptureFixture) -> None:
    with ours.Graph().as_default():
        ours.train.experimental.enable_mixed_precision_graph_rewrite(ours.train.GradientDescentOptimizer(1.0), 8)
    ours.train.experimental.disable_mixed_precision_graph_rewrite()
    assert "not rewritten to float16" in caplog.text
    assert "nothing to disable" in caplog.text


def test_variables_of_a_scale_are_no_trainable_ones() -> None:
    with ours.Graph().as_default() as graph:
        ours.mixed_precision.DynamicLossScale()
        assert [variable.name for variable in ours.global_variables()] == ["current_loss_scale:0", "good_steps:0"]
        assert ours.trainable_variables() == []
        stored = ours.train.export_meta_graph(graph=graph).collection_def["variables"].bytes_list.value
        assert [VariableDef.FromString(bytes(item)).trainable for item in stored] == [False, False]
