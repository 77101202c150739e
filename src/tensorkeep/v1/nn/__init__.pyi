# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.arrays.patches import depth_to_space, space_to_batch, space_to_depth
from tensorkeep.tf1.functions.embedding.combining import (
    adaptive_embedding_lookup_sparse, embedding_lookup_sparse_multi_dim, fused_embedding_lookup_sparse,
    fused_embedding_lookup_sparse_v2, safe_adaptive_embedding_lookup_sparse, safe_embedding_lookup_multi_dim,
)
from tensorkeep.tf1.functions.embedding.group_lookups import group_embedding_lookup, group_embedding_lookup_sparse
from tensorkeep.tf1.functions.nn.activations import (
    bias_add, crelu, gelu, in_top_k, relu_layer, softmax, swish, top_k, xw_plus_b, zero_fraction,
)
from tensorkeep.tf1.functions.nn.candidate_sampling import (
    all_candidate_sampler, compute_accidental_hits, fixed_unigram_candidate_sampler, log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tensorkeep.tf1.functions.nn.convolution import (
    atrous_conv2d, atrous_conv2d_transpose, conv1d, conv1d_transpose, conv2d, conv2d_backprop_filter,
    conv2d_backprop_input, conv2d_transpose, conv2d_transpose as deconv2d, conv3d, conv3d_backprop_filter,
    conv3d_backprop_filter_v2, conv3d_transpose, conv_transpose, convolution, depthwise_conv2d,
    depthwise_conv2d_backprop_filter, depthwise_conv2d_backprop_input, depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter, depthwise_conv2d_native_backprop_input, dilation2d, erosion2d,
    separable_conv2d,
)
from tensorkeep.tf1.functions.nn.cross_entropies import (
    log_poisson_loss, sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits, weighted_cross_entropy_with_logits,
)
from tensorkeep.tf1.functions.nn.ctc import (
    collapse_repeated, ctc_beam_search_decoder, ctc_beam_search_decoder_v2, ctc_greedy_decoder, ctc_loss, ctc_loss_v2,
    ctc_unique_labels,
)
from tensorkeep.tf1.functions.nn.normalization import (
    batch_norm_with_global_normalization, batch_normalization, fused_batch_norm, l2_loss, l2_normalize,
    local_response_normalization, lrn, moments, normalize_moments, sufficient_statistics, weighted_moments,
)
from tensorkeep.tf1.functions.nn.pooling import (
    avg_pool, avg_pool1d, avg_pool2d, avg_pool3d, avg_pool_v2, fractional_avg_pool, fractional_max_pool, max_pool,
    max_pool1d, max_pool2d, max_pool3d, max_pool_v2, max_pool_with_argmax, pool,
)
from tensorkeep.tf1.functions.nn.replica_losses import compute_average_loss, scale_regularization_loss
from tensorkeep.tf1.functions.nn.sampled_losses import nce_loss, sampled_softmax_loss
from tensorkeep.tf1.functions.nn.windows import with_space_to_batch
from tensorkeep.tf1.functions.ragged.dispatch import (
    dropout, elu, embedding_lookup, embedding_lookup_sparse, leaky_relu, log_softmax, relu, relu6,
    safe_embedding_lookup_sparse, selu, sigmoid, silu, softplus, softsign, tanh,
)
from tensorkeep.tf1.layers.recurrent import (
    bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn, static_bidirectional_rnn,
    static_bidirectional_rnn as bidirectional_rnn, static_rnn, static_rnn as rnn, static_state_saving_rnn,
    static_state_saving_rnn as state_saving_rnn,
)
from tensorkeep.v1.nn import rnn_cell, seq2seq

__all__ = [
    "adaptive_embedding_lookup_sparse", "all_candidate_sampler", "atrous_conv2d", "atrous_conv2d_transpose",
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool_v2", "batch_norm_with_global_normalization",
    "batch_normalization", "bias_add", "bidirectional_dynamic_rnn", "bidirectional_rnn", "collapse_repeated",
    "compute_accidental_hits", "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_backprop_filter", "conv2d_backprop_input", "conv2d_transpose", "conv3d", "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2", "conv3d_transpose", "conv_transpose", "convolution", "crelu",
    "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "ctc_loss", "ctc_loss_v2",
    "ctc_unique_labels", "deconv2d", "depth_to_space", "depthwise_conv2d", "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input", "depthwise_conv2d_native", "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input", "dilation2d", "dropout", "dynamic_rnn", "elu", "embedding_lookup",
    "embedding_lookup_sparse", "embedding_lookup_sparse_multi_dim", "erosion2d", "fixed_unigram_candidate_sampler",
    "fractional_avg_pool", "fractional_max_pool", "fused_batch_norm", "fused_embedding_lookup_sparse",
    "fused_embedding_lookup_sparse_v2", "gelu", "group_embedding_lookup", "group_embedding_lookup_sparse", "in_top_k",
    "l2_loss", "l2_normalize", "leaky_relu", "local_response_normalization", "log_poisson_loss", "log_softmax",
    "log_uniform_candidate_sampler", "lrn", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_v2",
    "max_pool_with_argmax", "moments", "nce_loss", "normalize_moments", "pool", "raw_rnn", "relu", "relu6",
    "relu_layer", "rnn", "rnn_cell", "safe_adaptive_embedding_lookup_sparse", "safe_embedding_lookup_multi_dim",
    "safe_embedding_lookup_sparse", "sampled_softmax_loss", "scale_regularization_loss", "selu", "separable_conv2d",
    "seq2seq", "sigmoid", "sigmoid_cross_entropy_with_logits", "silu", "softmax", "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2", "softplus", "softsign", "space_to_batch", "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits", "state_saving_rnn", "static_bidirectional_rnn", "static_rnn",
    "static_state_saving_rnn", "sufficient_statistics", "swish", "tanh", "top_k", "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits", "weighted_moments", "with_space_to_batch", "xw_plus_b", "zero_fraction",
]
