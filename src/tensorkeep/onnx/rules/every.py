"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import arithmetic, embeddings, matrices, passing, tables, text

__all__ = ["arithmetic", "embeddings", "matrices", "passing", "tables", "text"]
