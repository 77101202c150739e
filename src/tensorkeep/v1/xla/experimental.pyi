# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.small_spaces import compile_computation as compile, experimental_jit_scope as jit_scope

__all__ = [
    "compile", "jit_scope",
]
