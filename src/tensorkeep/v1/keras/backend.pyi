# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.backend.activating import (
    dropout, elu, hard_sigmoid, in_top_k, l2_normalize, relu, sigmoid, softmax, softplus, softsign, tanh,
)
from tensorkeep.tf1.keras.backend.arrays import (
    arange, batch_flatten, cast, concatenate, constant, dtype, expand_dims, eye, flatten, gather, identity, int_shape,
    ndim, one_hot, ones, ones_like, permute_dimensions, repeat, repeat_elements, reshape, resize_images,
    resize_volumes, reverse, shape, spatial_2d_padding, spatial_3d_padding, squeeze, stack, stop_gradient,
    temporal_padding, tile, transpose, zeros, zeros_like,
)
from tensorkeep.tf1.keras.backend.control import (
    foldl, foldr, in_test_phase, in_train_phase, map_fn, print_tensor, switch,
)
from tensorkeep.tf1.keras.backend.cross_entropies import (
    binary_crossentropy, categorical_crossentropy, sparse_categorical_crossentropy,
)
from tensorkeep.tf1.keras.backend.networks import (
    bias_add, conv1d, conv2d, conv2d_transpose, conv3d, ctc_batch_cost, ctc_decode, ctc_label_dense_to_sparse,
    depthwise_conv2d, local_conv1d, local_conv2d, pool2d, pool3d, separable_conv2d,
)
from tensorkeep.tf1.keras.backend.numbers import (
    abs, all, any, argmax, argmin, batch_dot, batch_normalization, clip, cos, cumprod, cumsum, dot, equal, exp,
    greater, greater_equal, less, less_equal, log, logsumexp, max, maximum, mean, min, minimum,
    normalize_batch_in_training, not_equal, pow, prod, random_binomial, random_normal, random_uniform, round, sign,
    sin, sqrt, square, std, sum, truncated_normal, var,
)
from tensorkeep.tf1.keras.backend.recurrence import rnn
from tensorkeep.tf1.keras.backend.sessions import (
    backend, clear_session, count_params, eval, function, get_graph, get_session, get_uid, get_value, gradients,
    is_keras_tensor, is_placeholder, is_sparse, learning_phase_scope, manual_variable_initialization,
    moving_average_update, name_scope, placeholder, random_normal_variable, random_uniform_variable, reset_uids,
    set_session, set_value, to_dense, update, update_add, update_sub, variable,
)
from tensorkeep.tf1.keras.backend.settings import (
    cast_to_floatx, epsilon, floatx, image_data_format, set_epsilon, set_floatx, set_image_data_format,
)
from tensorkeep.tf1.keras.engine.session_values import batch_get_value, batch_set_value
from tensorkeep.tf1.layers.base import learning_phase, set_learning_phase

__all__ = [
    "abs", "all", "any", "arange", "argmax", "argmin", "backend", "batch_dot", "batch_flatten", "batch_get_value",
    "batch_normalization", "batch_set_value", "bias_add", "binary_crossentropy", "cast", "cast_to_floatx",
    "categorical_crossentropy", "clear_session", "clip", "concatenate", "constant", "conv1d", "conv2d",
    "conv2d_transpose", "conv3d", "cos", "count_params", "ctc_batch_cost", "ctc_decode", "ctc_label_dense_to_sparse",
    "cumprod", "cumsum", "depthwise_conv2d", "dot", "dropout", "dtype", "elu", "epsilon", "equal", "eval", "exp",
    "expand_dims", "eye", "flatten", "floatx", "foldl", "foldr", "function", "gather", "get_graph", "get_session",
    "get_uid", "get_value", "gradients", "greater", "greater_equal", "hard_sigmoid", "identity", "image_data_format",
    "in_test_phase", "in_top_k", "in_train_phase", "int_shape", "is_keras_tensor", "is_placeholder", "is_sparse",
    "l2_normalize", "learning_phase", "learning_phase_scope", "less", "less_equal", "local_conv1d", "local_conv2d",
    "log", "logsumexp", "manual_variable_initialization", "map_fn", "max", "maximum", "mean", "min", "minimum",
    "moving_average_update", "name_scope", "ndim", "normalize_batch_in_training", "not_equal", "one_hot", "ones",
    "ones_like", "permute_dimensions", "placeholder", "pool2d", "pool3d", "pow", "print_tensor", "prod",
    "random_binomial", "random_normal", "random_normal_variable", "random_uniform", "random_uniform_variable", "relu",
    "repeat", "repeat_elements", "reset_uids", "reshape", "resize_images", "resize_volumes", "reverse", "rnn", "round",
    "separable_conv2d", "set_epsilon", "set_floatx", "set_image_data_format", "set_learning_phase", "set_session",
    "set_value", "shape", "sigmoid", "sign", "sin", "softmax", "softplus", "softsign",
    "sparse_categorical_crossentropy", "spatial_2d_padding", "spatial_3d_padding", "sqrt", "square", "squeeze",
    "stack", "std", "stop_gradient", "sum", "switch", "tanh", "temporal_padding", "tile", "to_dense", "transpose",
    "truncated_normal", "update", "update_add", "update_sub", "var", "variable", "zeros", "zeros_like",
]
