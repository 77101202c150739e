"""Every op beside TensorFlow: signature, static shapes, values and gradients, on its samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.graph.registry.schema import OpSchema
from tensorkeep.proto.messages import OpDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.interop.twins import Twins
from tests.ops.sample import Sample, all_samples
from tests.ops.walking import NOT_IN_TENSORFLOW, OneNode, assert_close, import_all_ops
from tests.support.depth import spread

import_all_ops()

# Outputs whose static shapes TensorFlow states wrongly: its kernels give one element more.
MISSTATED = {(name, index) for name in ("FractionalAvgPool", "FractionalMaxPool") for index in (1, 2)}
# Axes of outputs whose size TensorFlow 1 knew, as we do, and TensorFlow 2 does not.
KNOWN_BY_TENSORFLOW_1 = {("Conv2DBackpropInput", 0): 0}
# Samples of an op whose static shapes and gradients are compared; its values are on every sample. Deep tests take all.
_MOST = 8
# Ops whose results hold the name of their node, which has a prefix among others.
TELL_THEIR_NAME = {"TensorSummary"}


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


@pytest.mark.parametrize("name", sorted(all_samples()))
def test_values_equal_tensorflows(name: str) -> None:
    samples = {number: sample for number, sample in enumerate(all_samples()[name]) if sample.oracle or sample.fails}
    for number, sample in samples.items():
        if sample.fails:
            _assert_tensorflow_refuses(name, sample, f"{name}, sample {number}")
    good = {number: OneNode(name, sample) for number, sample in samples.items() if not sample.fails}
    theirs = _tensorflows_results(name, list(good.values()))
    for (number, node), others in zip(good.items(), theirs, strict=True):
        ours = Session(node.graph).run(list(node.outputs), node.feeds)
        for tensor, mine, other in zip(node.outputs, ours, others, strict=True):
            if tensor.index not in samples[number].unspecified:
                what = f"{name}, sample {number}, {tensor.name}"
                assert_close(mine, other, tensor.dtype, samples[number].tolerance, what)


def _tensorflows_results(name: str, nodes: list[OneNode]) -> list[list[Any]]:
    if len(nodes) > 1 and name in TELL_THEIR_NAME:
        return [result for node in nodes for result in _tensorflows_results(name, [node])]
    twins = Twins(nodes)
    return twins.run([[twins.tensor(tensor) for tensor in node.outputs] for node in nodes]) if nodes else []


def _assert_tensorflow_refuses(name: str, sample: Sample, what: str) -> None:
    try:
        node = OneNode(name, sample, "nothing")
    except TensorKeepError:
        return  # not even a graph to hand over
    try:
        twins = Twins([node])
        twins.run([twins.tensor(tensor) for tensor in node.outputs] or [twins.graph.get_operations()[-1]])
    except (ValueError, tf.errors.OpError):
        return
    pytest.fail(f"{what}: TensorFlow accepts it")


@pytest.mark.parametrize("name", sorted(all_samples()))
@pytest.mark.parametrize("shapes", ["known", "rank", "nothing"])
def test_static_shapes_equal_tensorflows(name: str, shapes: str) -> None:
    samples = {number: sample for number, sample in enumerate(all_samples()[name]) if not sample.fails}
    nodes = {number: OneNode(name, samples[number], shapes) for number in spread(sorted(samples), _MOST)}
    twins = Twins(list(nodes.values()))
    for number, node in nodes.items():
        for tensor in node.outputs:
            if (name, tensor.index) in MISSTATED:
                continue
            theirs = twins.tensor(tensor).shape
            dims = None if theirs.rank is None else tuple(theirs.as_list())
            axis = KNOWN_BY_TENSORFLOW_1.get((name, tensor.index))
            if dims is not None and axis is not None and dims[axis] is None:
                dims = (*dims[:axis], tensor.static_shape[axis], *dims[axis + 1 :])
            what = f"{name}, sample {number}, {tensor.name}"
            assert tensor.static_shape.dims == dims, f"{what}: {tensor.static_shape}, TensorFlow has {theirs}"


@pytest.mark.parametrize("name", sorted(all_samples()))
def test_gradients_equal_tensorflows(name: str) -> None:
    known = all_samples()[name]
    fitting = [i for i, sample in enumerate(known) if not sample.fails and sample.gradient and sample.oracle]
    samples = {i: known[i] for i in spread(fitting, _MOST)}
    nodes = {number: OneNode(name, sample) for number, sample in samples.items()}
    twins = Twins(list(nodes.values()))
    pairs = {i: _gradients(twins, node, samples[i], f"{name}, sample {i}") for i, node in nodes.items()}
    if not any(pairs.values()):
        return
    theirs = twins.run([[_dense(other) for _, _, other in found] for found in pairs.values()])
    for (number, found), others in zip(pairs.items(), theirs, strict=True):
        ours = Session(nodes[number].graph).run([mine for _, mine, _ in found], nodes[number].feeds)
        for (x, _, _), mine, other in zip(found, ours, others, strict=True):
            what = f"{name}, sample {number}, gradient of {x.name}"
            if hasattr(other, "indices"):
                assert_close(mine.values, other.values, x.dtype, samples[number].tolerance, f"{what}, rows")
                assert mine.indices.tolist() == other.indices.tolist(), what
            else:
                assert_close(mine, other, x.dtype, samples[number].tolerance, what)


def _gradients(twins: Twins, node: OneNode, sample: Sample, what: str) -> list[tuple[Any, Any, Any]]:
    """Inputs that have gradients, with ours and TensorFlow's; both must agree on which those are."""
    xs = [x for x in node.sources if x.dtype.is_floating or x.dtype.is_complex]
    ys = [y for y in node.outputs if y.dtype.is_floating or y.dtype.is_complex if y.index not in sample.unspecified]
    if not xs or not ys:
        return []
    weights = [_weights(np.asarray(value)) for value in Session(node.graph).run(ys, node.feeds)]
    with twins.graph.as_default():
        given = [tf.constant(weight) for weight in weights]
        try:
            theirs = tf.gradients([twins.tensor(y) for y in ys], [twins.tensor(x) for x in xs], given)
        except LookupError:
            theirs = None
    with building(node.graph):
        if theirs is None:
            with pytest.raises(LookupError):
                gradients(ys, xs, weights)
            return []
        ours = gradients(ys, xs, weights)
    assert [grad is None for grad in ours] == [grad is None for grad in theirs], f"{what}: which gradients exist"
    return [(x, mine, other) for x, mine, other in zip(xs, ours, theirs, strict=True) if mine is not None]


def _dense(gradient: Any) -> Any:
    return gradient if _is_slices(gradient) else tf.convert_to_tensor(gradient)


def _is_slices(value: Any) -> bool:
    return isinstance(value, tf.IndexedSlices)


def _weights(value: Any) -> Any:
    """Numbers that differ from each other, to be the gradients of a result."""
    weights = (np.arange(value.size, dtype=np.float64) % 7 - 2.5) / 2
    return weights.reshape(value.shape).astype(value.dtype)
