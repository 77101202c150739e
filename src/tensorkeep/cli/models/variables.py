"""`tensorkeep saved-model set-variables`."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.models.model_changes import add_change, check_place, report_change, write_directory
from tensorkeep.cli.output import Output, amount_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.saved_model.edit.directory_edits import change_variables, check_variables
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.show.signature_runs import InputTexts


def _add_arguments(parser: Parser) -> None:
    add_change(parser)
    parser.add_argument("--files", metavar="NAME=FILE", default="", help="dense/kernel=kernel.npy;b=all.npz[b]")
    parser.add_argument("--values", metavar="NAME=EXPR", default="", help="scale=np.float32(2)")


def _run(given: Namespace, output: Output) -> int:
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
    "saved-model set-variables": Command(
        "Writes a model with other values for some variables, each of the dtype and shape that it has.",
        ("saved-model set-variables export/1 --files dense/kernel=kernel.npy --output export/2",),
        _add_arguments,
        _run,
    )
}
