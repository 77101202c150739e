"""Models of clicks and sales, on files in the format of Taobao's: two labels, eighteen features, two of them lists."""

import os

import shared
import tensorflow as tf
from data import TAOBAO_FEATURES, TAOBAO_LABELS
from shared import args

KEYS = ["cate_id", "brand"]
_USER = [
    "user_id", "cms_segid", "cms_group_id", "age_level", "pvalue_level", "shopping_level", "occupation",
    "new_user_class_level",
]  # fmt: skip
_ITEM = ["adgroup_id", "cate_id", "campaign_id", "customer", "brand", "price", "pid"]
USER, ITEM = _USER[: args.features], [*KEYS, *(name for name in _ITEM if name not in KEYS)][: args.features]
TAGS = ["tag_category_list", "tag_brand_list"]
HEADERS = TAOBAO_LABELS + TAOBAO_FEATURES
DEFAULTS = [[0], [0]] + [[" "]] * len(TAOBAO_FEATURES)
LONGEST = 6


def parse_click(columns):
    label = columns.pop("clk")
    columns.pop("buy")
    return columns, label


def parse_both(columns):
    label = tf.stack([columns.pop("clk"), columns.pop("buy")], axis=1)
    return columns, label


def parse_sale(columns):
    label = tf.multiply(columns.pop("clk"), columns.pop("buy"))
    return columns, label


def input_of(name, parse):
    path = os.path.join(args.data_location, name + (".parquet" if args.parquet_dataset else ""))
    return lambda epochs: shared.build_model_input(path, HEADERS, DEFAULTS, epochs, parse)


def placeholders():
    return {name: tf.placeholder(tf.string, [None], name) for name in TAOBAO_FEATURES}


class TaobaoModel(shared.Model):
    parse = staticmethod(parse_both)

    def columns(self, names):
        with shared.column_scope():
            return {name: shared.embedding_column(shared.categorical_column(name)) for name in names}

    def layer(self, columns, names, **options):
        batch = self.feature["pid"] if self.label is None else self.label
        return shared.input_layer(self.feature, columns, batch, names, **options)

    def split_tags(self):
        for key in TAGS:
            self.feature[key] = tf.strings.split(self.feature[key], "|")

    def whole_layer(self, scope="input_layer"):
        """What all features give; lists have no place in adaptive columns, whose masks are of examples."""
        names = [name for name in USER + ITEM + TAGS if not args.adaptive_emb or name not in TAGS]
        self.split_tags()
        columns = self.columns(names)
        with tf.variable_scope(scope, partitioner=shared.partitioner(), reuse=tf.AUTO_REUSE):
            return self.layer([columns[name] for name in names], names)


class DSSM(TaobaoModel):
    parse = staticmethod(parse_click)

    def build(self):
        self.split_tags()
        towers = []
        user = USER + ([] if args.adaptive_emb else TAGS)
        for name, names in (("user", user), ("item", ITEM)):
            columns = self.columns(names)
            with tf.variable_scope(name + "_input_layer", reuse=tf.AUTO_REUSE):
                net = self.layer([columns[one] for one in names], names)
            with shared.dense_scope(name + "_dnn_layer"):
                net = shared.dnn(shared.narrow(net), [16, 8], name + "_dnn", use_bn=not args.bf16)
                net = shared.wide(tf.layers.dense(net, units=8))
            towers.append(tf.math.l2_normalize(net, axis=1))
        similarity = tf.reduce_sum(tf.multiply(*towers), axis=1, keep_dims=True)
        weight = tf.get_variable("sim_w", dtype=tf.float32, shape=(1, 1), initializer=tf.ones_initializer())
        bias = tf.get_variable("sim_b", dtype=tf.float32, shape=(1), initializer=tf.zeros_initializer())
        return tf.reshape(tf.matmul(similarity, tf.abs(weight)) + bias, [-1])


class BST(TaobaoModel):
    """A transformer over the brands and categories of a history, with the ones at hand."""

    parse = staticmethod(parse_click)

    def attention(self, sequence, lengths, heads=2):
        size = int(sequence.shape[2])
        with tf.variable_scope("multi_head_att_net"):
            parts = [
                tf.concat(tf.split(tf.layers.dense(sequence, size, tf.nn.relu, name=name), heads, axis=-1), axis=0)
                for name in ("query", "key", "value")
            ]
            scores = tf.matmul(parts[0], parts[1], transpose_b=True)
            known = tf.sequence_mask(lengths, maxlen=LONGEST - 1)
            mask = tf.concat([tf.ones([tf.shape(known)[0], 1], dtype=tf.bool), known], axis=1)
            mask = tf.reshape(tf.tile(mask, [heads, LONGEST]), (-1, LONGEST, LONGEST))
            scores -= 1.0e9 * tf.cast(tf.math.logical_not(mask), dtype=scores.dtype)
            found = tf.matmul(tf.nn.softmax(scores), parts[2])
            found = tf.concat(tf.split(found, heads, axis=0), axis=2)
            return tf.layers.dense(found, size, tf.nn.relu, name="multi_head_attention")

    def add_and_norm(self, first, second, name):
        return tf.contrib.layers.layer_norm(tf.add(first, second), begin_norm_axis=2, scope=name)

    def build(self):
        self.split_tags()
        batch = tf.shape(self.feature["pid"], out_type=tf.int64)[0]
        for key in TAGS:
            self.feature[key] = tf.sparse.slice(self.feature[key], [0, 0], tf.stack([batch, LONGEST - 1]))
        with shared.column_scope():
            columns = {name: shared.embedding_column(shared.categorical_column(name)) for name in USER + ITEM}
            tags = [
                shared.embedding_column(
                    tf.feature_column.sequence_categorical_column_with_embedding(name, dtype=tf.string)
                    if args.ev
                    else tf.feature_column.sequence_categorical_column_with_hash_bucket(name, hash_bucket_size=100)
                )
                for name in TAGS
            ]
        with tf.variable_scope("input_layer"):
            found = {}
            with tf.variable_scope("unseq_input_layer", reuse=tf.AUTO_REUSE):
                flat = self.layer(list(columns.values()), USER + ITEM, cols_to_output_tensors=found)
            with tf.variable_scope("tag_input_layer", reuse=tf.AUTO_REUSE):
                history, lengths = tf.contrib.feature_column.sequence_input_layer(self.feature, tags)
            key = tf.concat([found[columns[name]] for name in KEYS], axis=-1)
        longest = tf.shape(history)[1]
        history = tf.cond(
            tf.constant(LONGEST) > longest,
            lambda: tf.pad(history, [[0, 0], [0, LONGEST - longest - 1], [0, 0]], "CONSTANT"),
            lambda: tf.slice(history, [0, 0, 0], [-1, LONGEST - 1, -1]),
        )
        sequence = tf.concat([history, tf.expand_dims(key, 1)], axis=1)
        sequence.set_shape([None, LONGEST, 8])
        with tf.variable_scope("bst_tower", partitioner=shared.partitioner(), reuse=tf.AUTO_REUSE):
            net = self.add_and_norm(sequence, self.attention(sequence, lengths), "add_and_norm_1")
            forward = tf.layers.dense(tf.layers.dense(net, 8, tf.nn.relu), 8)
            net = tf.reshape(self.add_and_norm(net, forward, "add_and_norm_2"), [-1, LONGEST * 8])
        with shared.dense_scope("final_dnn_layer"):
            net = shared.dnn(shared.narrow(tf.concat([flat, net], axis=1)), [16], "final_dnn")
            return tf.reshape(tf.layers.dense(shared.wide(net), units=1), [-1])


class SimpleMultiTask(TaobaoModel):
    def build(self):
        net = self.whole_layer()
        towers = []
        for name in ("clk", "buy"):
            with shared.dense_scope(name + "_model"):
                towers.append(shared.wide(tf.layers.dense(shared.dnn(shared.narrow(net), [16, 8], name), 1)))
        return tf.concat(towers, axis=1)


class DBMTL(TaobaoModel):
    """Towers of tasks, of which one takes what another has found."""

    def build(self):
        with tf.variable_scope("dnn"):
            net = self.whole_layer()
            with shared.dense_scope("bottom_dnn"):
                net = shared.dnn(shared.narrow(net), [32, 16], "bottom_dnn_layer")
            towers, logits = {}, []
            for name, needs in (("ctr", []), ("cvr", ["ctr"])):
                with shared.dense_scope(name):
                    towers[name] = shared.dnn(net, [16, 8], name + "_layer")
                    related = tf.concat([towers[name]] + [towers[other] for other in needs], axis=1)
                    related = shared.dnn(related, [8], name + "_relation_dnn")
                    logits.append(shared.wide(tf.layers.dense(related, units=1, name=name + "_output")))
        return tf.squeeze(tf.stack(logits, axis=1), [2])


class MMoE(TaobaoModel):
    def build(self):
        embedded = shared.narrow(self.whole_layer())
        logits = []
        with shared.dense_scope("MMOE"):
            experts = tf.stack([shared.dnn(embedded, [16, 8], "expert_%d" % i) for i in range(3)], axis=1)
            for name in ("ctr", "cvr"):
                with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
                    gate = tf.nn.softmax(shared.wide(tf.layers.dense(embedded, units=3, name="gate")), axis=1)
                    mixed = tf.reduce_sum(shared.wide(experts) * tf.expand_dims(gate, -1), axis=1)
                    net = shared.dnn(shared.narrow(mixed), [8], name + "_layer")
                    logits.append(shared.wide(tf.layers.dense(net, units=1, name="output")))
        return tf.squeeze(tf.stack(logits, axis=1), [2])


class PLE(TaobaoModel):
    """Layers of experts, of a task each or of all, and a gate for each task and one for all."""

    def experts(self, net, name, count):
        return [shared.dnn(net, [8], "%s_%d" % (name, i)) for i in range(count)]

    def gated(self, net, experts, name):
        gate = tf.layers.dense(net, units=len(experts), activation="softmax", name=name)
        return tf.reduce_sum(tf.stack(experts, axis=1) * tf.expand_dims(gate, axis=-1), axis=1, keep_dims=False)

    def build(self):
        tasks = ("ctr", "cvr")
        nets = [self.whole_layer()] * 3
        for level in range(2):
            with tf.variable_scope("extraction_network_%d" % level):
                own = [self.experts(nets[i], "expert_" + task, 2) for i, task in enumerate(tasks)]
                common = self.experts(nets[-1], "expert_shared", 1)
                every = own[0] + own[1] + common
                nets = [self.gated(nets[i], own[i] + common, "gate_" + task) for i, task in enumerate(tasks)] + [
                    self.gated(nets[-1], every, "gate_shared")
                ]
        logits = []
        for net, task in zip(nets, tasks):
            with tf.variable_scope(task, reuse=tf.AUTO_REUSE):
                logits.append(tf.layers.dense(shared.dnn(net, [8], "tower"), units=1, name=task + "_output"))
        return tf.squeeze(tf.stack(logits, axis=1), [2])


def l2_regularizer(scale):
    def l2(weights):
        with tf.name_scope(None, "l2_regularizer", [weights]) as name:
            kept = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.math.multiply(kept, tf.nn.l2_loss(weights), name=name)

    return l2


class ESMM(TaobaoModel):
    """The chance of a sale as that of a click times that of a sale after it."""

    parse = staticmethod(parse_sale)

    def build(self):
        net = self.whole_layer()
        chances = []
        with shared.dense_scope("ESMM"):
            for name in ("cvr", "ctr"):
                with tf.variable_scope(name + "_mlp", reuse=tf.AUTO_REUSE):
                    layer = tf.layers.dense(
                        shared.narrow(net), 16, tf.nn.relu, kernel_regularizer=l2_regularizer(1e-6), name="first"
                    )
                    chances.append(shared.wide(tf.layers.dense(layer, 1, tf.math.sigmoid, name="last")))
        chance = tf.reshape(tf.multiply(*chances), [-1])
        return tf.log(chance) - tf.log1p(-chance)


MODELS = {
    "bst": BST, "dssm": DSSM, "dbmtl": DBMTL, "mmoe": MMoE, "esmm": ESMM, "simple_multitask": SimpleMultiTask,
    "ple": PLE,
}  # fmt: skip


def program(name):
    model = MODELS[name]
    files = [input_of(f"taobao_{kind}_data", model.parse) for kind in ("train", "test")]
    return shared.Program(name, model, *files, placeholders, examples=512)


if __name__ == "__main__":
    shared.run_all(program)
