"""What a path stands for in commands that look at tensors: a checkpoint, or any other file that holds them.

What is no checkpoint is told by the end of its name: looking into a checkpoint, which is what is mostly done, then
takes no import of all formats that there are. What that does not tell is told by the contents.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import tensorkeep as tk
from tensorkeep.checkpoint.finding.file_names import IN_MODEL, OBJECT_GRAPH_KEY, index_path, prefix_of_file
from tensorkeep.cli.output import Output, amount_of
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.inspect.listing import CheckpointListing, list_checkpoint
from tensorkeep.io.files.everywhere import FILES

if TYPE_CHECKING:
    from tensorkeep.checkpoint.reader import CheckpointReader
    from tensorkeep.convert.hub import TensorSource

OTHER_ENDINGS: Final = (
    *(".safetensors", ".npz", ".keras", ".h5", ".hdf5", ".pt", ".pth", ".bin", ".index.json", ".pb", ".pbtxt"),
)
_MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")
_SHARDS: Final = "model.safetensors.index.json"

PATH_HELP: Final = "a checkpoint: prefix, file or folder; a SavedModel; .safetensors, .npz, .keras, .h5, .pt, .pb"


def list_any(path: str, *, by_key: bool = False) -> CheckpointListing:
    """What a checkpoint, or another file of tensors, holds.

    Variables of an object-based checkpoint go by their names, each once; or all of its tensors by their keys.
    """
    path = meant_path(path)
    if not _is_other(path):
        try:
            listing = list_checkpoint(path)
            has_objects = any(tensor.name == OBJECT_GRAPH_KEY for tensor in listing.tensors)
            return tk.inspect.list_variables(listing) if has_objects and not by_key else listing
        except DataLossError:
            if not holds_other(path):  # it is one that is damaged
                raise
    with tk.convert.open_tensors(path) as tensors:
        return tk.inspect.list_opened(tensors)


def open_any(path: str) -> TensorSource:
    """Opens a checkpoint, or another file of tensors. Use it with `with`."""
    path = meant_path(path)
    if not _is_other(path):
        try:
            return _by_variable_names(tk.open_checkpoint(path))
        except DataLossError:
            if not holds_other(path):
                raise
    return tk.convert.open_tensors(path)


def _by_variable_names(reader: CheckpointReader) -> CheckpointReader:
    """The checkpoint by the names of its variables; if these cannot be told, by its keys, as `list_any` lists them."""
    try:
        return tk.named_variables(reader)
    except TensorKeepError:
        return reader


def tell_remarks(listing: CheckpointListing, output: Output) -> None:
    """Says on standard error what is to be known of the names in a listing; a document has it in itself."""
    for remark in () if output.is_json else listing.remarks:
        output.note(remark)


def tell_none(chosen: Sequence[object], listing: CheckpointListing, output: Output) -> None:
    """Says that nothing is shown because nothing fits what was asked for, where there is something."""
    if not chosen and listing.tensors and not output.is_json:
        count = amount_of(len(listing.tensors), "tensor")
        output.note(f"none of {count} fits what --match, --regex and --exclude ask for")


def meant_path(path: str) -> str:
    """The path that is meant: for the file of a SavedModel, the directory of the model."""
    return posixpath.dirname(path) or "." if posixpath.basename(path) in _MODEL_FILES else path


def holds_other(path: str) -> bool:
    """Whether a path is no checkpoint, not even a damaged one, but another file of tensors or a SavedModel without
    variables.
    """
    if _is_other(path):
        return True
    prefixes = (path, prefix_of_file(path))
    is_part = any(FILES.exists(index_path(prefix)) for prefix in prefixes if prefix)
    if is_part or not FILES.exists(path) or FILES.is_directory(path):
        return False
    found = tk.inspect.identify(path)
    return found.is_known and "checkpoint" not in found.kind


def _is_other(path: str) -> bool:
    """Whether a path is another file of tensors than a checkpoint, as far as the names of files tell."""
    if FILES.is_directory(path):
        if FILES.exists(posixpath.join(path, _SHARDS)):
            return True
        is_model = any(FILES.exists(posixpath.join(path, name)) for name in _MODEL_FILES)
        return is_model and not FILES.exists(index_path(posixpath.join(path, IN_MODEL)))
    return path.lower().endswith(OTHER_ENDINGS) and FILES.exists(path)


def require_checkpoint(path: str, why: str) -> None:
    """InvalidArgumentError if a path is a file of tensors other than a checkpoint, which the command cannot work on."""
    if holds_other(meant_path(path)):
        raise InvalidArgumentError(f'"{path}" is no checkpoint{why}')
