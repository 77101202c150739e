# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.strategies import MirroredStrategy, OneDeviceStrategy

__all__ = [
    "MirroredStrategy", "OneDeviceStrategy",
]
