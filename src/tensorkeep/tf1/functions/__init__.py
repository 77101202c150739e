"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults."""

from tensorkeep.ops import every
from tensorkeep.tf1.functions import composites, operators
from tensorkeep.tf1.functions.arrays import slicing
from tensorkeep.tf1.functions.gradients import function_gradients

# Whoever uses any function can use Python's operators on tensors, fetch sparse tensors, differentiate calls, and run
# what was built.
__all__ = ["composites", "every", "function_gradients", "operators", "slicing"]
