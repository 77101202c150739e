"""Has signatures give ragged tensors, made of their values and splits. Importing the module registers it."""

from __future__ import annotations

from tensorkeep.graph.graph import Tensor
from tensorkeep.proto.messages import TypeSpecProto
from tensorkeep.saved_model.files.tensor_info import register_composite
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor


def ragged_of_parts(spec: TypeSpecProto, parts: list[Tensor]) -> RaggedTensor | Tensor:
    """The ragged tensor of these values and splits, the outermost first; the values themselves if there are none."""
    values, *splits = parts
    if not splits:
        return values
    ragged: RaggedTensor | Tensor = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    return ragged


register_composite(TypeSpecProto.RAGGED_TENSOR_SPEC, ragged_of_parts)
