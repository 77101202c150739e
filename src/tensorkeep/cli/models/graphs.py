"""`tensorkeep saved-model retag`, `drop-tags`, `prune` and `strip`: meta graphs and what is in them."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_arguments import tags_of
from tensorkeep.cli.models.model_changes import add_change, add_tags, change_model, edit_with
from tensorkeep.cli.output import Output
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.edit.message_edits import (
    drop_meta_graph,
    drop_objects,
    replace_tags,
    strip_default_attrs,
    strip_devices,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signatures
from tensorkeep.saved_model.show.flag_values import split_tags


def _add_retag_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("old", metavar="OLD", help="the tags that the meta graph has, with commas")
    parser.add_argument("new", metavar="NEW", help="the tags that it gets")


def _run_retag(given: Namespace, output: Output) -> int:
    return change_model(given, output, edit_with(replace_tags, split_tags(given.old), split_tags(given.new)))


def _add_drop_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("tags", metavar="TAGS", help="the tags of the meta graph, with commas")


def _run_drop(given: Namespace, output: Output) -> int:
    return change_model(given, output, edit_with(drop_meta_graph, split_tags(given.tags)))


def _add_prune_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("keys", metavar="KEY", nargs="+", help="the signatures that stay")
    add_tags(parser)


def _run_prune(given: Namespace, output: Output) -> int:
    return change_model(given, output, edit_with(prune_to_signatures, given.keys, tags_of(given)))


def _add_strip_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("--devices", action="store_true", help="the devices of nodes")
    parser.add_argument("--default-attrs", action="store_true", help="attributes that say what is so by default")
    parser.add_argument("--objects", action="store_true", help="the objects of TensorFlow 2; signatures stay")
    add_tags(parser)


def _run_strip(given: Namespace, output: Output) -> int:
    wanted = {
        strip_devices: given.devices,
        strip_default_attrs: given.default_attrs,
        drop_objects: given.objects,
    }
    edits = [edit_with(edit, tags_of(given)) for edit, is_wanted in wanted.items() if is_wanted]
    if not edits:
        raise InvalidArgumentError("say what to leave out: --devices, --default-attrs, --objects")
    return change_model(given, output, *edits)


COMMANDS = {
    "saved-model retag": Command(
        "Writes a model in which a meta graph has other tags.",
        ("saved-model retag export/1 serve serve,gpu --output export/2",),
        _add_retag_arguments,
        _run_retag,
    ),
    "saved-model drop-tags": Command(
        "Writes a model without the meta graph that has some tags. One must be left.",
        ("saved-model drop-tags export/many train --output export/2",),
        _add_drop_arguments,
        _run_drop,
    ),
    "saved-model prune": Command(
        "Writes a model with only some signatures and what these need.",
        ("saved-model prune export/1 serving_default --output export/2",),
        _add_prune_arguments,
        _run_prune,
    ),
    "saved-model strip": Command(
        "Writes a model without devices, default attributes or objects.",
        (
            "saved-model strip export/1 --devices --output export/2",
            "saved-model strip export/1 --default-attrs --objects --output export/2",
        ),
        _add_strip_arguments,
        _run_strip,
    ),
}
