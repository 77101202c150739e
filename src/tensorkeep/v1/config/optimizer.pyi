# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.settings import get_experimental_options, get_jit, set_experimental_options, set_jit

__all__ = [
    "get_experimental_options", "get_jit", "set_experimental_options", "set_jit",
]
