# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.training.evaluation import (
    StopAfterNEvalsHook, SummaryAtEndHook, get_or_create_eval_step, wait_for_new_checkpoint,
)
from tensorkeep.v1.learning.contrib_loops import (
    evaluate_repeatedly, evaluation_loop, slim_evaluate_once as evaluate_once,
)
from tensorkeep.v1.stored.checkpoints import checkpoints_iterator

__all__ = [
    "StopAfterNEvalsHook", "SummaryAtEndHook", "checkpoints_iterator", "evaluate_once", "evaluate_repeatedly",
    "evaluation_loop", "get_or_create_eval_step", "wait_for_new_checkpoint",
]
