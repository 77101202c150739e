"""`tf.keras` of TensorFlow 1 in graph mode.

applications/   networks that are known by name
backend/        `tf.keras.backend`: functions of tensors, variables, settings and the session in force
callbacks/      what is called before and after epochs and batches
datasets/       data by the files that Keras keeps of them
engine/         what layers and models share: calls, training loops, saving
layers/         the layers
metrics/        measures over the batches of an epoch
optimizers/     `tf.keras.optimizers`, with the schedules of learning rates
preprocessing/  sequences, text and images made ready for models
utils/          what is beside models: progress bars, sequences of batches, files by URL
activations     functions between layers, by name
constraints     what weights are held to, by name
initializers    first values of weights, by name
losses          losses as functions and as objects, by name
named_objects   objects made of a name and the arguments that make them, the other way round, and names by number
regularizers    losses of weights, by name
scikit_learn    models with the methods of scikit-learn's estimators
surroundings    the session, the settings and the objects by name that are in force: `tensorkeep.v1` says which
weighting       losses and measures with weights
"""
