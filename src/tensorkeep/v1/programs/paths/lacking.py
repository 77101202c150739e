"""Modules that TensorFlow 1 has and we do not: they can be imported, and each of their names raises.

Those of TensorFlow 2 alone are not here: programs that try them first mean the error.
"""

from __future__ import annotations

from typing import Final

LACKING: Final = {
    "core.profiler": "profile_pb2 tfprof_log_pb2 tfprof_options_pb2 tfprof_output_pb2",
    "core.protobuf": "master_pb2 replay_log_pb2 transport_options_pb2 worker_pb2",
    "python": "tf2 pywrap_tfe",
    "python.client": "pywrap_tf_session",
    "python.data.ops": "multi_device_iterator_ops optional_ops",
    "python.data.util": "convert sparse structure",
    "python.eager": "core execute imperative_grad memory_trace monitoring tape test wrap_function",
    "python.framework": """
        auto_control_deps c_api_util composite_tensor convert_to_constants error_interpolation fast_tensor_util
        func_graph function_def_to_graph gpu_util graph_to_function_def kernels op_def_library registry subscribe
        traceable_stack
    """,
    "python.grappler": "cluster controller cost_analyzer graph_placer hierarchical_controller item model_analyzer "
    "tf_optimizer",
    "python.lib.core": "bfloat16 pywrap_bfloat16",
    "python.ops": """
        accumulate_n_benchmark array_grad batch_norm_benchmark batch_ops boosted_trees_ops clustering_ops
        collective_ops cond_v2 control_flow_grad control_flow_state critical_section_ops cudnn_rnn_grad
        data_flow_grad image_grad init_ops_v2 linalg_grad list_ops logging_ops_v2 manip_grad math_grad nccl_ops
        nn_fused_batchnorm_test nn_grad optional_grad proto_ops random_grad rnn_grad sdca_ops sparse_grad
        state_grad stateful_random_ops string_grad tensor_array_grad tensor_forest_ops while_v2
    """,
    "python.platform": "self_check status_bar tf_stack",
    "python.profiler": "profile_context profiler profiler_client tfprof_logger",
    "python.saved_model": "function_deserialization load load_v1_in_v2 nested_structure_coder save",
    "python.summary": "event_accumulator event_file_inspector event_multiplexer",
    "python.tools": """
        component_api_helper import_pb_to_tensorboard module_util optimize_for_inference
        print_selective_registration_header saved_model_aot_compile saved_model_utils strip_unused
    """,
    "python.training": "checkpoint_ops device_util ftrl_test quantize_training session_run_hook_lib",
    "python.training.tracking": "data_structures graph_view layer_utils object_identity python_state",
    "python.user_ops": "user_ops",
    "python.util": "decorator_utils dispatch example_parser_configuration is_in_graph_mode lock_util memory "
    "module_wrapper serialization tf_stack",
}
"""By package, the modules in it."""

_CONTRIB: Final = """
    all_reduce autograph batching bayesflow bigtable boosted_trees checkpoint cloud cluster_resolver coder compiler
    constrained_optimization copy_graph crf cudnn_rnn data decision_trees deprecated distributions eager
    estimator factorization feature_column ffmpeg framework fused_conv gan gdr graph_editor grid_rnn hadoop hooks ignite
    image input_pipeline integrate kafka kernel_methods kinesis kfac labeled_tensor layers learn legacy_seq2seq
    libsvm linalg linear_optimizer lite lookup losses makefile memory_stats meta_graph_transform metrics mixed_precision
    model_pruning mpi nccl ndlstm nearest_neighbor nn opt optimizer_v2 periodic_resample pi_examples predictor proto
    quantization quantize receptive_field recurrent reduce_slice_ops remote_fused_graph resampler rnn rpc saved_model
    sdca_estimator seq2seq session_bundle signal slim solvers sparsemax specs staging stat_summarizer stateless
    statistics summary tensor_forest tensorboard tensorrt testing text tf_records tfprof time_series timeseries tpu
    training util verbs
"""

_WHOLE: Final = """
    autograph compat.v2 compiler contrib.distribute.python distribute distributions estimator feature_column keras
    lite mixed_precision models profiler python.autograph python.compiler python.debug python.distribute
    python.feature_column python.kernel_tests python.ops.distributions python.ops.linalg.sparse
    python.ops.parallel_for python.ops.structured python.tpu tensorboard tools tpu xla
"""

LACKING_WHOLE: Final = frozenset((*_WHOLE.split(), *(f"contrib.{name}" for name in _CONTRIB.split())))
"""Packages of which we have nothing, or only what has a row: whatever else is below them is lacking."""
