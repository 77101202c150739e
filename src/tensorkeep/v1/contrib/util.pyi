# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.framework import get_static_value as constant_value, make_ndarray, make_tensor_proto

__all__ = [
    "constant_value", "make_ndarray", "make_tensor_proto",
]
