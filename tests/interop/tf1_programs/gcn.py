"""A graph convolutional network: layers as classes, sparse placeholders that are fed triples, masked losses."""

from __future__ import division, print_function

import json

import numpy as np
import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("out", "out", "Where to save")
flags.DEFINE_string("restore", "", "A checkpoint to begin with")
flags.DEFINE_float("learning_rate", 0.01, "Initial learning rate.")
flags.DEFINE_float("weight_decay", 5e-4, "Weight for L2 loss on embedding matrix.")
np.random.seed(123)
tf.set_random_seed(123)
_LAYER_UIDS = {}


def get_layer_uid(layer_name=""):
    _LAYER_UIDS[layer_name] = _LAYER_UIDS.get(layer_name, 0) + 1
    return _LAYER_UIDS[layer_name]


def glorot(shape, name=None):
    init_range = np.sqrt(6.0 / (shape[0] + shape[1]))
    return tf.Variable(tf.random_uniform(shape, minval=-init_range, maxval=init_range, dtype=tf.float32), name=name)


def dot(x, y, sparse=False):
    return tf.sparse_tensor_dense_matmul(x, y) if sparse else tf.matmul(x, y)


class GraphConvolution(object):
    def __init__(self, input_dim, output_dim, support, act=tf.nn.relu, sparse_inputs=False):
        self.name = "graphconvolution_" + str(get_layer_uid("graphconvolution"))
        self.vars, self.act, self.support, self.sparse_inputs = {}, act, support, sparse_inputs
        with tf.variable_scope(self.name + "_vars"):
            for i in range(len(support)):
                self.vars["weights_" + str(i)] = glorot([input_dim, output_dim], name="weights_" + str(i))

    def __call__(self, inputs):
        with tf.name_scope(self.name):
            supports = []
            for i in range(len(self.support)):
                pre_sup = dot(inputs, self.vars["weights_" + str(i)], sparse=self.sparse_inputs)
                supports.append(dot(self.support[i], pre_sup, sparse=True))
            return self.act(tf.add_n(supports))


def sparse_to_tuple(matrix):
    coords = np.argwhere(matrix)
    return coords, matrix[tuple(coords.T)], matrix.shape


def masked_softmax_cross_entropy(preds, labels, mask):
    loss = tf.nn.softmax_cross_entropy_with_logits(logits=preds, labels=labels)
    mask = tf.cast(mask, dtype=tf.float32)
    mask /= tf.reduce_mean(mask)
    return tf.reduce_mean(loss * mask)


nodes, width, classes = 30, 12, 3
adjacency = (np.random.rand(nodes, nodes) < 0.1).astype(np.float32)
adjacency = np.maximum(np.maximum(adjacency, adjacency.T), np.eye(nodes))
degree = adjacency.sum(1) ** -0.5
laplacian = adjacency * degree[:, None] * degree[None, :]
chebyshev = [np.eye(nodes), laplacian - np.eye(nodes)]
features = (np.random.rand(nodes, width) < 0.3).astype(np.float32)
y_train, mask = np.eye(classes)[np.random.randint(0, classes, nodes)], np.arange(nodes) < 12

placeholders = {
    "support": [tf.sparse_placeholder(tf.float32) for _ in range(len(chebyshev))],
    "features": tf.sparse_placeholder(tf.float32, shape=tf.constant([nodes, width], dtype=tf.int64)),
    "labels": tf.placeholder(tf.float32, shape=(None, classes)),
    "labels_mask": tf.placeholder(tf.int32),
}
layers = [
    GraphConvolution(width, 6, placeholders["support"], sparse_inputs=True),
    GraphConvolution(6, classes, placeholders["support"], act=lambda x: x),
]
outputs = layers[1](layers[0](placeholders["features"]))
variables = {var.name: var for var in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)}
loss = sum(FLAGS.weight_decay * tf.nn.l2_loss(var) for var in layers[0].vars.values())
loss += masked_softmax_cross_entropy(outputs, placeholders["labels"], placeholders["labels_mask"])
opt_op = tf.train.AdamOptimizer(learning_rate=FLAGS.learning_rate).minimize(loss)

feed_dict = {placeholders["labels"]: y_train, placeholders["labels_mask"]: mask}
feed_dict.update({placeholders["support"][i]: sparse_to_tuple(chebyshev[i]) for i in range(len(chebyshev))})
feed_dict.update({placeholders["features"]: sparse_to_tuple(features)})
sess = tf.Session()
sess.run(tf.global_variables_initializer())
saver = tf.train.Saver(variables)
losses = []
if FLAGS.restore:
    saver.restore(sess, FLAGS.restore)
else:
    for epoch in range(5):
        losses.append(float(sess.run([opt_op, loss], feed_dict=feed_dict)[1]))
    saver.save(sess, FLAGS.out + "/model.ckpt")
print(json.dumps({"losses": losses, "loss": float(sess.run(loss, feed_dict=feed_dict))}))
