# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.summaries import (
    add_histogram_summaries, add_histogram_summary, add_image_summaries, add_image_summary, add_scalar_summaries,
    add_scalar_summary, add_zero_fraction_summaries, add_zero_fraction_summary,
)

__all__ = [
    "add_histogram_summaries", "add_histogram_summary", "add_image_summaries", "add_image_summary",
    "add_scalar_summaries", "add_scalar_summary", "add_zero_fraction_summaries", "add_zero_fraction_summary",
]
