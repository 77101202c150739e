"""Every op that has a lowering, on its samples, beside TensorFlow: JAX computes what it does, and derives what it does.

`tests/jax` compares the same with our own kernels and gradients.
"""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tests.interop.twins import Twins
from tests.jax.test_registry_walk import WALKED, chosen, is_derived
from tests.jax.walking import Derived, Traced
from tests.ops.walking import OneNode
from tests.support.depth import thinned


@pytest.mark.parametrize("name", thinned(WALKED, 12))
def test_what_jax_computes_is_what_tensorflow_does(name: str) -> None:
    found = {number: Traced.of(name, sample) for number, sample in chosen(name, 2)}
    traced = {number: item for number, item in found.items() if isinstance(item, Traced)}
    if not traced:
        return
    twins = Twins([item.node for item in traced.values()])
    theirs = twins.run([[twins.tensor(tensor) for tensor in item.node.outputs] for item in traced.values()])
    for (number, item), others in zip(traced.items(), theirs, strict=True):
        item.compare(others, f"{name}, sample {number}")


@pytest.mark.parametrize("name", thinned(WALKED, 12))
def test_what_jax_derives_is_what_tensorflow_does(name: str) -> None:
    samples = {number: sample for number, sample in chosen(name, 2) if is_derived(name, sample)}
    found = {number: Derived.of(name, sample) for number, sample in samples.items()}
    derived = {number: item for number, item in found.items() if isinstance(item, Derived)}
    if not derived:
        return
    nodes = [OneNode(name, item.sample) for item in derived.values()]  # without the gradients of our graph
    twins = Twins(nodes)
    with twins.graph.as_default():
        wanted = [_gradients(twins, node, item) for node, item in zip(nodes, derived.values(), strict=True)]
    for (number, item), others in zip(derived.items(), twins.run(wanted), strict=True):
        item.compare(others, f"{name}, sample {number}")


def _gradients(twins: Twins, node: OneNode, item: Derived) -> list[Any]:
    """TensorFlow's tensors for the gradients that JAX derives."""
    outputs, inputs = (
        [twins.tensor(node.graph.operation(tensor.op.name).outputs[tensor.index]) for tensor in tensors]
        for tensors in (item.outputs, item.inputs)
    )
    found = tf.gradients(outputs, inputs, [tf.constant(weight) for weight in item.weights])
    return [tf.convert_to_tensor(gradient) for gradient in found]
