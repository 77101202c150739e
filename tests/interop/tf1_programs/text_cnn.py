"""Sentences by convolutions of several widths: flags, a graph of its own, summaries of gradients, a counted step."""

import json
import os

import numpy as np
import tensorflow as tf

tf.flags.DEFINE_string("out", "out", "Where to save")
tf.flags.DEFINE_string("restore", "", "A checkpoint to begin with")
tf.flags.DEFINE_integer("embedding_dim", 8, "Dimensionality of character embedding")
tf.flags.DEFINE_string("filter_sizes", "2,3", "Comma-separated filter sizes")
tf.flags.DEFINE_integer("num_filters", 4, "Number of filters per filter size")
tf.flags.DEFINE_boolean("allow_soft_placement", True, "Allow device soft device placement")
tf.flags.DEFINE_boolean("log_device_placement", False, "Log placement of ops on devices")
FLAGS = tf.flags.FLAGS


class TextCNN(object):
    def __init__(self, sequence_length, num_classes, vocab_size, embedding_size, filter_sizes, num_filters, l2=0.1):
        self.input_x = tf.placeholder(tf.int32, [None, sequence_length], name="input_x")
        self.input_y = tf.placeholder(tf.float32, [None, num_classes], name="input_y")
        self.dropout_keep_prob = tf.placeholder(tf.float32, name="dropout_keep_prob")
        l2_loss = tf.constant(0.0)
        with tf.device("/cpu:0"), tf.name_scope("embedding"):
            self.W = tf.Variable(tf.random_uniform([vocab_size, embedding_size], -1.0, 1.0), name="W")
            embedded = tf.expand_dims(tf.nn.embedding_lookup(self.W, self.input_x), -1)
        pooled_outputs = []
        for filter_size in filter_sizes:
            with tf.name_scope("conv-maxpool-%s" % filter_size):
                filter_shape = [filter_size, embedding_size, 1, num_filters]
                W = tf.Variable(tf.truncated_normal(filter_shape, stddev=0.1), name="W")
                b = tf.Variable(tf.constant(0.1, shape=[num_filters]), name="b")
                conv = tf.nn.conv2d(embedded, W, strides=[1, 1, 1, 1], padding="VALID", name="conv")
                h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
                ksize = [1, sequence_length - filter_size + 1, 1, 1]
                pooled_outputs.append(
                    tf.nn.max_pool(h, ksize=ksize, strides=[1, 1, 1, 1], padding="VALID", name="pool")
                )
        total = num_filters * len(filter_sizes)
        flat = tf.reshape(tf.concat(pooled_outputs, 3), [-1, total])
        with tf.name_scope("dropout"):
            dropped = tf.nn.dropout(flat, self.dropout_keep_prob)
        with tf.name_scope("output"):
            W = tf.get_variable("W", shape=[total, num_classes], initializer=tf.glorot_uniform_initializer())
            b = tf.Variable(tf.constant(0.1, shape=[num_classes]), name="b")
            l2_loss += tf.nn.l2_loss(W) + tf.nn.l2_loss(b)
            self.scores = tf.nn.xw_plus_b(dropped, W, b, name="scores")
            self.predictions = tf.argmax(self.scores, 1, name="predictions")
        with tf.name_scope("loss"):
            losses = tf.nn.softmax_cross_entropy_with_logits(logits=self.scores, labels=self.input_y)
            self.loss = tf.reduce_mean(losses) + l2 * l2_loss
        with tf.name_scope("accuracy"):
            correct = tf.equal(self.predictions, tf.argmax(self.input_y, 1))
            self.accuracy = tf.reduce_mean(tf.cast(correct, "float"), name="accuracy")


def main(argv=None):
    rng = np.random.RandomState(10)
    x = rng.randint(0, 30, [40, 9])
    y = np.eye(2)[(x[:, 0] > 14).astype(int)]
    with tf.Graph().as_default():
        tf.set_random_seed(10)
        session_conf = tf.ConfigProto(
            allow_soft_placement=FLAGS.allow_soft_placement, log_device_placement=FLAGS.log_device_placement
        )
        sess = tf.Session(config=session_conf)
        with sess.as_default():
            sizes = list(map(int, FLAGS.filter_sizes.split(",")))
            cnn = TextCNN(x.shape[1], 2, 30, FLAGS.embedding_dim, sizes, FLAGS.num_filters)
            global_step = tf.Variable(0, name="global_step", trainable=False)
            optimizer = tf.train.AdamOptimizer(1e-2)
            grads_and_vars = optimizer.compute_gradients(cnn.loss)
            train_op = optimizer.apply_gradients(grads_and_vars, global_step=global_step)
            grad_summaries = []
            for g, v in grads_and_vars:
                if g is not None:
                    name = v.name.replace(":", "_")
                    grad_summaries.append(tf.summary.histogram("{}/grad/hist".format(name), g))
                    grad_summaries.append(tf.summary.scalar("{}/grad/sparsity".format(name), tf.nn.zero_fraction(g)))
            summaries = tf.summary.merge([tf.summary.scalar("loss", cnn.loss), tf.summary.merge(grad_summaries)])
            writer = tf.summary.FileWriter(os.path.join(FLAGS.out, "summaries"), sess.graph)
            saver = tf.train.Saver(tf.global_variables(), max_to_keep=5)
            sess.run(tf.global_variables_initializer())
            test, losses = {cnn.input_x: x, cnn.input_y: y, cnn.dropout_keep_prob: 1.0}, []
            if FLAGS.restore:
                saver.restore(sess, FLAGS.restore)
            else:
                for start in range(0, 40, 8):
                    feed = {
                        cnn.input_x: x[start : start + 8],
                        cnn.input_y: y[start : start + 8],
                        cnn.dropout_keep_prob: 1.0,
                    }
                    _, step, written, loss = sess.run([train_op, global_step, summaries, cnn.loss], feed)
                    writer.add_summary(written, step)
                    losses.append(float(loss))
                saver.save(sess, os.path.join(FLAGS.out, "model.ckpt"))
            print(json.dumps({"losses": losses, "loss": float(sess.run(cnn.loss, test))}))


if __name__ == "__main__":
    tf.app.run()
