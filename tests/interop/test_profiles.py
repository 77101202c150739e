"""`tf.profiler` beside TensorFlow's: messages, and what is printed."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import tensorflow as tensorflow

import tensorkeep.v1 as tk1
from tensorkeep.v1.profiling import TRAINABLE_VARS_PARAMS_STAT_OPTIONS, print_model_analysis

tf1 = tensorflow.compat.v1


@cache
def build(tf: Any) -> Any:
    """A network with gradients: of fixed shapes, and of one that is not known."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="images")
        with tf.variable_scope("a", use_resource=False):
            kernel = tf.get_variable("w", [3, 3, 3, 4], initializer=tf.zeros_initializer())
            y = tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "VALID", name="conv")
            with tf.variable_scope("b"):
                bias = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
                y = tf.nn.max_pool(tf.nn.bias_add(y, bias), [1, 2, 2, 1], [1, 1, 1, 1], "SAME", name="pool")
                y = tf.nn.avg_pool(y, [1, 3, 3, 1], [1, 1, 1, 1], "SAME", name="mean")
        with tf.variable_scope("fc", use_resource=True):
            matrix = tf.get_variable("w", [36, 1500], initializer=tf.zeros_initializer())
            y = tf.matmul(tf.reshape(y, [2, 36]), matrix, name="product")
            loss = tf.reduce_mean(tf.square(tf.math.rsqrt(y)), name="loss")
        tf.get_variable("scale", [], trainable=False, initializer=tf.zeros_initializer(), use_resource=False)
        tf.square(tf.placeholder(tf.float32, [None, 3]), name="open")
        tf.gradients(loss, [kernel, bias, matrix], name="back")
    return graph


def options_of(builder: Any) -> list[tuple[str, Any]]:
    params, flops = builder.trainable_variables_parameter, builder.float_operation
    return [
        ("scope", params()),
        ("scope", flops()),
        ("op", params()),
        ("op", flops()),
        ("scope", builder(flops()).with_max_depth(3).account_displayed_op_only(False).build()),
        ("scope", builder(params()).with_accounted_types([".*"]).with_min_parameters(100).order_by("params").build()),
        ("scope", builder(flops()).with_node_names(["fc", "back.*"], None, [".*Mul"], [".*pool_grad"]).build()),
        ("op", builder(flops()).with_node_names(None, None, ["MatMul"]).with_max_depth(4).build()),
        ("op", builder(flops()).account_displayed_op_only(False).with_min_float_operations(5000).build()),
        ("scope", builder(params()).select(["params", "op_types", "occurrence"]).build()),
        ("op", builder(flops()).select(["float_ops", "params", "occurrence"]).build()),
    ]


def plain(builder: Any) -> list[tuple[str, Any]]:
    """The options, with those set that builders of TensorFlow 2 add."""
    return [(cmd, dict(sorted(options.items()))) for cmd, options in options_of(builder)]


@pytest.mark.parametrize("at", range(11))
def test_messages_and_text_are_those_of_the_profiler(at: int, capfd: pytest.CaptureFixture[str]) -> None:
    theirs_graph, ours_graph = build(tf1), build(tk1)
    assert [op.name for op in theirs_graph.get_operations()] == [op.name for op in ours_graph.get_operations()]
    assert plain(tk1.profiler.ProfileOptionBuilder)[at] == plain(tf1.profiler.ProfileOptionBuilder)[at]
    cmd, options = options_of(tf1.profiler.ProfileOptionBuilder)[at]
    theirs = tf1.profiler.profile(theirs_graph, cmd=cmd, options=options)
    their_text = capfd.readouterr().out
    ours = tk1.profiler.profile(ours_graph, cmd=cmd, options=options)
    our_text = capfd.readouterr().out
    assert our_text == their_text
    assert str(ours) == str(theirs)


def test_a_profiler_and_the_older_name_tell_the_same(capfd: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    graph = build(tk1)
    found = print_model_analysis(graph, tfprof_options=TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert found.total_parameters == 3 * 3 * 3 * 4 + 4 + 36 * 1500
    printed = capfd.readouterr().out
    profiler = tk1.profiler.Profiler(graph)
    assert profiler.profile_name_scope(TRAINABLE_VARS_PARAMS_STAT_OPTIONS) == found
    assert capfd.readouterr().out == printed
    builder = tk1.profiler.ProfileOptionBuilder(TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    profiler.profile_name_scope(builder.with_file_output(str(tmp_path / "profile.txt")).build())
    assert (tmp_path / "profile.txt").read_text() in printed
    assert capfd.readouterr().out == ""


def test_what_runs_would_have_to_measure_is_refused() -> None:
    graph = build(tk1)
    with pytest.raises(tk1.errors.UnimplementedError, match="bytes, micros, min_bytes, min_micros"):
        tk1.profiler.profile(graph, options=tk1.profiler.ProfileOptionBuilder.time_and_memory())
    with pytest.raises(tk1.errors.UnimplementedError, match='"op" and "scope", not "code"'):
        tk1.profiler.profile(graph, cmd="code")
    with pytest.raises(tk1.errors.InvalidArgumentError, match="unknown cmd: all"):
        tk1.profiler.profile(graph, cmd="all")
