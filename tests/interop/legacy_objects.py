"""What TensorFlow makes of layers and cells in a checkpoint: run as a process of its own, which has Keras 2.

    python -m tests.interop.legacy_objects FOLDER

saves the objects of `program` to FOLDER/ck-1.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def program(tf: Any, folder: str) -> str:
    """Saves layers and cells of several kinds, and gives the path."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = tf.ones([2, 3])
        dense, conv, norm = tf.layers.Dense(4), tf.layers.Conv1D(2, 2), tf.layers.BatchNormalization()
        cells = tf.nn.rnn_cell
        wrapped = cells.ResidualWrapper(cells.DeviceWrapper(cells.DropoutWrapper(cells.GRUCell(3), 0.5), "/cpu:0"))
        cell = cells.MultiRNNCell([cells.LSTMCell(3), wrapped])
        dense(inputs), conv(tf.ones([1, 4, 3])), norm(inputs, training=True)
        cell(inputs, cell.zero_state(2, tf.float32))
        tf.layers.dense(inputs, 2)
        session.run(tf.global_variables_initializer())
        checkpoint = tf.train.Checkpoint(dense=dense, conv=conv, norm=norm, cell=cell, unused=tf.layers.Dense(1))
        path: str = checkpoint.save(f"{folder}/ck", session=session)
        return path


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read when TensorFlow is imported
    import tensorflow.compat.v1 as their_tf

    their_tf.disable_v2_behavior()
    program(their_tf, sys.argv[1])
