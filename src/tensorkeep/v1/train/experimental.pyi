# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.training.optimizers.loss_scaling import (
    DynamicLossScale, FixedLossScale, LossScale, MixedPrecisionLossScaleOptimizer,
    disable_mixed_precision_graph_rewrite, enable_mixed_precision_graph_rewrite,
)

__all__ = [
    "DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite",
]
