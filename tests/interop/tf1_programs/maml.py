"""Learning to learn sines: gradients of losses after steps that were themselves made of gradients, task by task."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
TASKS, SHOTS, INNER_STEPS, INNER_RATE = 4, 5, 2, 0.05

inputs_a, inputs_b, labels_a, labels_b = (tf.placeholder(tf.float32, name=n) for n in ("xa", "xb", "ya", "yb"))
weights = {}
with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
    for i, (size_in, size_out) in enumerate([(1, 8), (8, 8), (8, 1)]):
        weights["w%d" % i] = tf.Variable(tf.truncated_normal([size_in, size_out], stddev=0.3, seed=i), name="w%d" % i)
        weights["b%d" % i] = tf.Variable(tf.zeros([size_out]), name="b%d" % i)


def forward(x, weights):
    for i in range(2):
        x = tf.nn.relu(tf.matmul(x, weights["w%d" % i]) + weights["b%d" % i])
    return tf.matmul(x, weights["w2"]) + weights["b2"]


def mse(prediction, label):
    return tf.reduce_mean(tf.square(tf.reshape(prediction, [-1]) - tf.reshape(label, [-1])))


def task(given):
    xa, xb, ya, yb = given
    first, fast = mse(forward(xa, weights), ya), weights
    after, loss = [], first
    for _ in range(INNER_STEPS):
        gradients = dict(zip(fast.keys(), tf.gradients(loss, list(fast.values()))))
        fast = dict(zip(fast.keys(), [fast[key] - INNER_RATE * gradients[key] for key in fast.keys()]))
        after.append(mse(forward(xb, fast), yb))
        loss = mse(forward(xa, fast), ya)
    return [first, after]


out_dtype = [tf.float32, [tf.float32] * INNER_STEPS]
_, losses_b = tf.map_fn(
    task, elems=(inputs_a, inputs_b, labels_a, labels_b), dtype=out_dtype, parallel_iterations=TASKS
)
total = tf.reduce_sum(losses_b[-1]) / tf.to_float(TASKS)
optimizer = tf.train.AdamOptimizer(0.01)
clipped = [(tf.clip_by_value(grad, -10, 10), var) for grad, var in optimizer.compute_gradients(total)]
metatrain_op = optimizer.apply_gradients(clipped)
tf.summary.scalar("post-update loss", total)

random = np.random.RandomState(0)


def feed():
    amplitude, phase = random.uniform(0.1, 5.0, [TASKS, 1, 1]), random.uniform(0, np.pi, [TASKS, 1, 1])
    x = random.uniform(-5, 5, [TASKS, 2 * SHOTS, 1])
    y = amplitude * np.sin(x - phase)
    return {inputs_a: x[:, :SHOTS], inputs_b: x[:, SHOTS:], labels_a: y[:, :SHOTS], labels_b: y[:, SHOTS:]}


saver, fixed, losses = tf.train.Saver(tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES), max_to_keep=10), feed(), []
with tf.Session() as session:
    tf.global_variables_initializer().run()
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        for _ in range(6):
            losses.append(float(session.run([total, metatrain_op], feed())[0]))
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    last = float(session.run(total, fixed))
print(json.dumps({"losses": losses, "loss": last}))
