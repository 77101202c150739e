"""The command `show` of `saved_model_cli`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.layout import meta_graph_with_tags, read_saved_model, signature_with_key
from tensorkeep.saved_model.show_text import (
    everything_text,
    meta_graph_data,
    model_data,
    ops_text,
    signature_data,
    signature_keys_text,
    signature_text,
    tag_sets_text,
)


def main(flags: argparse.Namespace) -> int:
    """Prints what the flags ask for."""
    model = read_saved_model(flags.dir)
    if flags.json:
        sys.stdout.write(json.dumps(_data(model, flags), indent=2) + "\n")
    else:
        sys.stdout.write(_text(model, flags))
    return 0


def _text(model: SavedModel, flags: argparse.Namespace) -> str:
    if flags.all:
        return everything_text(model)
    if flags.tag_set is None:
        start = "--list_ops must be paired with a tag-set or with --all.\n" if flags.list_ops else ""
        return start + tag_sets_text(model)
    meta_graph = meta_graph_with_tags(model, flags.tag_set.split(","))
    start = ops_text(meta_graph) if flags.list_ops else ""
    if flags.signature_def is None:
        return start + signature_keys_text(meta_graph)
    signature_with_key(meta_graph, flags.signature_def)
    return start + signature_text(meta_graph, flags.signature_def)


def _data(model: SavedModel, flags: argparse.Namespace) -> dict[str, Any]:
    if flags.tag_set is None:
        return model_data(model)
    meta_graph = meta_graph_with_tags(model, flags.tag_set.split(","))
    if flags.signature_def is None:
        return meta_graph_data(meta_graph)
    signature_with_key(meta_graph, flags.signature_def)
    return signature_data(meta_graph, flags.signature_def)


__all__ = ["main"]
