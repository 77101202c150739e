"""`tensorkeep copy`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text, watching
from tensorkeep.edit.copying import copy_files


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a file, a folder, a SavedModel, the prefix of a checkpoint")
    parser.add_argument("target", metavar="TARGET", help="where it goes")
    parser.add_argument("--force", action="store_true", help="replace what is there")


def _run(given: Namespace, output: Output) -> int:
    with watching(output) as bar:
        done = copy_files(given.source, given.target, overwrite=given.force, progress=bar)
    if output.is_json:
        items = {"target": done.target, "bytes": done.nbytes, "files": list(done.files), "resumed": list(done.resumed)}
        output.data("copy/1", items)
        return DONE
    before = f", of which {len(done.resumed)} were there already" if done.resumed else ""
    amount = f"{amount_of(len(done.files), 'file')}, {size_text(done.nbytes)}{before}"
    output.line(f"copied to {shown_value(done.target)}: {amount}")
    return DONE


COMMANDS = {
    "copy": Command(
        "Copies a file, a folder with all that is in it, or the files of a checkpoint, from this machine to a store,\n"
        "from a store to this machine, or anywhere else. Each file appears whole, and those by which a checkpoint\n"
        "or a model is found come last. A copy that was interrupted goes on where it was, file by file, when it is\n"
        "asked for again.",
        (
            "copy run/model-1000 backup/model-1000",
            "copy export/1 served/1 --force",
        ),
        _add_arguments,
        _run,
    )
}
