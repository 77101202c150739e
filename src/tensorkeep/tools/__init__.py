"""Programs for the command line, each under the name and with the flags of TensorFlow's own.

freeze_graph        freezes a graph: `python -m tensorkeep.tools.freeze_graph`
inspect_checkpoint  prints what a checkpoint holds
model_server        serves models: TensorFlow Serving's `tensorflow_model_server`
saved_model_cli     shows, runs and scans SavedModels: TensorFlow's `saved_model_cli` without TensorFlow
saved_model_run     the command `run` of `saved_model_cli`
saved_model_scan    the command `scan` of `saved_model_cli`
saved_model_show    the command `show` of `saved_model_cli`
standard_output     text for whoever runs a program: no program of its own
"""
