"""Summaries for programs: each reports a tensor under a tag, and joins the graph's collection of summaries."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import chosen_name, current_graph, graph_of, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.files import summaries as summary_ops
from tensorkeep.proto.messages import SummaryMetadata, serialize

LOG: Final = logging.getLogger("tensorkeep")

_FORBIDDEN: Final = re.compile(r"[^-/\w\.]")


def clean_tag(name: str | None) -> str | None:
    """The name with underscores in the places of characters that a tag may not have."""
    if name is None:
        return None
    cleaned = _FORBIDDEN.sub("_", name).lstrip("/")
    if cleaned != name:
        LOG.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def summary_scope(
    name: str,
    family: str | None,
    tensor: object,
    default: str | None = None,
) -> Iterator[tuple[str, str]]:
    """The tag of a summary, and the name of its operation."""
    base, family = clean_tag(name), clean_tag(family)
    whole = base if family is None else f"{family}/{base}"
    with name_scope(whole or default, graph_of([tensor])) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def collect_summary(summary: Tensor, collections: Sequence[Any] | None, default: Sequence[str]) -> Tensor:
    for key in default if collections is None else collections:
        add_to_collection(summary.graph, key, summary)
    return summary


_SUMMARIES: Final = (GraphKeys.SUMMARIES,)


def scalar(
    name: str, tensor: TensorLike, collections: Sequence[Any] | None = None, family: str | None = None
) -> Tensor:
    """A summary of a tensor of one number, under a name."""
    with summary_scope(name, family, tensor) as (tag, scope):
        return collect_summary(summary_ops.scalar_summary(tag, tensor, name=scope), collections, _SUMMARIES)


def histogram(
    name: str, values: TensorLike, collections: Sequence[Any] | None = None, family: str | None = None
) -> Tensor:
    """Reports how numbers are distributed."""
    with summary_scope(name, family, values, "HistogramSummary") as (tag, scope):
        return collect_summary(summary_ops.histogram_summary(tag, values, name=scope), collections, _SUMMARIES)


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[Any] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of a tensor of pictures, [batch, height, width, channels], under a name."""
    with summary_scope(name, family, tensor) as (tag, scope):
        made = summary_ops.image_summary(tag, tensor, max_images=max_outputs, name=scope)
        return collect_summary(made, collections, _SUMMARIES)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[Any] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of a tensor of sounds, under a name."""
    with summary_scope(name, family, tensor) as (tag, scope):
        rate = convert(sample_rate, FLOAT32, "sample_rate")
        made = summary_ops.audio_summary_v2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return collect_summary(made, collections, _SUMMARIES)


def text(name: str, tensor: Tensor, collections: Sequence[Any] | None = None) -> Tensor:
    """Reports strings, to be shown as text."""
    if tensor.dtype is not STRING:
        raise InvalidArgumentError(
            f"Expected tensor {tensor.name} to have dtype string, got <dtype: '{tensor.dtype.name}'>"
        )
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Sequence[Any] | None = None,
    summary_metadata: SummaryMetadata | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Reports a tensor of any kind, with what a plugin should know of it."""
    metadata = SummaryMetadata()
    if summary_metadata is not None:
        metadata.ParseFromString(summary_metadata.SerializeToString())
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, tensor) as (tag, scope):
        made = summary_ops.tensor_summary_v2(tag, tensor, serialize(metadata), name=scope)
        return collect_summary(made, collections, _SUMMARIES)


def merge(inputs: Sequence[Any], collections: Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """One summary that holds several others."""
    name = clean_tag(name)
    with name_scope(chosen_name(name, "Merge"), graph_of(inputs)):
        return collect_summary(summary_ops.merge_summary(inputs, name=name), collections, ())


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """One summary of all that the graph has collected; None if there are none."""
    found = get_collection(current_graph(), key, scope)
    return merge(found, name=name) if found else None


__all__ = ["audio", "clean_tag", "histogram", "image", "merge", "merge_all", "scalar", "tensor_summary", "text"]
