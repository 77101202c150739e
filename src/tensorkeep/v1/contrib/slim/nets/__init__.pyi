# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib.slim.nets import (
    alexnet, inception, inception_v1, inception_v2, inception_v3, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg,
)

__all__ = [
    "alexnet", "inception", "inception_v1", "inception_v2", "inception_v3", "overfeat", "resnet_utils", "resnet_v1",
    "resnet_v2", "vgg",
]
