"""`tf.contrib.learn`: estimators as they were before `tf.estimator`, on top of those.

canned        estimators whose models are there already: linear ones, networks, and both together
data_files    datasets in files: CSV with a header, without one, and where downloaded ones lie
estimators    estimators that fit, of model functions that return tuples
example_readers  batches of the examples in files, by queues
experiments   an estimator with its inputs, run by the name of a schedule
monitors      what looks on while an estimator is fitted, as a hook
small_parts   keys, tuples, receivers of examples, values of data frames
vocabularies  words as numbers, learned from texts
"""
