"""A deep learning recommendation model: feature columns, embedding columns by key, products of pairs, a monitored session."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="")
parser.add_argument("--restore", default="")
parser.add_argument("--ev", action="store_true")
args = parser.parse_args()
CONTINUOUS = ["I%d" % n for n in range(1, 5)]
SIZES = {"C1": 20, "C2": 50, "C3": 9}
CATEGORICAL = sorted(SIZES)


def write_criteo(path, count, seed):
    random = np.random.RandomState(seed)
    with tf.gfile.GFile(path, "w") as f:
        for _ in range(count):
            dense = random.randint(0, 30, len(CONTINUOUS))
            keys = [random.randint(0, SIZES[name]) for name in CATEGORICAL]
            label = int(keys[0] % 3 + dense[0] / 15.0 > 2)
            f.write(",".join(str(v) for v in [label] + list(dense) + keys) + "\n")


def build_model_input(filename, batch_size, num_epochs):
    def parse_csv(value):
        defaults = [[0.0]] + [[0.0] for _ in CONTINUOUS] + [tf.constant([0], tf.int64) for _ in CATEGORICAL]
        columns = tf.decode_csv(value, record_defaults=defaults)
        features = dict(zip(["clicked"] + CONTINUOUS + CATEGORICAL, columns))
        return features, features.pop("clicked")

    dataset = tf.data.TextLineDataset(filename)
    dataset = dataset.shuffle(buffer_size=40, seed=2021)
    dataset = dataset.repeat(num_epochs).batch(batch_size)
    return dataset.map(parse_csv, num_parallel_calls=2).prefetch(1)


def build_feature_columns():
    sparse, dense = [], []
    for name in CATEGORICAL:
        if args.ev:
            column = tf.feature_column.categorical_column_with_embedding(name, dtype=tf.int64)
        else:
            column = tf.feature_column.categorical_column_with_identity(name, num_buckets=SIZES[name])
        sparse.append(
            tf.feature_column.embedding_column(
                column, dimension=4, initializer=tf.constant_initializer(0.1 * SIZES[name] ** 0.25)
            )
        )
    for name in CONTINUOUS:
        dense.append(tf.feature_column.numeric_column(name, normalizer_fn=lambda col: tf.log1p(col)))
    return dense, sparse


class DLRM(object):
    def __init__(self, dense_column, sparse_column, inputs):
        features, self._label = inputs
        with tf.variable_scope("dlrm"):
            dense_inputs = tf.feature_column.input_layer({c: features[c] for c in CONTINUOUS}, dense_column)
            net = dense_inputs
            for layer_id, units in enumerate([8, 4]):
                net = tf.layers.dense(net, units=units, activation=tf.nn.relu, name="mlp_bot_%d" % layer_id)
            vectors = [net]
            for column in sparse_column:
                with tf.variable_scope("sparse_input_layer", reuse=tf.AUTO_REUSE):
                    vectors.append(tf.feature_column.input_layer({n: features[n] for n in CATEGORICAL}, [column]))
            stacked = tf.stack(vectors, axis=1)
            products = tf.matmul(stacked, stacked, transpose_b=True)
            count = len(vectors)
            ones = tf.reshape(tf.ones([count * count]), [count, count])
            mask = tf.cast(tf.matrix_band_part(ones, 0, -1) - tf.matrix_band_part(ones, 0, 0), tf.bool)
            products = tf.boolean_mask(products, tf.tile(tf.expand_dims(mask, 0), [tf.shape(products)[0], 1, 1]))
            products = tf.reshape(products, [-1, count * (count - 1) // 2])
            net = tf.concat([products, net], 1)
            for layer_id, units in enumerate([10, 6]):
                net = tf.layers.dense(net, units=units, activation=tf.nn.relu, name="mlp_top_%d" % layer_id)
            self._logits = tf.layers.dense(net, units=1, name="logits")
            self.probability = tf.math.sigmoid(self._logits)
            self.output = tf.round(self.probability)
        label = tf.reshape(self._label, [-1, 1])
        self.loss = tf.identity(tf.losses.sigmoid_cross_entropy(label, self._logits), name="the_loss")
        self.acc, self.acc_op = tf.metrics.accuracy(labels=label, predictions=self.output)
        self.auc, self.auc_op = tf.metrics.auc(labels=label, predictions=self.probability, num_thresholds=100)

    def optimize(self):
        self.global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdagradOptimizer(learning_rate=0.05, initial_accumulator_value=0.1, use_locking=False)
        train_op = optimizer.minimize(self.loss, global_step=self.global_step)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(update_ops):
            self.train_op = tf.group(train_op, self.acc_op, self.auc_op, name="the_step")


def model_of(path, batch_size, epochs):
    iterator = build_model_input(path, batch_size, epochs).make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    dense, sparse = build_feature_columns()
    return DLRM(dense, sparse, iterator.get_next())


def evaluate(path, checkpoint):
    with tf.Graph().as_default():
        model = model_of(path, 10, 1)
        tf.train.get_or_create_global_step()
        saver = tf.train.Saver(tf.global_variables())
        with tf.Session() as sess:
            saver.restore(sess, checkpoint)
            sess.run([tf.local_variables_initializer(), tf.tables_initializer()])
            try:
                while True:
                    sess.run([model.acc_op, model.auc_op])
            except tf.errors.OutOfRangeError:
                acc, auc = sess.run([model.acc, model.auc])
                return {"acc": float(acc), "auc": float(auc)}


def main():
    out = args.out or os.path.dirname(args.restore)
    train, test = os.path.join(out, "train.csv"), os.path.join(out, "eval.csv")
    if not tf.gfile.Exists(train):
        tf.gfile.MakeDirs(out)
        write_criteo(train, 48, 1)
        write_criteo(test, 30, 2)
    if args.restore:
        print(json.dumps({"measured": evaluate(test, args.restore)}))
        return
    tf.set_random_seed(2021)
    model = model_of(train, 8, None)
    model.optimize()
    losses, hooks = [], [tf.train.StopAtStepHook(last_step=8)]
    saver = tf.train.Saver(tf.global_variables(), max_to_keep=9)
    scaffold = tf.train.Scaffold(
        local_init_op=tf.group(tf.tables_initializer(), tf.local_variables_initializer()), saver=saver
    )
    hooks.append(tf.train.LoggingTensorHook({"steps": model.global_step, "loss": model.loss}, every_n_iter=4))
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=out,
        scaffold=scaffold,
        hooks=hooks,
        save_checkpoint_steps=4,
        save_summaries_steps=None,
        summary_dir=out,
        log_step_count_steps=None,
        config=tf.ConfigProto(allow_soft_placement=True),
    ) as sess:
        while not sess.should_stop():
            losses.append(float(sess.run([model.loss, model.train_op])[0]))
    last = tf.train.latest_checkpoint(out)
    told = {"losses": losses, "first": out + "/model.ckpt-0", "last": last, "measured": evaluate(test, last)}
    told.update(loss="the_loss:0", train="the_step")
    print(json.dumps(told))


main()
