# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.resnet_units import (
    Block, conv2d_same, resnet_arg_scope, stack_blocks_dense, subsample,
)

__all__ = [
    "Block", "conv2d_same", "resnet_arg_scope", "stack_blocks_dense", "subsample",
]
