"""`tf.estimator`: a model as a function, trained, evaluated, asked and exported from a folder.

baseline            models that learn the mean of the labels
classification      heads of classes: two, several, several at once
combined            a linear model and a network together
early_stopping      hooks that end training when a metric is good enough, or gets no better
estimator           estimators: train, evaluate, predict
evaluating          one evaluation of a checkpoint, and its report in an event file
evaluating_hooks    hooks that evaluate while a model trains, or end training by checkpoints; exports by mode
export_outputs      what a model offers when it is served, and signatures of it
exporters           what is exported after which evaluation
exporting           an estimator's model as a SavedModel
extending           estimators made of others: with further metrics, or whose predictions also have features
heads               what all heads do: losses, weights, labels, reports
inputs              inputs of arrays and of data frames
keras_models        models of Keras as estimators
keys                names: of modes, metrics and predictions
linear              linear models
model_specs         what a model function returns
multi_heads         several heads of one model
networks            networks of dense layers
optimizers          optimizers by name
parsing             how to parse the examples of a classifier or regressor
receivers           what a served model is fed
regression          heads of numbers
run_config          how an estimator runs: folder, seeds, how often it saves
strategies          distribution strategies, which have one replica
surroundings        the graphs, sessions and savers that estimators use
tpu                 TPU estimators, which run on the CPU
train_and_evaluate  training with evaluations in between
"""
