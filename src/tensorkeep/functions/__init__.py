"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults."""

from tensorkeep.ops import every

__all__ = ["every"]  # whoever builds graphs with functions can run them
