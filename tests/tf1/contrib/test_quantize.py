"""Graphs rewritten for few bits: what they compute, and the names of what is added, which are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1.programs.finding import module_at

slim = tf.contrib.slim
quantize = tf.contrib.quantize
NOTHING = "no such scope"  # batch normalizations are folded everywhere, and nothing is rounded
IMAGES = np.random.RandomState(3).rand(4, 8, 8, 3).astype(np.float32)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        yield graph


def images() -> Any:
    return tf.placeholder(tf.float32, [4, 8, 8, 3], name="x")


def network(is_training: bool) -> Any:
    """A small network in the manner of MobileNet."""
    x = images()
    norm = {"is_training": is_training, "decay": 0.9, "scale": True, "fused": True}
    layers = [slim.conv2d, slim.separable_conv2d]
    with (
        tf.variable_scope("Net"),
        slim.arg_scope(layers, normalizer_fn=slim.batch_norm, normalizer_params=norm, activation_fn=tf.nn.relu6),
    ):
        h = slim.conv2d(x, 6, [3, 3], stride=2, scope="Conv2d_0")
        h = slim.separable_conv2d(h, None, [3, 3], depth_multiplier=1, scope="Conv2d_1_depthwise")
        h = slim.conv2d(h, 8, [1, 1], activation_fn=None, scope="Conv2d_1_pointwise")
        h = tf.reduce_mean(h, [1, 2], keepdims=True)
        h = slim.conv2d(h, 5, [1, 1], normalizer_fn=None, activation_fn=None, scope="Logits")
    return x, tf.squeeze(h, [1, 2], name="logits")


def added_variables(build: Callable[[], None]) -> list[str]:
    before = set(tf.global_variables())
    build()
    return sorted(variable.op.name for variable in tf.global_variables() if variable not in before)


def both_ends(*scopes: str) -> list[str]:
    return sorted(f"{scope}/{end}" for scope in scopes for end in ("min", "max"))


def test_the_ranges_of_a_graph_that_is_used_have_their_names() -> None:
    network(is_training=False)
    assert added_variables(quantize.create_eval_graph) == both_ends(
        "Net/Conv2d_0/weights_quant",
        "Net/Conv2d_0/act_quant",
        "Net/Conv2d_1_depthwise/weights_quant",
        "Net/Conv2d_1_depthwise/act_quant",
        "Net/Conv2d_1_pointwise/weights_quant",
        "Net/Conv2d_1_pointwise/act_quant",
        "Net/Logits/weights_quant",
        "Net/Logits/act_quant",
    )
    graph = tf.get_default_graph()
    rounded = graph.get_operation_by_name("Net/Conv2d_0/weights_quant/FakeQuantWithMinMaxVars")
    assert rounded.inputs[0].op.name == "Net/Conv2d_0/mul_fold"
    assert (rounded.get_attr("num_bits"), rounded.get_attr("narrow_range")) == (8, True)
    assert rounded.outputs[0].consumers()[0].name == "Net/Conv2d_0/Conv2D_Fold"
    outputs = graph.get_operation_by_name("Net/Conv2d_0/act_quant/FakeQuantWithMinMaxVars")
    assert outputs.inputs[0].op.name == "Net/Conv2d_0/Relu6"
    assert not outputs.get_attr("narrow_range")
    assert graph.get_operation_by_name("Net/Conv2d_1_depthwise/depthwise_Fold").type == "DepthwiseConv2dNative"


def test_ranges_that_are_learned_have_their_averages_below_them() -> None:
    network(is_training=True)
    names = added_variables(quantize.create_training_graph)
    scope = "Net/Conv2d_0/act_quant"
    assert [name for name in names if name.startswith(scope)] == sorted(
        [
            *both_ends(scope),
            *(f"{scope}/{scope}/{end}/{what}" for end in ("min", "max") for what in ("biased", "local_step")),
        ]
    )
    assert [name for name in names if name.startswith("Net/Conv2d_0/weights_quant")] == both_ends(
        "Net/Conv2d_0/weights_quant"
    )
    assert not any("quant" in variable.op.name for variable in tf.trainable_variables())


@pytest.mark.parametrize("is_training", [False, True])
def test_folding_changes_neither_values_nor_gradients(is_training: bool) -> None:
    def run(rewrites: bool) -> tuple[Any, Any, Any]:
        with tf.Graph().as_default():
            tf.set_random_seed(5)
            x, logits = network(is_training)
            if rewrites and is_training:
                quantize.experimental_create_training_graph(scope=NOTHING)
            elif rewrites:
                quantize.experimental_create_eval_graph(scope=NOTHING)
            variables = tf.trainable_variables()
            gradients = tf.gradients(tf.reduce_sum(logits * tf.range(5.0)), variables)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for variable in variables:  # something other than ones and zeros
                    variable.load(session.run(variable) + 0.1 * np.arange(variable.shape[-1].value), session)
                found = session.run([logits, gradients], {x: IMAGES})
                session.run(updates, {x: IMAGES})
                moved = {v.op.name: session.run(v) for v in tf.global_variables() if "moving" in v.op.name}
        return found[0], found[1], moved

    plain, folded = run(False), run(True)
    np.testing.assert_allclose(folded[0], plain[0], rtol=1e-4, atol=1e-4)
    for mine, other in zip(folded[1], plain[1], strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-3)
    assert folded[2].keys() == plain[2].keys()
    for name, value in plain[2].items():
        np.testing.assert_allclose(folded[2][name], value, rtol=1e-5, atol=1e-6)


def test_a_matrix_is_folded_as_well() -> None:
    x = tf.placeholder(tf.float32, [4, 6])
    norm = {"is_training": False, "fused": True, "scale": True}
    y = slim.fully_connected(
        x, 3, normalizer_fn=slim.batch_norm, normalizer_params=norm, activation_fn=tf.nn.relu, scope="fc"
    )
    out = tf.identity(y)
    rows = np.random.RandomState(1).rand(4, 6).astype(np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.graph.get_tensor_by_name("fc/BatchNorm/moving_mean:0")
        for name, value in {"moving_mean": [0.1, 0.2, 0.3], "moving_variance": [2.0, 3.0, 4.0]}.items():
            next(v for v in tf.global_variables() if v.op.name.endswith(name)).load(value, session)
        before = session.run(out, {x: rows})
        quantize.experimental_create_eval_graph(scope=NOTHING)
        assert out.op.inputs[0].op.inputs[0].op.name == "fc/add_fold"
        np.testing.assert_allclose(session.run(out, {x: rows}), before, rtol=1e-5, atol=1e-6)


def test_a_range_is_that_of_the_last_weights_and_of_outputs_on_average() -> None:
    x = images()
    y = slim.conv2d(x, 2, [1, 1], scope="one", weights_initializer=tf.constant_initializer([[-1.0, 1.0]] * 3))
    out = tf.identity(y, "out")
    quantize.create_training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ends = {v.op.name: v for v in tf.global_variables() if "quant" in v.op.name}
        assert session.run([ends["one/weights_quant/min"], ends["one/act_quant/min"]]) == [-6.0, 0.0]
        for times in (1.0, 3.0):
            session.run(out, {x: times * np.ones_like(IMAGES)})
        assert session.run([ends["one/weights_quant/min"], ends["one/weights_quant/max"]]) == [-1.0, 1.0]
        averaged = (0.999 * 0.001 * 3.0 + 0.001 * 9.0) / (1 - 0.999**2)
        assert session.run(ends["one/act_quant/max"]) == pytest.approx(averaged, rel=1e-4)
        assert session.run(ends["one/act_quant/min"]) == 0.0


def test_ranges_may_reach_as_far_to_both_sides() -> None:
    x = images()
    tf.reshape(slim.conv2d(x, 2, [1, 1], activation_fn=tf.identity, scope="one"), [-1], "out")
    quantize.experimental_create_training_graph(symmetric=True, weight_bits=4, activation_bits=6)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run("out:0", {x: IMAGES})
        ends = {v.op.name: float(session.run(v)) for v in tf.global_variables() if "quant" in v.op.name}
    assert ends["one/weights_quant/min"] == -ends["one/weights_quant/max"]
    assert ends["one/act_quant/min"] / ends["one/act_quant/max"] == pytest.approx(-64 / 62)
    bits = {
        op.name: op.get_attr("num_bits") for op in tf.get_default_graph().get_operations() if "FakeQuant" in op.type
    }
    assert bits == {"one/weights_quant/FakeQuantWithMinMaxVars": 4, "one/act_quant/FakeQuantWithMinMaxVars": 6}


def test_rounding_begins_after_so_many_runs() -> None:
    x = images()
    out = tf.identity(slim.conv2d(x, 2, [1, 1], scope="one"), "out")
    with tf.Session() as session:
        plain_variables = tf.global_variables()
        session.run(tf.variables_initializer(plain_variables))
        plain = session.run(out, {x: IMAGES})
        quantize.create_training_graph(quant_delay=3)
        added = [v for v in tf.global_variables() if v not in plain_variables]
        assert "fake_quantization_step" in [v.op.name for v in added]
        session.run(tf.variables_initializer(added))
        found = [session.run(out, {x: IMAGES}) for _ in range(4)]
    assert [np.array_equal(value, plain) for value in found] == [True, True, False, False]
    steps = found[-1] / (found[-1].max() / 255)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-2)


def test_normalizations_are_frozen_after_so_many_runs() -> None:
    x, logits = network(is_training=True)
    quantize.experimental_create_training_graph(scope=NOTHING, freeze_bn_delay=3)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    averages = [v for v in tf.global_variables() if "moving" in v.op.name]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(4):
            session.run([logits, updates], {x: IMAGES})
            seen.append(session.run(averages))
        frozen, variables = session.run(logits, {x: IMAGES}), session.run(tf.trainable_variables())
    assert not np.array_equal(seen[0][0], seen[1][0])
    for before, after in zip(seen[1], seen[3], strict=True):
        assert np.array_equal(before, after)
    with tf.Graph().as_default(), tf.Session() as session:
        x, logits = network(is_training=False)
        values = iter(variables)
        for variable in tf.trainable_variables():
            variable.load(next(values), session)
        for variable, value in zip([v for v in tf.global_variables() if "moving" in v.op.name], seen[3], strict=True):
            variable.load(value, session)
        np.testing.assert_allclose(session.run(logits, {x: IMAGES}), frozen, rtol=1e-3, atol=1e-4)


def test_a_network_that_was_trained_is_used_from_its_checkpoint(tmp_path: Path) -> None:
    x, logits = network(is_training=True)
    quantize.create_training_graph()
    loss = tf.reduce_mean(tf.square(logits - tf.range(5.0)))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step, updates], {x: IMAGES})[0] for _ in range(40)]
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert losses[-1] < 0.4 * losses[0]
    with tf.Graph().as_default(), tf.Session() as session:
        x, logits = network(is_training=False)
        quantize.create_eval_graph()
        tf.train.Saver().restore(session, path)
        found = session.run(logits, {x: IMAGES})
    assert np.mean(np.square(found - np.arange(5.0))) < 0.6 * losses[0]


def bypassed(late: bool, then: Callable[[Any], Any]) -> None:
    x = images()
    with tf.variable_scope("block"):
        y = slim.conv2d(x, 3, [3, 3], activation_fn=tf.nn.relu if late else None, scope="conv")
        total = tf.add(y, x, name="sum")
        tf.identity(then(total), name="out")


def test_a_sum_that_a_layer_goes_into_is_quantized_too() -> None:
    bypassed(late=True, then=lambda total: tf.reshape(total, [4, -1]))
    assert added_variables(quantize.create_eval_graph) == both_ends(
        "block/conv/weights_quant", "block/conv/act_quant", "block/post_activation_bypass_quant"
    )


def test_an_activation_after_a_sum_is_quantized_in_its_place() -> None:
    bypassed(late=False, then=lambda total: tf.nn.relu(total, name="relu"))
    assert added_variables(quantize.create_eval_graph) == both_ends(
        "block/conv/weights_quant", "block/conv/conv_quant", "block/act_quant"
    )


def test_products_of_what_is_quantized_are_too() -> None:
    x = images()
    y = slim.conv2d(x, 3, [1, 1], scope="one")
    tf.identity(tf.multiply(tf.reshape(y, [-1]), 2.0, name="twice"), name="out")
    names = added_variables(quantize.create_eval_graph)
    assert "twice/activation_Mul_quant/min" in names


def test_only_one_scope_is_rewritten_where_that_is_asked_for() -> None:
    x = images()
    for scope in ("one", "two"):
        x = slim.conv2d(x, 3, [1, 1], scope=scope)
    tf.identity(x)
    names = added_variables(lambda: quantize.experimental_create_eval_graph(scope="two"))
    assert names == both_ends("two/weights_quant", "two/act_quant")


def test_what_cannot_be_rewritten_is_said() -> None:
    x = images()
    y = slim.conv2d(x, 3, [1, 1], scope="one")
    with pytest.raises(InvalidArgumentError, match="weight_bits are 2 to 16, got 1"):
        quantize.experimental_create_eval_graph(weight_bits=1)
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    with pytest.raises(ValueError, match=r"Training op found in graph.*ApplyGradientDescent"):
        quantize.create_training_graph()


@pytest.mark.parametrize(
    ("norm", "said"),
    [
        ({"is_training": False, "fused": False}, "make it with fused=True"),
        ({"is_training": False, "fused": True}, "create_eval_graph"),
    ],
)
def test_normalizations_that_cannot_be_folded_are_said(norm: dict[str, Any], said: str) -> None:
    tf.identity(slim.conv2d(images(), 3, [1, 1], normalizer_fn=slim.batch_norm, normalizer_params=norm))
    with pytest.raises(InvalidArgumentError, match=said):
        quantize.create_training_graph()


def test_channels_have_to_come_last() -> None:
    x = tf.placeholder(tf.float32, [4, 3, 8, 8])
    norm = {"is_training": True, "fused": True, "data_format": "NCHW"}
    tf.identity(slim.conv2d(x, 3, [1, 1], data_format="NCHW", normalizer_fn=slim.batch_norm, normalizer_params=norm))
    with pytest.raises(InvalidArgumentError, match="NHWC"):
        quantize.create_training_graph()


def test_patterns_are_found_in_graphs() -> None:
    matcher = module_at("contrib.quantize.python.graph_matcher")
    assert matcher is not None
    x, kernel = images(), tf.ones([1, 1, 3, 2])
    made = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), [1.0, 2.0]))
    tf.nn.relu6(made + 1.0)
    weights = matcher.OpTypePattern("*", name="weights")
    product = matcher.OpTypePattern("Conv2D|MatMul", name="product", inputs=[weights, "*"], ordered_inputs=False)
    bias = matcher.OpTypePattern("BiasAdd", inputs=[product, "*"])
    last = matcher.OpTypePattern("*", name="last", inputs=[matcher.OneofPattern([matcher.OpTypePattern("Add"), bias])])
    found = list(matcher.GraphMatcher(last).match_graph(tf.get_default_graph()))
    assert [result.get_op("last").type for result in found] == ["Relu"]
    (result,) = found
    assert result.get_op(bias) is made.op.inputs[0].op
    assert result.get_tensor("product") is made.op.inputs[0].op.inputs[0]
    assert result.get_tensor(weights) is x
    assert result.get_op("other") is result.get_tensor("last") is None
    assert matcher.GraphMatcher(product).match_op(made.op) is None
    with pytest.raises(ValueError, match="Expect Pattern or str"):
        result.get_op(3)
    with pytest.raises(ValueError, match="Only < 8 inputs"):
        matcher.OpTypePattern("AddN", inputs=["*"] * 9, ordered_inputs=False)
