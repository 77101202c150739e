"""TensorFlow 1's Python: what programs for it call, above the core, which knows nothing of it.

`v1` has the names under which programs find all this, and the ambient graph and session.

    datasets/     `tf.data`: datasets, iterators over them, and the functions that make and change them
    functions/    TensorFlow's functions as compositions of ops: with its names, scopes and defaults
    layers/       TensorFlow 1's layers: variables and functions in a scope
    saved_model/  SavedModels as TensorFlow 1's Python makes and loads them
    training/     training: optimizers, metrics, loops, input queues, savers and objects
    variables/    variables: handles to what lasts from run to run
"""
