# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.xla import experimental

__all__ = [
    "experimental",
]
