"""Which embedding variables an operation saves, read off the graph, and whether a session has them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.naming import index_path
from tensorkeep.embedding.naming import record_folder, record_path
from tensorkeep.errors import AlreadyExistsError, NotFoundError
from tensorkeep.graph.graph import Operation
from tensorkeep.io.filesystem import FileSystem
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.train.restore_nodes import all_before

_HANDLE: Final = "KvVarHandleOp"


@dataclass(frozen=True)
class SavedEmbeddings:
    """The handles of the embedding variables that are saved."""

    handles: tuple[Operation, ...]

    @classmethod
    def of(cls, saving: Operation) -> SavedEmbeddings:
        """Follows an operation back to all that it saves: by numbers, or by handles in graphs of DeepRec up to 2212."""
        handles = []
        for op in all_before(saving):
            if op.type == "KvResourceLookupResource":
                handles.append(op.inputs[0].op)
            elif op.type == "SaveV2":
                handles += [tensor.op for tensor in op.inputs[3:] if tensor.op.type == _HANDLE]
        return cls(tuple(handles))

    def check(self, resources: ResourceManager) -> None:
        """Says which of them have no rows to save: they were neither initialized nor restored."""
        missing = [handle.name for handle in self.handles if not _is_there(handle, resources)]
        if missing:
            names = ", ".join(f'"{name}"' for name in missing)
            raise NotFoundError(
                f"nothing can be saved: these embedding variables have neither been initialized nor restored: {names}. "
                "Run their initializers (tf.global_variables_initializer()) or restore them first"
            )

    def check_records(self, prefix: str, fs: FileSystem) -> None:
        """AlreadyExistsError if records of an SSD tier, of another checkpoint, would be taken for the new one's."""
        folder = posixpath.dirname(prefix) or "."
        if not self.handles or not fs.is_directory(folder):
            return
        present = set(fs.list(folder))
        for stem in (_names_of(handle)[1] for handle in self.handles if handle.type == _HANDLE):
            if posixpath.basename(index_path(record_path(prefix, stem))) in present:
                raise AlreadyExistsError(
                    f'"{record_path(prefix, stem)}" holds records of an SSD tier, which would be taken for rows of the '
                    f'"{stem}" that is to be saved: delete it and "{record_folder(prefix, stem)}", or save under '
                    "another name"
                )


def _is_there(handle: Operation, resources: ResourceManager) -> bool:
    if handle.type != _HANDLE:
        return True  # its own operation will say
    found = resources.find(*_names_of(handle))
    return bool(getattr(found, "is_initialized", False))


def _names_of(handle: Operation) -> tuple[str, str]:
    """The container that a variable is in, and its name there. It is saved under that, unless a saver has another."""
    container, name = (handle.attr(attr).decode() for attr in ("container", "shared_name"))
    return container, name or handle.name


__all__ = ["SavedEmbeddings"]
