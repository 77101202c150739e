"""A net of few bits whose rounding passes gradients on, with spectral norms kept by its own variables."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
BITS_OF_WEIGHTS, BITS_OF_ACTIVATIONS = 2, 3


def quantize(x, k):
    n = float(2**k - 1)
    with tf.get_default_graph().gradient_override_map({"Round": "Identity"}):
        return tf.round(x * n) / n


def weights_of_few_bits(x):
    if x.op.name.endswith("first/W"):
        with tf.get_default_graph().gradient_override_map({"Sign": "Identity"}):
            scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
            return tf.sign(x / scale) * scale
    x = tf.tanh(x)
    return 2 * quantize(x / tf.reduce_max(tf.abs(x)) * 0.5 + 0.5, BITS_OF_WEIGHTS) - 1


def new_get_variable(getter, name, *args, **kwargs):
    v = getter(name, *args, **kwargs)
    return weights_of_few_bits(v) if name.endswith("W") else v


def spectral_norm(w):
    size = w.shape.as_list()
    flat = tf.reshape(w, [-1, size[-1]])
    u = tf.get_variable("u", [1, size[-1]], initializer=tf.random_normal_initializer(seed=5), trainable=False)
    v_hat = tf.nn.l2_normalize(tf.matmul(u, flat, transpose_b=True))
    u_hat = tf.nn.l2_normalize(tf.matmul(v_hat, flat))
    u_hat, v_hat = tf.stop_gradient(u_hat), tf.stop_gradient(v_hat)
    sigma = tf.matmul(tf.matmul(v_hat, flat), tf.transpose(u_hat))
    with tf.control_dependencies([u.assign(u_hat)]):
        return tf.reshape(flat / sigma, size)


image = tf.placeholder(tf.float32, [None, 8, 8, 1], "input")
label = tf.placeholder(tf.int32, [None], "label")
with tf.variable_scope("net", custom_getter=new_get_variable):
    with tf.variable_scope("first"):
        kernel = tf.get_variable("W", [3, 3, 1, 4], initializer=tf.random_normal_initializer(stddev=0.3, seed=1))
        hidden = tf.nn.conv2d(image, kernel, [1, 2, 2, 1], "SAME")
    hidden = quantize(tf.clip_by_value(hidden, 0.0, 1.0), BITS_OF_ACTIVATIONS)
    with tf.variable_scope("second"):
        kernel = tf.get_variable("W", [3, 3, 4, 4], initializer=tf.random_normal_initializer(stddev=0.3, seed=2))
        hidden = tf.nn.conv2d(hidden, spectral_norm(kernel), [1, 1, 1, 1], "SAME")
    hidden = tf.reshape(hidden, [-1, 4 * 4 * 4])
    with tf.variable_scope("last"):
        matrix = tf.get_variable("kernel", [64, 3], initializer=tf.random_normal_initializer(stddev=0.1, seed=3))
        logits = tf.matmul(hidden, matrix)
cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=label))
step = tf.train.get_or_create_global_step()
rate = tf.train.piecewise_constant(step, [2, 4], [0.05, 0.02, 0.01])
train_op = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(cost, global_step=step)

random = np.random.RandomState(0)
feed = {image: random.rand(6, 8, 8, 1), label: random.randint(0, 3, 6)}
saver, losses = tf.train.Saver(), []
with tf.Session() as session:
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        session.run(tf.global_variables_initializer())
        for _ in range(6):
            losses.append(float(session.run([cost, train_op], feed)[0]))
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    last = float(session.run(cost, feed))
print(json.dumps({"losses": losses, "loss": last}))
