"""One op on one sample: traced by JAX, and compared with our kernel; its gradient with that of our graph."""

from __future__ import annotations

from collections.abc import Callable
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
    node = OneNode(name, sample)
    function, free = traced_node(node)
    if any(tensor.dtype.base_dtype is STRING or tensor.dtype.quantized for tensor in (*free, *node.outputs)):
        return Seen("refused", "strings and quantised numbers stay on the host")
    with jax.enable_x64(True):
        try:
            theirs = function([jnp.asarray(node.feeds[tensor]) for tensor in free])
        except UnimplementedError as error:
            return Seen("refused", str(error))
    ours = Session(node.graph).run(list(node.outputs), node.feeds)
    for tensor, mine, other in zip(node.outputs, ours, theirs, strict=True):
        if tensor.index not in sample.unspecified:
            allowed = _tolerance(sample, tensor.dtype)
            assert_close(np.asarray(other), mine, tensor.dtype, allowed, f"{what}, {tensor.name}")
    return Seen("equal")


def walk_gradient(name: str, sample: Sample, what: str) -> Seen:
    """Compares what JAX derives of a lowering with what our graph has for the gradient of the op."""
    node = OneNode(name, sample)
    function, free = traced_node(node)
    floats = [tensor for tensor in free if tensor.dtype.base_dtype.name in ("float32", "float64")]
    outputs = [tensor for tensor in node.outputs if tensor.dtype.base_dtype.name in ("float32", "float64")][:1]
    if not floats or not outputs or (len(floats) < len(free) and any(tensor.dtype.is_object for tensor in free)):
        return Seen("refused", "nothing to differentiate")
    try:
        with building(node.graph):
            wanted = gradients(outputs, floats)
            dense = [item if item is None else convert_to_tensor(item) for item in wanted]
    except LookupError as error:
        return Seen("refused", str(error))
    if any(item is None for item in wanted):
        return Seen("refused", "the graph has no gradient")
    ours = Session(node.graph).run(dense, node.feeds)
    others = {tensor: node.feeds[tensor] for tensor in free if tensor not in floats}

    def total(arrays: list[Any]) -> Any:
        given = {**others, **dict(zip(floats, arrays, strict=True))}
        return function([jnp.asarray(given[tensor]) for tensor in free])[outputs[0].index].sum()

    with jax.enable_x64(True):
        theirs = jax.grad(total)([jnp.asarray(node.feeds[tensor]) for tensor in floats])
    for tensor, mine, other in zip(floats, ours, theirs, strict=True):
        assert_close(np.asarray(other), mine, tensor.dtype, 1e-3, f"{what}, gradient of {tensor.name}")
    return Seen("equal")


def _tolerance(sample: Sample, dtype: DType) -> float | None:
    usual = TOLERANCES.get(dtype.name, 0.0)
    return usual if sample.tolerance is not None and sample.tolerance < usual else sample.tolerance
