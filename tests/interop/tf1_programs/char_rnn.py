"""A character model: cells in layers with dropout, states that go on, clipped gradients, a rate that is assigned."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn_cell

TEXT = "the quick brown fox jumps over the lazy dog and runs away from it. " * 4


class Model:
    def __init__(self, args, vocab_size, training=True):
        batch_size, seq_length = (args.batch_size, args.seq_length) if training else (1, 1)
        cells = []
        for _ in range(args.num_layers):
            cell = rnn_cell.BasicLSTMCell(args.rnn_size)
            if training:
                cell = tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=1.0, output_keep_prob=1.0)
            cells.append(cell)
        self.cell = cell = rnn_cell.MultiRNNCell(cells, state_is_tuple=True)
        self.input_data = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.initial_state = cell.zero_state(batch_size, tf.float32)
        with tf.variable_scope("rnnlm"):
            softmax_w = tf.get_variable("softmax_w", [args.rnn_size, vocab_size])
            softmax_b = tf.get_variable("softmax_b", [vocab_size])
            embedding = tf.get_variable("embedding", [vocab_size, args.rnn_size])
            inputs = tf.nn.embedding_lookup(embedding, self.input_data)
            outputs, self.final_state = tf.nn.dynamic_rnn(cell, inputs, initial_state=self.initial_state)
        output = tf.reshape(outputs, [-1, args.rnn_size])
        self.logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(self.logits)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(self.targets, [-1]), logits=self.logits)
        self.cost = tf.reduce_sum(loss) / batch_size / seq_length
        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), args.grad_clip)
        with tf.name_scope("optimizer"):
            self.train_op = tf.train.AdamOptimizer(self.lr).apply_gradients(zip(grads, tvars))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=str, default="out")
    parser.add_argument("--restore", type=str, default=None)
    parser.add_argument("--rnn_size", type=int, default=16)
    parser.add_argument("--num_layers", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--seq_length", type=int, default=8)
    parser.add_argument("--grad_clip", type=float, default=5.0)
    args = parser.parse_args()
    tf.set_random_seed(9)
    chars = sorted(set(TEXT))
    data = np.array([chars.index(char) for char in TEXT])
    model = Model(args, len(chars))
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver(tf.global_variables())
        x = data[: 4 * 64].reshape(4, 64)
        if args.restore:
            saver.restore(sess, args.restore)
        else:
            sess.run(tf.assign(model.lr, 0.02))
            state = sess.run(model.initial_state)
            for at in range(0, 40, args.seq_length):
                feed = {model.input_data: x[:, at : at + 8], model.targets: x[:, at + 1 : at + 9]}
                for i, (c, h) in enumerate(model.initial_state):
                    feed[c], feed[h] = state[i].c, state[i].h
                train_loss, state, _ = sess.run([model.cost, model.final_state, model.train_op], feed)
                losses.append(float(train_loss))
            saver.save(sess, os.path.join(args.out, "model.ckpt"))
        final = sess.run(model.cost, {model.input_data: x[:, :8], model.targets: x[:, 1:9]})
    print(json.dumps({"losses": losses, "loss": float(final)}))


if __name__ == "__main__":
    main()
