# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.legacy_seq2seq import (
    attention_decoder, basic_rnn_seq2seq, embedding_attention_decoder, embedding_attention_seq2seq,
    embedding_rnn_decoder, embedding_rnn_seq2seq, rnn_decoder, tied_rnn_seq2seq,
)
from tensorkeep.v1.old_names import model_with_buckets, sequence_loss, sequence_loss_by_example

__all__ = [
    "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
    "embedding_rnn_decoder", "embedding_rnn_seq2seq", "model_with_buckets", "rnn_decoder", "sequence_loss",
    "sequence_loss_by_example", "tied_rnn_seq2seq",
]
