# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib.compiler import jit, xla

__all__ = [
    "jit", "xla",
]
