# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.training.evaluation import (
    StopAfterNEvalsHook, SummaryAtEndHook, get_or_create_eval_step, wait_for_new_checkpoint,
)
from tensorkeep.tf1.contrib.training.gradient_steps import (
    add_gradients_summaries, clip_gradient_norms, clip_gradient_norms_fn, create_train_op, multiply_gradients,
)
from tensorkeep.tf1.contrib.training.hparam_texts import parse_values
from tensorkeep.tf1.contrib.training.hparams import HParams
from tensorkeep.v1.checkpoints import checkpoints_iterator
from tensorkeep.v1.contrib_loops import evaluate_once, evaluate_repeatedly, train

__all__ = [
    "HParams", "StopAfterNEvalsHook", "SummaryAtEndHook", "add_gradients_summaries", "checkpoints_iterator",
    "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op", "evaluate_once", "evaluate_repeatedly",
    "get_or_create_eval_step", "multiply_gradients", "parse_values", "train", "wait_for_new_checkpoint",
]
