# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.inception_v2 import inception_v2, inception_v2_arg_scope, inception_v2_base

__all__ = [
    "inception_v2", "inception_v2_arg_scope", "inception_v2_base",
]
