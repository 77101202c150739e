"""A graph as data: operations, tensors, and the ops they are instances of. Knows no kernels and no disk."""
