"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults."""

from tensorkeep.functions import composites, function_gradients, operators, slicing
from tensorkeep.ops import every

# Whoever uses any function can use Python's operators on tensors, fetch sparse tensors, differentiate calls, and run
# what was built.
__all__ = ["composites", "every", "function_gradients", "operators", "slicing"]
