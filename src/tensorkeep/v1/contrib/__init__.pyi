# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib import (
    cluster_resolver, compiler, crf, data, estimator, feature_column, framework, image, layers, learn, legacy_seq2seq,
    lookup, losses, metrics, nn, opt, rnn, seq2seq, slim, summary, tpu, training, util,
)

__all__ = [
    "cluster_resolver", "compiler", "crf", "data", "estimator", "feature_column", "framework", "image", "layers",
    "learn", "legacy_seq2seq", "lookup", "losses", "metrics", "nn", "opt", "rnn", "seq2seq", "slim", "summary", "tpu",
    "training", "util",
]
