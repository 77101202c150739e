# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.summary import (
    SummaryWriter, all_summary_ops, always_record_summaries, audio, create_db_writer, create_file_writer,
    create_file_writer as create_summary_file_writer, eval_dir, flush, generic, histogram, image, import_event,
    never_record_summaries, record_if, record_summaries_every_n_global_steps, scalar, should_record_summaries,
    summary_writer_initializer_op,
)
from tensorkeep.v1.learning.contrib_loops import initialize

__all__ = [
    "SummaryWriter", "all_summary_ops", "always_record_summaries", "audio", "create_db_writer", "create_file_writer",
    "create_summary_file_writer", "eval_dir", "flush", "generic", "histogram", "image", "import_event", "initialize",
    "never_record_summaries", "record_if", "record_summaries_every_n_global_steps", "scalar",
    "should_record_summaries", "summary_writer_initializer_op",
]
