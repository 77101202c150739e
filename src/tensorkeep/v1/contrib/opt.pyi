# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.opt.adams import (
    AdaMaxOptimizer, AdamGSOptimizer, LazyAdamGSOptimizer, LazyAdamOptimizer, NadamOptimizer,
)
from tensorkeep.tf1.contrib.opt.averaging import (
    AGNCustomGetter, AGNOptimizer, ElasticAverageCustomGetter, ModelAverageCustomGetter, ModelAverageOptimizer,
)
from tensorkeep.tf1.contrib.opt.layers import LARSOptimizer
from tensorkeep.tf1.contrib.opt.matrices import GGTOptimizer, ShampooOptimizer
from tensorkeep.tf1.contrib.opt.signs import AddSignOptimizer, PowerSignOptimizer
from tensorkeep.tf1.contrib.opt.steps import DelayCompensatedGradientDescentOptimizer, RegAdagradOptimizer
from tensorkeep.tf1.contrib.opt.wrappers import (
    DecoupledWeightDecayExtension, DropStaleGradientOptimizer, MomentumWOptimizer, MultitaskOptimizerWrapper,
    VariableClippingOptimizer, clip_gradients_by_global_norm, extend_with_decoupled_weight_decay,
)
from tensorkeep.tf1.training.optimizers.decaying import AdamWOptimizer
from tensorkeep.v1.learning.contrib_loops import (
    ElasticAverageOptimizer, ExternalOptimizerInterface, MovingAverageOptimizer, ScipyOptimizerInterface,
)

__all__ = [
    "AGNCustomGetter", "AGNOptimizer", "AdaMaxOptimizer", "AdamGSOptimizer", "AdamWOptimizer", "AddSignOptimizer",
    "DecoupledWeightDecayExtension", "DelayCompensatedGradientDescentOptimizer", "DropStaleGradientOptimizer",
    "ElasticAverageCustomGetter", "ElasticAverageOptimizer", "ExternalOptimizerInterface", "GGTOptimizer",
    "LARSOptimizer", "LazyAdamGSOptimizer", "LazyAdamOptimizer", "ModelAverageCustomGetter", "ModelAverageOptimizer",
    "MomentumWOptimizer", "MovingAverageOptimizer", "MultitaskOptimizerWrapper", "NadamOptimizer",
    "PowerSignOptimizer", "RegAdagradOptimizer", "ScipyOptimizerInterface", "ShampooOptimizer",
    "VariableClippingOptimizer", "clip_gradients_by_global_norm", "extend_with_decoupled_weight_decay",
]
