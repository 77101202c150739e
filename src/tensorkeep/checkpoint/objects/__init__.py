"""Object-based checkpoints (TensorFlow 2): a bundle, and a graph of the objects that its tensors belong to.

array_trees     trees of arrays as object-based checkpoints
graph           from objects to the graph of them that a checkpoint holds
reader          object-based checkpoints (TensorFlow 2)
variable_names  the names by which people know the tensors of an object-based checkpoint
"""
