"""A slim net in scopes of arguments: a dataset of records with a decoder and a provider, slim's loops for both halves."""

import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.layers.python.layers import utils

slim = tf.contrib.slim
tf.app.flags.DEFINE_string("out", "", "Where the model and its data are written to.")
tf.app.flags.DEFINE_string("restore", "", "A checkpoint to evaluate.")
FLAGS = tf.app.flags.FLAGS


def write_flowers(path, count):
    random = np.random.RandomState(4)
    with tf.python_io.TFRecordWriter(path) as writer, tf.Graph().as_default(), tf.Session() as sess:
        raw = tf.placeholder(tf.uint8, [None, None, 3])
        encoded = tf.image.encode_png(raw)
        for _ in range(count):
            label = random.randint(3)
            image = random.randint(0, 80, (12, 12, 3)).astype(np.uint8)
            image[..., label] += 120
            values = {
                "image/encoded": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[sess.run(encoded, {raw: image})])
                ),
                "image/format": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"png"])),
                "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=values)).SerializeToString())


def get_split(path, count):
    keys_to_features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
        "image/class/label": tf.FixedLenFeature([], tf.int64, default_value=tf.zeros([], dtype=tf.int64)),
    }
    items_to_handlers = {
        "image": slim.tfexample_decoder.Image(shape=[12, 12, 3]),
        "label": slim.tfexample_decoder.Tensor("image/class/label"),
    }
    return slim.dataset.Dataset(
        data_sources=path,
        reader=tf.TFRecordReader,
        decoder=slim.tfexample_decoder.TFExampleDecoder(keys_to_features, items_to_handlers),
        num_samples=count,
        items_to_descriptions={"image": "A color image.", "label": "A single integer between 0 and 2"},
        num_classes=3,
    )


def load_batch(path, count, batch_size):
    provider = slim.dataset_data_provider.DatasetDataProvider(
        get_split(path, count), shuffle=False, common_queue_capacity=32, common_queue_min=1
    )
    image, label = provider.get(["image", "label"])
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.subtract(image, 0.5)
    return tf.train.batch([image, label], batch_size=batch_size, num_threads=1, capacity=2 * batch_size)


def cnn_arg_scope(weight_decay=0.0004, is_training=True):
    batch_norm_params = {"is_training": is_training, "decay": 0.9, "epsilon": 0.001, "scale": True}
    with arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(weight_decay)):
        with slim.arg_scope(
            [slim.conv2d],
            weights_initializer=slim.variance_scaling_initializer(seed=1),
            activation_fn=tf.nn.relu6,
            normalizer_fn=slim.batch_norm,
            normalizer_params=batch_norm_params,
        ) as sc:
            return sc


def cnn(images, num_classes, is_training, reuse=None, scope="CifarNet"):
    with tf.variable_scope(scope, "CifarNet", [images], reuse=reuse) as sc:
        end_points_collection = sc.original_name_scope + "_end_points"
        with slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections=end_points_collection):
            net = slim.conv2d(images, 8, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], 2, scope="pool1")
            net = slim.repeat(net, 2, slim.conv2d, 8, [3, 3], scope="conv2")
            net = slim.separable_conv2d(net, 12, [3, 3], depth_multiplier=1, scope="sep")
        net = slim.flatten(net)
        net = slim.dropout(net, 0.9, is_training=is_training, scope="dropout")
        logits = slim.fully_connected(
            net,
            num_classes,
            activation_fn=None,
            weights_initializer=tf.truncated_normal_initializer(stddev=0.05),
            scope="logits",
        )
        end_points = utils.convert_collection_to_dict(end_points_collection)
        end_points["Predictions"] = slim.softmax(logits, scope="Predictions")
        return logits, end_points


def evaluate(path, checkpoint, logdir):
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        images, labels = load_batch(path, 24, 8)
        with slim.arg_scope(cnn_arg_scope(is_training=False)):
            logits, _ = cnn(images, 3, False)
        values, updates = slim.metrics.aggregate_metric_map(
            {
                "accuracy": slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels),
                "loss": slim.metrics.streaming_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                ),
            }
        )
        found = slim.evaluation.evaluate_once(
            master="",
            checkpoint_path=checkpoint,
            logdir=logdir,
            num_evals=3,
            eval_op=list(updates.values()),
            final_op=list(values.values()),
            variables_to_restore=slim.get_variables_to_restore(),
        )
        return {name: float(value) for name, value in zip(values, found)}


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    out = FLAGS.out or os.path.dirname(FLAGS.restore)
    path = os.path.join(out, "flowers.tfrecord")
    if not tf.gfile.Exists(path):
        tf.gfile.MakeDirs(out)
        write_flowers(path, 24)
    if FLAGS.restore:
        print(json.dumps({"measured": evaluate(path, FLAGS.restore, os.path.join(out, "eval"))}))
        return
    losses = []
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        images, labels = load_batch(path, 24, 8)
        with slim.arg_scope(cnn_arg_scope()):
            logits, end_points = cnn(images, 3, True)
        slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(labels, 3), label_smoothing=0.1)
        total_loss = tf.identity(slim.losses.get_total_loss(), name="the_loss")
        for end_point in end_points:
            tf.summary.histogram("activations/" + end_point, end_points[end_point])
        global_step = slim.create_global_step()
        rate = tf.train.exponential_decay(0.02, global_step, 2, 0.94, staircase=True)
        train_op = slim.learning.create_train_op(
            total_loss,
            tf.train.RMSPropOptimizer(rate, momentum=0.9, epsilon=1.0),
            clip_gradient_norm=4.0,
            global_step=global_step,
            summarize_gradients=True,
        )
        saver = tf.train.Saver(slim.get_variables(), max_to_keep=3)
        first = os.path.join(out, "model.ckpt-0")

        def init_fn(sess):
            saver.save(sess, first)

        def train_step_fn(sess, *args):
            loss, should_stop = slim.learning.train_step(sess, *args)
            losses.append(float(loss))
            return loss, should_stop

        slim.learning.train(
            train_op,
            out,
            train_step_fn=train_step_fn,
            init_fn=init_fn,
            saver=saver,
            number_of_steps=6,
            save_summaries_secs=0,
            save_interval_secs=600,
        )
        analyzed = slim.model_analyzer.analyze_vars(tf.model_variables())
        train_name = train_op.name
    last = tf.train.latest_checkpoint(out)
    told = {"losses": losses, "measured": evaluate(path, last, os.path.join(out, "eval")), "size": int(analyzed[0])}
    told.update(first=first, last=last, loss="the_loss:0", train=train_name)
    print(json.dumps(told))


if __name__ == "__main__":
    tf.app.run()
