# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.columns.column import make_parse_example_spec as create_feature_spec_for_parsing
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.column_inputs import (
    check_feature_columns, input_from_feature_columns, joint_weighted_sum_from_feature_columns,
    parse_feature_columns_from_examples, sequence_input_from_feature_columns, transform_features,
    weighted_sum_from_feature_columns,
)
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
from tensorkeep.tf1.contrib.layers.divisive import gdn
from tensorkeep.tf1.contrib.layers.embeddings import bow_encoder, embed_sequence, embedding_lookup_unique
from tensorkeep.tf1.contrib.layers.feature_columns import (
    bucketized_column, crossed_column, embedding_column, one_hot_column, real_valued_column,
    sparse_column_with_hash_bucket, sparse_column_with_integerized_feature, sparse_column_with_keys,
    sparse_column_with_vocabulary_file, weighted_sparse_column,
)
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
from tensorkeep.tf1.contrib.layers.reversing import recompute_grad, rev_block
from tensorkeep.tf1.contrib.layers.sparse_values import dense_to_sparse
from tensorkeep.tf1.contrib.layers.summaries import (
    summarize_activation, summarize_activations, summarize_biases, summarize_collection, summarize_tensor,
    summarize_tensors, summarize_variables, summarize_weights,
)
from tensorkeep.tf1.functions.ragged.dispatch import safe_embedding_lookup_sparse
from tensorkeep.v1.contrib.layers import utils

__all__ = [
    "OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "apply_regularization", "avg_pool2d",
    "avg_pool3d", "batch_norm", "bias_add", "bow_encoder", "bucketized_column", "check_feature_columns", "conv1d",
    "conv2d", "conv2d_in_plane", "conv2d_transpose", "conv3d", "conv3d_transpose", "convolution", "convolution1d",
    "convolution2d", "convolution2d_in_plane", "convolution2d_transpose", "convolution3d", "convolution3d_transpose",
    "create_feature_spec_for_parsing", "crossed_column", "dense_to_sparse", "dropout", "elu", "embed_sequence",
    "embedding_column", "embedding_lookup_unique", "flatten", "fully_connected", "gdn", "group_norm",
    "images_to_sequence", "input_from_feature_columns", "instance_norm", "joint_weighted_sum_from_feature_columns",
    "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "layer_norm", "legacy_fully_connected", "legacy_linear",
    "legacy_relu", "linear", "max_pool2d", "max_pool3d", "maxout", "one_hot_column", "one_hot_encoding",
    "optimize_loss", "parse_feature_columns_from_examples", "poincare_normalize", "pool", "real_valued_column",
    "recompute_grad", "relu", "relu6", "repeat", "rev_block", "safe_embedding_lookup_sparse", "scale_gradient",
    "separable_conv2d", "separable_convolution2d", "sequence_input_from_feature_columns", "sequence_to_images",
    "softmax", "sparse_column_with_hash_bucket", "sparse_column_with_integerized_feature", "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file", "spatial_softmax", "stack", "sum_regularizer", "summarize_activation",
    "summarize_activations", "summarize_biases", "summarize_collection", "summarize_tensor", "summarize_tensors",
    "summarize_variables", "summarize_weights", "transform_features", "unit_norm", "utils",
    "variance_scaling_initializer", "weighted_sparse_column", "weighted_sum_from_feature_columns",
    "xavier_initializer", "xavier_initializer_conv2d",
]
