"""Which embedding variables an operation saves, read off the graph, and whether a session has them."""

from __future__ import annotations

from dataclasses import dataclass

from tensorkeep.errors import NotFoundError
from tensorkeep.graph.graph import Operation
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.train.restore_nodes import all_before


@dataclass(frozen=True)
class SavedEmbeddings:
    """The handles of the embedding variables that are saved."""

    handles: tuple[Operation, ...]

    @classmethod
    def of(cls, saving: Operation) -> SavedEmbeddings:
        """Follows an operation back to all that it saves."""
        addresses = (op for op in all_before(saving) if op.type == "KvResourceLookupResource")
        return cls(tuple(op.inputs[0].op for op in addresses))

    def check(self, resources: ResourceManager) -> None:
        """Says which of them have no rows to save: they were neither initialized nor restored."""
        missing = [handle.name for handle in self.handles if not _is_there(handle, resources)]
        if missing:
            names = ", ".join(f'"{name}"' for name in missing)
            raise NotFoundError(
                f"nothing can be saved: these embedding variables have neither been initialized nor restored: {names}. "
                "Run their initializers (tf.global_variables_initializer()) or restore them first"
            )


def _is_there(handle: Operation, resources: ResourceManager) -> bool:
    if handle.type != "KvVarHandleOp":
        return True  # its own operation will say
    container, name = (handle.attr(attr).decode() for attr in ("container", "shared_name"))
    found = resources.find(container, name or handle.name)
    return bool(getattr(found, "is_initialized", False))


__all__ = ["SavedEmbeddings"]
