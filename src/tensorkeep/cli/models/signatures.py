"""`tensorkeep saved-model add-signature`, `rename-signature` and `drop-signature`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_arguments import tags_of
from tensorkeep.cli.models.model_changes import add_change, add_tags, change_model, edit_with
from tensorkeep.cli.output import Output, shown_value
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.edit.message_edits import add_signature, drop_signature, rename_signature
from tensorkeep.saved_model.files.constants import PREDICT_METHOD_NAME


def _add_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("key", metavar="KEY", help="the name of the new signature")
    parser.add_argument("--inputs", metavar="NAME=TENSOR", nargs="*", default=[], help="x=input:0")
    parser.add_argument("--outputs", metavar="NAME=TENSOR", nargs="+", required=True, help="y=dense/BiasAdd:0")
    parser.add_argument("--method", default=PREDICT_METHOD_NAME, help="the method name that servers look at")
    parser.add_argument("--replace", action="store_true", help="in the place of a signature of that name")
    add_tags(parser)


def _run_add(given: Namespace, output: Output) -> int:
    ends = _pairs(given.inputs), _pairs(given.outputs)
    keywords = {"method_name": given.method, "replace": given.replace}
    return change_model(given, output, edit_with(add_signature, given.key, *ends, tags_of(given), **keywords))


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    if wrong := [text for text in texts if "=" not in text]:
        raise InvalidArgumentError(f"{', '.join(wrong)}: expected NAME=TENSOR, such as x=input:0")
    return {name: tensor for name, _, tensor in (text.partition("=") for text in texts)}


def _add_rename_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("old", metavar="OLD", help="the name that the signature has")
    parser.add_argument("new", metavar="NEW", help="the name that it gets")
    add_tags(parser)


def _run_rename(given: Namespace, output: Output) -> int:
    return change_model(given, output, edit_with(rename_signature, given.old, given.new, tags_of(given)))


def _add_drop_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("key", metavar="KEY", help="the name of the signature")
    add_tags(parser)


def _run_drop(given: Namespace, output: Output) -> int:
    code = change_model(given, output, edit_with(drop_signature, given.key, tags_of(given)))
    if not output.is_json:
        output.line(
            f'  nodes and functions that only "{shown_value(given.key)}" used stay: `saved-model prune` leaves them out'
        )
    return code


COMMANDS = {
    "saved-model add-signature": Command(
        "Writes a model with another signature, whose inputs and outputs are tensors of the graph.",
        (
            "saved-model add-signature export/1 logits --inputs x=x:0 --outputs logits=logits:0 --output export/2",
            "saved-model add-signature export/1 logits --outputs logits=logits:0 --inputs x=x:0 --force --dry-run",
        ),
        _add_arguments,
        _run_add,
    ),
    "saved-model rename-signature": Command(
        "Writes a model in which a signature has another name.",
        (
            "saved-model rename-signature export/1 serving_default score --output export/2",
            "saved-model rename-signature export/1 serving_default score --force   # in its own place",
        ),
        _add_rename_arguments,
        _run_rename,
    ),
    "saved-model drop-signature": Command(
        "Writes a model without one of its signatures. Its graph keeps all nodes and functions; see prune.",
        ("saved-model drop-signature export/1 serving_default --output export/2 --dry-run",),
        _add_drop_arguments,
        _run_drop,
    ),
}
