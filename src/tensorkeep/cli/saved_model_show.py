"""`tensorkeep saved-model show`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.model_arguments import add_model, model_of, tags_of
from tensorkeep.cli.output import Output
from tensorkeep.saved_model.layout import read_saved_model
from tensorkeep.saved_model.showing import ShowRequest, shown_data, shown_text


def _add_arguments(parser: Parser) -> None:
    add_model(parser)
    parser.add_argument("--all", action="store_true", help="show everything that there is to show")
    parser.add_argument("--signature_def", metavar="KEY", help="show this signature")
    parser.add_argument("--list_ops", action="store_true", help="list the ops of the meta graph")


def _run(given: Namespace, output: Output) -> int:
    model = read_saved_model(model_of(given))
    request = ShowRequest(given.all, tags_of(given), given.signature_def, given.list_ops)
    if output.is_json:
        output.data("saved-model.show/1", shown_data(model, request))
    else:
        output.text(shown_text(model, request))
    return DONE


COMMANDS = {
    "saved-model show": Command(
        "Shows the tag sets, signatures, functions and ops of a SavedModel, as TensorFlow's saved_model_cli does.",
        (
            "saved-model show export/1                     # the tag sets",
            "saved-model show export/1 --all",
            "saved-model show export/1 --tag_set serve --signature_def serving_default",
            "saved-model show export/1 --json",
        ),
        _add_arguments,
        _run,
    )
}
