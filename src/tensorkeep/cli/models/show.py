"""`tensorkeep saved-model show`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.models.model_arguments import add_model, model_of, tags_of
from tensorkeep.cli.output import Column, Output
from tensorkeep.proto.messages import SavedModel, TensorInfo
from tensorkeep.saved_model.files.layout import read_saved_model, signature_keys
from tensorkeep.saved_model.files.tensor_info import describe_tensor_info
from tensorkeep.saved_model.show.root_functions import root_functions
from tensorkeep.saved_model.show.tensorflow_text import ShowRequest, shown_data, shown_text

_COLUMNS = (
    Column("tags"),
    Column("signature", "cyan", is_name=True),
    Column("end"),
    Column("name", is_name=True),
    Column("type and shape"),
    Column("tensor", is_name=True, spare=1),
)


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
    elif request == ShowRequest():
        _print_overview(model, output)
    else:
        output.text(shown_text(model, request))
    return DONE


def _print_overview(model: SavedModel, output: Output) -> None:
    """What somebody wants who has never seen the model: what it can be asked, with what, and what it answers."""
    rows = list(_ends(model))
    if rows or not output.is_table:
        output.table(_COLUMNS, rows)
    for meta_graph in model.meta_graphs:
        tags = ", ".join(meta_graph.meta_info_def.tags) or "(none)"
        functions = ", ".join(root_functions(meta_graph.object_graph_def)) or "none"
        if not signature_keys(meta_graph):
            output.note(f"tags {tags}: no signatures; functions: {functions}")
        elif output.is_table and functions != "none":
            output.sentence(f"tags {tags}, functions: {functions}", "dim")
    if output.is_table:
        output.line(output.styled("--all shows functions with their arguments, and ops", "dim"))


def _ends(model: SavedModel) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Every input and output of every signature."""
    for meta_graph in model.meta_graphs:
        tags = ",".join(meta_graph.meta_info_def.tags)
        for key in signature_keys(meta_graph):
            signature = meta_graph.signature_def[key]
            for end, tensors in (("input", signature.inputs), ("output", signature.outputs)):
                for name in sorted(tensors):
                    yield tags, key, end, name, describe_tensor_info(tensors[name]), _tensor(tensors[name])


def _tensor(info: TensorInfo) -> str:
    """The name of the tensor; of one that several tensors stand for, what it is made of."""
    return info.name or str(info.WhichOneof("encoding") or "-")


COMMANDS = {
    "saved-model show": Command(
        "Shows the signatures of a SavedModel with their inputs and outputs. With an option it shows tag sets,\n"
        "signatures, functions and ops in the words of TensorFlow's saved_model_cli.",
        (
            "saved-model show export/1                     # signatures with inputs and outputs",
            "saved-model show export/1 --all",
            "saved-model show export/1 --tag_set serve --signature_def serving_default",
            "saved-model show export/1 --json",
        ),
        _add_arguments,
        _run,
    )
}
