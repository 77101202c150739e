# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.plain import alexnet_v2, alexnet_v2_arg_scope

__all__ = [
    "alexnet_v2", "alexnet_v2_arg_scope",
]
