# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.mixed_precision import (
    ExponentialUpdateLossScaleManager, FixedLossScaleManager, LossScaleManager, LossScaleOptimizer,
)

__all__ = [
    "ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager", "LossScaleOptimizer",
]
