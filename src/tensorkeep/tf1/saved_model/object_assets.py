"""Files as objects: an attribute of what is saved, whose path a function may use wherever the model is loaded."""

from __future__ import annotations

from tensorkeep.dtypes import STRING
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import unique_name
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.shapes import Shape
from tensorkeep.tf1.training.objects.trackable import AutoTrackable


class Asset(AutoTrackable):
    """A file that is copied into a model with the object that has it. `asset_path` is its path, as a tensor."""

    def __init__(self, path: TensorLike) -> None:
        self._path = convert(path, STRING, "asset_path")

    @property
    def asset_path(self) -> Tensor:
        return self._path


def asset_stand_in() -> tuple[Tensor, Operation, Tensor]:
    """In the graph being built, the input for a path, what keeps it, and the path from then on.

    Loaders give paths only to what runs when they load a model.
    """
    scalar = Shape(())
    given = emit(placeholder, dtype=STRING, shape=scalar, name="asset_path_initializer")
    name = unique_name("Variable", mark_as_used=False)
    handle = emit("VarHandleOp", dtype=STRING, shape=scalar, shared_name=name, name="Variable")
    kept = emit_operation("AssignVariableOp", handle, given, name=f"{handle.op.name}/Assign")
    return given, kept, emit("ReadVariableOp", handle, dtype=STRING)
