"""`tf.train.queue_runner`: threads that keep queues filled."""

from __future__ import annotations

from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.v1.training import start_queue_runners

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]
