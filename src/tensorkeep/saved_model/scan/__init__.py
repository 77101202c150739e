"""What a model can do besides computing, found without running any of it.

asset_paths  where the path of a file that a graph reads comes from
files        files that lie beside a graph, and what is in them that Python or the system would run: pickles
graph_ops    what the ops of a graph and of its functions do besides computing
hdf5_texts   texts that are attributes of HDF5 files: the configuration of a Keras model in an .h5 file
keras_code   Python code in what Keras stores beside a graph
model_scan   what a model can do besides computing: every place of it where something can hide
report       what a scan found, as data and in three forms
"""
