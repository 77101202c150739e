"""`tf.io`: files and examples."""

from __future__ import annotations

from tensorkeep.functions.strings import decode_base64, encode_base64
from tensorkeep.v1.importing import write_graph

__all__ = [
    "decode_base64",
    "encode_base64",
    "write_graph",
]
