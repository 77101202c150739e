# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.small_spaces import (
    alpha_dropout, deprecated_flipped_sigmoid_cross_entropy_with_logits,
    deprecated_flipped_softmax_cross_entropy_with_logits, deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
    nth_element, scaled_softplus,
)
from tensorkeep.tf1.functions.nn.convolution import conv1d_transpose
from tensorkeep.tf1.functions.nn.sampled_losses import sampled_sparse_softmax_loss

__all__ = [
    "alpha_dropout", "conv1d_transpose", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits", "nth_element", "sampled_sparse_softmax_loss",
    "scaled_softplus",
]
