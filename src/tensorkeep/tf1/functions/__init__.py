"""TensorFlow's functions as compositions of ops: with its names, scopes and defaults.

arrays/          shapes, parts, orders and fillings of tensors
control/         what runs after what, branches, loops, and functions traced into graphs
data/            queues, readers, files, summaries and lookup tables, as programs use them
embedding/       lookups of rows in tables, dense ones and embedding variables
gradients/       gradients: the operations that compute them, added to the graph
images/          `tf.image` and `tf.audio`
linear_algebra/  products, systems and factors of matrices
nn/              `tf.nn` and `tf.losses`: activations, convolutions, pools, normalization, losses
numbers/         mathematics: element by element, along axes, by groups
parsing/         bytes and text: Examples, messages, strings
ragged/          ragged tensors, and the functions of other tensors that take them too
random/          random tensors and their seeds
sparse/          sparse tensors
composites       how sessions fetch and feed values made of several tensors, and how these become one tensor
constants        constants, and how Python's values become tensors
operators        what Python's operators do with tensors
structures       nested structures of values: flat lists of their leaves, and back
type_specs       what kind of value is meant
"""

from tensorkeep.ops import every
from tensorkeep.tf1.functions import composites, operators
from tensorkeep.tf1.functions.arrays import slicing
from tensorkeep.tf1.functions.gradients import function_gradients

# Whoever uses any function can use Python's operators on tensors, fetch sparse tensors, differentiate calls, and run
# what was built.
__all__ = ["composites", "every", "function_gradients", "operators", "slicing"]
