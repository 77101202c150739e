# Written by tools/write_stubs.py. Where the names are is said in tables.

from numpy import newaxis
from tensorkeep.dtypes import (
    BFLOAT16 as bfloat16, BOOL as bool, COMPLEX128 as complex128, COMPLEX64 as complex64, DType, FLOAT16 as float16,
    FLOAT16 as half, FLOAT32 as float32, FLOAT64 as double, FLOAT64 as float64, INT16 as int16, INT32 as int32,
    INT64 as int64, INT8 as int8, QINT16 as qint16, QINT32 as qint32, QINT8 as qint8, QUINT16 as quint16,
    QUINT8 as quint8, RESOURCE as resource, STRING as string, UINT16 as uint16, UINT32 as uint32, UINT64 as uint64,
    UINT8 as uint8, VARIANT as variant,
)
from tensorkeep.errors import TensorKeepError as OpError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Operation, PRODUCER as GRAPH_DEF_VERSION, Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.proto.messages import (
    AttrValue, Event, GraphDef, HistogramProto, LogMessage, MetaGraphDef, NameAttrList, NodeDef, SessionLog, Summary,
    SummaryMetadata, TensorInfo,
)
from tensorkeep.proto.session_config import (
    ConfigProto, ExecutorPolicy, GPUOptions, GraphOptions, OptimizerOptions, RewriterConfig, RunMetadata, RunOptions,
)
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.functions.arrays.counting import (
    bincount, confusion_matrix, histogram_fixed_width, histogram_fixed_width_bins,
)
from tensorkeep.tf1.functions.arrays.patches import (
    batch_to_space, batch_to_space_nd, depth_to_space, extract_image_patches, extract_volume_patches,
    required_space_to_batch_paddings, space_to_batch, space_to_batch_nd, space_to_depth,
)
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape, broadcast_static_shape, broadcast_to, dynamic_stitch, edit_distance, ensure_shape, fill,
    guarantee_const, identity, identity_n, invert_permutation, matrix_transpose,
    matrix_transpose as batch_matrix_transpose, meshgrid, ones, pad, parallel_stack, placeholder,
    placeholder_with_default, reshape, reverse_sequence, reverse_v2, roll, setdiff1d, setdiff1d as listdiff, shape,
    shape_n, sparse_placeholder, stop_gradient, transpose, unique, unique_with_counts, unstack, unstack as unpack,
    where_v2, zeros,
)
from tensorkeep.tf1.functions.arrays.slicing import (
    boolean_mask, repeat, scatter_nd, searchsorted, sequence_mask, slice, sparse_mask, strided_slice,
    tensor_scatter_add, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min, tensor_scatter_nd_sub,
    tensor_scatter_nd_update, tensor_scatter_sub, tensor_scatter_update,
)
from tensorkeep.tf1.functions.arrays.sorting import argsort, sort, unravel_index
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import (
    assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less, assert_less_equal, assert_near,
    assert_negative, assert_non_negative, assert_non_positive, assert_none_equal, assert_positive,
    assert_proper_iterable, assert_rank, assert_rank_at_least, assert_rank_in, assert_same_float_dtype, assert_scalar,
    is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from tensorkeep.tf1.functions.control.cases import case, switch_case
from tensorkeep.tf1.functions.control.control_flow import Assert, cond, while_loop
from tensorkeep.tf1.functions.control.critical_sections import CriticalSection
from tensorkeep.tf1.functions.control.grouping import group, no_op, tuple_ as tuple
from tensorkeep.tf1.functions.control.higher_order import foldl, foldr, map_fn, scan
from tensorkeep.tf1.functions.control.logging import (
    Print, add_check_numerics_ops, print_v2 as print, timestamp, verify_tensor_all_finite,
)
from tensorkeep.tf1.functions.control.script import numpy_function, py_func, py_function
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.data.accumulators import (
    ConditionalAccumulator, ConditionalAccumulatorBase, SparseConditionalAccumulator,
)
from tensorkeep.tf1.functions.data.lookup_tables import initialize_all_tables, tables_initializer
from tensorkeep.tf1.functions.data.queues import (
    FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue,
)
from tensorkeep.tf1.functions.data.readers import (
    FixedLengthRecordReader, IdentityReader, ReaderBase, TextLineReader, WholeFileReader, matching_files, read_file,
    write_file,
)
from tensorkeep.tf1.functions.data.session_tensors import delete_session_tensor, get_session_handle, get_session_tensor
from tensorkeep.tf1.functions.data.summaries import merge as merge_summary, merge_all as merge_all_summaries
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient, grad_pass_through, hessians, recompute_grad
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky, cholesky as batch_cholesky, cholesky_solve, cholesky_solve as batch_cholesky_solve, diag, diag_part, eye,
    matrix_band_part, matrix_band_part as batch_matrix_band_part, matrix_determinant,
    matrix_determinant as batch_matrix_determinant, matrix_diag, matrix_diag as batch_matrix_diag, matrix_diag_part,
    matrix_diag_part as batch_matrix_diag_part, matrix_inverse, matrix_inverse as batch_matrix_inverse,
    matrix_set_diag, matrix_set_diag as batch_matrix_set_diag, matrix_solve, matrix_solve as batch_matrix_solve,
    matrix_solve_ls, matrix_solve_ls as batch_matrix_solve_ls, matrix_square_root, matrix_triangular_solve,
    matrix_triangular_solve as batch_matrix_triangular_solve, norm, qr, self_adjoint_eig,
    self_adjoint_eig as batch_self_adjoint_eig, self_adjoint_eigvals,
    self_adjoint_eigvals as batch_self_adjoint_eigvals, svd, svd as batch_svd, trace,
)
from tensorkeep.tf1.functions.linear_algebra.products import einsum, sparse_matmul, tensordot
from tensorkeep.tf1.functions.nn.activations import gelu
from tensorkeep.tf1.functions.numbers.clipping import (
    clip_by_average_norm, clip_by_global_norm, clip_by_norm, global_norm,
)
from tensorkeep.tf1.functions.numbers.elementwise import accumulate_n, cross, cumprod, lin_space, linspace, mod, range
from tensorkeep.tf1.functions.numbers.quantization import (
    dequantize, fake_quant_with_min_max_args, fake_quant_with_min_max_args_gradient, fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient, fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient, quantize, quantize_v2,
)
from tensorkeep.tf1.functions.numbers.reductions import (
    arg_max, arg_min, argmax, argmin, count_nonzero, reduce_logsumexp,
)
from tensorkeep.tf1.functions.numbers.segments import (
    segment_max, segment_mean, segment_min, segment_prod, segment_sum, sparse_segment_mean, sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tensorkeep.tf1.functions.numbers.signal import (
    fft, fft as batch_fft, fft2d, fft2d as batch_fft2d, fft3d, fft3d as batch_fft3d, ifft, ifft as batch_ifft, ifft2d,
    ifft2d as batch_ifft2d, ifft3d, ifft3d as batch_ifft3d,
)
from tensorkeep.tf1.functions.numbers.special import betainc, igamma, igammac, lbeta, polygamma
from tensorkeep.tf1.functions.parsing.decoding import (
    decode_csv, decode_json_example, decode_raw, deserialize_many_sparse, parse_tensor, serialize_many_sparse,
    serialize_sparse, serialize_tensor,
)
from tensorkeep.tf1.functions.parsing.examples import parse_example, parse_single_example, parse_single_sequence_example
from tensorkeep.tf1.functions.parsing.feature_configs import (
    FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature,
)
from tensorkeep.tf1.functions.ragged.dispatch import (
    abs, abs as complex_abs, acos, acosh, add, add_n, angle, as_string, asin, asinh, assert_type, atan, atan2, atanh,
    batch_gather, bitcast, cast, ceil, check_numerics, clip_by_value, complex, concat, concat as concat_v2, conj, cos,
    cosh, cumsum, decode_base64, decode_compressed, digamma, div, div_no_nan, divide, dynamic_partition, encode_base64,
    equal, erf, erfc, exp, expand_dims, expm1, floor, floor_div, floordiv, floormod, gather, gather_nd, greater,
    greater_equal, imag, is_finite, is_inf, is_nan, less, less_equal, lgamma, log, log1p, log_sigmoid, logical_and,
    logical_not, logical_or, logical_xor, matmul, matmul as batch_matmul, maximum, minimum, multiply, multiply as mul,
    negative, negative as neg, not_equal, one_hot, ones_like, pow, rank, real, realdiv, reciprocal, reciprocal as inv,
    reduce_all, reduce_any, reduce_join, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum, regex_replace,
    reverse, rint, round, rsqrt, saturate_cast, scalar_mul, sigmoid, sign, sin, sinh, size, split, sqrt, square,
    squared_difference, squeeze, stack, stack as pack, string_join, string_strip, string_to_hash_bucket,
    string_to_hash_bucket_fast, string_to_hash_bucket_strong, string_to_number, substr, subtract, subtract as sub, tan,
    tanh, tile, to_bfloat16, to_complex128, to_complex64, to_double, to_float, to_int32, to_int64, truediv,
    truncatediv, truncatemod, unsorted_segment_max, unsorted_segment_mean, unsorted_segment_min, unsorted_segment_prod,
    unsorted_segment_sqrt_n, unsorted_segment_sum, where, where as select, zeros_like, zeta,
)
from tensorkeep.tf1.functions.ragged.ragged_strings import string_split
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.random.numbers import (
    get_seed, multinomial, random_crop, random_gamma, random_normal, random_poisson, random_shuffle, random_uniform,
    set_random_seed, truncated_normal,
)
from tensorkeep.tf1.functions.sparse.tensors import (
    sparse_add, sparse_concat, sparse_fill_empty_rows, sparse_maximum, sparse_merge, sparse_minimum, sparse_reduce_max,
    sparse_reduce_max_sparse, sparse_reduce_sum, sparse_reduce_sum_sparse, sparse_reorder, sparse_reset_shape,
    sparse_reshape, sparse_retain, sparse_slice, sparse_softmax, sparse_split, sparse_tensor_dense_matmul,
    sparse_tensor_to_dense, sparse_to_dense, sparse_to_indicator, sparse_transpose,
)
from tensorkeep.tf1.functions.type_specs import (
    IndexedSlicesSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec, type_spec_from_value,
)
from tensorkeep.tf1.training.inputs.staging import prefetch_join, staged
from tensorkeep.tf1.training.objects.module import Module
from tensorkeep.tf1.variables.assignments import (
    assign, assign_add, assign_sub, batch_scatter_update, count_up_to, scatter_add, scatter_div, scatter_max,
    scatter_min, scatter_mul, scatter_nd_add, scatter_nd_sub, scatter_nd_update, scatter_sub, scatter_update,
)
from tensorkeep.tf1.variables.embedding_variables.blocks import (
    DynamicEmbeddingVariable, get_dynamic_dimension_embedding_variable,
)
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.multihash import MultiHashVariable, get_multihash_variable
from tensorkeep.tf1.variables.embedding_variables.options import (
    CBFFilter, CacheStrategy, CheckpointOption, CounterFilter, EmbeddingVariableOption, EvictOption, GlobalStepEvict,
    InitializerOption, L2WeightEvict, StorageOption, StorageType,
)
from tensorkeep.tf1.variables.embedding_variables.store import get_embedding_variable
from tensorkeep.tf1.variables.hash_tables.store import get_hash_table
from tensorkeep.tf1.variables.initializers import (
    Constant as constant_initializer, GlorotNormal as glorot_normal_initializer,
    GlorotUniform as glorot_uniform_initializer, Ones as ones_initializer, Orthogonal as orthogonal_initializer,
    RandomNormal as random_normal_initializer, RandomUniform as random_uniform_initializer,
    TruncatedNormal as truncated_normal_initializer, UniformUnitScaling as uniform_unit_scaling_initializer,
    VarianceScaling as variance_scaling_initializer, Zeros as zeros_initializer,
)
from tensorkeep.tf1.variables.listing import (
    all_variables, assert_variables_initialized, global_variables, global_variables_initializer,
    initialize_all_variables, initialize_local_variables, initialize_variables, local_variables,
    local_variables_initializer, model_variables, moving_average_variables, report_uninitialized_variables,
    trainable_variables, variables_initializer,
)
from tensorkeep.tf1.variables.modes import AUTO_REUSE, VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.partitioners import (
    fixed_size_partitioner, min_max_variable_partitioner, variable_axis_size_partitioner,
)
from tensorkeep.tf1.variables.regularizers import no_regularizer
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope, variable_creator_scope
from tensorkeep.tf1.variables.scopes import (
    create_partitioned_variables, get_local_variable, get_variable, variable_op_scope, variable_scope,
)
from tensorkeep.tf1.variables.template import make_template
from tensorkeep.tf1.variables.variable import Variable, is_variable_initialized
from tensorkeep.v1 import (
    app, audio, bitwise, compat, config, contrib, data, debugging, distribute, distributions, dtypes, errors,
    estimator, feature_column, flags, gfile, graph_util, hash_table, image, initializers, io, keras, kv_variable_ops,
    layers, linalg, logging, lookup, losses, manip, math, metrics, mixed_precision, nest, nn, profiler, python_io,
    quantization, queue, ragged, random, raw_ops, resource_loader, saved_model, sets, signal, sparse, spectral,
    strings, summary, test, tpu, train, version, xla,
)
from tensorkeep.v1.defaults import get_default_graph, get_default_session, reset_default_graph
from tensorkeep.v1.device_specs import DeviceSpec
from tensorkeep.v1.framework import (
    AggregationMethod, COMPILER_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER, NoGradient,
    NotDifferentiable, QUANTIZED_DTYPES, RegisterGradient, UnconnectedGradients, add_to_collection, add_to_collections,
    as_dtype, colocate_with, container, control_dependencies, control_flow_v2_enabled, convert_to_tensor,
    convert_to_tensor_or_indexed_slices, convert_to_tensor_or_sparse_tensor, device, dimension_at_index,
    dimension_value, disable_control_flow_v2, disable_eager_execution, disable_resource_variables,
    disable_tensor_equality, disable_v2_behavior, disable_v2_tensorshape, enable_control_flow_v2,
    enable_eager_execution, enable_resource_variables, enable_tensor_equality, enable_v2_behavior,
    enable_v2_tensorshape, executing_eagerly, executing_eagerly_outside_functions, function, get_collection,
    get_collection_ref, get_logger, get_static_value, gradients, import_graph_def, init_scope, is_symbolic_tensor,
    is_tensor, make_ndarray, make_tensor_proto, name_scope, no_gradient, op_scope, register_tensor_conversion_function,
    resource_variables_enabled,
)
from tensorkeep.v1.graphs import Graph
from tensorkeep.v1.internals.execution import GradientTape
from tensorkeep.v1.learning.training import make_prefetch_hook
from tensorkeep.v1.old_names import audio_summary, histogram_summary, image_summary, scalar_summary
from tensorkeep.v1.programs.finding import install
from tensorkeep.v1.sessions import InteractiveSession, Session
from tensorkeep.v1.stored.records import TFRecordReader
from tensorkeep.v1.versions import (
    GIT_VERSION, GIT_VERSION as __git_version__, VERSION, VERSION as __version__, load_file_system_library,
    load_library, load_op_library,
)

__all__ = [
    "AUTO_REUSE", "AggregationMethod", "Assert", "AttrValue", "CBFFilter", "COMPILER_VERSION", "CacheStrategy",
    "CheckpointOption", "ConditionalAccumulator", "ConditionalAccumulatorBase", "ConfigProto", "CounterFilter",
    "CriticalSection", "DType", "DeviceSpec", "Dimension", "DynamicEmbeddingVariable", "EmbeddingVariable",
    "EmbeddingVariableOption", "Event", "EvictOption", "ExecutorPolicy", "FIFOQueue", "FixedLenFeature",
    "FixedLenSequenceFeature", "FixedLengthRecordReader", "GIT_VERSION", "GPUOptions", "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER", "GRAPH_DEF_VERSION_MIN_PRODUCER", "GlobalStepEvict", "GradientTape", "Graph",
    "GraphDef", "GraphKeys", "GraphOptions", "HistogramProto", "IdentityReader", "IndexedSlices", "IndexedSlicesSpec",
    "InitializerOption", "InteractiveSession", "L2WeightEvict", "LogMessage", "MetaGraphDef", "Module",
    "MultiHashVariable", "NameAttrList", "NoGradient", "NodeDef", "NotDifferentiable", "OpError", "Operation",
    "OptimizerOptions", "PaddingFIFOQueue", "Print", "PriorityQueue", "QUANTIZED_DTYPES", "QueueBase", "RaggedTensor",
    "RaggedTensorSpec", "RandomShuffleQueue", "ReaderBase", "RegisterGradient", "RewriterConfig", "RunMetadata",
    "RunOptions", "Session", "SessionLog", "SparseConditionalAccumulator", "SparseFeature", "SparseTensor",
    "SparseTensorSpec", "SparseTensorValue", "StorageOption", "StorageType", "Summary", "SummaryMetadata",
    "TFRecordReader", "Tensor", "TensorArray", "TensorInfo", "TensorShape", "TensorSpec", "TextLineReader", "TypeSpec",
    "UnconnectedGradients", "VERSION", "VarLenFeature", "Variable", "VariableAggregation", "VariableScope",
    "VariableSynchronization", "WholeFileReader", "__git_version__", "__version__", "abs", "accumulate_n", "acos",
    "acosh", "add", "add_check_numerics_ops", "add_n", "add_to_collection", "add_to_collections", "all_variables",
    "angle", "app", "arg_max", "arg_min", "argmax", "argmin", "argsort", "as_dtype", "as_string", "asin", "asinh",
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal",
    "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in",
    "assert_same_float_dtype", "assert_scalar", "assert_type", "assert_variables_initialized", "assign", "assign_add",
    "assign_sub", "atan", "atan2", "atanh", "audio", "audio_summary", "batch_cholesky", "batch_cholesky_solve",
    "batch_fft", "batch_fft2d", "batch_fft3d", "batch_gather", "batch_ifft", "batch_ifft2d", "batch_ifft3d",
    "batch_matmul", "batch_matrix_band_part", "batch_matrix_determinant", "batch_matrix_diag",
    "batch_matrix_diag_part", "batch_matrix_inverse", "batch_matrix_set_diag", "batch_matrix_solve",
    "batch_matrix_solve_ls", "batch_matrix_transpose", "batch_matrix_triangular_solve", "batch_scatter_update",
    "batch_self_adjoint_eig", "batch_self_adjoint_eigvals", "batch_svd", "batch_to_space", "batch_to_space_nd",
    "betainc", "bfloat16", "bincount", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape",
    "broadcast_static_shape", "broadcast_to", "case", "cast", "ceil", "check_numerics", "cholesky", "cholesky_solve",
    "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "colocate_with", "compat",
    "complex", "complex128", "complex64", "complex_abs", "concat", "concat_v2", "cond", "config", "confusion_matrix",
    "conj", "constant", "constant_initializer", "container", "contrib", "control_dependencies",
    "control_flow_v2_enabled", "convert_to_tensor", "convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor", "cos", "cosh", "count_nonzero", "count_up_to",
    "create_partitioned_variables", "cross", "cumprod", "cumsum", "custom_gradient", "data", "debugging",
    "decode_base64", "decode_compressed", "decode_csv", "decode_json_example", "decode_raw", "delete_session_tensor",
    "depth_to_space", "dequantize", "deserialize_many_sparse", "device", "diag", "diag_part", "digamma",
    "dimension_at_index", "dimension_value", "disable_control_flow_v2", "disable_eager_execution",
    "disable_resource_variables", "disable_tensor_equality", "disable_v2_behavior", "disable_v2_tensorshape",
    "distribute", "distributions", "div", "div_no_nan", "divide", "double", "dtypes", "dynamic_partition",
    "dynamic_stitch", "edit_distance", "einsum", "enable_control_flow_v2", "enable_eager_execution",
    "enable_resource_variables", "enable_tensor_equality", "enable_v2_behavior", "enable_v2_tensorshape",
    "encode_base64", "ensure_shape", "equal", "erf", "erfc", "errors", "estimator", "executing_eagerly",
    "executing_eagerly_outside_functions", "exp", "expand_dims", "expm1", "extract_image_patches",
    "extract_volume_patches", "eye", "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel", "fake_quant_with_min_max_vars_per_channel_gradient", "feature_column",
    "fft", "fft2d", "fft3d", "fill", "fixed_size_partitioner", "flags", "float16", "float32", "float64", "floor",
    "floor_div", "floordiv", "floormod", "foldl", "foldr", "function", "gather", "gather_nd", "gelu", "get_collection",
    "get_collection_ref", "get_default_graph", "get_default_session", "get_dynamic_dimension_embedding_variable",
    "get_embedding_variable", "get_hash_table", "get_local_variable", "get_logger", "get_multihash_variable",
    "get_seed", "get_session_handle", "get_session_tensor", "get_static_value", "get_variable", "get_variable_scope",
    "gfile", "global_norm", "global_variables", "global_variables_initializer", "glorot_normal_initializer",
    "glorot_uniform_initializer", "grad_pass_through", "gradients", "graph_util", "greater", "greater_equal", "group",
    "guarantee_const", "half", "hash_table", "hessians", "histogram_fixed_width", "histogram_fixed_width_bins",
    "histogram_summary", "identity", "identity_n", "ifft", "ifft2d", "ifft3d", "igamma", "igammac", "imag", "image",
    "image_summary", "import_graph_def", "init_scope", "initialize_all_tables", "initialize_all_variables",
    "initialize_local_variables", "initialize_variables", "initializers", "install", "int16", "int32", "int64", "int8",
    "inv", "invert_permutation", "io", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "is_symbolic_tensor", "is_tensor", "is_variable_initialized", "keras", "kv_variable_ops",
    "layers", "lbeta", "less", "less_equal", "lgamma", "lin_space", "linalg", "linspace", "listdiff",
    "load_file_system_library", "load_library", "load_op_library", "local_variables", "local_variables_initializer",
    "log", "log1p", "log_sigmoid", "logging", "logical_and", "logical_not", "logical_or", "logical_xor", "lookup",
    "losses", "make_ndarray", "make_prefetch_hook", "make_template", "make_tensor_proto", "manip", "map_fn",
    "matching_files", "math", "matmul", "matrix_band_part", "matrix_determinant", "matrix_diag", "matrix_diag_part",
    "matrix_inverse", "matrix_set_diag", "matrix_solve", "matrix_solve_ls", "matrix_square_root", "matrix_transpose",
    "matrix_triangular_solve", "maximum", "merge_all_summaries", "merge_summary", "meshgrid", "metrics",
    "min_max_variable_partitioner", "minimum", "mixed_precision", "mod", "model_variables", "moving_average_variables",
    "mul", "multinomial", "multiply", "name_scope", "neg", "negative", "nest", "newaxis", "nn", "no_gradient", "no_op",
    "no_regularizer", "norm", "not_equal", "numpy_function", "one_hot", "ones", "ones_initializer", "ones_like",
    "op_scope", "orthogonal_initializer", "pack", "pad", "parallel_stack", "parse_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "placeholder", "placeholder_with_default", "polygamma", "pow",
    "prefetch_join", "print", "profiler", "py_func", "py_function", "python_io", "qint16", "qint32", "qint8", "qr",
    "quantization", "quantize", "quantize_v2", "queue", "quint16", "quint8", "ragged", "random", "random_crop",
    "random_gamma", "random_normal", "random_normal_initializer", "random_poisson", "random_shuffle", "random_uniform",
    "random_uniform_initializer", "range", "rank", "raw_ops", "read_file", "real", "realdiv", "reciprocal",
    "recompute_grad", "reduce_all", "reduce_any", "reduce_join", "reduce_logsumexp", "reduce_max", "reduce_mean",
    "reduce_min", "reduce_prod", "reduce_sum", "regex_replace", "register_tensor_conversion_function", "repeat",
    "report_uninitialized_variables", "required_space_to_batch_paddings", "reset_default_graph", "reshape", "resource",
    "resource_loader", "resource_variables_enabled", "reverse", "reverse_sequence", "reverse_v2", "rint", "roll",
    "round", "rsqrt", "saturate_cast", "saved_model", "scalar_mul", "scalar_summary", "scan", "scatter_add",
    "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_sub",
    "scatter_nd_update", "scatter_sub", "scatter_update", "searchsorted", "segment_max", "segment_mean", "segment_min",
    "segment_prod", "segment_sum", "select", "self_adjoint_eig", "self_adjoint_eigvals", "sequence_mask",
    "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "set_random_seed", "setdiff1d", "sets", "shape",
    "shape_n", "sigmoid", "sign", "signal", "sin", "sinh", "size", "slice", "sort", "space_to_batch",
    "space_to_batch_nd", "space_to_depth", "sparse", "sparse_add", "sparse_concat", "sparse_fill_empty_rows",
    "sparse_mask", "sparse_matmul", "sparse_maximum", "sparse_merge", "sparse_minimum", "sparse_placeholder",
    "sparse_reduce_max", "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder",
    "sparse_reset_shape", "sparse_reshape", "sparse_retain", "sparse_segment_mean", "sparse_segment_sqrt_n",
    "sparse_segment_sum", "sparse_slice", "sparse_softmax", "sparse_split", "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator", "sparse_transpose", "spectral", "split",
    "sqrt", "square", "squared_difference", "squeeze", "stack", "staged", "stop_gradient", "strided_slice", "string",
    "string_join", "string_split", "string_strip", "string_to_hash_bucket", "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong", "string_to_number", "strings", "sub", "substr", "subtract", "summary", "svd",
    "switch_case", "tables_initializer", "tan", "tanh", "tensor_scatter_add", "tensor_scatter_nd_add",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update",
    "tensor_scatter_sub", "tensor_scatter_update", "tensordot", "test", "tile", "timestamp", "to_bfloat16",
    "to_complex128", "to_complex64", "to_double", "to_float", "to_int32", "to_int64", "tpu", "trace", "train",
    "trainable_variables", "transpose", "truediv", "truncated_normal", "truncated_normal_initializer", "truncatediv",
    "truncatemod", "tuple", "type_spec_from_value", "uint16", "uint32", "uint64", "uint8",
    "uniform_unit_scaling_initializer", "unique", "unique_with_counts", "unpack", "unravel_index",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum", "unstack", "variable_axis_size_partitioner",
    "variable_creator_scope", "variable_op_scope", "variable_scope", "variables_initializer",
    "variance_scaling_initializer", "variant", "verify_tensor_all_finite", "version", "where", "where_v2",
    "while_loop", "write_file", "xla", "zeros", "zeros_initializer", "zeros_like", "zeta",
]
