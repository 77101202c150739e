"""TensorFlow 1's Python: what programs for it call, above the core, which knows nothing of it.

`v1` has the names under which programs find all this, and the ambient graph and session.

    columns/      `tf.feature_column`: what the features of a model are, and how they become its first layer
    contrib/      `tf.contrib`: layers, slim, rnn, seq2seq and the rest of what was beside the core
    datasets/     `tf.data`: datasets, iterators over them, and the functions that make and change them
    distributions/  `tf.distributions`: probabilities, draws and moments of the usual distributions
    estimators/   `tf.estimator`: a model as a function, trained, evaluated, asked and exported from a folder
    functions/    TensorFlow's functions as compositions of ops: with its names, scopes and defaults
    keras/        `tf.keras` in graph mode
    layers/       TensorFlow 1's layers: variables and functions in a scope
    saved_model/  SavedModels as TensorFlow 1's Python makes and loads them
    training/     training: optimizers, metrics, loops, input queues, savers and objects
    variables/    variables: handles to what lasts from run to run
"""
