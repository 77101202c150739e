# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.rnn.networks import bidirectional_functional_rnn, functional_rnn

__all__ = [
    "bidirectional_functional_rnn", "functional_rnn",
]
