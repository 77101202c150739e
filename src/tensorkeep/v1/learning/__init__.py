"""What trains and serves programs: loops, estimators, Keras and servers, in graphs and sessions of `tf`.

collective      DeepRec's collective training, in a group of one process
contrib_loops   `tf.contrib.slim.learning`, `slim.evaluation` and their like
estimators      `tf.estimator`
keras_defaults  the session, the settings and the objects by name that `tf.keras` uses
keras_models    models of Keras as estimators
servers         `tf.train.Server` of one task
training        training loops over TensorFlow 1's sessions and savers
"""
