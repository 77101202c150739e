"""The engine of Keras: layers, models of layers, training, and saving.

saving/         models in files
base_layer      what all layers share
compiled        what `compile` makes of a model: its loss, metrics and steps
data            arrays as models take them, with weights, cut into batches
endpoints       the outputs of a model while it is trained: targets, losses, metrics
graph_maps      the calls and layers between inputs and outputs
input_layer     where models begin
loops           training, testing and predicting over batches, with callbacks
model           models that are trained, tested, asked and saved
network         layers as one layer
network_configs networks as configurations, and made of them
nodes           calls of layers as nodes, and the inputs that a tensor was made of
op_layers       operations between layers, as layers
sequential      layers one after the other
serialization   layers and what they tell of their attributes, as configurations, and layers made of these
session_values  values of variables in the session in force
sources         where batches come from: arrays, generators, sequences, datasets
summaries       models as tables
tensor_notes    which call made a tensor, and which of its places are masked
"""
