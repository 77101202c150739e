# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.nets.vgg import vgg_16, vgg_19, vgg_a, vgg_arg_scope, vgg_d, vgg_e

__all__ = [
    "vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e",
]
