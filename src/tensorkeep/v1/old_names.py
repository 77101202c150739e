"""Names that TensorFlow had before 1.0 whose arguments are not those of any later one: summaries by their tags.

The others are plain other names, and stand in the tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.graph import Tensor

Tags = TensorLike
"""A tag, or several: text."""


def scalar_summary(
    tags: Tags, values: TensorLike, collections: Sequence[Hashable] | None = None, name: str | None = None
) -> Tensor:
    """A summary of numbers under tags, which stay as they are."""
    return _collected(emit("ScalarSummary", tags, values, name=name), collections)


def histogram_summary(
    tag: Tags, values: TensorLike, collections: Sequence[Hashable] | None = None, name: str | None = None
) -> Tensor:
    """A summary of how numbers are distributed, under a tag."""
    return _collected(emit("HistogramSummary", tag, values, name=name), collections)


def image_summary(
    tag: Tags,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Sequence[Hashable] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of some images of a batch, under a tag."""
    return _collected(emit("ImageSummary", tag, tensor, max_images=max_images, name=name), collections)


def audio_summary(
    tag: Tags,
    tensor: TensorLike,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Sequence[Hashable] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of some sounds of a batch, under a tag."""
    made = emit("AudioSummaryV2", tag, tensor, sample_rate, max_outputs=max_outputs, name=name)
    return _collected(made, collections)


def _collected(summary: Tensor, collections: Sequence[Hashable] | None) -> Tensor:
    add_to_collections(summary.graph, [GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary
