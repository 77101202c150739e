"""Models as text: what TensorFlow's command line shows of one, and runs of a signature from there.

describing        models as text for readers
root_functions    the functions of a model's root object as TensorFlow's command line lists them
run_inputs        the inputs of a model as they are written on a command line, in TensorFlow's words
run_limits        how much a model that a command line runs may take, unless its flags say otherwise
safe_expressions  Python expressions for arrays, evaluated without `eval`
showing           what is shown of a model that was asked about: TensorFlow's text, or the same as data
signature_runs    running a signature of a model once, with inputs as a command line gives them
tensorflow_text   SavedModels as TensorFlow's command line shows them, text for text, and the same as data
"""
