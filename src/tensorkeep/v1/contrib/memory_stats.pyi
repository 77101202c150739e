# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.small_spaces import (
    bytes_in_use as BytesInUse, bytes_limit as BytesLimit, max_bytes_in_use as MaxBytesInUse,
)

__all__ = [
    "BytesInUse", "BytesLimit", "MaxBytesInUse",
]
