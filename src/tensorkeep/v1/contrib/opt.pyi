# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.opt import (
    AdaMaxOptimizer, DecoupledWeightDecayExtension, LazyAdamOptimizer, MomentumWOptimizer, MultitaskOptimizerWrapper,
    NadamOptimizer, clip_gradients_by_global_norm, extend_with_decoupled_weight_decay,
)
from tensorkeep.tf1.training.optimizers.decaying import AdamWOptimizer
from tensorkeep.v1.contrib_loops import MovingAverageOptimizer

__all__ = [
    "AdaMaxOptimizer", "AdamWOptimizer", "DecoupledWeightDecayExtension", "LazyAdamOptimizer", "MomentumWOptimizer",
    "MovingAverageOptimizer", "MultitaskOptimizerWrapper", "NadamOptimizer", "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]
