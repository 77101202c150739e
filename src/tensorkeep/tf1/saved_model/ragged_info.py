"""Ragged tensors among the inputs and outputs of signatures: made of their parts. Importing this is enough."""

from __future__ import annotations

from typing import Any

from tensorkeep.proto.messages import TypeSpecProto
from tensorkeep.saved_model.files.tensor_info import register_composite
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor


def ragged_of_parts(spec: TypeSpecProto, parts: list[Any]) -> Any:
    """The ragged tensor of these values and splits, the outermost first; the values themselves if there are none."""
    values, *splits = parts
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False) if splits else values


register_composite(TypeSpecProto.RAGGED_TENSOR_SPEC, ragged_of_parts)

__all__ = ["ragged_of_parts"]
