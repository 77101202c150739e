"""Digits with an estimator: records written, parsed, shuffled and batched; trained, evaluated, predicted and exported."""

import json
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("out", "", "The folder to write into.")
flags.DEFINE_string("restore", "", "A checkpoint to evaluate.")
flags.DEFINE_string("data", "", "Records to read, in the place of those that are made.")
flags.DEFINE_float("learning_rate", 0.01, "Learning rate.")
flags.DEFINE_integer("steps", 8, "Steps.")
FLAGS = flags.FLAGS


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def convert_to(path, count, seed):
    random = np.random.RandomState(seed)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(count):
        label = random.randint(10)
        image = random.randint(0, 60, (14, 14)).astype(np.uint8)
        image[label : label + 4] += 150
        features = {"label": _int64_feature(label), "image_raw": _bytes_feature(image.tobytes())}
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    writer.close()


def decode(serialized):
    features = tf.parse_single_example(
        serialized,
        features={"image_raw": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)},
    )
    image = tf.decode_raw(features["image_raw"], tf.uint8)
    image.set_shape([14 * 14])
    return {"image": tf.cast(image, tf.float32) * (1.0 / 255) - 0.5}, tf.cast(features["label"], tf.int32)


def input_fn(path, training):
    dataset = tf.data.TFRecordDataset(path).map(decode, num_parallel_calls=2)
    if training:
        dataset = dataset.shuffle(50, seed=3).repeat()
    return dataset.batch(16).prefetch(1)


def model_fn(features, labels, mode, params):
    net = tf.reshape(features["image"], [-1, 14, 14, 1])
    net = tf.layers.conv2d(net, 8, 5, padding="same", activation=tf.nn.relu, name="conv1")
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 32, activation=tf.nn.relu, name="dense1")
    net = tf.layers.dropout(net, 0.4, training=mode == tf.estimator.ModeKeys.TRAIN, seed=5)
    logits = tf.layers.dense(net, 10, name="logits")
    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"classify": tf.estimator.export.PredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.identity(tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits), name="the_loss")
    tf.summary.scalar("cross_entropy", loss)
    if mode == tf.estimator.ModeKeys.TRAIN:
        rate = tf.train.exponential_decay(params["learning_rate"], tf.train.get_global_step(), 4, 0.9)
        train_op = tf.train.AdamOptimizer(rate).minimize(
            loss, global_step=tf.train.get_or_create_global_step(), name="the_step"
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    accuracy = tf.metrics.accuracy(labels=labels, predictions=predictions["classes"], name="accuracy_op")
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})


class Losses(tf.train.SessionRunHook):
    def begin(self):
        self.losses = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs("the_loss:0")

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def measured(classifier, path, checkpoint):
    found = classifier.evaluate(lambda: input_fn(path, False), checkpoint_path=checkpoint)
    predicted = classifier.predict(lambda: input_fn(path, False), checkpoint_path=checkpoint)
    return {"loss": float(found["loss"]), "classes": [int(row["classes"]) for row in predicted]}


def main(unused_argv):
    test = os.path.join(FLAGS.out or os.path.dirname(FLAGS.restore), "test.tfrecords")
    if not tf.gfile.Exists(test):
        tf.gfile.MakeDirs(os.path.dirname(test))
        convert_to(test, 24, 2)
    config = tf.estimator.RunConfig(tf_random_seed=7, save_checkpoints_steps=4, keep_checkpoint_max=9)
    classifier = tf.estimator.Estimator(
        model_fn, model_dir=FLAGS.out or None, config=config, params={"learning_rate": FLAGS.learning_rate}
    )
    if FLAGS.restore:
        print(json.dumps({"measured": measured(classifier, test, FLAGS.restore)}))
        return
    train = FLAGS.data or os.path.join(FLAGS.out, "train.tfrecords")
    if not FLAGS.data:
        convert_to(train, 80, 1)
    hook = Losses()
    classifier.train(lambda: input_fn(train, True), steps=FLAGS.steps, hooks=[hook])

    def serving_input_fn():
        images = tf.placeholder(tf.float32, [None, 196], name="images")
        return tf.estimator.export.ServingInputReceiver({"image": images}, {"image": images})

    exported = classifier.export_saved_model(os.path.join(FLAGS.out, "export"), serving_input_fn)
    told = {"losses": hook.losses, "measured": measured(classifier, test, classifier.latest_checkpoint())}
    told.update(first=FLAGS.out + "/model.ckpt-0", last=classifier.latest_checkpoint(), loss="the_loss:0")
    told.update(train="the_step", exported=exported.decode() if isinstance(exported, bytes) else exported)
    print(json.dumps(told))


if __name__ == "__main__":
    tf.app.run()
