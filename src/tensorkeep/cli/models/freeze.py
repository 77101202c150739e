"""`tensorkeep saved-model freeze`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_arguments import add_run_initializers
from tensorkeep.cli.models.model_changes import add_change, changes_between, check_place, report_change, write_directory
from tensorkeep.cli.output import Output
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.directory_edits import freeze_model, frozen_model
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saving.freezing import FreezeOptions


def _add_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("--only", metavar="NAME", nargs="+", help="only these variables become constants")
    parser.add_argument("--keep", metavar="NAME", nargs="+", help="these stay variables")
    add_run_initializers(parser)


def _run(given: Namespace, output: Output) -> int:
    if given.output is None:
        raise InvalidArgumentError("say where the frozen model goes: --output DIR")
    check_place(given)
    selection = Selection(given.only, given.keep)
    if given.dry_run:
        frozen = frozen_model(given.model, FreezeOptions(selection, run_initializers=given.run_initializers))
        return report_change(given, output, frozen, changes_between(read_saved_model(given.model), frozen))
    written: list[SavedModel] = []

    def write(target: str) -> None:
        frozen = freeze_model(given.model, target, selection=selection, run_initializers=given.run_initializers)
        written.append(frozen)

    write_directory(given.output, given.force, write)
    return report_change(given, output, written[0])


COMMANDS = {
    "saved-model freeze": Command(
        "Writes a model with constants in the place of variables, and only what its signatures need.",
        (
            "saved-model freeze export/1 --output export/2",
            "saved-model freeze export/1 --output export/2 --dry-run --json",
        ),
        _add_arguments,
        _run,
    )
}
