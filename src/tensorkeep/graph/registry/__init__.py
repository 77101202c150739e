"""What is known of ops: signatures, how many tensors each gives, what it may do besides computing.

capabilities   what ops do besides computing
computing_ops  the ops of TensorFlow and DeepRec whose outputs follow from their inputs and attributes alone, by
               family
effect_ops     the ops of TensorFlow and DeepRec that do more than compute, by what they do
known_ops      the signatures of TensorFlow's ops that have no paragraph in `ops/`, one a line
op_families    in which file of `ops/` the paragraph of an op is; a tool writes this
op_outputs     how many tensors an op of TensorFlow gives, if it is not one; a tool writes this
opspec         ops: one object each, holding all that is known of it
schema         op signatures: the text, the schema it states, and the OpDef both stand for
stateful_ops   the ops of TensorFlow and DeepRec that keep state, draw from chance or run functions
"""
