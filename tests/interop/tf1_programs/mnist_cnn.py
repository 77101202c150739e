"""A convolutional network on MNIST's files: feed_dict, dropout, summaries, an interactive session."""

import json

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("out", "out", "Where to save")
flags.DEFINE_string("restore", "", "A checkpoint to begin with")
flags.DEFINE_string("data_dir", "MNIST_data", "The files of MNIST")
flags.DEFINE_integer("steps", 6, "Steps to train")


def weight_variable(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME")


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


def main(_):
    tf.set_random_seed(1)
    np.random.seed(1)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, validation_size=10, seed=3)
    sess = tf.InteractiveSession()
    x = tf.placeholder(tf.float32, shape=[None, 784])
    y_ = tf.placeholder(tf.float32, shape=[None, 10])
    keep_prob = tf.placeholder(tf.float32)
    x_image = tf.reshape(x, [-1, 28, 28, 1])
    with tf.name_scope("conv1"):
        h_pool1 = max_pool_2x2(tf.nn.relu(conv2d(x_image, weight_variable([5, 5, 1, 8])) + bias_variable([8])))
        tf.summary.histogram("activations", h_pool1)
    with tf.name_scope("conv2"):
        h_pool2 = max_pool_2x2(tf.nn.relu(conv2d(h_pool1, weight_variable([5, 5, 8, 16])) + bias_variable([16])))
    with tf.name_scope("fc"):
        flat = tf.reshape(h_pool2, [-1, 7 * 7 * 16])
        h_fc1 = tf.nn.relu(tf.matmul(flat, weight_variable([7 * 7 * 16, 32])) + bias_variable([32]))
        h_drop = tf.nn.dropout(h_fc1, keep_prob)
        y = tf.matmul(h_drop, weight_variable([32, 10])) + bias_variable([10])
    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
    tf.summary.scalar("cross_entropy", cross_entropy)
    train_step = tf.train.AdamOptimizer(1e-3).minimize(cross_entropy)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1)), tf.float32))
    merged = tf.summary.merge_all()
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    test = {x: mnist.test.images, y_: mnist.test.labels, keep_prob: 1.0}
    if FLAGS.restore:
        saver.restore(sess, FLAGS.restore)
        print(json.dumps({"loss": float(cross_entropy.eval(test))}))
        return
    writer = tf.summary.FileWriter(FLAGS.out + "/logs", sess.graph)
    losses = []
    for step in range(FLAGS.steps):
        images, labels = mnist.train.next_batch(10)
        feed = {x: images, y_: labels, keep_prob: 1.0}
        summary, loss, _ = sess.run([merged, cross_entropy, train_step], feed_dict=feed)
        writer.add_summary(summary, step)
        losses.append(float(loss))
    writer.close()
    saver.save(sess, FLAGS.out + "/model.ckpt")
    print("test accuracy %g" % accuracy.eval(feed_dict=test))
    print(json.dumps({"losses": losses, "loss": float(cross_entropy.eval(test))}))


if __name__ == "__main__":
    tf.app.run()
