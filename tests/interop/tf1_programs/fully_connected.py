"""The tutorial's network fed with batches: arguments by argparse, summaries, checkpoints, evaluation of each data set."""

import argparse
import json
import os.path
import sys
import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data, mnist

FLAGS = None


def placeholder_inputs(batch_size):
    images_placeholder = tf.placeholder(tf.float32, shape=(batch_size, mnist.IMAGE_PIXELS))
    labels_placeholder = tf.placeholder(tf.int32, shape=(batch_size))
    return images_placeholder, labels_placeholder


def fill_feed_dict(data_set, images_pl, labels_pl):
    images_feed, labels_feed = data_set.next_batch(FLAGS.batch_size, False)
    return {images_pl: images_feed, labels_pl: labels_feed}


def do_eval(sess, eval_correct, images_placeholder, labels_placeholder, data_set):
    true_count = 0
    steps_per_epoch = data_set.num_examples // FLAGS.batch_size
    num_examples = steps_per_epoch * FLAGS.batch_size
    for _step in range(steps_per_epoch):
        feed_dict = fill_feed_dict(data_set, images_placeholder, labels_placeholder)
        true_count += sess.run(eval_correct, feed_dict=feed_dict)
    precision = float(true_count) / num_examples
    print("Num examples: %d  Num correct: %d  Precision @ 1: %0.04f" % (num_examples, true_count, precision))


def run_training():
    data_sets = input_data.read_data_sets(FLAGS.data_dir, False, validation_size=10, seed=3)
    losses = []
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        images_placeholder, labels_placeholder = placeholder_inputs(FLAGS.batch_size)
        logits = mnist.inference(images_placeholder, FLAGS.hidden1, FLAGS.hidden2)
        loss = mnist.loss(logits, labels_placeholder)
        train_op = mnist.training(loss, FLAGS.learning_rate)
        eval_correct = mnist.evaluation(logits, labels_placeholder)
        summary = tf.summary.merge_all()
        init = tf.global_variables_initializer()
        saver = tf.train.Saver()
        sess = tf.Session()
        test = {
            images_placeholder: data_sets.test.images[: FLAGS.batch_size],
            labels_placeholder: data_sets.test.labels[: FLAGS.batch_size],
        }
        if FLAGS.restore:
            saver.restore(sess, FLAGS.restore)
            print(json.dumps({"loss": float(sess.run(loss, test))}))
            return
        summary_writer = tf.summary.FileWriter(FLAGS.out, sess.graph)
        sess.run(init)
        for step in range(FLAGS.max_steps):
            start_time = time.time()
            feed_dict = fill_feed_dict(data_sets.train, images_placeholder, labels_placeholder)
            _, loss_value = sess.run([train_op, loss], feed_dict=feed_dict)
            losses.append(float(loss_value))
            if step % 2 == 0:
                print("Step %d: loss = %.2f (%.3f sec)" % (step, loss_value, time.time() - start_time))
                summary_writer.add_summary(sess.run(summary, feed_dict=feed_dict), step)
                summary_writer.flush()
        saver.save(sess, os.path.join(FLAGS.out, "model.ckpt"))
        for data_set in (data_sets.train, data_sets.validation, data_sets.test):
            do_eval(sess, eval_correct, images_placeholder, labels_placeholder, data_set)
        print(json.dumps({"losses": losses, "loss": float(sess.run(loss, test))}))


def main(_):
    np.random.seed(1)
    if not tf.gfile.Exists(FLAGS.out):
        tf.gfile.MakeDirs(FLAGS.out)
    run_training()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--max_steps", type=int, default=6)
    parser.add_argument("--hidden1", type=int, default=32)
    parser.add_argument("--hidden2", type=int, default=16)
    parser.add_argument("--batch_size", type=int, default=10)
    parser.add_argument("--data_dir", type=str, default="MNIST_data")
    parser.add_argument("--out", type=str, default="out")
    parser.add_argument("--restore", type=str, default="")
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0], *unparsed])
