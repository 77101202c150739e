"""Models made without TensorFlow: of a checkpoint, of a function that builds a graph, of layers as values.

graph_exporting  SavedModels made without TensorFlow
layer_exporting  SavedModels of plain arrays: layers as values, one after the other
"""
