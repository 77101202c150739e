# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.proto.messages import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata
from tensorkeep.tf1.contrib.summary import all_summary_ops as all_v2_summary_ops
from tensorkeep.tf1.functions.data.summaries import (
    audio, histogram, image, merge, merge_all, scalar, tensor_summary, text,
)
from tensorkeep.tf1.training.loops.events import FileWriter, FileWriterCache
from tensorkeep.v1.learning.contrib_loops import initialize

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata",
    "all_v2_summary_ops", "audio", "histogram", "image", "initialize", "merge", "merge_all", "scalar",
    "tensor_summary", "text",
]
