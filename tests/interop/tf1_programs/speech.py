"""Recognition of sounds: recurrent cells of several kinds in both directions, labels as sparse feeds, CTC."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
FEATURES, HIDDEN, CLASSES = 13, 12, 8


def sparse_tuple_from(sequences, dtype=np.int32):
    indices, values = [], []
    for n, seq in enumerate(sequences):
        indices.extend(zip([n] * len(seq), range(len(seq))))
        values.extend(seq)
    indices = np.asarray(indices, dtype=np.int64)
    shape = np.asarray([len(sequences), indices.max(0)[1] + 1], dtype=np.int64)
    return indices, np.asarray(values, dtype=dtype), shape


graph = tf.Graph()
with graph.as_default():
    tf.set_random_seed(11)
    inputs = tf.placeholder(tf.float32, [None, None, FEATURES])
    targets = tf.sparse_placeholder(tf.int32)
    seq_len = tf.placeholder(tf.int32, [None])
    uniform = tf.random_uniform_initializer(-0.2, 0.2, seed=1)
    with tf.variable_scope("recognizer", initializer=uniform):
        forward = tf.nn.rnn_cell.MultiRNNCell(
            [tf.nn.rnn_cell.LSTMCell(HIDDEN, state_is_tuple=True), tf.nn.rnn_cell.GRUCell(HIDDEN)]
        )
        backward = tf.nn.rnn_cell.LSTMCell(HIDDEN, use_peepholes=True, num_proj=6)
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            forward, backward, inputs, seq_len, dtype=tf.float32, swap_memory=True
        )
    outputs = tf.reshape(tf.concat(outputs, 2), [-1, HIDDEN + 6])
    weights = tf.Variable(tf.truncated_normal([HIDDEN + 6, CLASSES], stddev=0.1, seed=2), name="weights")
    bias = tf.Variable(tf.constant(0.0, shape=[CLASSES]), name="bias")
    logits = tf.reshape(tf.matmul(outputs, weights) + bias, [tf.shape(inputs)[0], -1, CLASSES])
    logits = tf.transpose(logits, (1, 0, 2))
    cost = tf.reduce_mean(tf.nn.ctc_loss(targets, logits, seq_len))
    optimizer = tf.train.MomentumOptimizer(1e-2, 0.9).minimize(cost)
    decoded, _ = tf.nn.ctc_greedy_decoder(logits, seq_len)
    _, scores = tf.nn.ctc_beam_search_decoder(logits, seq_len, beam_width=10, top_paths=2, merge_repeated=False)
    ler = tf.reduce_mean(tf.edit_distance(tf.cast(decoded[0], tf.int32), targets))
    saver = tf.train.Saver()

random = np.random.RandomState(0)
feed = {
    inputs: random.randn(3, 14, FEATURES),
    targets: sparse_tuple_from([random.randint(0, CLASSES - 1, count) for count in (4, 5, 3)]),
    seq_len: [14, 13, 10],
}
losses = []
with tf.Session(graph=graph) as session:
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        tf.global_variables_initializer().run()
        for _ in range(6):
            losses.append(float(session.run([cost, optimizer], feed)[0]))
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    last = float(sum(session.run([cost, ler, tf.reduce_sum(scores)], feed)))
print(json.dumps({"losses": losses, "loss": last}))
