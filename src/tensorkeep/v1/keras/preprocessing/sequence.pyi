# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.preprocessing.sequences import (
    TimeseriesGenerator, make_sampling_table, pad_sequences, skipgrams,
)

__all__ = [
    "TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams",
]
