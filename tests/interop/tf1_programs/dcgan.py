"""Two networks that train against each other: scopes that are used again, variables chosen by their names."""

import argparse
import json

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="out")
parser.add_argument("--restore", default="")
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()

tf.set_random_seed(5)
rng = np.random.RandomState(5)


def lrelu(x, leak=0.2, name="lrelu"):
    return tf.maximum(x, leak * x, name=name)


def linear(x, size, scope):
    with tf.variable_scope(scope):
        matrix = tf.get_variable(
            "Matrix", [x.get_shape()[1], size], tf.float32, tf.random_normal_initializer(stddev=0.02)
        )
        bias = tf.get_variable("bias", [size], initializer=tf.constant_initializer(0.0))
        return tf.matmul(x, matrix) + bias


def deconv2d(x, output_shape, name):
    with tf.variable_scope(name):
        shape = [5, 5, output_shape[-1], x.get_shape()[-1]]
        w = tf.get_variable("w", shape, initializer=tf.random_normal_initializer(stddev=0.02))
        made = tf.nn.conv2d_transpose(x, w, output_shape=output_shape, strides=[1, 2, 2, 1])
        biases = tf.get_variable("biases", [output_shape[-1]], initializer=tf.constant_initializer(0.0))
        return tf.reshape(tf.nn.bias_add(made, biases), made.get_shape())


def conv2d(x, depth, name):
    with tf.variable_scope(name):
        shape = [5, 5, x.get_shape()[-1], depth]
        w = tf.get_variable("w", shape, initializer=tf.truncated_normal_initializer(stddev=0.02))
        biases = tf.get_variable("biases", [depth], initializer=tf.constant_initializer(0.0))
        return tf.nn.bias_add(tf.nn.conv2d(x, w, strides=[1, 2, 2, 1], padding="SAME"), biases)


def batch_norm(x, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        beta = tf.get_variable("beta", x.get_shape()[-1:], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", x.get_shape()[-1:], initializer=tf.random_normal_initializer(1.0, 0.02))
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-5)


def generator(z):
    with tf.variable_scope("generator"):
        h0 = tf.nn.relu(batch_norm(tf.reshape(linear(z, 4 * 4 * 8, "g_h0_lin"), [-1, 4, 4, 8]), "g_bn0"))
        h1 = tf.nn.relu(batch_norm(deconv2d(h0, [8, 8, 8, 4], "g_h1"), "g_bn1"))
        return tf.nn.tanh(deconv2d(h1, [8, 16, 16, 1], "g_h2"))


def discriminator(image, reuse=False):
    with tf.variable_scope("discriminator") as scope:
        if reuse:
            scope.reuse_variables()
        h0 = lrelu(conv2d(image, 4, "d_h0_conv"))
        h1 = lrelu(batch_norm(conv2d(h0, 8, "d_h1_conv"), "d_bn1"))
        logits = linear(tf.reshape(h1, [8, -1]), 1, "d_h2_lin")
        return tf.nn.sigmoid(logits), logits


z = tf.placeholder(tf.float32, [8, 6], name="z")
images = tf.placeholder(tf.float32, [8, 16, 16, 1], name="real_images")
G = generator(z)
D, D_logits = discriminator(images)
D_, D_logits_ = discriminator(G, reuse=True)


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))


d_loss = loss_of(D_logits, tf.ones_like(D)) + loss_of(D_logits_, tf.zeros_like(D_))
g_loss = loss_of(D_logits_, tf.ones_like(D_))
t_vars = tf.trainable_variables()
d_vars = [var for var in t_vars if "d_" in var.name]
g_vars = [var for var in t_vars if "g_" in var.name]
d_optim = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(d_loss, var_list=d_vars)
g_optim = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(g_loss, var_list=g_vars)
saver = tf.train.Saver()

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    fixed = {z: rng.uniform(-1, 1, [8, 6]), images: rng.uniform(-1, 1, [8, 16, 16, 1])}
    if args.restore:
        saver.restore(sess, args.restore)
        print(json.dumps({"loss": float(g_loss.eval(fixed))}))
    else:
        losses = []
        for step in range(args.steps):
            feed = {z: rng.uniform(-1, 1, [8, 6]), images: rng.uniform(-1, 1, [8, 16, 16, 1])}
            sess.run(d_optim, feed_dict=feed)
            sess.run(g_optim, feed_dict=feed)
            losses += [float(d_loss.eval(feed)), float(g_loss.eval(feed))]
        saver.save(sess, args.out + "/model.ckpt")
        print(json.dumps({"losses": losses, "loss": float(g_loss.eval(fixed))}))
