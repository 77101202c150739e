"""What is shown of a model that was asked about: TensorFlow's text, or the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, signature_with_key
from tensorkeep.saved_model.show.tensorflow_text import (
    everything_text,
    meta_graph_data,
    model_data,
    ops_text,
    signature_data,
    signature_keys_text,
    signature_text,
    tag_sets_text,
)


@dataclass(frozen=True)
class ShowRequest:
    """What somebody wants to know of a model: everything, or of a meta graph, or of one of its signatures."""

    everything: bool = False
    tags: Sequence[str] | None = None
    signature: str | None = None
    ops: bool = False


def shown_text(model: SavedModel, request: ShowRequest) -> str:
    """What TensorFlow prints."""
    if request.everything:
        return everything_text(model)
    if request.tags is None:
        start = "--list_ops must be paired with a tag-set or with --all.\n" if request.ops else ""
        return start + tag_sets_text(model)
    meta_graph = meta_graph_with_tags(model, request.tags)
    start = ops_text(meta_graph) if request.ops else ""
    if request.signature is None:
        return start + signature_keys_text(meta_graph)
    signature_with_key(meta_graph, request.signature)
    return start + signature_text(meta_graph, request.signature)


def shown_data(model: SavedModel, request: ShowRequest) -> dict[str, Any]:
    """The model, the meta graph or the signature that was asked for, for JSON."""
    if request.tags is None:
        return model_data(model)
    meta_graph = meta_graph_with_tags(model, request.tags)
    if request.signature is None:
        return meta_graph_data(meta_graph)
    signature_with_key(meta_graph, request.signature)
    return signature_data(meta_graph, request.signature)
