"""A tagger of names: characters and words, an LSTM in both directions, a conditional random field, data by a generator."""

import functools
import json
import os
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
TAGS = ["O", "B-PER", "I-PER", "B-LOC"]
WORDS = ["the", "a", "saw", "went", "to", "near", "Ada", "Bo", "Cy", "Oslo", "Rome", "and"]
PARAMS = {"dim": 8, "lstm_size": 6, "buffer": 20, "batch_size": 5, "dropout": 0.5, "num_oov_buckets": 1}


def sentences():
    random = np.random.RandomState(6)
    for _ in range(20):
        words = [WORDS[n] for n in random.randint(0, len(WORDS), random.randint(2, 8))]
        tags = ["B-PER" if w in ("Ada", "Bo", "Cy") else "B-LOC" if w in ("Oslo", "Rome") else "O" for w in words]
        for at in range(1, len(tags)):
            if tags[at] == "B-PER" and tags[at - 1].endswith("PER"):
                tags[at] = "I-PER"
        yield words, tags


def generator_fn():
    for words, tags in sentences():
        yield ([w.encode() for w in words], len(words)), [t.encode() for t in tags]


def input_fn(params=None, shuffle_and_repeat=False):
    shapes = (([None], ()), [None])
    types = ((tf.string, tf.int32), tf.string)
    defaults = (("<pad>", 0), "O")
    dataset = tf.data.Dataset.from_generator(generator_fn, output_shapes=shapes, output_types=types)
    if shuffle_and_repeat:
        dataset = dataset.shuffle(params["buffer"], seed=1).repeat(4)
    return dataset.padded_batch(params.get("batch_size", 5), shapes, defaults).prefetch(1)


def cached_input_fn(params, folder):
    """The same from arrays, for graphs that are run where the generator is not."""
    rows = list(sentences())
    width = max(len(words) for words, _ in rows)
    words = np.array([w + ["<pad>"] * (width - len(w)) for w, _ in rows])
    tags = np.array([t + ["O"] * (width - len(t)) for _, t in rows])
    lengths = np.array([len(w) for w, _ in rows], np.int32)
    dataset = tf.data.Dataset.from_tensor_slices(((words, lengths), tags))
    return dataset.shuffle(params["buffer"], seed=1).repeat().batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features["words"], features["nwords"]
    dropout, training = params["dropout"], mode == tf.estimator.ModeKeys.TRAIN
    words, nwords = features
    vocab_words = tf.contrib.lookup.index_table_from_file(params["words"], num_oov_buckets=params["num_oov_buckets"])
    word_ids = vocab_words.lookup(words)
    variable = tf.get_variable("words", [len(WORDS) + 1, params["dim"]], tf.float32)
    embeddings = tf.layers.dropout(tf.nn.embedding_lookup(variable, word_ids), rate=dropout, training=training, seed=2)
    t = tf.transpose(embeddings, perm=[1, 0, 2])
    lstm_cell_fw = tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"])
    lstm_cell_bw = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"]))
    output_fw, _ = lstm_cell_fw(t, dtype=tf.float32, sequence_length=nwords)
    output_bw, _ = lstm_cell_bw(t, dtype=tf.float32, sequence_length=nwords)
    output = tf.transpose(tf.concat([output_fw, output_bw], axis=-1), perm=[1, 0, 2])
    output = tf.layers.dropout(output, rate=dropout, training=training, seed=3)
    logits = tf.layers.dense(output, len(TAGS))
    crf_params = tf.get_variable("crf", [len(TAGS), len(TAGS)], dtype=tf.float32)
    pred_ids, _ = tf.contrib.crf.crf_decode(logits, crf_params, nwords)
    if mode == tf.estimator.ModeKeys.PREDICT:
        reverse_vocab_tags = tf.contrib.lookup.index_to_string_table_from_file(params["tags"])
        pred_strings = reverse_vocab_tags.lookup(tf.to_int64(pred_ids))
        return tf.estimator.EstimatorSpec(mode, predictions={"pred_ids": pred_ids, "tags": pred_strings})
    vocab_tags = tf.contrib.lookup.index_table_from_file(params["tags"])
    tags = vocab_tags.lookup(labels)
    log_likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, tags, nwords, crf_params)
    loss = tf.reduce_mean(-log_likelihood)
    weights = tf.sequence_mask(nwords, tf.shape(tags)[1])
    metrics = {"acc": tf.metrics.accuracy(tags, pred_ids, weights)}
    for metric_name, op in metrics.items():
        tf.summary.scalar(metric_name, op[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    loss = tf.identity(loss, name="the_loss")
    train_op = tf.train.AdamOptimizer(0.02).minimize(
        loss, global_step=tf.train.get_or_create_global_step(), name="the_step"
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class Losses(tf.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs("the_loss:0")

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    restore = OPTIONS.get("--restore")
    out = OPTIONS.get("--out") or os.path.dirname(restore)
    params = dict(PARAMS, words=os.path.join(out, "vocab.words.txt"), tags=os.path.join(out, "vocab.tags.txt"))
    tf.gfile.MakeDirs(out)
    for key, lines in (("words", WORDS), ("tags", TAGS)):
        with tf.gfile.Open(params[key], "w") as f:
            f.write("\n".join(lines) + "\n")
    config = tf.estimator.RunConfig(save_checkpoints_secs=120, tf_random_seed=5)
    folder = os.path.join(out, "model") if not restore else None
    estimator = tf.estimator.Estimator(model_fn, folder, config, params)
    eval_inpf = functools.partial(input_fn, params)

    def measured(checkpoint):
        found = estimator.evaluate(eval_inpf, checkpoint_path=checkpoint)
        rows = list(estimator.predict(eval_inpf, checkpoint_path=checkpoint, yield_single_examples=False))
        return {"acc": float(found["acc"]), "loss": float(found["loss"]), "ids": rows[0]["pred_ids"].tolist()}

    if restore:
        print(json.dumps({"measured": measured(restore)}))
        return
    hook = Losses()
    estimator.train(functools.partial(cached_input_fn, params, out), hooks=[hook], steps=8)
    told = {"losses": hook.losses, "first": folder + "/model.ckpt-0", "last": estimator.latest_checkpoint()}
    told.update(measured=measured(told["last"]), loss="the_loss:0", train="the_step")
    other = tf.estimator.Estimator(model_fn, os.path.join(out, "generated"), config, params)
    train_inpf = functools.partial(input_fn, params, shuffle_and_repeat=True)
    stop = tf.contrib.estimator.stop_if_no_increase_hook(
        other, "acc", max_steps_without_increase=500, min_steps=8000, run_every_secs=120
    )
    tf.estimator.train_and_evaluate(
        other,
        tf.estimator.TrainSpec(input_fn=train_inpf, max_steps=6, hooks=[stop]),
        tf.estimator.EvalSpec(input_fn=eval_inpf, throttle_secs=120),
    )
    told["generated"] = float(other.evaluate(eval_inpf)["loss"])
    print(json.dumps(told))


if __name__ == "__main__":
    main()
