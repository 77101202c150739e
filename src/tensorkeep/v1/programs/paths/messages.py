"""Paths of messages: `tensorflow.core`. Every module `…_pb2` has all classes."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_MESSAGES: Final = {
    "tensorkeep.v1.internals.enumerations": "*",
    "tensorkeep.proto.messages": "*",
    "tensorkeep.proto.session_config": "*",
}

_FILES: Final = {
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

MESSAGES: Final[dict[str, Table]] = {
    f"{folder}.{name}_pb2": _MESSAGES for folder, names in _FILES.items() for name in names.split()
}
