"""Summaries of tensors, of activations and of whole collections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from tensorkeep.dtypes import BOOL, FLOAT32, STRING
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.data.summaries import histogram, scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater, less
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean

Summarizer: TypeAlias = "Callable[[Any], Tensor | None]"
"""A function of a tensor that gives a summary of it."""


def summarize_tensor(tensor: Tensor, tag: str | None = None) -> Tensor | None:
    """A number for a tensor of rank zero, a histogram for others; None for texts and truth values."""
    if tensor.dtype.base_dtype in (STRING, BOOL):
        return None
    name = tag or f"{tensor.op.name}_summary"
    if tensor.get_shape().rank == 0:
        return scalar(name, tensor)
    return histogram(name, tensor)


def summarize_activation(op: Tensor) -> Tensor:
    """A histogram, and before it how many are zero or saturated, where the kind of activation can be."""
    kind = op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        before = op.op.inputs[0]
        scalar(f"{op.op.name}/zeros", _share(less(before, cast(0.0, before.dtype))))
    if kind == "Relu6":
        before = op.op.inputs[0]
        scalar(f"{op.op.name}/sixes", _share(greater(before, cast(6.0, before.dtype))))
    return histogram(f"{op.op.name}/activation", op)


def _share(chosen: Tensor) -> Tensor:
    return reduce_mean(cast(chosen, FLOAT32, name="ToFloat"))


def summarize_tensors(tensors: Iterable[Tensor], summarizer: Summarizer = summarize_tensor) -> list[Any]:
    """Summaries of tensors: what the summarizer gives for each."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Summarizer = summarize_tensor
) -> list[Any]:
    """A summary of each tensor of a collection whose name fits an expression."""
    found = get_collection(current_graph(), collection)
    chosen = [item for item in found if name_filter is None or re.match(name_filter, item.op.name)]
    return summarize_tensors(chosen, summarizer)


def summarize_activations(name_filter: str | None = None, summarizer: Summarizer = summarize_activation) -> list[Any]:
    """A summary of each activation that layers have collected."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


def summarize_variables(name_filter: str | None = None, summarizer: Summarizer = summarize_tensor) -> list[Any]:
    """A summary of each variable that is saved."""
    return summarize_collection(GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter: str | None = None, summarizer: Summarizer = summarize_tensor) -> list[Any]:
    """A summary of each of the collected weights."""
    return summarize_collection(GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(name_filter: str | None = None, summarizer: Summarizer = summarize_tensor) -> list[Any]:
    """A summary of each of the collected biases."""
    return summarize_collection(GraphKeys.BIASES, name_filter, summarizer)
