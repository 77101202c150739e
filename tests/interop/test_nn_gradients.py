"""Gradients of the neural-network ops: the nodes that they add are TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk1
from tensorkeep.graph.building import building
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.twins import Twins
from tests.ops.sample import Sample
from tests.ops.samples.nn import activations, convolution, ctc, normalization, pooling, recurrent
from tests.ops.walking import OneNode, import_all_ops

import_all_ops()
SAMPLES: dict[str, list[Sample]] = {
    **activations.SAMPLES,
    **convolution.SAMPLES,
    **pooling.SAMPLES,
    **normalization.SAMPLES,
    **ctc.SAMPLES,
    **recurrent.SAMPLES,
}
# Ops of whose output TensorFlow 1 knew the shape, as we do, and TensorFlow 2 does not.
KNOWN_BY_TENSORFLOW_1 = {("Conv2DBackpropInput", "rank")}


@pytest.mark.parametrize("shapes", ["known", "rank"])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_gradients_add_tensorflows_nodes(name: str, shapes: str) -> None:
    differentiable = [sample for sample in SAMPLES[name] if not sample.fails and sample.gradient]
    for number, sample in enumerate(differentiable[:12]):
        _compare(name, sample, shapes, f"{name}, sample {number}, {shapes}")


def _compare(name: str, sample: Sample, shapes: str, what: str) -> None:
    node = OneNode(name, sample, shapes)
    twin = Twins([node])
    xs = [x for x in node.sources if x.dtype.is_floating]
    ys = [y for y in node.outputs if y.dtype.is_floating][:1]
    if not xs or not ys:
        return
    # Where only TensorFlow 1 and we know the shape, what flows in is given: ones of that shape are a constant here.
    flows_in = ys if (name, shapes) in KNOWN_BY_TENSORFLOW_1 else None
    try:
        with twin.graph.as_default():
            theirs = [twin.tensor(y) for y in ys]
            tf.compat.v1.gradients(theirs, [twin.tensor(x) for x in xs], theirs if flows_in else None)
    except LookupError:
        return
    with building(node.graph):
        gradients(ys, xs, flows_in)
    assert_same_nodes(our_nodes(node.graph), their_nodes(twin.graph), what)


def _second_gradients(tf: Any, version: str, data_format: str, is_training: bool, dtype: Any) -> list[Any]:
    """What flows to images, scale and what flowed in, of a function of all first gradients; as numbers."""
    generator = np.random.default_rng(3)
    shape = {"NHWC": (2, 3, 4, 3), "NCHW": (2, 3, 3, 4), "NDHWC": (1, 2, 3, 2, 3)}[data_format]
    vectors = [generator.uniform(0.5, 2, 3).astype(np.float32) for _ in range(4)]
    with tf.Graph().as_default(), tf.Session() as session:
        x, dy = (tf.constant(generator.standard_normal(shape).astype(np.float32)) for _ in range(2))
        scale, offset, mean, variance = map(tf.constant, vectors)
        options = {"epsilon": 0.01, "data_format": data_format, "is_training": is_training}
        if is_training:
            mean = variance = tf.constant(np.zeros(0, np.float32))
        normal = getattr(tf.raw_ops, f"FusedBatchNorm{version}")
        y = normal(x=tf.cast(x, dtype), scale=scale, offset=offset, mean=mean, variance=variance, **options)[0]
        first = tf.gradients(y, [x, scale, offset], tf.cast(dy, dtype))
        total = sum(tf.reduce_sum(tf.square(tf.cast(part, tf.float32)) * (at + 1.0)) for at, part in enumerate(first))
        found = tf.gradients(total, [x, scale, dy])
        return [session.run(part) for part in found if part is not None]


@pytest.mark.parametrize(
    ("version", "data_format", "is_training", "dtype"),
    [
        ("", "NHWC", True, "float32"),
        ("V2", "NHWC", True, "float16"),
        ("V3", "NHWC", True, "float32"),
        ("V3", "NCHW", True, "float32"),
        ("V3", "NDHWC", True, "float32"),
        ("V3", "NHWC", False, "float32"),
        ("V2", "NCHW", False, "float32"),
    ],
)
def test_gradients_of_gradients_of_fused_normalization(
    version: str, data_format: str, is_training: bool, dtype: str
) -> None:
    theirs = _second_gradients(tf.compat.v1, version, data_format, is_training, dtype)
    ours = _second_gradients(tk1, version, data_format, is_training, dtype)
    assert len(ours) == len(theirs) == 3
    tolerance = 0.05 if dtype == "float16" else 1e-4
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max())
