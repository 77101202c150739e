"""Translation: an encoder in both directions, a decoder with attention, trained by teacher forcing, asked by beam search."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.layers import core as layers_core

hparams = tf.contrib.training.HParams(
    num_units=12,
    src_vocab_size=14,
    tgt_vocab_size=12,
    beam_width=3,
    learning_rate=0.05,
    max_gradient_norm=5.0,
    attention="scaled_luong",
    batch_size=6,
    num_train_steps=16,
    dropout=0.1,
)
SOS, EOS = 1, 2


def make_sentences(folder):
    random = np.random.RandomState(5)
    with tf.gfile.GFile(folder + "/train.src", "w") as source, tf.gfile.GFile(folder + "/train.tgt", "w") as target:
        for _ in range(24):
            words = random.randint(3, 11, random.randint(2, 7))
            source.write(" ".join("s%d" % word for word in words) + "\n")
            target.write(" ".join("t%d" % word for word in words[::-1]) + "\n")
    for side, size in (("src", hparams.src_vocab_size), ("tgt", hparams.tgt_vocab_size)):
        with tf.gfile.GFile(folder + "/vocab." + side, "w") as f:
            f.write("\n".join(["<unk>", "<s>", "</s>"] + ["%s%d" % (side[0], n) for n in range(3, size)]) + "\n")


def get_iterator(folder, training):
    tables = [
        tf.contrib.lookup.index_table_from_file(folder + "/vocab." + side, default_value=0) for side in ("src", "tgt")
    ]
    dataset = tf.data.Dataset.zip(tuple(tf.data.TextLineDataset(folder + "/train." + side) for side in ("src", "tgt")))
    if training:
        dataset = dataset.shuffle(24, 8, reshuffle_each_iteration=True)
    dataset = dataset.map(lambda src, tgt: (tf.string_split([src]).values, tf.string_split([tgt]).values))
    dataset = dataset.filter(lambda src, tgt: tf.logical_and(tf.size(src) > 0, tf.size(tgt) > 0))
    dataset = dataset.map(
        lambda src, tgt: (tf.cast(tables[0].lookup(src), tf.int32), tf.cast(tables[1].lookup(tgt), tf.int32)),
        num_parallel_calls=2,
    ).prefetch(8)
    dataset = dataset.map(
        lambda src, tgt: (src, tf.concat(([SOS], tgt), 0), tf.concat((tgt, [EOS]), 0), tf.size(src), tf.size(tgt) + 1)
    )

    def batching_func(x):
        return x.padded_batch(
            hparams.batch_size, padded_shapes=([None], [None], [None], [], []), padding_values=(EOS, EOS, EOS, 0, 0)
        )

    if training:
        dataset = dataset.apply(
            tf.contrib.data.group_by_window(
                key_func=lambda *row: tf.to_int64(row[3] // 4),
                reduce_func=lambda key, x: batching_func(x),
                window_size=hparams.batch_size,
            )
        ).repeat()
    else:
        dataset = batching_func(dataset)
    iterator = dataset.make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def single_cell(mode):
    # Dropout inside a loop draws in the order in which TensorFlow happens to run iterations: without it here.
    return tf.contrib.rnn.DropoutWrapper(tf.contrib.rnn.BasicLSTMCell(hparams.num_units, forget_bias=1.0))


class Model(object):
    def __init__(self, mode, row):
        self.mode = mode
        source, target_input, target_output, source_length, target_length = row
        initializer = tf.random_uniform_initializer(-0.3, 0.3, seed=4)
        tf.get_variable_scope().set_initializer(initializer)
        with tf.variable_scope("embeddings"):
            embedding_encoder = tf.get_variable("encoder", [hparams.src_vocab_size, hparams.num_units])
            embedding_decoder = tf.get_variable("decoder", [hparams.tgt_vocab_size, hparams.num_units])
        with tf.variable_scope("dynamic_seq2seq"):
            with tf.variable_scope("encoder"):
                inputs = tf.nn.embedding_lookup(embedding_encoder, source)
                if mode == tf.contrib.learn.ModeKeys.TRAIN:
                    inputs = tf.nn.dropout(inputs, 1.0 - hparams.dropout, seed=2)
                outputs, state = tf.nn.bidirectional_dynamic_rnn(
                    single_cell(mode),
                    single_cell(mode),
                    inputs,
                    sequence_length=source_length,
                    dtype=tf.float32,
                    swap_memory=True,
                )
                memory = tf.concat(outputs, -1)
            with tf.variable_scope("decoder") as decoder_scope:
                self.decode(memory, state, source_length, embedding_decoder, row, decoder_scope)

    def decode(self, memory, state, source_length, embedding, row, scope):
        _, target_input, target_output, _, target_length = row
        batch_size = tf.size(source_length)
        is_asking = self.mode == tf.contrib.learn.ModeKeys.INFER
        if is_asking:
            memory = tf.contrib.seq2seq.tile_batch(memory, multiplier=hparams.beam_width)
            source_length = tf.contrib.seq2seq.tile_batch(source_length, multiplier=hparams.beam_width)
            state = tf.contrib.seq2seq.tile_batch(state, multiplier=hparams.beam_width)
            batch_size *= hparams.beam_width
        mechanism = tf.contrib.seq2seq.LuongAttention(
            hparams.num_units, memory, memory_sequence_length=source_length, scale=True
        )
        cell = tf.contrib.rnn.MultiRNNCell([single_cell(self.mode) for _ in range(2)])
        cell = tf.contrib.seq2seq.AttentionWrapper(
            cell, mechanism, attention_layer_size=hparams.num_units, alignment_history=False, name="attention"
        )
        initial_state = cell.zero_state(batch_size, tf.float32).clone(cell_state=tuple(state))
        output_layer = layers_core.Dense(hparams.tgt_vocab_size, use_bias=False, name="output_projection")
        if is_asking:
            decoder = tf.contrib.seq2seq.BeamSearchDecoder(
                cell=cell,
                embedding=embedding,
                start_tokens=tf.fill([batch_size // hparams.beam_width], SOS),
                end_token=EOS,
                initial_state=initial_state,
                beam_width=hparams.beam_width,
                output_layer=output_layer,
                length_penalty_weight=0.6,
            )
            outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=8, scope=scope)
            self.predicted = tf.transpose(outputs.predicted_ids, [2, 0, 1])
            return
        helper = tf.contrib.seq2seq.TrainingHelper(
            tf.nn.embedding_lookup(embedding, target_input), target_length, time_major=False
        )
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, initial_state)
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, swap_memory=True, scope=scope)
        logits = output_layer(outputs.rnn_output)
        weights = tf.sequence_mask(target_length, tf.shape(target_output)[1], dtype=logits.dtype)
        self.loss = tf.identity(tf.contrib.seq2seq.sequence_loss(logits, target_output, weights), name="the_loss")

    def optimize(self):
        global_step = tf.train.get_or_create_global_step()
        params = tf.trainable_variables()
        gradients = tf.gradients(self.loss, params, colocate_gradients_with_ops=True)
        clipped, norm = tf.clip_by_global_norm(gradients, hparams.max_gradient_norm)
        tf.summary.scalar("grad_norm", norm)
        optimizer = tf.train.AdamOptimizer(hparams.learning_rate)
        self.update = optimizer.apply_gradients(zip(clipped, params), global_step=global_step, name="the_step")


def infer(folder, checkpoint):
    with tf.Graph().as_default(), tf.Session() as sess:
        model = Model(tf.contrib.learn.ModeKeys.INFER, get_iterator(folder, False))
        tf.train.Saver().restore(sess, checkpoint)
        sess.run(tf.tables_initializer())
        return {"beams": sess.run(model.predicted)[0].tolist()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="")
    parser.add_argument("--restore", default="")
    parser.add_argument("--hparams", default="")
    args, _ = parser.parse_known_args()
    hparams.parse(args.hparams)
    out = args.out or os.path.dirname(args.restore)
    if not tf.gfile.Exists(out + "/train.src"):
        tf.gfile.MakeDirs(out)
        make_sentences(out)
    if args.restore:
        print(json.dumps({"measured": infer(out, args.restore)}))
        return
    losses = []
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(6)
        model = Model(tf.contrib.learn.ModeKeys.TRAIN, get_iterator(out, True))
        model.optimize()
        saver = tf.train.Saver(max_to_keep=5)
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        first = saver.save(sess, out + "/translate.ckpt", global_step=0)
        for _ in range(hparams.num_train_steps):
            losses.append(float(sess.run([model.update, model.loss])[1]))
        last = saver.save(sess, out + "/translate.ckpt", global_step=tf.train.get_global_step())
    told = {"losses": losses, "measured": infer(out, last), "first": first, "last": last}
    told.update(loss=model.loss.name, train="the_step")
    print(json.dumps(told))


if __name__ == "__main__":
    main()
