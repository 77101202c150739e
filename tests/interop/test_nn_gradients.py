"""Gradients of the neural-network ops: the nodes that they add are TensorFlow's."""

from __future__ import annotations

import pytest
import tensorflow as tf

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
    try:
        with twin.graph.as_default():
            tf.compat.v1.gradients([twin.tensor(y) for y in ys], [twin.tensor(x) for x in xs])
    except LookupError:
        return
    with building(node.graph):
        gradients(ys, xs)
    assert_same_nodes(our_nodes(node.graph), their_nodes(twin.graph), what)
