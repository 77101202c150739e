"""What programs keep on disk: checkpoints, models, graphs, records, files.

checkpoints   `tf.train`'s functions for checkpoints that are there
files         `tf.gfile` and `tf.io.gfile`
graph_defs    `tf.graph_util`, graphs to files, and graphs for inference
incremental   DeepRec's `incremental_saver`
objects       `tf.train.Checkpoint` and its like
records       `tf.python_io`, and `tf.TFRecordReader`
saved_models  `tf.saved_model`
saving        `tf.train.Saver`
"""
