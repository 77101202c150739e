"""`tensorkeep saved-model freeze` and `set-variables`: variables as constants, and with other values."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_arguments import add_run_initializers
from tensorkeep.cli.models.model_changes import add_change, changes_between, check_place, report_change, write_directory
from tensorkeep.cli.output import Output, amount_of
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.directory_edits import change_variables, check_variables, freeze_model, frozen_model
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.show.signature_runs import InputTexts
from tensorkeep.saving.freezing import FreezeOptions


def _add_freeze(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("--only", metavar="NAME", nargs="+", help="only these variables become constants")
    parser.add_argument("--keep", metavar="NAME", nargs="+", help="these stay variables")
    add_run_initializers(parser)


def _run_freeze(given: Namespace, output: Output) -> int:
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


def _add_set_variables(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("--files", metavar="NAME=FILE", default="", help="dense/kernel=kernel.npy;b=all.npz[b]")
    parser.add_argument("--values", metavar="NAME=EXPR", default="", help="scale=np.float32(2)")


def _run_set_variables(given: Namespace, output: Output) -> int:
    values = InputTexts(given.files, given.values).values(output.note)
    check_place(given)
    if given.dry_run:
        check_variables(given.model, values)
    elif given.output is None or FILES.canonical(given.output) == FILES.canonical(given.model):
        change_variables(given.model, None, values)
    else:
        write_directory(given.output, given.force, lambda target: change_variables(given.model, target, values))
    elements = sum(int(np.size(value)) for value in values.values())
    changes = f"{amount_of(len(values), 'variable')} with {amount_of(elements, 'element')} set"
    return report_change(given, output, read_saved_model(given.model), changes)


COMMANDS = {
    "saved-model freeze": Command(
        "Writes a model with constants in the place of variables, and only what its signatures need.",
        (
            "saved-model freeze export/1 --output export/2",
            "saved-model freeze export/1 --output export/2 --dry-run --json",
        ),
        _add_freeze,
        _run_freeze,
    ),
    "saved-model set-variables": Command(
        "Writes a model with other values for some variables, each of the dtype and shape that it has.",
        ("saved-model set-variables export/1 --files dense/kernel=kernel.npy --output export/2",),
        _add_set_variables,
        _run_set_variables,
    ),
}
