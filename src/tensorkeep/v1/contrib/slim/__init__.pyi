# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.columns.column import make_parse_example_spec as create_feature_spec_for_parsing
from tensorkeep.tf1.contrib.framework.arg_scopes import (
    add_arg_scope, arg_scope, arg_scope_func_key, arg_scoped_arguments, current_arg_scope, has_arg_scope,
)
from tensorkeep.tf1.contrib.framework.values import assign_from_checkpoint, assign_from_values, assign_from_values_fn
from tensorkeep.tf1.contrib.framework.variables import (
    VariableDeviceChooser, add_model_variable, assert_or_get_global_step, filter_variables, get_local_variables,
    get_model_variables, get_trainable_variables, get_unique_variable, get_variable_full_name, get_variables,
    get_variables_by_name, get_variables_by_suffix, get_variables_to_restore, global_variable, local_variable,
    model_variable, variable,
)
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
from tensorkeep.tf1.variables.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step,
)
from tensorkeep.v1.contrib.slim import (
    data_decoder, data_provider, dataset, dataset_data_provider, evaluation, initializers, layers, learning, losses,
    metrics, model_analyzer, nets, parallel_reader, prefetch_queue, queues, regularizers, summaries, tfexample_decoder,
    utils, variables,
)
from tensorkeep.v1.learning.contrib_loops import assign_from_checkpoint_fn

__all__ = [
    "OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "VariableDeviceChooser", "adaptive_clipping_fn", "add_arg_scope",
    "add_model_variable", "apply_regularization", "arg_scope", "arg_scope_func_key", "arg_scoped_arguments",
    "assert_global_step", "assert_or_get_global_step", "assign_from_checkpoint", "assign_from_checkpoint_fn",
    "assign_from_values", "assign_from_values_fn", "avg_pool2d", "avg_pool3d", "batch_norm", "bias_add", "bow_encoder",
    "bucketized_column", "check_feature_columns", "conv1d", "conv2d", "conv2d_in_plane", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "convolution", "convolution1d", "convolution2d", "convolution2d_in_plane",
    "convolution2d_transpose", "convolution3d", "convolution3d_transpose", "create_feature_spec_for_parsing",
    "create_global_step", "crossed_column", "current_arg_scope", "data_decoder", "data_provider", "dataset",
    "dataset_data_provider", "dense_to_sparse", "dropout", "elu", "embed_sequence", "embedding_column",
    "embedding_lookup_unique", "evaluation", "filter_variables", "flatten", "fully_connected", "gdn",
    "get_global_step", "get_local_variables", "get_model_variables", "get_or_create_global_step",
    "get_trainable_variables", "get_unique_variable", "get_variable_full_name", "get_variables",
    "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "group_norm",
    "has_arg_scope", "images_to_sequence", "initializers", "input_from_feature_columns", "instance_norm",
    "joint_weighted_sum_from_feature_columns", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "layer_norm",
    "layers", "learning", "legacy_fully_connected", "legacy_linear", "legacy_relu", "linear", "local_variable",
    "losses", "max_pool2d", "max_pool3d", "maxout", "metrics", "model_analyzer", "model_variable", "nets",
    "one_hot_column", "one_hot_encoding", "optimize_loss", "parallel_reader", "parse_feature_columns_from_examples",
    "poincare_normalize", "pool", "prefetch_queue", "queues", "real_valued_column", "recompute_grad", "regularizers",
    "relu", "relu6", "repeat", "rev_block", "safe_embedding_lookup_sparse", "scale_gradient", "separable_conv2d",
    "separable_convolution2d", "sequence_input_from_feature_columns", "sequence_to_images", "softmax",
    "sparse_column_with_hash_bucket", "sparse_column_with_integerized_feature", "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file", "spatial_softmax", "stack", "sum_regularizer", "summaries",
    "summarize_activation", "summarize_activations", "summarize_biases", "summarize_collection", "summarize_tensor",
    "summarize_tensors", "summarize_variables", "summarize_weights", "tfexample_decoder", "transform_features",
    "unit_norm", "utils", "variable", "variables", "variance_scaling_initializer", "weighted_sparse_column",
    "weighted_sum_from_feature_columns", "xavier_initializer", "xavier_initializer_conv2d",
]
