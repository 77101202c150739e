# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib import (
    cluster_resolver, crf, data, estimator, feature_column, framework, layers, legacy_seq2seq, lookup, losses, metrics,
    opt, rnn, seq2seq, slim, tpu, training, util,
)

__all__ = [
    "cluster_resolver", "crf", "data", "estimator", "feature_column", "framework", "layers", "legacy_seq2seq",
    "lookup", "losses", "metrics", "opt", "rnn", "seq2seq", "slim", "tpu", "training", "util",
]
