"""A deep interest network: the history of a user is weighed by how it fits the item; tables are embedding variables."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="")
parser.add_argument("--restore", default="")
parser.add_argument("--ev", action="store_true", help="tables by key that grow, in the place of variables")
args = parser.parse_args()
USERS, ITEMS, CATES, DIM = 30, 40, 6, 4


def prelu(_x, scope=""):
    with tf.variable_scope(name_or_scope=scope, default_name="prelu"):
        _alpha = tf.get_variable(
            "prelu_" + scope, _x.get_shape()[-1], dtype=_x.dtype, initializer=tf.constant_initializer(0.1)
        )
        return tf.maximum(0.0, _x) + _alpha * tf.minimum(0.0, _x)


def table(name, size):
    initializer = tf.constant_initializer(0.05 + 0.01 * size)
    if args.ev:
        return tf.get_embedding_variable(name, embedding_dim=DIM, initializer=initializer)
    return tf.get_variable(name, [size, DIM], initializer=initializer)


def din_attention(query, facts, mask):
    queries = tf.reshape(tf.tile(query, [1, tf.shape(facts)[1]]), tf.shape(facts))
    din_all = tf.concat([queries, facts, queries - facts, queries * facts], axis=-1)
    d_layer_1_all = tf.layers.dense(din_all, 10, activation=tf.nn.sigmoid, name="f1_att")
    d_layer_2_all = tf.layers.dense(d_layer_1_all, 1, activation=None, name="f2_att")
    scores = tf.reshape(d_layer_2_all, [-1, 1, tf.shape(facts)[1]])
    key_masks = tf.expand_dims(mask, 1)
    paddings = tf.ones_like(scores) * (-(2**32) + 1)
    scores = tf.nn.softmax(tf.where(key_masks, scores, paddings))
    return tf.squeeze(tf.matmul(scores, facts), 1)


class Model(object):
    def __init__(self):
        with tf.name_scope("Inputs"):
            self.uid = tf.placeholder(tf.int64, [None], name="uid_batch_ph")
            self.mid = tf.placeholder(tf.int64, [None], name="mid_batch_ph")
            self.cat = tf.placeholder(tf.int64, [None], name="cat_batch_ph")
            self.mid_his = tf.placeholder(tf.int64, [None, None], name="mid_his_batch_ph")
            self.cat_his = tf.placeholder(tf.int64, [None, None], name="cat_his_batch_ph")
            self.length = tf.placeholder(tf.int32, [None], name="seq_len_ph")
            self.target_ph = tf.placeholder(tf.float32, [None, 2], name="target_ph")
        uid_table, mid_table, cat_table = table("uid", USERS), table("mid", ITEMS), table("cat", CATES)
        user = tf.nn.embedding_lookup(uid_table, self.uid)
        item = tf.concat([tf.nn.embedding_lookup(mid_table, self.mid), tf.nn.embedding_lookup(cat_table, self.cat)], 1)
        history = tf.concat(
            [tf.nn.embedding_lookup(mid_table, self.mid_his), tf.nn.embedding_lookup(cat_table, self.cat_his)], 2
        )
        mask = tf.sequence_mask(self.length, tf.shape(self.mid_his)[1])
        history_sum = tf.reduce_sum(history * tf.expand_dims(tf.cast(mask, tf.float32), -1), 1)
        attended = din_attention(item, history, mask)
        inp = tf.concat([user, item, history_sum, item * history_sum, attended], -1)
        inp.set_shape([None, DIM * 9])
        bn1 = tf.layers.batch_normalization(inputs=inp, name="bn1")
        dnn1 = prelu(tf.layers.dense(bn1, 12, activation=None, name="f1"), "prelu1")
        dnn2 = prelu(tf.layers.dense(dnn1, 8, activation=None, name="f2"), "prelu2")
        self.y_hat = tf.nn.softmax(tf.layers.dense(dnn2, 2, activation=None, name="f3")) + 0.00000001
        self.loss = tf.negative(tf.reduce_mean(tf.log(self.y_hat) * self.target_ph), name="the_loss")
        self.step = tf.train.get_or_create_global_step()
        self.optimizer = tf.train.AdagradOptimizer(learning_rate=0.05).minimize(
            self.loss, global_step=self.step, name="the_step"
        )
        self.accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.round(self.y_hat), self.target_ph), tf.float32))


def batches(seed, count, size=8):
    random = np.random.RandomState(seed)
    for _ in range(count):
        uid, mid = random.randint(0, USERS, size), random.randint(0, ITEMS, size)
        lengths = random.randint(1, 6, size)
        history = np.zeros([size, 5], np.int64)
        for row, length in enumerate(lengths):
            history[row, :length] = random.randint(0, ITEMS, length)
        liked = (history % CATES == (mid % CATES)[:, None]).any(1)
        yield {
            "uid_batch_ph": uid,
            "mid_batch_ph": mid,
            "cat_batch_ph": mid % CATES,
            "mid_his_batch_ph": history,
            "cat_his_batch_ph": history % CATES,
            "seq_len_ph": lengths,
            "target_ph": np.stack([liked, ~liked], 1),
        }


def fed(batch):
    return {"Inputs/%s:0" % name: value for name, value in batch.items()}


tf.set_random_seed(3)
model = Model()
saver = tf.train.Saver()
losses = []
with tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))) as sess:
    if args.restore:
        saver.restore(sess, args.restore)
        told = {}
    else:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        tf.gfile.MakeDirs(args.out)
        first = saver.save(sess, args.out + "/ckpt_noshuffDIN", global_step=0)
        feeds = list(batches(1, 8))
        for batch in feeds:
            losses.append(float(sess.run([model.loss, model.optimizer], fed(batch))[0]))
        last = saver.save(sess, args.out + "/ckpt_noshuffDIN", global_step=model.step)
        told = {"losses": losses, "first": first, "last": last, "loss": "the_loss:0", "train": "the_step"}
        told["feeds"] = [{name: np.asarray(v).tolist() for name, v in fed(batch).items()} for batch in feeds]
    probes = [sess.run([model.loss, model.accuracy], fed(batch)) for batch in batches(2, 3)]
    told["measured"] = {"loss": [float(l) for l, _ in probes], "accuracy": [float(a) for _, a in probes]}
print(json.dumps(told))
