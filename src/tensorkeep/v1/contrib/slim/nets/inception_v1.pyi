# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.inception_v1 import inception_v1, inception_v1_arg_scope, inception_v1_base

__all__ = [
    "inception_v1", "inception_v1_arg_scope", "inception_v1_base",
]
