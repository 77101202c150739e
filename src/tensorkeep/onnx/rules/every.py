"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    arithmetic,
    control_flow,
    matrices,
    passing,
    recurrent_cells,
    tensor_arrays,
    tensor_lists,
)

__all__ = ["arithmetic", "control_flow", "matrices", "passing", "recurrent_cells", "tensor_arrays", "tensor_lists"]
