"""Which embedding variables an operation saves, read off the graph, and whether a session has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import NotFoundError
from tensorkeep.graph.graph import Operation
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.saving.restore_nodes import all_before

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

    @property
    def stems(self) -> list[str]:
        """The names under which they are saved, unless the saver has others."""
        return [_names_of(handle)[1] for handle in self.handles if handle.type == _HANDLE]


def _is_there(handle: Operation, resources: ResourceManager) -> bool:
    if handle.type != _HANDLE:
        return True  # its own operation will say
    found = resources.find(*_names_of(handle))
    return bool(getattr(found, "is_initialized", False))


def _names_of(handle: Operation) -> tuple[str, str]:
    """The container that a variable is in, and its name there. It is saved under that, unless a saver has another."""
    container, name = (handle.attr(attr).decode() for attr in ("container", "shared_name"))
    return container, name or handle.name
