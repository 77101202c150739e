"""`tf.contrib.framework`: arguments by scope, variables by name, and checks of tensors.

arg_scopes     default arguments of functions for a stretch of a program: `arg_scope`
bounded_specs  what tensors are, and between which numbers
tensors        checks of the shapes and types of tensors, and what graphs have
values         variables set from values and from checkpoints
variables      variables of a model: made, listed and found
"""
