"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import arithmetic, matrices, passing

__all__ = ["arithmetic", "matrices", "passing"]
