# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.small_spaces import resampler

__all__ = [
    "resampler",
]
