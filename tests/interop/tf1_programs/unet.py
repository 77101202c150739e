"""A U-Net of tf.layers in a monitored session, with a step counter, hooks and batch normalization."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="out")
parser.add_argument("--restore", default=None)
FLAGS, unparsed = parser.parse_known_args()
np.random.seed(4)
tf.set_random_seed(4)


def conv_conv_pool(input_, n_filters, training, name, pool=True):
    net = input_
    with tf.variable_scope("layer{}".format(name)):
        for i, F in enumerate(n_filters):
            net = tf.layers.conv2d(net, F, (3, 3), activation=None, padding="same", name="conv_{}".format(i + 1))
            net = tf.layers.batch_normalization(net, training=training, name="bn_{}".format(i + 1))
            net = tf.nn.relu(net, name="relu{}_{}".format(name, i + 1))
        if pool is False:
            return net
        return net, tf.layers.max_pooling2d(net, (2, 2), strides=(2, 2), name="pool_{}".format(name))


def upconv_concat(inputA, input_B, n_filter, name):
    up = tf.layers.conv2d_transpose(inputA, n_filter, 2, strides=2, padding="same", name="upsample_{}".format(name))
    return tf.concat([up, input_B], axis=-1, name="concat_{}".format(name))


def make_unet(X, training):
    net = X / 127.5 - 1
    conv1, pool1 = conv_conv_pool(net, [4, 4], training, name=1)
    conv2 = conv_conv_pool(pool1, [8, 8], training, name=2, pool=False)
    up3 = upconv_concat(conv2, conv1, 4, name=3)
    conv3 = conv_conv_pool(up3, [4], training, name=3, pool=False)
    return tf.layers.conv2d(conv3, 1, (1, 1), name="final", activation=tf.nn.sigmoid, padding="same")


def iou(y_pred, y_true):
    H, W, _ = y_pred.get_shape().as_list()[1:]
    pred, true = tf.reshape(y_pred, [-1, H * W]), tf.reshape(y_true, [-1, H * W])
    intersection = 2 * tf.reduce_sum(pred * true, axis=1) + 1e-7
    return tf.reduce_mean(intersection / (1e-7 + tf.reduce_sum(pred, axis=1) + tf.reduce_sum(true, axis=1)))


images = np.random.randint(0, 255, [4, 8, 8, 3]).astype(np.float32)
masks = (images.mean(-1, keepdims=True) > 127).astype(np.float32)
global_step = tf.train.get_or_create_global_step()
X = tf.placeholder(tf.float32, shape=[None, 8, 8, 3], name="X")
y = tf.placeholder(tf.float32, shape=[None, 8, 8, 1], name="y")
mode = tf.placeholder(tf.bool, name="mode")
pred = make_unet(X, mode)
loss = -iou(pred, y)
tf.add_to_collection("outputs", pred)
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=global_step)
saver = tf.train.Saver()

test = {X: images, y: masks, mode: False}
losses = []
if FLAGS.restore:
    with tf.Session() as sess:
        saver.restore(sess, FLAGS.restore)
        print(json.dumps({"loss": float(sess.run(loss, feed_dict=test))}))
else:
    hooks = [tf.train.StopAtStepHook(last_step=5)]
    with tf.train.MonitoredTrainingSession(hooks=hooks, checkpoint_dir=None) as sess:
        while not sess.should_stop():
            losses.append(float(sess.run([loss, train_op], feed_dict={X: images, y: masks, mode: True})[0]))
            if len(losses) == 5:
                break
        final = float(sess._tf_sess().run(loss, feed_dict=test))
        saver.save(sess._tf_sess(), os.path.join(FLAGS.out, "model.ckpt"))
    print(json.dumps({"losses": losses, "loss": final}))
