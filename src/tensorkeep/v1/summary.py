"""`tf.summary`: summaries."""

from __future__ import annotations

from tensorkeep.functions.summaries import audio, histogram, image, merge, merge_all, scalar, tensor_summary, text
from tensorkeep.proto.messages import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata
from tensorkeep.train.events import FileWriter, FileWriterCache

__all__ = [
    "Event",
    "FileWriter",
    "FileWriterCache",
    "SessionLog",
    "Summary",
    "SummaryDescription",
    "TaggedRunMetadata",
    "audio",
    "histogram",
    "image",
    "merge",
    "merge_all",
    "scalar",
    "tensor_summary",
    "text",
]
