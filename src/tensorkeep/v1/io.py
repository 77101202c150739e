"""`tf.io`: files and examples."""

from __future__ import annotations

from tensorkeep.functions.files import matching_files, read_file, write_file
from tensorkeep.functions.strings import decode_base64, encode_base64
from tensorkeep.train.input_producers import match_filenames_once
from tensorkeep.v1.importing import write_graph

__all__ = [
    "decode_base64",
    "encode_base64",
    "match_filenames_once",
    "matching_files",
    "read_file",
    "write_file",
    "write_graph",
]
