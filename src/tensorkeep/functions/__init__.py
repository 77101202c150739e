"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults."""
