"""`tf.summary`: summaries."""

from __future__ import annotations

from tensorkeep.functions.summaries import audio, histogram, image, merge, merge_all, scalar, tensor_summary, text

__all__ = [
    "audio",
    "histogram",
    "image",
    "merge",
    "merge_all",
    "scalar",
    "tensor_summary",
    "text",
]
