"""`tensorkeep saved-model add-input` and the like: the inputs and outputs of signatures."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Final

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_arguments import tags_of
from tensorkeep.cli.models.model_changes import add_change, add_tags, change_model, edit_with
from tensorkeep.cli.output import Output
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.message_edits import (
    add_input,
    add_output,
    drop_input,
    drop_output,
    rename_input,
    rename_output,
)

_ARGUMENTS: Final = {
    "add": (("name", "the name of the new one"), ("tensor", "a tensor of the graph: dense/BiasAdd:0")),
    "rename": (("old", "the name that it has"), ("new", "the name that it gets")),
    "drop": (("name", "its name"),),
}


def _add_arguments(verb: str, parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("key", metavar="KEY", help="the signature")
    for name, text in _ARGUMENTS[verb]:
        parser.add_argument(name, metavar=name.upper(), help=text)
    add_tags(parser)


def _run(verb: str, function: Callable[..., SavedModel], given: Namespace, output: Output) -> int:
    words = [getattr(given, name) for name, _ in _ARGUMENTS[verb]]
    return change_model(given, output, edit_with(function, given.key, *words, tags_of(given)))


def _command(verb: str, function: Callable[..., SavedModel], description: str, example: str) -> Command:
    return Command(description, (example,), partial(_add_arguments, verb), partial(_run, verb, function))


COMMANDS = {
    "saved-model add-input": _command(
        "add",
        add_input,
        "Writes a model in which a signature has another input, a tensor of the graph.",
        "saved-model add-input export/1 serving_default keep keep_prob:0 --output export/2 --dry-run",
    ),
    "saved-model add-output": _command(
        "add",
        add_output,
        "Writes a model in which a signature has another output, a tensor of the graph.",
        "saved-model add-output export/1 serving_default logits logits:0 --output export/2",
    ),
    "saved-model rename-input": _command(
        "rename",
        rename_input,
        "Writes a model in which an input of a signature has another name.",
        "saved-model rename-input export/1 serving_default x features --output export/2",
    ),
    "saved-model rename-output": _command(
        "rename",
        rename_output,
        "Writes a model in which an output of a signature has another name.",
        "saved-model rename-output export/1 serving_default prob probabilities --output export/2",
    ),
    "saved-model drop-input": _command(
        "drop",
        drop_input,
        "Writes a model in which a signature lacks an input that nothing needs.",
        "saved-model drop-input export/1 with_rate rate --output export/2",
    ),
    "saved-model drop-output": _command(
        "drop",
        drop_output,
        "Writes a model in which a signature lacks one of its outputs.",
        "saved-model drop-output export/1 serving_default prob --output export/2",
    ),
}
