"""`tensorkeep list`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.looking.any_tensors import PATH_HELP, list_any, tell_none, tell_remarks
from tensorkeep.cli.looking.tensor_filters import add_filters, order_of, selection_of
from tensorkeep.cli.output import Column, Output, amount_of, shape_text, size_text
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor
from tensorkeep.inspect.selecting import selected

_COLUMNS = (
    Column("name", "cyan", is_name=True),
    Column("type"),
    Column("shape"),
    Column("elements", is_number=True, spare=1),
    Column("bytes", is_size=True),
    Column("shards", is_name=True, spare=2),
    Column("slices", is_number=True, spare=3),
)


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    add_filters(parser)
    parser.add_argument("--names", action="store_true", help="print names only")
    parser.add_argument("--keys", action="store_true", help="list tensors saved from objects by their keys in the file")


def _run(given: Namespace, output: Output) -> int:
    listing = list_any(given.path, by_key=given.keys)
    tell_remarks(listing, output)
    tensors = selected(listing.tensors, selection_of(given), order_of(given))
    tell_none(tensors, listing, output)
    if output.is_json:
        output.data("list/1", listing_data(listing, tensors))
    elif given.names:
        output.table((_COLUMNS[0],), [(tensor.name,) for tensor in tensors])
    else:
        _print(listing, tensors, output)
    return DONE


def _print(listing: CheckpointListing, tensors: Sequence[StoredTensor], output: Output) -> None:
    rows = [_row(tensor) for tensor in tensors]
    if not output.is_table:
        output.table(_COLUMNS, rows)
        return
    # Columns that say the same of every tensor are left out.
    has_shards, has_slices = len(listing.files) > 2, any(tensor.slices for tensor in tensors)
    kept = [0, 1, 2, 3, 4, *([5] if has_shards else []), *([6] if has_slices else [])]
    output.table([_COLUMNS[at] for at in kept], [[row[at] for at in kept] for row in rows])
    output.line(output.styled(_totals(listing, tensors), "dim"))


def _row(tensor: StoredTensor) -> tuple[object, ...]:
    size = "?" if tensor.nbytes is None else tensor.nbytes
    shards = ",".join(map(str, tensor.shards)) or "-"
    return tensor.name, tensor.dtype, shape_text(tensor.shape), tensor.elements, size, shards, tensor.slices


def _totals(listing: CheckpointListing, tensors: Sequence[StoredTensor]) -> str:
    elements, size = sum(tensor.elements for tensor in tensors), sum(tensor.nbytes or 0 for tensor in tensors)
    text = f"{amount_of(len(tensors), 'tensor')}, {amount_of(elements, 'element')}, {size_text(size)}"
    return text if len(tensors) == len(listing.tensors) else f"{text}, of {amount_of(len(listing.tensors), 'tensor')}"


def listing_data(listing: CheckpointListing, tensors: Sequence[StoredTensor]) -> dict[str, object]:
    """A listing for JSON."""
    return {
        "path": listing.path,
        "format": listing.format,
        "files": [{"path": path, "bytes": size} for path, size in listing.files.items()],
        "tensors": [tensor_data(tensor) for tensor in tensors],
        "remarks": list(listing.remarks),
        "totals": {
            "tensors": len(tensors),
            "elements": sum(tensor.elements for tensor in tensors),
            "bytes": sum(tensor.nbytes or 0 for tensor in tensors),
        },
    }


def tensor_data(tensor: StoredTensor) -> dict[str, object]:
    """A tensor for JSON."""
    return {
        "name": tensor.name,
        "key": tensor.key or tensor.name,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "elements": tensor.elements,
        "bytes": tensor.nbytes,
        "shards": list(tensor.shards),
        "slices": tensor.slices,
    }


COMMANDS = {
    "list": Command(
        "Lists the tensors of a checkpoint, or of another file of tensors: name, type, shape, elements, bytes, data\n"
        "files, slices. Into a pipe goes a line for each tensor, with tabs between these seven.",
        (
            "list run/model-1000",
            "list run                                        # the latest checkpoint in a folder",
            "list export/1 --sort bytes                      # the variables of a SavedModel, largest first",
            "list run/model-1000 --match 'dense*' --exclude '*/Adam*'",
            "list run/model-1000 --regex 'kernel$' --names   # names only",
            "list run/model-1000 --json",
            "list export/1/saved_model.pb",
            "list objects/ckpt-1 --keys                      # of TensorFlow 2, as it is in the file",
        ),
        _add_arguments,
        _run,
    )
}
