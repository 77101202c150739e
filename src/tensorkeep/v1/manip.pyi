# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.arrays.patches import batch_to_space_nd, space_to_batch_nd
from tensorkeep.tf1.functions.arrays.shapes import reshape, roll
from tensorkeep.tf1.functions.arrays.slicing import scatter_nd
from tensorkeep.tf1.functions.ragged.dispatch import gather_nd, reverse, tile

__all__ = [
    "batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile",
]
