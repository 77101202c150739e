# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.training.optimizers.loss_scaling import DynamicLossScale, FixedLossScale, LossScale

__all__ = [
    "DynamicLossScale", "FixedLossScale", "LossScale",
]
