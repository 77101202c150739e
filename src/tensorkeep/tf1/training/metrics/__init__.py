"""`tf.metrics`: measures of a model over a stream of batches.

confusion         metrics of yes and no: positives and negatives, true and false, as such and at thresholds
means             metrics that are means over everything seen so far
metric_variables  what all metrics share: their variables
ranking           metrics of the best k predictions
"""
