"""Models of clicks on advertisements, on files in the format of Criteo's: thirteen numbers, twenty-six ids."""

import os

import shared
import tensorflow as tf
from shared import args

CONTINUOUS = ["I" + str(i) for i in range(1, 14)]
COLUMNS = ["C" + str(i) for i in range(1, 27)]
CATEGORICAL = COLUMNS[: args.features]
LABEL = "clicked"
HEADERS = [LABEL] + CONTINUOUS + COLUMNS
DEFAULTS = [[0]] + [[0.0]] * 13 + [[" "]] * 26


def parse(columns):
    label = columns.pop(LABEL)
    return columns, label


def input_of(name):
    suffix = ".parquet" if args.parquet_dataset else ".csv"
    path = os.path.join(args.data_location, name + suffix)
    return lambda epochs: shared.build_model_input(path, HEADERS, DEFAULTS, epochs, parse)


def placeholders():
    numbers = {name: tf.placeholder(tf.float32, [None], name) for name in CONTINUOUS}
    return {**numbers, **{name: tf.placeholder(tf.string, [None], name) for name in CATEGORICAL}}


class CriteoModel(shared.Model):
    def columns(self):
        """Columns of numbers, of ids, and of rows of ids."""
        numbers = [tf.feature_column.numeric_column(name, shape=(1,)) for name in CONTINUOUS]
        with shared.column_scope():
            ids = [shared.categorical_column(name) for name in CATEGORICAL]
            rows = [shared.embedding_column(column) for column in ids]
        return numbers, rows

    def layer(self, columns, **options):
        batch = self.feature[CONTINUOUS[0]] if self.label is None else self.label
        return shared.input_layer(self.feature, columns, batch, CATEGORICAL, **options)


class WideAndDeep(CriteoModel):
    def build(self):
        numbers, rows = self.columns()
        with tf.variable_scope("dnn"):
            with tf.variable_scope("input_from_feature_columns", partitioner=shared.partitioner()):
                net = self.layer(numbers + rows)
            with shared.dense_scope("dnn_layers"):
                net = shared.dnn(shared.narrow(net), [32, 16], "hiddenlayer")
                with shared.dense_scope("logits") as scope:
                    deep = tf.layers.dense(net, units=1, activation=None, name=scope)
        wide_columns = [
            tf.feature_column.categorical_column_with_hash_bucket(name, hash_bucket_size=100, dtype=tf.string)
            for name in CATEGORICAL
        ]
        with tf.variable_scope("linear"):
            linear = tf.feature_column.linear_model(
                units=1, features=self.feature, feature_columns=wide_columns, sparse_combiner="sum"
            )
        return tf.add_n([shared.wide(deep), linear])

    def create_optimizer(self):
        self.global_step = tf.train.get_or_create_global_step()
        deep = shared.make_optimizer(args.learning_rate, self.global_step)
        linear = tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.0, l2_regularization_strength=0.0)
        trained = {
            scope: tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=scope) for scope in ("dnn", "linear")
        }
        self.train_op = tf.group(
            deep.minimize(self.loss, var_list=trained["dnn"], global_step=self.global_step),
            linear.minimize(self.loss, var_list=trained["linear"]),
        )


def lower_triangle(features):
    """The products of all pairs of rows, each pair once."""
    products = tf.matmul(features, features, transpose_b=True)
    ones = tf.ones_like(products)
    below = tf.cast(ones - tf.linalg.band_part(ones, 0, -1), tf.bool)
    count = products.shape[-1] * (products.shape[-1] - 1) // 2
    return tf.reshape(tf.boolean_mask(products, below), (tf.shape(features)[0], count))


class DLRM(CriteoModel):
    def bottom(self, numbers):
        with tf.variable_scope("dense_input_layer"):
            net = self.layer(numbers)
        with shared.dense_scope("mlp_bot_layer"):
            return shared.wide(shared.dnn(shared.narrow(net), [16, 4], "mlp_bot_hiddenlayer", use_bn=not args.bf16))

    def top(self, net):
        with shared.dense_scope("mlp_top_layer"):
            net = shared.wide(shared.dnn(shared.narrow(net), [32], "mlp_top_hiddenlayer"))
        with tf.variable_scope("logits") as scope:
            return tf.layers.dense(net, units=1, activation=None, name=scope)

    def interact(self, dense, stacked):
        return tf.concat([dense, lower_triangle(stacked)], 1)

    def build(self):
        numbers, rows = self.columns()
        with tf.variable_scope("input_layer", reuse=tf.AUTO_REUSE):
            tensors = {}
            with tf.variable_scope("sparse_input_layer", reuse=tf.AUTO_REUSE):
                self.layer(rows, cols_to_output_tensors=tensors)
        dense = self.bottom(numbers)
        return self.top(self.interact(dense, tf.stack([dense] + [tensors[column] for column in rows], axis=1)))


class MLPerf(DLRM):
    """DLRM with a cross net of low rank in the place of the products."""

    def interact(self, dense, stacked):
        first = tf.reshape(stacked, [-1, stacked.shape[1] * stacked.shape[2]])
        net = first
        for number in range(2):
            narrow = tf.layers.dense(net, units=8, use_bias=False, name="low_rank_cross_net_%d_v" % number)
            net = first * tf.layers.dense(narrow, units=first.shape[-1], name="low_rank_cross_net_%d_w" % number) + net
        return net


class DeepFM(CriteoModel):
    def build(self):
        numbers, rows = self.columns()
        with tf.variable_scope("input_layer", reuse=tf.AUTO_REUSE):
            tensors = {}
            deep = self.layer(numbers + rows)
            wide = self.layer(numbers + rows, cols_to_output_tensors=tensors)
            factors = tf.stack([tensors[column] for column in rows], 1)
        with shared.dense_scope("dnn"):
            deep = shared.wide(shared.dnn(shared.narrow(deep), [32, 8], "dnn_layer"))
        linear = tf.reduce_sum(wide, axis=1, keepdims=True)
        squares = tf.square(tf.reduce_sum(factors, axis=1)) - tf.reduce_sum(tf.square(factors), axis=1)
        with tf.variable_scope("final_dnn"):
            net = shared.dnn(tf.concat([deep, linear, 0.5 * squares], 1), [16], "final_dnn")
        return tf.layers.dense(net, units=1)

    def create_loss(self, logits):
        self.loss = tf.losses.mean_squared_error(self.label, tf.squeeze(self.probability))


class DCN(CriteoModel):
    def cross(self, first):
        net, size = first, first.shape[-1]
        for number in range(2):
            with tf.variable_scope("crosslayer_%d" % number, reuse=tf.AUTO_REUSE):
                weights = tf.get_variable("crosslayer_w", dtype=first.dtype, shape=(size))
                bias = tf.get_variable("crosslayer_b", dtype=first.dtype, shape=(size))
                net = tf.math.add(tf.math.add(first * tf.reduce_sum(net * weights, axis=1, keepdims=True), bias), net)
        return net

    def build(self):
        numbers, rows = self.columns()
        logits = []
        for scope, layers in (("dnn", lambda net: shared.dnn(net, [32, 16], "hiddenlayer")), ("cross", self.cross)):
            with tf.variable_scope(scope):
                with tf.variable_scope("input_from_feature_columns", reuse=tf.AUTO_REUSE):
                    net = self.layer(numbers + rows)
                with shared.dense_scope("layers"):
                    net = shared.wide(layers(shared.narrow(net)))
                with tf.variable_scope("logits") as logits_scope:
                    logits.append(tf.layers.dense(net, units=1, activation=None, name=logits_scope))
        return tf.add_n(logits)


class DCNv2(DCN):
    def cross(self, first):
        net = first
        for number in range(2):
            with tf.variable_scope("crosslayer_%d" % number, reuse=tf.AUTO_REUSE):
                narrow = tf.layers.dense(net, units=8)
                net = first * tf.layers.dense(narrow, units=first.shape[-1]) + first
        return net


class MaskNet(CriteoModel):
    def block(self, embedded, hidden, number):
        with tf.variable_scope("mask_block" + str(number), default_name="mask_block", reuse=tf.AUTO_REUSE):
            mask = shared.dnn(embedded, [hidden.shape[1], hidden.shape[1]], "")
            net = tf.layers.dense(mask * hidden, 16, use_bias=False)
            return tf.nn.relu(tf.layers.batch_normalization(net, training=self.is_training))

    def build(self):
        numbers, rows = self.columns()
        with tf.variable_scope("dnn"):
            with tf.variable_scope("input_from_feature_columns", reuse=tf.AUTO_REUSE):
                net = self.layer(numbers + rows)
            with shared.dense_scope("dnn_layers"):
                blocks = tf.concat([self.block(net, net, number) for number in range(3)], -1)
                return tf.layers.dense(shared.dnn(blocks, [16], "top"), units=1)


MODELS = {
    "wide_and_deep": WideAndDeep, "dlrm": DLRM, "deepfm": DeepFM, "dcn": DCN, "dcnv2": DCNv2, "masknet": MaskNet,
    "mlperf": MLPerf,
}  # fmt: skip

if __name__ == "__main__":
    shared.run_all(
        lambda name: shared.Program(name, MODELS[name], input_of("train"), input_of("eval"), placeholders, examples=512)
    )
