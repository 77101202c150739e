# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.resnet_units import resnet_arg_scope
from tensorkeep.tf1.contrib.slim.nets.resnet_v1 import (
    bottleneck, resnet_v1, resnet_v1_101, resnet_v1_152, resnet_v1_200, resnet_v1_50, resnet_v1_block,
)
from tensorkeep.v1.contrib.slim.nets import resnet_utils

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_utils", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200",
    "resnet_v1_50", "resnet_v1_block",
]
