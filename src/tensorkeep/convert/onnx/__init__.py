"""Exporting models to ONNX: from a SavedModel, a graph or a session to a checked file. Imported when it is used.

ends        which tensors go in and come out: by signature, by name, anywhere in the graph
exporting   exporting: the source is opened, translated, verified, and written
files       the file, and the one with its weights: whole or not at all
options     how a model is exported to ONNX, as one value
reading     the weights of an ONNX file, as tensors by name
reports     what became of each operation, as a value, as text and as JSON
runtimes    ONNX Runtime: which version of the operators it runs, and models in memory that it runs
sources     what can be exported, opened: directories, files, messages, models, sessions
splitting   models in three: what ONNX cannot do before the numbers and after them stays a SavedModel each
verifying   the file in ONNX Runtime beside our engine, on the same inputs
"""
