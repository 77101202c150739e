# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib.tensorboard.plugins import projector

__all__ = [
    "projector",
]
