"""Models as text: what TensorFlow's command line shows of one, and runs of a signature from there.

describing        models as text for readers
flag_values       what flags say, as values: names in lists, limits of a run, policies of a scan
root_functions    the functions of a model's root object as TensorFlow's command line lists them
run_inputs        the inputs of a model as they are written on a command line, in TensorFlow's words
safe_expressions  Python expressions for arrays, evaluated without `eval`
signature_runs    running a signature of a model once, with inputs as a command line gives them
tensorflow_text   SavedModels as TensorFlow's command line shows them, text for text, and the same as data
"""
