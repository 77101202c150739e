"""Every op beside TensorFlow: signature, static shapes, values and gradients, on its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.graph.registry.schema import OpSchema
from tensorkeep.proto.messages import OpDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import NOT_IN_TENSORFLOW, OneNode, assert_close, import_all_ops

import_all_ops()
v1 = tf.compat.v1

# Outputs whose static shapes TensorFlow states wrongly: its kernels give one element more.
MISSTATED = {(name, index) for name in ("FractionalAvgPool", "FractionalMaxPool") for index in (1, 2)}


def tensorflow_op_def(name: str) -> OpDef | None:
    from tensorflow.python.framework import op_def_registry

    found = op_def_registry.get(name)
    return None if found is None else OpDef.FromString(found.SerializeToString())


def test_what_tensorflow_is_said_not_to_have_it_does_not_have() -> None:
    assert not [name for name in NOT_IN_TENSORFLOW if tensorflow_op_def(name) is not None]
    assert set(registered_ops()) >= NOT_IN_TENSORFLOW


@pytest.mark.parametrize(
    "name", sorted(name for name in registered_ops().keys() - NOT_IN_TENSORFLOW if not name.startswith("Test"))
)
def test_the_signature_is_tensorflows(name: str) -> None:
    theirs = tensorflow_op_def(name)
    assert theirs is not None, "TensorFlow has no such op"
    assert str(registered_ops()[name].schema) == str(OpSchema.of_op_def(theirs))


class Twin:
    """The graph of a node, and TensorFlow's copy of it."""

    def __init__(self, node: OneNode) -> None:
        self.node = node
        self.graph = tf.Graph()
        proto = v1.GraphDef.FromString(export_graph(node.graph).SerializeToString())
        if node.node.spec.schema.deprecation:  # TensorFlow takes it only in a graph that is as old
            proto.versions.producer = node.node.spec.schema.deprecation[0] - 1
        with self.graph.as_default():
            tf.import_graph_def(proto, name="")

    def tensor(self, tensor: Any) -> Any:
        return self.graph.get_tensor_by_name(tensor.name)

    def run(self, tensors: list[Any]) -> list[Any]:
        feeds = {self.tensor(key): marked(key.dtype, value) for key, value in self.node.feeds.items()}
        with v1.Session(graph=self.graph) as session:
            return [plain(result) for result in session.run(tensors, feeds)]


def marked(dtype: Any, value: Any) -> Any:
    """An array as TensorFlow's Python takes it: whole numbers of a quantised type with its name on them."""
    return value.astype([(dtype.name, value.dtype)]) if dtype.quantized else value


def plain(result: Any) -> Any:
    """A result without the name of a quantised type."""
    names = getattr(getattr(result, "dtype", None), "names", None)
    return result[names[0]] if names else result


@pytest.mark.parametrize("name", sorted(all_samples()))
def test_values_equal_tensorflows(name: str) -> None:
    for number, sample in enumerate(all_samples()[name]):
        what = f"{name}, sample {number}"
        if sample.fails:
            _assert_tensorflow_refuses(name, sample, what)
        if sample.fails or not sample.oracle:
            continue
        node = OneNode(name, sample)
        twin = Twin(node)
        theirs = twin.run([twin.tensor(tensor) for tensor in node.outputs])
        ours = Session(node.graph).run(list(node.outputs), node.feeds)
        for tensor, mine, other in zip(node.outputs, ours, theirs, strict=True):
            if tensor.index not in sample.unspecified:
                assert_close(mine, other, tensor.dtype, sample.tolerance, f"{what}, {tensor.name}")


def _assert_tensorflow_refuses(name: str, sample: Sample, what: str) -> None:
    try:
        node = OneNode(name, sample, "nothing")
    except TensorKeepError:
        return  # not even a graph to hand over
    try:
        twin = Twin(node)
        twin.run([twin.tensor(tensor) for tensor in node.outputs] or [twin.graph.get_operation_by_name("node")])
    except (ValueError, tf.errors.OpError):
        return
    pytest.fail(f"{what}: TensorFlow accepts it")


@pytest.mark.parametrize("name", sorted(all_samples()))
@pytest.mark.parametrize("shapes", ["known", "rank", "nothing"])
def test_static_shapes_equal_tensorflows(name: str, shapes: str) -> None:
    for number, sample in enumerate(all_samples()[name]):
        if sample.fails:
            continue
        node = OneNode(name, sample, shapes)
        twin = Twin(node)
        for tensor in node.outputs:
            if (name, tensor.index) in MISSTATED:
                continue
            theirs = twin.tensor(tensor).shape
            dims = None if theirs.rank is None else tuple(theirs.as_list())
            what = f"{name}, sample {number}, {tensor.name}"
            assert tensor.static_shape.dims == dims, f"{what}: {tensor.static_shape}, TensorFlow has {theirs}"


@pytest.mark.parametrize("name", sorted(all_samples()))
def test_gradients_equal_tensorflows(name: str) -> None:
    for number, sample in enumerate(all_samples()[name]):
        if not sample.fails and sample.gradient and sample.oracle:
            _compare_gradients(name, sample, f"{name}, sample {number}")


def _compare_gradients(name: str, sample: Sample, what: str) -> None:
    node = OneNode(name, sample)
    twin = Twin(node)
    xs = [x for x in node.sources if x.dtype.is_floating or x.dtype.is_complex]
    ys = [y for y in node.outputs if y.dtype.is_floating or y.dtype.is_complex if y.index not in sample.unspecified]
    if not xs or not ys:
        return
    values = twin.run([twin.tensor(y) for y in ys])
    weights = [_weights(np.asarray(value)) for value in values]
    with twin.graph.as_default():
        given = [tf.constant(weight) for weight in weights]
        try:
            theirs = tf.gradients([twin.tensor(y) for y in ys], [twin.tensor(x) for x in xs], given)
        except LookupError:
            theirs = None
    if theirs is None:
        with building(node.graph), pytest.raises(LookupError):
            gradients(ys, xs, weights)
        return
    with building(node.graph):
        ours = gradients(ys, xs, weights)
    assert [grad is None for grad in ours] == [grad is None for grad in theirs], f"{what}: which gradients exist"
    pairs = [(x, mine, other) for x, mine, other in zip(xs, ours, theirs, strict=True) if mine is not None]
    our_values = Session(node.graph).run([mine for _, mine, _ in pairs], node.feeds)
    their_values = twin.run([tf.convert_to_tensor(other) if not _is_slices(other) else other for _, _, other in pairs])
    for (x, _, _), mine, other in zip(pairs, our_values, their_values, strict=True):
        if hasattr(other, "indices"):
            assert_close(
                mine.values, other.values, x.dtype, sample.tolerance, f"{what}, rows of the gradient of {x.name}"
            )
            assert mine.indices.tolist() == other.indices.tolist(), what
        else:
            assert_close(mine, other, x.dtype, sample.tolerance, f"{what}, gradient of {x.name}")


def _is_slices(value: Any) -> bool:
    return isinstance(value, tf.IndexedSlices)


def _weights(value: Any) -> Any:
    """Numbers that differ from each other, to be the gradients of a result."""
    weights = (np.arange(value.size, dtype=np.float64) % 7 - 2.5) / 2
    return weights.reshape(value.shape).astype(value.dtype)
