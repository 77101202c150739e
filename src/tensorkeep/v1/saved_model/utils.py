"""`tf.saved_model.utils`."""

from __future__ import annotations

from typing import Any

from tensorkeep.proto.messages import TensorInfo
from tensorkeep.saved_model.files import tensor_info as tensor_infos
from tensorkeep.saved_model.files.tensor_info import build_tensor_info
from tensorkeep.tf1.saved_model import ragged_info  # noqa: F401 - so that ragged tensors are made, too
from tensorkeep.v1.defaults import get_default_graph


def get_tensor_from_tensor_info(tensor_info: TensorInfo, graph: Any = None, import_scope: str | None = None) -> Any:
    """The tensor or composite of a graph that a TensorInfo describes."""
    return tensor_infos.get_tensor_from_tensor_info(tensor_info, graph or get_default_graph(), import_scope)


__all__ = ["build_tensor_info", "get_tensor_from_tensor_info"]
