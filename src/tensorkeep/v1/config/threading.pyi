# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.settings import (
    get_inter_op_parallelism_threads, get_intra_op_parallelism_threads, set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)

__all__ = [
    "get_inter_op_parallelism_threads", "get_intra_op_parallelism_threads", "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]
