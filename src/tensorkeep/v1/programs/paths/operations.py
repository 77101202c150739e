"""Paths of ops and functions: `tensorflow.python.ops`, and `tensorflow.models.rnn` of the first versions.

TensorFlow's modules import each other's names freely, and programs use what they find; so most rows take all of `tf`.
A module `gen_…_ops` has ops as functions of their inputs and attributes, which may be given by position.
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_TF: Final = {"tensorkeep.v1": "*"}
_NN: Final = {"tensorkeep.v1.nn": "*", **_TF}
_IMAGE: Final = {"tensorkeep.v1.image": "*", **_TF}
_LOSSES: Final = {
    "tensorkeep.tf1.functions.nn.losses": "compute_weighted_loss",
    "tensorkeep.v1.losses": "*",
}
_METRICS: Final = {
    "tensorkeep.tf1.training.metrics.confusion": "_confusion_matrix_at_thresholds=confusion_at_thresholds",
    "tensorkeep.tf1.training.metrics.metric_variables": "_remove_squeezable_dimensions=match_ranks metric_variable",
    "tensorkeep.tf1.training.metrics.means": """
        _safe_div=safe_quotient _safe_scalar_div=safe_quotient _streaming_confusion_matrix=streaming_confusion_matrix
    """,
    "tensorkeep.v1.metrics": "*",
}
_CELLS: Final = {
    "tensorkeep.tf1.layers.cells": "LayerRNNCell assert_like_rnncell=check_cell",
    "tensorkeep.v1.internals.recurrent": """
        ASSERT_LIKE_RNNCELL_ERROR_REGEXP _BIAS_VARIABLE_NAME _LayerRNNCell=LayerRNNCell _Linear=Linear
        _WEIGHTS_VARIABLE_NAME _concat=joined_sizes _linear=linear _zero_state_tensors=zero_state_tensors
    """,
    "tensorkeep.v1.old_names": "linear",
    "tensorkeep.v1.nn.rnn_cell": "*",
    **_TF,
}
_RNN: Final = {
    "tensorkeep.tf1.layers.recurrent": """
        _best_effort_input_batch_size=batch_size_of _transpose_batch_time=with_batch_and_time_exchanged
    """,
    **_NN,
}
_SEQ2SEQ: Final = {"tensorkeep.v1.nn.seq2seq": "*", **_TF}
_TABLES: Final = {
    "tensorkeep.tf1.functions.data.lookup_tables": """
        FastHashSpec HashTable=StaticHashTable HasherSpec IdTableWithHashBuckets InitializableLookupTableBase=Table
        KeyValueTensorInitializer LookupInterface=Table StrongHashSpec TableInitializerBase=Initializer TextFileIndex
        TextFileInitializer TextFileIdTableInitializer TextFileStringTableInitializer index_table_from_file
        index_table_from_tensor index_to_string_table_from_file index_to_string_table_from_tensor tables_initializer
    """,
    "tensorkeep.tf1.functions.data.mutable_tables": """
        DenseHashTable MutableDenseHashTable=DenseHashTable MutableHashTable
    """,
    "tensorkeep.v1.lookup": "*",
    **_TF,
}
_LOOKUPS: Final = {
    "tensorkeep.tf1.functions.ragged.dispatch": """
        fused_safe_embedding_lookup_sparse=safe_embedding_lookup_sparse
    """,
    **_NN,
}
_LOOKUP_MODULES: Final = """
    embedding_ops fused_embedding_ops fused_embedding_ops_v2 group_embedding_lookup group_embedding_lookup_ops
"""
_HASH_TABLE: Final = {"tensorkeep.v1.hash_table": "*"}
_RAW: Final = {"tensorkeep.v1.internals.generated_ops": "*"}
_GENERATED: Final = """
    array audio batch bitwise boosted_trees candidate_sampling checkpoint clustering collective control_flow ctc
    cudnn_rnn data_flow dataset debug decode_proto encode_proto experimental_dataset functional image io kv_variable
    linalg list logging lookup manip math nccl nn parsing ragged_array ragged_conversion ragged_math random
    resource_variable rnn script sdca set sparse spectral state stateful_random stateless_random string summary
    training user
"""

_RAGGED: Final = "array_ops factory_ops functional_ops math_ops ops string_ops tensor tensor_value"
_DISTRIBUTIONS: Final = """
    bernoulli beta categorical dirichlet distribution distributions exponential gamma kullback_leibler laplace normal
    student_t uniform
"""
_CONTRIB_DISTRIBUTIONS: Final = "tensorkeep.tf1.distributions"
_SIGNAL: Final = """
    dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops window_ops
"""

_ARRAYS: Final = {
    "tensorkeep.tf1.functions.arrays.shapes": "shape_internal",
    "tensorkeep.v1.internals.arrays": """
        _autopacking_conversion_function=autopacking_conversion _slice_helper=slice_tensor rank_internal size_internal
    """,
    **_TF,
}

OPERATIONS: Final[dict[str, Table]] = {
    **{
        f"hash_table.{name}": {"tensorkeep.v1.hash_table": "*"}
        for name in ("admit_strategy", "embedding", "hash_table")
    },
    "array_ops": _ARRAYS,
    "models.rnn": {},
    "models.rnn.linear": {"tensorkeep.v1.old_names": "linear"},
    "models.rnn.ptb": {},
    "models.rnn.ptb.reader": {
        "tensorkeep.tf1.training.inputs.ptb_files": """
            _build_vocab=build_vocabulary _file_to_word_ids=file_to_word_ids _read_words=read_words ptb_iterator
            ptb_producer ptb_raw_data
        """,
    },
    "models.rnn.rnn": _RNN,
    "models.rnn.rnn_cell": _CELLS,
    "models.rnn.seq2seq": _SEQ2SEQ,
    "python.ops": _TF,
    **{f"python.ops.gen_{name}_ops": _RAW for name in _GENERATED.split()},
    "python.training.gen_training_ops": _RAW,
    "python.training.training_ops": _RAW,
    "python.ops.array_ops": _ARRAYS,
    "python.ops.bitwise_ops": {"tensorkeep.v1.bitwise": "*"},
    "python.ops.candidate_sampling_ops": _NN,
    "python.ops.check_ops": {"tensorkeep.v1.debugging": "*", **_TF},
    "python.ops.clip_ops": _TF,
    "python.ops.confusion_matrix": {
        "tensorkeep.tf1.functions.arrays.counting": "confusion_matrix",
        "tensorkeep.tf1.functions.nn.losses": "remove_squeezable_dimensions",
    },
    "python.ops.control_flow_ops": {
        "tensorkeep.tf1.functions.control.contexts": """
            CondContext ControlFlowContext=Context WhileContext exit=exit_tensor
        """,
        "tensorkeep.tf1.functions.control.control_flow": "smart_cond",
        "tensorkeep.tf1.functions.control.grouping": "with_dependencies",
        "tensorkeep.v1.internals.arrays": "merge switch",
        **_TF,
    },
    "python.ops.control_flow_util": {"tensorkeep.v1.internals.recurrent": "*", **_TF},
    "python.ops.ctc_ops": _NN,
    "python.ops.custom_gradient": {
        "tensorkeep.v1.internals.decorators": "_graph_mode_decorator=call_with_own_gradient",
        **_TF,
    },
    "python.ops.data_flow_ops": {
        "tensorkeep.tf1.functions.data.staging_areas": "BaseStagingArea MapStagingArea StagingArea",
        **_TF,
    },
    **{f"python.ops.{name}": _LOOKUPS for name in _LOOKUP_MODULES.split()},
    "python.ops.functional_ops": _TF,
    "python.ops.gradient_checker": {"tensorkeep.v1.test": "compute_gradient compute_gradient_error"},
    "python.ops.gradients": _TF,
    "python.ops.gradients_impl": _TF,
    "python.ops.gradients_util": {"tensorkeep.v1.framework": "_GradientsHelper=gradients"},
    "python.ops.histogram_ops": _TF,
    "python.ops.image_ops": _IMAGE,
    "python.ops.image_ops_impl": _IMAGE,
    "python.ops.init_ops": {
        "tensorkeep.tf1.variables.initializers": """
            Constant GlorotNormal GlorotUniform Identity Initializer Ones Orthogonal RandomNormal RandomUniform
            TruncatedNormal UniformUnitScaling VarianceScaling Zeros _compute_fans=fans_of he_normal he_uniform
            lecun_normal lecun_uniform
        """,
        "tensorkeep.v1.initializers": "*",
        **_TF,
    },
    "python.ops.initializers_ns": {"tensorkeep.v1.initializers": "*"},
    "python.ops.inplace_ops": {"tensorkeep.v1.internals.inplace": "*"},
    "python.ops.io_ops": {"tensorkeep.v1.io": "*", **_TF, **_RAW},
    "python.ops.kv_variable_ops": {"tensorkeep.v1.kv_variable_ops": "*", **_TF},
    "python.ops.linalg": {"tensorkeep.v1.linalg": "*"},
    "python.ops.linalg.linalg": {"tensorkeep.v1.linalg": "*"},
    "python.ops.linalg.linalg_impl": {"tensorkeep.v1.linalg": "*"},
    "python.ops.linalg.linear_operator_lower_triangular": {"tensorkeep.v1.linalg": "*"},
    "python.ops.linalg_ops": {"tensorkeep.v1.linalg": "*", **_TF},
    "python.ops.logging_ops": _TF,
    "python.ops.lookup_ops": _TABLES,
    "python.ops.losses": _LOSSES,
    "python.ops.losses.losses": _LOSSES,
    "python.ops.losses.losses_impl": _LOSSES,
    "python.ops.losses.util": _LOSSES,
    "python.ops.manip_ops": {"tensorkeep.v1.manip": "*"},
    "python.ops.map_fn": _TF,
    "python.ops.math_ops": {
        "tensorkeep.v1.internals.arrays": """
            _ReductionDims=reduction_dims batch_matmul reduced_shape tensor_equals
        """,
        "tensorkeep.v1.math": "*",
        **_TF,
    },
    "python.ops.metrics": _METRICS,
    **{f"python.ops.distributions.{name}": {"tensorkeep.v1.distributions": "*"} for name in _DISTRIBUTIONS.split()},
    "python.ops.distributions.bijector": {f"{_CONTRIB_DISTRIBUTIONS}.bijectors.base": "Bijector"},
    "python.ops.distributions.identity_bijector": {f"{_CONTRIB_DISTRIBUTIONS}.bijectors.elementwise": "Identity"},
    "python.ops.distributions.special_math": {
        f"{_CONTRIB_DISTRIBUTIONS}.continuous": "log_ndtr ndtr",
        "tensorkeep.tf1.functions.numbers.special": "ndtri",
    },
    "python.ops.distributions.transformed_distribution": {
        f"{_CONTRIB_DISTRIBUTIONS}.transformed": "TransformedDistribution"
    },
    "python.ops.distributions.util": {
        f"{_CONTRIB_DISTRIBUTIONS}.numbers": "reduce_weighted_logsumexp softplus_inverse",
        f"{_CONTRIB_DISTRIBUTIONS}.triangles": "fill_triangular fill_triangular_inverse matrix_diag_transform tridiag",
    },
    "python.ops.metrics_impl": _METRICS,
    "python.ops.nn": _NN,
    "python.ops.nn_impl": _NN,
    "python.ops.nn_ops": {
        "tensorkeep.v1.internals.arrays": "_get_noise_shape=noise_shape_of",
        **_NN,
    },
    "python.ops.numerics": _TF,
    "python.ops.parsing_ops": {"tensorkeep.v1.io": "*", **_TF},
    "python.ops.op_selector": {
        "tensorkeep.tf1.functions.gradients.graph_walks": "get_backward_walk_ops get_forward_walk_ops"
    },
    "python.ops.partitioned_variables": _TF,
    "python.ops.ragged": {"tensorkeep.v1.ragged": "*", **_TF},
    **{f"python.ops.ragged.ragged_{name}": {"tensorkeep.v1.ragged": "*", **_TF} for name in _RAGGED.split()},
    "python.ops.random_ops": {"tensorkeep.v1.random": "*", **_TF},
    "python.ops.ref_variable": {
        "tensorkeep.tf1.variables.reference": "RefVariable",
        **_TF,
    },
    "python.ops.resource_variable_ops": {
        "tensorkeep.tf1.variables.resource": "BaseResourceVariable ResourceVariable",
        "tensorkeep.v1.internals.framework": "is_resource_variable",
        **_RAW,
    },
    "python.ops.resources": {
        "tensorkeep.tf1.training.loops.scaffold": """
            initialize_resources local_resources report_uninitialized_resources shared_resources
        """,
    },
    "python.ops.prefetch": {
        "tensorkeep.tf1.training.inputs.staging": "prefetch_join staged",
        "tensorkeep.v1.learning.training": "make_prefetch_hook",
    },
    "python.ops.rnn": _RNN,
    "python.ops.rnn_cell": _CELLS,
    "python.ops.rnn_cell_impl": _CELLS,
    "python.ops.script_ops": _TF,
    "python.ops.seq2seq": _SEQ2SEQ,
    "python.ops.session_ops": {"tensorkeep.runtime.session_tensors": "TensorHandle", **_TF},
    "python.ops.sets": {"tensorkeep.v1.sets": "*"},
    "python.ops.sets_impl": {"tensorkeep.v1.sets": "*"},
    "python.ops.signal": {"tensorkeep.v1.signal": "*"},
    **{f"python.ops.signal.{name}": {"tensorkeep.v1.signal": "*"} for name in _SIGNAL.split()},
    "python.ops.sort_ops": _TF,
    "python.ops.sparse_ops": {
        "tensorkeep.v1.internals.framework": "_convert_to_sparse_tensor=convert_to_sparse_tensor",
        **_TF,
        "tensorkeep.v1.sparse": "*",
    },
    "python.ops.special_math_ops": {"tensorkeep.v1.math": "*", **_TF},
    "python.ops.spectral_ops": {"tensorkeep.v1.spectral": "*"},
    "python.ops.standard_ops": _TF,
    "python.ops.state_ops": {
        "tensorkeep.v1.internals.arrays": "variable_op variable_op_v2",
        **_TF,
    },
    "python.ops.stateless_random_ops": {"tensorkeep.v1.random": "*"},
    "python.ops.string_ops": {**_TF, "tensorkeep.v1.strings": "*"},
    "python.ops.summary_op_util": {
        "tensorkeep.tf1.functions.data.summaries": "clean_tag collect=collect_summary",
        "tensorkeep.v1.internals.arrays": "skip_summary summary_scope",
    },
    "python.ops.summary_ops_v2": {"tensorkeep.v1.contrib.summary": "*"},
    "python.ops.summary_ops": {"tensorkeep.v1.summary": "*"},
    "python.ops.template": {"tensorkeep.tf1.variables.template": "Template make_template", **_TF},
    "python.ops.tensor_array_ops": _TF,
    "python.ops.unconnected_gradients": {"tensorkeep.v1.framework": "UnconnectedGradients"},
    "python.ops.variable_scope": {
        "tensorkeep.tf1.variables.modes": "_ReuseMode=ReuseMode",
        "tensorkeep.tf1.variables.scopes": "_pure_variable_scope=pure_variable_scope",
        "tensorkeep.tf1.variables.store": "_VariableStore=VariableStore _get_default_variable_store=variable_store",
        "tensorkeep.v1.internals.variables": "EagerVariableStore default_variable_creator variable",
        **_TF,
    },
    "python.ops.variables": {
        "tensorkeep.tf1.variables.partitioned": "PartitionedVariable",
        "tensorkeep.tf1.variables.reference": "RefVariable",
        "tensorkeep.v1.internals.variables": "VariableV1",
        **_TF,
    },
    "python.ops.weights_broadcast_ops": {
        "tensorkeep.tf1.functions.nn.losses": "assert_broadcastable broadcast_weights",
    },
    "python.ops.while_loop": _TF,
    "python.ops.work_queue": {"tensorkeep.tf1.training.inputs.work_queue": "WorkQueue"},
}
