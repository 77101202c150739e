"""Models of histories, on files in the format of Amazon's reviews: a user, an item, and what the user had before."""

import os

import shared
import tensorflow as tf
from data import AMAZON, BETWEEN, NOT_CLICKED
from shared import args
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear
from tensorflow.python.feature_column import utils as fc_utils
from tensorflow.python.feature_column.feature_column import _LazyBuilder
from tensorflow.python.ops.embedding_ops import fused_safe_embedding_lookup_sparse

SEQUENCES = AMAZON[4:] + NOT_CLICKED
WIDTH = 6
LONGEST = 5


def input_of(name):
    suffix = ".parquet" if args.parquet_dataset else ""
    path, others = (os.path.join(args.data_location, name + more + suffix) for more in ("", "_neg"))

    def build(epochs):
        def parse(value, negative):
            value.update(negative)
            label = value.pop("CLICKED")
            return value, label

        def parse_csv(value, negative):
            columns = tf.io.decode_csv(value, record_defaults=[[0]] + [[" "]] * 5, field_delim="\t")
            columns.extend(tf.io.decode_csv(negative, record_defaults=[[""], [""]], field_delim="\t"))
            found = dict(zip(AMAZON + NOT_CLICKED, columns))
            label = found.pop("CLICKED")
            return found, label

        if args.parquet_dataset:
            from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset

            both = tuple(ParquetDataset(one, args.batch_size) for one in (path, others))
            return tf.data.Dataset.zip(both).repeat(epochs).map(parse, tf.data.experimental.AUTOTUNE).prefetch(2)
        both = tuple(tf.data.TextLineDataset(shared.file_names(one, epochs)) for one in (path, others))
        dataset = tf.data.Dataset.zip(both).shuffle(buffer_size=2000, seed=args.seed)
        dataset = dataset.repeat(1 if args.workqueue else epochs)
        return dataset.batch(args.batch_size).map(parse_csv, tf.data.experimental.AUTOTUNE).prefetch(2)

    return build


def placeholders():
    return {name: tf.placeholder(tf.string, [None], name) for name in AMAZON[1:] + NOT_CLICKED}


class AttentionGRUCell(tf.nn.rnn_cell.RNNCell):
    """A GRU whose update gate is scaled by attention."""

    def __init__(self, num_units, reuse=None):
        super(AttentionGRUCell, self).__init__(_reuse=reuse)
        self._num_units = num_units
        self._gates, self._candidate = None, None

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def __call__(self, inputs, state):
        return self.call(inputs, state)

    def call(self, inputs, state):
        value, score = inputs
        if self._gates is None:
            ones = tf.constant_initializer(1.0, dtype=value.dtype)
            with tf.variable_scope("gates"):
                self._gates = _Linear([value, state], 2 * self._num_units, True, bias_initializer=ones)
        reset, update = tf.split(tf.math.sigmoid(self._gates([value, state])), num_or_size_splits=2, axis=1)
        if self._candidate is None:
            with tf.variable_scope("candidate"):
                self._candidate = _Linear([value, reset * state], self._num_units, True)
        found = tf.math.tanh(self._candidate([value, reset * state]))
        update = (1.0 - score) * update
        state = update * state + (1 - update) * found
        return state, state


class AmazonModel(shared.Model):
    clip_norm = 5

    def table(self, name, column):
        """A table that items at hand and items of histories share."""
        if args.ev:
            return tf.get_embedding_variable(name, WIDTH, ev_option=shared.embedding_option())
        buckets = column._num_buckets
        if args.multihash:
            root = int(buckets**0.5) + 1  # quotients by it are less than it
            return tf.get_multihash_variable(name, [[root, WIDTH], [root, WIDTH]])
        return tf.get_variable(name, [buckets, WIDTH])

    def looked_up(self, builder, column, table):
        ids, weights = column._get_sparse_tensors(builder)
        look = fused_safe_embedding_lookup_sparse if args.emb_fusion else tf.nn.safe_embedding_lookup_sparse
        return look(embedding_weights=table, sparse_ids=ids, sparse_weights=weights), ids

    def embeddings(self):
        batch = tf.shape(self.feature["UID"], out_type=tf.int64)[0]
        for key in SEQUENCES:
            split = tf.strings.split(self.feature[key], BETWEEN)
            self.feature[key] = tf.sparse.slice(split, [0, 0], tf.stack([batch, LONGEST]))
        files = [os.path.join(args.data_location, name + "_voc.txt") for name in ("uid", "mid", "cat")]
        plain = tf.feature_column.categorical_column_with_vocabulary_file
        sequence = tf.feature_column.sequence_categorical_column_with_vocabulary_file
        user = plain("UID", files[0], default_value=0)
        if args.ev or args.adaptive_emb:
            user = shared.categorical_column("UID")
        self.user = shared.input_layer(
            self.feature, [tf.feature_column.embedding_column(user, dimension=WIDTH)], self.feature["UID"], ["UID"]
        )
        builder = _LazyBuilder(self.feature)
        found, lengths = {"item": [], "history": [], "noclk": []}, []
        for kind, file in (("ITEM", files[1]), ("CATEGORY", files[2])):
            column = plain(kind, file, default_value=0)
            table = self.table(kind.lower() + "_embedding_var", column)
            found["item"].append(self.looked_up(builder, column, table)[0])
            for name, key in (("history", "HISTORY_" + kind), ("noclk", "NOCLK_HISTORY_" + kind)):
                rows, ids = self.looked_up(builder, sequence(key, file, default_value=0), table)
                found[name].append(rows)
                if name == "history":
                    lengths.append(fc_utils.sequence_length_from_sparse_tensor(ids))
        with tf.control_dependencies([tf.debugging.assert_equal(*lengths)]):
            self.lengths = tf.identity(lengths[0])
        self.item, self.history, self.others = (tf.concat(found[key], -1) for key in ("item", "history", "noclk"))
        self.mask = tf.sequence_mask(self.lengths)

    def attention(self, query, facts, tag):
        """How much each step of a history counts for the item at hand."""
        query = shared.prelu(tf.layers.dense(query, facts.get_shape().as_list()[-1], name="f1" + tag))
        queries = tf.reshape(tf.tile(query, [1, tf.shape(facts)[1]]), tf.shape(facts))
        net = tf.concat([queries, facts, queries - facts, queries * facts], axis=-1)
        net = tf.layers.dense(net, 16, activation=tf.nn.sigmoid, name="f1_att" + tag)
        scores = tf.reshape(tf.layers.dense(net, 1, name="f2_att" + tag), [-1, 1, tf.shape(facts)[1]])
        return tf.nn.softmax(tf.where(tf.expand_dims(self.mask, 1), scores, tf.ones_like(scores) * (-(2**32) + 1)))

    def top(self, more):
        total = tf.reduce_sum(self.history, 1)
        net = tf.concat([self.user, self.item, total, self.item * total, more], 1)
        with shared.dense_scope("top_mlp_layer"):
            net = tf.layers.batch_normalization(inputs=shared.narrow(net), name="bn1")
            net = shared.dnn(net, [16, 8], "dnn")
            return tf.reshape(shared.wide(tf.layers.dense(net, 1, name="logits")), [-1])


class DIN(AmazonModel):
    def build(self):
        with tf.variable_scope("input_layer", partitioner=shared.partitioner(), reuse=tf.AUTO_REUSE):
            self.embeddings()
        with tf.variable_scope("attention_layer"):
            scores = self.attention(self.item, self.history, "null")
            return self.top(tf.reduce_sum(tf.matmul(scores, self.history), 1))


class DIEN(AmazonModel):
    def auxiliary_loss(self, states):
        """What the states say of the next step of the history, and of items that were not clicked."""
        mask = tf.cast(self.mask[:, 1:], tf.float32)
        losses = []
        for sequence, wanted in ((self.history, 1.0), (self.others, 0.0)):
            net = tf.concat([states[:, :-1, :], sequence[:, 1:, :]], -1)
            net = tf.layers.dense(net, 8, tf.nn.sigmoid, name="f1gru", reuse=tf.AUTO_REUSE)
            chance = tf.layers.dense(net, 1, tf.nn.sigmoid, name="f2gru", reuse=tf.AUTO_REUSE)[:, :, 0]
            losses.append(-tf.log(tf.abs(1.0 - wanted - chance) + 1e-8) * mask)
        return tf.reduce_mean(tf.add_n(losses))

    def build(self):
        with tf.variable_scope("input_layer", reuse=tf.AUTO_REUSE):
            self.embeddings()
        size = 2 * WIDTH
        with tf.variable_scope("rnn_1"):
            states, _ = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(size), inputs=self.history, sequence_length=self.lengths, dtype=tf.float32,
                scope="gru1",
            )  # fmt: skip
        if self.label is not None:
            with tf.variable_scope("aux_loss"):
                self.more_loss = self.auxiliary_loss(states)
        with tf.variable_scope("attention_layer"):
            scores = tf.reshape(self.attention(self.item, states, "1_1"), [-1, tf.shape(states)[1]])
        with tf.variable_scope("rnn_2"):
            _, final = tf.nn.dynamic_rnn(
                AttentionGRUCell(size), inputs=[states, tf.expand_dims(scores, -1)], sequence_length=self.lengths,
                dtype=tf.float32, scope="gru2",
            )  # fmt: skip
        return self.top(final)


MODELS = {"din": DIN, "dien": DIEN}

if __name__ == "__main__":
    shared.run_all(
        lambda name: shared.Program(
            name,
            MODELS[name],
            input_of("local_train_splitByUser"),
            input_of("local_test_splitByUser"),
            placeholders,
            examples=512,
        )  # fmt: skip
    )
