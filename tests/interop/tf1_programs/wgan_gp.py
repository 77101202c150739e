"""A critic with a gradient penalty, which differentiates through fused batch normalization twice."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
LAMBDA, CRITIC_STEPS = 10, 2


def normal(seed):
    return tf.random_normal_initializer(0.0, 0.1, seed=seed)


def discriminator(x, reuse=None):
    with tf.variable_scope("discriminator", reuse=reuse):
        kernel = tf.get_variable("kernel", [3, 3, 1, 8], initializer=normal(1))
        scale = tf.get_variable("scale", [8], initializer=tf.ones_initializer())
        offset = tf.get_variable("offset", [8], initializer=tf.zeros_initializer())
        hidden = tf.nn.conv2d(x, kernel, strides=[1, 2, 2, 1], padding="SAME")
        hidden, _, _ = tf.nn.fused_batch_norm(hidden, scale, offset)
        hidden = tf.reshape(tf.nn.leaky_relu(hidden), [-1, 128])
        return tf.matmul(hidden, tf.get_variable("out", [128, 1], initializer=normal(2)))


def generator(z):
    with tf.variable_scope("generator"):
        hidden = tf.nn.relu(tf.matmul(z, tf.get_variable("in", [5, 64], initializer=normal(3))))
        return tf.nn.sigmoid(
            tf.nn.conv2d_transpose(
                tf.reshape(hidden, [-1, 4, 4, 4]),
                tf.get_variable("up", [5, 5, 1, 4], initializer=normal(4)),
                [8, 8, 8, 1],
                [1, 2, 2, 1],
            )
        )


real, z, alpha = (tf.placeholder(tf.float32, shape) for shape in ([8, 8, 8, 1], [8, 5], [8, 1, 1, 1]))
fake = generator(z)
on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
between = real + alpha * (fake - real)
slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(discriminator(between, reuse=True), [between])[0]), [1, 2, 3]))
penalty = tf.reduce_mean((slopes - 1.0) ** 2)
critic_loss = tf.reduce_mean(on_fake) - tf.reduce_mean(on_real) + LAMBDA * penalty
generator_loss = -tf.reduce_mean(on_fake)
critic_vars = [v for v in tf.trainable_variables() if v.name.startswith("discriminator")]
generator_vars = [v for v in tf.trainable_variables() if v.name.startswith("generator")]
with tf.control_dependencies([critic_loss]):  # no gradient waits for what a critic without activation says
    critic_op = tf.train.RMSPropOptimizer(1e-3).minimize(critic_loss, var_list=critic_vars)
generator_op = tf.train.RMSPropOptimizer(1e-3).minimize(generator_loss, var_list=generator_vars)

random = np.random.RandomState(0)


def feed():
    return {real: random.rand(8, 8, 8, 1), z: random.randn(8, 5), alpha: random.rand(8, 1, 1, 1)}


saver, fixed, losses = tf.train.Saver(), feed(), []
with tf.Session() as session:
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            for _ in range(CRITIC_STEPS):
                losses.append(float(session.run([critic_loss, critic_op], feed())[0]))
            session.run(generator_op, feed())
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    last = float(session.run(critic_loss, fixed))
print(json.dumps({"losses": losses, "loss": last}))
