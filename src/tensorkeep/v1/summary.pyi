# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.proto.messages import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata
from tensorkeep.tf1.functions.data.summaries import (
    audio, histogram, image, merge, merge_all, scalar, tensor_summary, text,
)
from tensorkeep.tf1.training.loops.events import FileWriter, FileWriterCache

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata",
    "audio", "histogram", "image", "merge", "merge_all", "scalar", "tensor_summary", "text",
]
