"""Towers on several devices with averaged gradients, decayed weights, moving averages, and the profiler's counts."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))


def variable_on_cpu(name, shape, decay=None):
    with tf.device("/cpu:0"):
        made = tf.get_variable(name, shape, initializer=tf.truncated_normal_initializer(stddev=0.05, seed=1))
    if decay is not None:
        tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(made), decay, name="weight_loss"))
    return made


def tower_loss(scope, images, labels):
    kernel, biases = variable_on_cpu("kernel", [3, 3, 3, 4], 1e-3), variable_on_cpu("biases", [4])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding="SAME"), biases))
    pooled = tf.nn.max_pool(hidden, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
    normed = tf.nn.lrn(pooled, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    logits = tf.matmul(tf.reshape(normed, [8, -1]), variable_on_cpu("weights", [36, 3], 1e-3))
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.add_to_collection("losses", tf.reduce_mean(entropy))
    return tf.add_n(tf.get_collection("losses", scope), name="total_loss")


def average_gradients(tower_grads):
    averaged = []
    for pairs in zip(*tower_grads):
        grads = tf.concat(axis=0, values=[tf.expand_dims(grad, 0) for grad, _ in pairs])
        averaged.append((tf.reduce_mean(grads, 0), pairs[0][1]))
    return averaged


random = np.random.RandomState(0)
with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
    step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    optimizer = tf.train.MomentumOptimizer(tf.train.exponential_decay(0.1, step, 2, 0.9, staircase=True), 0.9)
    towers, losses = [], []
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(2):
            with tf.device("/gpu:%d" % i), tf.name_scope("tower_%d" % i) as scope:
                images = tf.constant(random.rand(8, 6, 6, 3).astype(np.float32))
                loss = tower_loss(scope, images, tf.constant(random.randint(0, 3, 8)))
                tf.get_variable_scope().reuse_variables()
                towers.append(optimizer.compute_gradients(loss))
    applied = optimizer.apply_gradients(average_gradients(towers), global_step=step)
    averages = tf.train.ExponentialMovingAverage(0.99, step)
    with tf.control_dependencies([applied]):
        train_op = averages.apply(tf.trainable_variables())
    builder = tf.profiler.ProfileOptionBuilder
    counts = [
        tf.profiler.profile(graph, options=builder(options).with_empty_output().build())
        for options in (builder.trainable_variables_parameter(), builder.float_operation())
    ]
    losses += [float(counts[0].total_parameters), float(counts[1].total_float_ops)]
    saver = tf.train.Saver(tf.global_variables())
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        if "--restore" in OPTIONS:
            saver.restore(session, OPTIONS["--restore"])
        else:
            session.run(tf.global_variables_initializer())
            losses += [float(session.run([train_op, loss])[1]) for _ in range(5)]
            saver.save(session, OPTIONS["--out"] + "/model.ckpt")
        last = float(session.run(loss))
print(json.dumps({"losses": losses, "loss": last}))
