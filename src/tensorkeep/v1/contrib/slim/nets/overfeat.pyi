# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.plain import overfeat, overfeat_arg_scope

__all__ = [
    "overfeat", "overfeat_arg_scope",
]
