# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.convolutions import (
    convolution, convolution1d, convolution1d as conv1d, convolution2d, convolution2d as conv2d,
    convolution2d_in_plane, convolution2d_in_plane as conv2d_in_plane, convolution2d_transpose,
    convolution2d_transpose as conv2d_transpose, convolution3d, convolution3d as conv3d, convolution3d_transpose,
    convolution3d_transpose as conv3d_transpose, separable_convolution2d, separable_convolution2d as separable_conv2d,
)
from tensorkeep.tf1.contrib.layers.dense import (
    bias_add, dropout, elu, fully_connected, legacy_fully_connected, legacy_linear, legacy_relu, linear, relu, relu6,
    repeat, stack,
)
from tensorkeep.tf1.contrib.layers.embeddings import bow_encoder, embed_sequence, embedding_lookup_unique
from tensorkeep.tf1.contrib.layers.initializers import (
    variance_scaling_initializer, xavier_initializer, xavier_initializer as xavier_initializer_conv2d,
)
from tensorkeep.tf1.contrib.layers.normalizations import (
    group_norm, instance_norm, layer_norm, poincare_normalize, unit_norm,
)
from tensorkeep.tf1.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES, OPTIMIZER_SUMMARIES, adaptive_clipping_fn, optimize_loss,
)
from tensorkeep.tf1.contrib.layers.pools import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d, pool
from tensorkeep.tf1.contrib.layers.regularizers import (
    apply_regularization, l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer,
)
from tensorkeep.tf1.contrib.layers.reshaping import (
    flatten, images_to_sequence, maxout, one_hot_encoding, scale_gradient, sequence_to_images, softmax, spatial_softmax,
)
from tensorkeep.tf1.contrib.layers.sparse_values import dense_to_sparse
from tensorkeep.tf1.contrib.layers.summaries import (
    summarize_activation, summarize_activations, summarize_biases, summarize_collection, summarize_tensor,
    summarize_tensors, summarize_variables, summarize_weights,
)
from tensorkeep.tf1.functions.ragged.dispatch import safe_embedding_lookup_sparse
from tensorkeep.v1.contrib.layers import utils

__all__ = [
    "OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "apply_regularization", "avg_pool2d",
    "avg_pool3d", "batch_norm", "bias_add", "bow_encoder", "conv1d", "conv2d", "conv2d_in_plane", "conv2d_transpose",
    "conv3d", "conv3d_transpose", "convolution", "convolution1d", "convolution2d", "convolution2d_in_plane",
    "convolution2d_transpose", "convolution3d", "convolution3d_transpose", "dense_to_sparse", "dropout", "elu",
    "embed_sequence", "embedding_lookup_unique", "flatten", "fully_connected", "group_norm", "images_to_sequence",
    "instance_norm", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "layer_norm", "legacy_fully_connected",
    "legacy_linear", "legacy_relu", "linear", "max_pool2d", "max_pool3d", "maxout", "one_hot_encoding",
    "optimize_loss", "poincare_normalize", "pool", "relu", "relu6", "repeat", "safe_embedding_lookup_sparse",
    "scale_gradient", "separable_conv2d", "separable_convolution2d", "sequence_to_images", "softmax",
    "spatial_softmax", "stack", "sum_regularizer", "summarize_activation", "summarize_activations", "summarize_biases",
    "summarize_collection", "summarize_tensor", "summarize_tensors", "summarize_variables", "summarize_weights",
    "unit_norm", "utils", "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d",
]
