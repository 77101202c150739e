# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.initializers import (
    variance_scaling_initializer, xavier_initializer, xavier_initializer as xavier_initializer_conv2d,
)

__all__ = [
    "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d",
]
