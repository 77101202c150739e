"""What a path stands for in commands that look at tensors: a checkpoint, or any other file that holds them.

What is no checkpoint is told by the end of its name: looking into a checkpoint, which is what is mostly done, then
takes no import of all formats that there are.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

import tensorkeep as tk
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, file_size, list_checkpoint
from tensorkeep.io.local import LOCAL

if TYPE_CHECKING:
    from tensorkeep.convert.hub import TensorSource

OTHER_ENDINGS: Final = (".safetensors", ".npz", ".h5", ".hdf5", ".pt", ".pth", ".bin", ".index.json", ".pb", ".pbtxt")
_MODEL_FILES: Final = ("saved_model.pb", "saved_model.pbtxt")

PATH_HELP: Final = "a checkpoint: prefix, file or folder; a SavedModel; .safetensors, .npz, .h5, .pt, .pb"


def list_any(path: str) -> CheckpointListing:
    """What a checkpoint, or another file of tensors, holds."""
    path = _meant(path)
    if not _is_other(path):
        try:
            return list_checkpoint(path)
        except DataLossError as error:
            raise _explained(path, error) from error
    with tk.convert.open_tensors(path) as tensors:
        found = [
            StoredTensor(name, tensors[name].dtype, tensors[name].shape, tensors[name].nbytes)
            for name in sorted(tensors)
        ]
        return CheckpointListing(path, tensors.format, {path: file_size(path, LOCAL)}, tuple(found))


def open_any(path: str) -> TensorSource:
    """Opens the same. Use it with `with`."""
    path = _meant(path)
    if _is_other(path):
        return tk.convert.open_tensors(path)
    inside = f"{path.rstrip('/')}/variables/variables"
    try:
        return tk.open_checkpoint(inside if LOCAL.exists(f"{inside}.index") else path)
    except DataLossError as error:
        raise _explained(path, error) from error


def require_checkpoint(path: str, why: str) -> None:
    """InvalidArgumentError if it is another file of tensors, of which a command can say nothing."""
    if _is_other(path) and posixpath.basename(path) not in _MODEL_FILES:
        raise InvalidArgumentError(f'"{path}" is no checkpoint{why}')


def _meant(path: str) -> str:
    """The file of a SavedModel stands for the model."""
    return posixpath.dirname(path) or "." if posixpath.basename(path) in _MODEL_FILES else path


def _is_other(path: str) -> bool:
    return path.lower().endswith(OTHER_ENDINGS) and LOCAL.exists(path) and not LOCAL.is_directory(path)


def _explained(path: str, error: DataLossError) -> Exception:
    """The same error, unless it is because of a file of quite another kind."""
    if not LOCAL.exists(path) or LOCAL.is_directory(path):
        return error
    found = tk.inspect.identify(path)
    if "checkpoint" in found.kind or not found.is_known:  # it may be one that is damaged
        return error
    return InvalidArgumentError(f'"{path}" is no checkpoint, and no other file of tensors, but {found.kind}')


__all__ = ["OTHER_ENDINGS", "PATH_HELP", "list_any", "open_any", "require_checkpoint"]
