"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults."""

from tensorkeep.functions import composites, operators, slicing
from tensorkeep.ops import every

# Whoever uses any function can use Python's operators on tensors, fetch sparse tensors, and run what was built.
__all__ = ["composites", "every", "operators", "slicing"]
