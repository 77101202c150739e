"""`tensorkeep cast` and `set`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.changing.checkpoint_changes import add_allow_loss, add_places, change, has_selection
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.looking.tensor_filters import add_selection, selection_of
from tensorkeep.cli.output import Output
from tensorkeep.cluster.jobs.editing import cast as cast_on_cluster
from tensorkeep.dtypes import ALL_DTYPES
from tensorkeep.edit.values import cast, set_tensors
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.show.signature_runs import InputTexts


def _add_cast(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument(
        "--dtype",
        metavar="TYPE",
        required=True,
        help="float16, bfloat16, float32, int32, ...",
        values=[dtype.name for dtype in ALL_DTYPES if dtype.is_storable],
    )
    add_selection(parser, "tensors to cast; all with floating-point numbers by default")
    add_allow_loss(parser)
    add_cluster(parser)


def _run_cast(given: Namespace, output: Output) -> int:
    selection = selection_of(given) if has_selection(given) else None
    wanted = (given.source, given.target, given.dtype, selection)
    with cluster_of(given) as executor:
        if executor is not None:
            found = executor
            return change(
                given, output, lambda options: cast_on_cluster(*wanted, options, found, allow_loss=given.allow_loss)
            )
        return change(given, output, lambda options: cast(*wanted, options, allow_loss=given.allow_loss))


def _add_set(parser: Parser) -> None:
    add_places(parser)
    parser.add_argument("--files", metavar="NAME=FILE", default="", help="dense/kernel=kernel.npy;b=all.npz[b]")
    parser.add_argument("--values", metavar="NAME=EXPR", default="", help="global_step=0;scale=[1.0,2.0]")
    parser.add_argument("--create", action="store_true", help="allow names that are not there yet")
    add_allow_loss(parser)


def _run_set(given: Namespace, output: Output) -> int:
    if not (given.files or given.values):
        raise InvalidArgumentError("say what shall be set: --files or --values")
    values = InputTexts(given.files, given.values).values(output.note)
    return change(
        given,
        output,
        lambda options: set_tensors(
            given.source, given.target, values, options, create=given.create, allow_loss=given.allow_loss
        ),
    )


COMMANDS = {
    "cast": Command(
        "Writes a checkpoint whose tensors have another type, and says how many numbers were rounded. Numbers that\n"
        "would be lost (become zero, infinite, another whole number) are counted, and refused without --allow-loss.",
        (
            "cast run/model-1000 half/model --dtype bfloat16",
            "cast run/model-1000 half/model --dtype int32 --match global_step",
        ),
        _add_cast,
        _run_cast,
    ),
    "set": Command(
        "Writes a checkpoint with other values for some tensors, each of the type and shape that it has.",
        (
            "set run/model-1000 reset/model --values global_step=0",
            "set run/model-1000 reset/model --files dense/kernel=kernel.npy",
        ),
        _add_set,
        _run_set,
    ),
}
