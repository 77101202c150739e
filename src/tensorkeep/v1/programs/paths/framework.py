"""Paths of graphs and sessions, `tensorflow.python.framework`, `eager`, `client`, and of messages, `tensorflow.core`.

Every module `…_pb2` has all classes.
"""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_TF: Final = {"tensorkeep.v1": "*"}
_ERRORS: Final = {"tensorkeep.v1.errors": "*"}

_MESSAGES: Final = {
    "tensorkeep.v1.internals.enumerations": "*",
    "tensorkeep.proto.messages": "*",
    "tensorkeep.proto.session_config": "*",
}

_MESSAGE_FILES: Final = {
    "core.example": "example example_parser_configuration feature",
    "core.framework": """
        allocation_description attr_value cost_graph device_attributes function graph graph_transfer_info
        kernel_def log_memory node_def op_def reader_base remote_fused_graph_execute_info resource_handle step_stats
        summary tensor tensor_description tensor_shape tensor_slice types variable versions
    """,
    "core.lib.core": "error_codes",
    "core.protobuf": """
        checkpointable_object_graph cluster config control_flow debug device_properties error_codes meta_graph
        named_tensor queue_runner rewriter_config saved_model saved_object_graph saver struct tensor_bundle
        tensorflow_server trackable_object_graph
    """,
    "core.util": "event memmapped_file_system saved_tensor_slice test_log",
    "python.training": "checkpoint_state",
}

FRAMEWORK: Final[dict[str, Table]] = {
    "core.framework.embedding.config_pb2": {
        "tensorkeep.tf1.variables.embedding_variables.options": "CacheStrategy StorageType",
        "tensorkeep.v1.internals.enumerations": "*",
    },
    **{f"{folder}.{name}_pb2": _MESSAGES for folder, names in _MESSAGE_FILES.items() for name in names.split()},
    "python": _TF,
    "python.client.client_lib": _TF,
    "python.client.device_lib": {"tensorkeep.v1.device_specs": "list_local_devices"},
    "python.client.session": {
        "tensorkeep.v1.internals.fetching": "_FetchHandler=FetchHandler register_session_run_conversion_functions",
        "tensorkeep.v1.sessions": "BaseSession=Session",
        **_TF,
    },
    "python.client.timeline": {"tensorkeep.tf1.training.loops.timelines": "Timeline"},
    "python.eager.backprop": {"tensorkeep.v1.internals.execution": "GradientTape"},
    "python.eager.context": {
        "tensorkeep.v1.internals.execution": """
            EAGER_MODE GRAPH_MODE context eager_mode graph_mode in_eager_mode in_graph_mode num_gpus
        """,
        **_TF,
    },
    "python.eager.def_function": {"tensorkeep.v1.framework": "function"},
    "python.eager.function": {"tensorkeep.v1.framework": "defun=function"},
    "python.framework": _TF,
    "python.framework.common_shapes": {
        "tensorkeep.v1.internals.framework": "unchanged_shape unknown_shape",
        "tensorkeep.tf1.functions.arrays.shapes": "broadcast_shape=broadcast_static_shape",
    },
    "python.framework.constant_op": {
        "tensorkeep.v1.internals.framework": """
            _constant_tensor_conversion_function=tensor_of_constant
            _dimension_tensor_conversion_function=tensor_of_dimension
            _tensor_shape_tensor_conversion_function=tensor_of_shape
        """,
        **_TF,
    },
    "python.framework.device": {
        "tensorkeep.graph.devices": "canonical_name=canonical_device",
        "tensorkeep.v1.device_specs": "DeviceSpec check_valid is_device_spec merge_device",
    },
    "python.framework.device_spec": {
        "tensorkeep.graph.devices": "DeviceSpecV2=DeviceSpec",
        "tensorkeep.v1.device_specs": "DeviceSpec DeviceSpecV1=DeviceSpec",
    },
    "python.framework.dtypes": {
        "tensorkeep.v1.internals.framework": """
            bfloat16_ref bool_ref complex128_ref complex64_ref double_ref float16_ref float32_ref float64_ref half_ref
            int16_ref int32_ref int64_ref int8_ref string_ref uint16_ref uint8_ref
        """,
        "tensorkeep.v1.dtypes": "*",
        "tensorkeep.v1": "*",
    },
    "python.framework.errors": _ERRORS,
    "python.framework.errors_impl": _ERRORS,
    "python.framework.framework_lib": _TF,
    "python.framework.function": {"tensorkeep.v1.internals.defined_functions": "Defun Declare"},
    "python.framework.graph_io": {"tensorkeep.v1.stored.graph_defs": "write_graph"},
    "python.framework.graph_util": {"tensorkeep.v1.graph_util": "*"},
    "python.framework.graph_util_impl": {"tensorkeep.v1.graph_util": "*"},
    "python.framework.importer": {"tensorkeep.v1.framework": "import_graph_def"},
    "python.framework.indexed_slices": {"tensorkeep.v1": "*"},
    "python.framework.load_library": {"tensorkeep.v1.versions": "load_library load_op_library"},
    "python.framework.meta_graph": {
        "tensorkeep.metagraph.exporting": "create_meta_graph_def",
        "tensorkeep.metagraph.files": "read_meta_graph_file",
        "tensorkeep.v1.meta_graph": "*",
    },
    "python.framework.op_def_registry": {
        "tensorkeep.metagraph.op_list": "get=known_op_def",
        "tensorkeep.v1.internals.framework": "get_registered_ops",
    },
    "python.framework.ops": {
        "tensorkeep.graph.graph": "_TensorLike=Tensor",
        "tensorkeep.proto.messages": "NodeDef",
        "tensorkeep.v1.defaults": "default_session",
        "tensorkeep.v1.internals.framework": """
            EagerTensor NullContextmanager RegisterShape _get_graph_from_inputs=graph_from_inputs convert_n_to_tensor
            convert_n_to_tensor_or_indexed_slices convert_to_tensor_v2 get_all_collection_keys
            get_from_proto_function get_gradient_function get_name_scope get_to_proto_function
            internal_convert_n_to_tensor=convert_n_to_tensor internal_convert_to_tensor is_dense_tensor_like
            name_from_scope_name prepend_name_scope register_dense_tensor_like_type register_proto_function
            set_shapes_for_outputs strip_name_scope tensor_id uid
        """,
        "tensorkeep.v1": "*",
    },
    "python.framework.random_seed": {
        "tensorkeep.v1.internals.framework": "DEFAULT_GRAPH_SEED",
        "tensorkeep.tf1.functions.random.numbers": "get_seed set_random_seed",
    },
    "python.framework.smart_cond": {
        "tensorkeep.tf1.functions.control.control_flow": "smart_cond smart_constant_value",
        "tensorkeep.tf1.functions.control.cases": "smart_case",
    },
    "python.framework.sparse_tensor": {
        "tensorkeep.v1.internals.framework": "is_sparse",
        "tensorkeep.v1": "*",
    },
    "python.framework.tensor_shape": {
        "tensorkeep.graph.tensor_shape": "TensorShapeV1=TensorShape as_dimension",
        "tensorkeep.v1.internals.framework": "as_shape matrix scalar unknown_shape vector",
        "tensorkeep.v1": "*",
    },
    "python.framework.tensor_spec": {"tensorkeep.tf1.functions.type_specs": "TensorSpec"},
    "python.framework.tensor_util": {
        "tensorkeep.v1.framework": """
            MakeNdarray=make_ndarray constant_value=get_static_value is_tensor make_ndarray make_tensor_proto
        """,
        "tensorkeep.v1.internals.framework": "ShapeEquals constant_value_as_shape",
    },
    "python.framework.test_util": {
        "tensorkeep.v1.internals.test_helpers": "*",
        "tensorkeep.v1.test": "*",
    },
    "python.framework.type_spec": {"tensorkeep.tf1.functions.type_specs": "TypeSpec type_spec_from_value"},
    "python.framework.versions": {
        "tensorkeep.v1.versions": "GIT_VERSION VERSION __git_version__=GIT_VERSION __version__=VERSION",
        "tensorkeep.v1.version": "*",
    },
}
