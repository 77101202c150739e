# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.training.bucketing import bucket, bucket_by_sequence_length
from tensorkeep.tf1.contrib.training.evaluation import (
    StopAfterNEvalsHook, SummaryAtEndHook, get_or_create_eval_step, wait_for_new_checkpoint,
)
from tensorkeep.tf1.contrib.training.gradient_steps import (
    add_gradients_summaries, clip_gradient_norms, clip_gradient_norms_fn, create_train_op, multiply_gradients,
)
from tensorkeep.tf1.contrib.training.hparam_texts import parse_values
from tensorkeep.tf1.contrib.training.hparams import HParams
from tensorkeep.tf1.contrib.training.resampling import resample_at_rate, weighted_resample
from tensorkeep.tf1.contrib.training.sampling import rejection_sample, stratified_sample
from tensorkeep.tf1.contrib.training.sequence_states import (
    NextQueuedSequenceBatch, SequenceQueueingStateSaver, batch_sequences_with_states,
)
from tensorkeep.tf1.training.loops.device_setter import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn
from tensorkeep.v1.learning.contrib_loops import evaluate_once, evaluate_repeatedly, train
from tensorkeep.v1.stored.checkpoints import checkpoints_iterator

__all__ = [
    "GreedyLoadBalancingStrategy", "HParams", "NextQueuedSequenceBatch", "RandomStrategy",
    "SequenceQueueingStateSaver", "StopAfterNEvalsHook", "SummaryAtEndHook", "add_gradients_summaries",
    "batch_sequences_with_states", "bucket", "bucket_by_sequence_length", "byte_size_load_fn", "checkpoints_iterator",
    "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op", "evaluate_once", "evaluate_repeatedly",
    "get_or_create_eval_step", "multiply_gradients", "parse_values", "rejection_sample", "resample_at_rate",
    "stratified_sample", "train", "wait_for_new_checkpoint", "weighted_resample",
]
