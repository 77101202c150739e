# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.queues import prefetch_queue

__all__ = [
    "prefetch_queue",
]
