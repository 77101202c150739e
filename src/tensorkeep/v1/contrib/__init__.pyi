# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.contrib import (
    cluster_resolver, compiler, crf, data, distribute, distributions, estimator, feature_column, framework, image,
    layers, learn, legacy_seq2seq, lookup, losses, memory_stats, metrics, mixed_precision, nn, opt, predictor,
    quantize, recurrent, resampler, rnn, saved_model, seq2seq, signal, slim, sparsemax, staging, stateless, summary,
    tensorboard, tpu, training, util,
)

__all__ = [
    "cluster_resolver", "compiler", "crf", "data", "distribute", "distributions", "estimator", "feature_column",
    "framework", "image", "layers", "learn", "legacy_seq2seq", "lookup", "losses", "memory_stats", "metrics",
    "mixed_precision", "nn", "opt", "predictor", "quantize", "recurrent", "resampler", "rnn", "saved_model", "seq2seq",
    "signal", "slim", "sparsemax", "staging", "stateless", "summary", "tensorboard", "tpu", "training", "util",
]
