# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.inception_v3 import inception_v3, inception_v3_arg_scope, inception_v3_base

__all__ = [
    "inception_v3", "inception_v3_arg_scope", "inception_v3_base",
]
