"""Training: optimizers, learning rates, and what keeps a run going."""
