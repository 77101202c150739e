"""`tf.keras.metrics`: measures over the batches of an epoch, kept in variables.

accuracies  how often predictions are right, as functions and as metrics
base        what all metrics share; sums and means of numbers
by_name     metrics by name and configuration, "accuracy" by the shape of the output
confusion   positives and negatives that are true or false, and what is made of their counts
errors      losses as metrics
"""
