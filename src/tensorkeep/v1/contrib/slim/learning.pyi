# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.learning import (
    add_slim_gradients_summaries as add_gradients_summaries, create_slim_train_op as create_train_op, train_step,
)
from tensorkeep.tf1.contrib.training.gradient_steps import clip_gradient_norms, multiply_gradients
from tensorkeep.v1.learning.contrib_loops import slim_train as train

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train", "train_step",
]
