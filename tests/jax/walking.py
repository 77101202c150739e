"""One op on one sample: traced by JAX, and compared with our kernel; its gradient with that of our graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import group
from tensorkeep.jax.bodies import Bodies
from tensorkeep.jax.registry import LOWERINGS
from tensorkeep.jax.tracing import KEY, Tracing
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.v1.framework import convert_to_tensor
from tests.ops.sample import Sample
from tests.ops.walking import TOLERANCES, OneNode, assert_close

Function = Callable[[list[Any]], list[Any]]
_SIZES = frozenset(("size", "begin", "end", "strides", "axis", "concat_dim", "segment_ids"))
"""What lowerings that see to it themselves call the inputs that must be known."""


@dataclass(frozen=True)
class Seen:
    """What came of a sample: "equal", or "refused" by the lowering, and why."""

    state: str
    reason: str = ""


def traced_node(node: OneNode) -> tuple[Function, list[Tensor]]:
    """The outputs of a graph of one node as a function of what is fed, and of which tensors; sizes are known."""
    fixed = {tensor: np.asarray(node.feeds[tensor]) for tensor in _known_inputs(node) if tensor in node.feeds}
    free = [tensor for tensor in node.feeds if tensor not in fixed]

    def function(arrays: list[Any]) -> list[Any]:
        tracing = Tracing(Bodies(), lambda op: None, {KEY: jax.random.key(0)})
        return tracing.compute(list(node.outputs), {**fixed, **dict(zip(free, arrays, strict=True))})

    return function, free


def _known_inputs(node: OneNode) -> set[Tensor]:
    lowering = LOWERINGS[node.node.type]
    code = lowering.function.__code__
    names = code.co_varnames[lowering.takes_tracing : code.co_argcount]
    wanted: set[Tensor] = set()
    for name, item in zip(names, group(node.node.spec.schema.inputs, node.node.inputs, node.node.attr), strict=False):
        if name in lowering.known or (lowering.raw and name in _SIZES):
            wanted.update(item if isinstance(item, list) else [item])
    return wanted


def walk_sample(name: str, sample: Sample, what: str) -> Seen:
    """Compares a traced sample with our kernel. Raises AssertionError where they differ."""
    traced = Traced.of(name, sample)
    if isinstance(traced, Seen):
        return traced
    traced.compare(Session(traced.node.graph).run(list(traced.node.outputs), traced.node.feeds), what)
    return Seen("equal")


@dataclass(frozen=True)
class Traced:
    """A sample, and what JAX computes for it."""

    node: OneNode
    sample: Sample
    found: list[Any]

    @classmethod
    def of(cls, name: str, sample: Sample) -> Traced | Seen:
        """What there is to compare, or why there is nothing."""
        node = OneNode(name, sample)
        function, free = traced_node(node)
        if any(tensor.dtype.base_dtype is STRING or tensor.dtype.quantized for tensor in (*free, *node.outputs)):
            return Seen("refused", "strings and quantised numbers stay on the host")
        with jax.enable_x64(True):
            try:
                found = function([jnp.asarray(node.feeds[tensor]) for tensor in free])
            except UnimplementedError as error:
                return Seen("refused", str(error))
        return cls(node, sample, found)

    def compare(self, others: Sequence[Any], what: str) -> None:
        """Raises AssertionError where what JAX computes differs from other results of the same node."""
        for tensor, found, other in zip(self.node.outputs, self.found, others, strict=True):
            if tensor.index not in self.sample.unspecified:
                allowed = _tolerance(self.sample, tensor.dtype)
                assert_close(np.asarray(found), other, tensor.dtype, allowed, f"{what}, {tensor.name}")


def walk_gradient(name: str, sample: Sample, what: str) -> Seen:
    """Compares what JAX derives of a lowering with what our graph has for the gradient of the op."""
    derived = Derived.of(name, sample)
    if isinstance(derived, Seen):
        return derived
    ours = Session(derived.node.graph).run(derived.graph_gradients, derived.node.feeds)
    derived.compare(ours, what)
    return Seen("equal")


@dataclass(frozen=True)
class Derived:
    """A sample whose op has gradients, and what JAX derives for the inputs that have them."""

    node: OneNode
    sample: Sample
    inputs: list[Tensor]
    outputs: list[Tensor]
    weights: list[Any]
    """What the gradients of the outputs are said to be: numbers that differ from each other."""
    graph_gradients: list[Tensor]
    found: list[Any]
    """What JAX derives."""

    @classmethod
    def of(cls, name: str, sample: Sample) -> Derived | Seen:
        """What there is to compare, or why there is nothing."""
        node = OneNode(name, sample)
        function, free = traced_node(node)
        if any(tensor.dtype.is_object or tensor.dtype.quantized for tensor in (*free, *node.outputs)):
            return Seen("refused", "strings and quantised numbers stay on the host")
        inputs = [tensor for tensor in free if _has_fraction(tensor.dtype)]
        outputs = [y for y in node.outputs if _has_fraction(y.dtype) and y.index not in sample.unspecified]
        if not inputs or not outputs:
            return Seen("refused", "nothing to differentiate")
        weights = [_weights(value) for value in Session(node.graph).run(outputs, node.feeds)]
        try:
            with building(node.graph):
                wanted = dict(zip(inputs, gradients(outputs, inputs, weights), strict=True))
                dense = {x: convert_to_tensor(item) for x, item in wanted.items() if item is not None}
        except LookupError as error:
            return Seen("refused", str(error))
        if not dense:
            return Seen("refused", "the graph has no gradient")
        with jax.enable_x64(True):
            try:
                found = _pulled_back(function, free, node, list(dense), outputs, weights)
            except UnimplementedError as error:
                return Seen("refused", str(error))
        return cls(node, sample, list(dense), outputs, weights, list(dense.values()), found)

    def compare(self, others: Sequence[Any], what: str) -> None:
        """Raises AssertionError where what JAX derives differs from other gradients of the same inputs."""
        for tensor, found, other in zip(self.inputs, self.found, others, strict=True):
            allowed = max(self.sample.tolerance or 0, 5 * TOLERANCES[tensor.dtype.base_dtype.name], 1e-6)
            assert_close(found, other, tensor.dtype.base_dtype, allowed, f"{what}, gradient of {tensor.name}")


def _has_fraction(dtype: DType) -> bool:
    return dtype.base_dtype.is_floating or dtype.base_dtype.is_complex


def _weights(value: Any) -> Any:
    weights = (np.arange(np.size(value), dtype=np.float64) % 7 - 2.5) / 2
    return weights.reshape(np.shape(value)).astype(np.asarray(value).dtype)


def _pulled_back(
    function: Function,
    free: list[Tensor],
    node: OneNode,
    inputs: list[Tensor],
    outputs: list[Tensor],
    weights: list[Any],
) -> list[Any]:
    """What JAX derives, for weights of the outputs. Of complex numbers, TensorFlow's gradients are the conjugates."""
    given = {tensor: jnp.asarray(node.feeds[tensor]) for tensor in free}

    def results(arrays: list[Any]) -> list[Any]:
        values = {**given, **dict(zip(inputs, arrays, strict=True))}
        found = function([values[tensor] for tensor in free])
        return [jnp.asarray(found[tensor.index]) for tensor in outputs]

    _, pull = jax.vjp(results, [given[tensor] for tensor in inputs])
    (found,) = pull([jnp.conj(jnp.asarray(weight)) for weight in weights])
    return [np.asarray(jnp.conj(item)) for item in found]


def _tolerance(sample: Sample, dtype: DType) -> float | None:
    usual = TOLERANCES.get(dtype.name, 0.0)
    return usual if sample.tolerance is not None and sample.tolerance < usual else sample.tolerance
