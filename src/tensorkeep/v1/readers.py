"""Readers of the first input pipelines: `tf.TFRecordReader` and its kin."""

from __future__ import annotations

from typing import Any

from tensorkeep.ops.data.readers import tf_record_reader_v2
from tensorkeep.tf1.functions.data.readers import (
    FixedLengthRecordReader,
    IdentityReader,
    ReaderBase,
    TextLineReader,
    WholeFileReader,
)
from tensorkeep.v1.python_io import TFRecordOptions


class TFRecordReader(ReaderBase):
    """Gives the records of record files, by file and place."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression_type = TFRecordOptions.get_compression_type_string(options)
        super().__init__(tf_record_reader_v2(name=name, compression_type=compression_type))


__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]
