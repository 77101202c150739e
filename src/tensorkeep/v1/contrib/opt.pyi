# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.opt.adams import AdaMaxOptimizer, LazyAdamOptimizer, NadamOptimizer
from tensorkeep.tf1.contrib.opt.layers import LARSOptimizer
from tensorkeep.tf1.contrib.opt.matrices import GGTOptimizer, ShampooOptimizer
from tensorkeep.tf1.contrib.opt.signs import AddSignOptimizer, PowerSignOptimizer
from tensorkeep.tf1.contrib.opt.wrappers import (
    DecoupledWeightDecayExtension, DropStaleGradientOptimizer, MomentumWOptimizer, MultitaskOptimizerWrapper,
    VariableClippingOptimizer, clip_gradients_by_global_norm, extend_with_decoupled_weight_decay,
)
from tensorkeep.tf1.training.optimizers.decaying import AdamWOptimizer
from tensorkeep.v1.learning.contrib_loops import (
    ExternalOptimizerInterface, MovingAverageOptimizer, ScipyOptimizerInterface,
)

__all__ = [
    "AdaMaxOptimizer", "AdamWOptimizer", "AddSignOptimizer", "DecoupledWeightDecayExtension",
    "DropStaleGradientOptimizer", "ExternalOptimizerInterface", "GGTOptimizer", "LARSOptimizer", "LazyAdamOptimizer",
    "MomentumWOptimizer", "MovingAverageOptimizer", "MultitaskOptimizerWrapper", "NadamOptimizer",
    "PowerSignOptimizer", "ScipyOptimizerInterface", "ShampooOptimizer", "VariableClippingOptimizer",
    "clip_gradients_by_global_norm", "extend_with_decoupled_weight_decay",
]
