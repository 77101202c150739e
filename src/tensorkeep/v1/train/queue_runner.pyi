# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.v1.learning.training import start_queue_runners

__all__ = [
    "QueueRunner", "add_queue_runner", "start_queue_runners",
]
