"""Namespaces of what is around a model: `tf.io`, `tf.saved_model`, `tf.errors`, `tf.compat` and the like."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

SURROUNDINGS: Final[dict[str, Table]] = {
    "compat": {
        "tensorkeep": "v1",
        "tensorkeep.io.coding.text_and_bytes": """
            as_bytes as_str_any=as_text_of_any as_text path_to_bytes path_to_str=path_to_text
        """,
        "tensorkeep.v1.compatibility": """
            as_str bytes_or_text_types complex_types forward_compatibility_horizon forward_compatible integral_types
            real_types
        """,
        "tensorkeep.v1.framework": "dimension_at_index dimension_value",
    },
    "config": {
        "tensorkeep.v1.settings": """
            get_soft_device_placement list_logical_devices list_physical_devices set_soft_device_placement
        """,
    },
    "config.experimental": {
        "tensorkeep.v1.learning.collective": "enable_distributed_strategy",
        "tensorkeep.v1.settings": """
            get_memory_growth list_logical_devices list_physical_devices set_memory_growth
        """,
    },
    "config.optimizer": {
        "tensorkeep.v1.settings": """
            get_experimental_options get_jit set_experimental_options set_jit
        """,
    },
    "config.threading": {
        "tensorkeep.v1.settings": """
            get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads
            set_intra_op_parallelism_threads
        """,
    },
    "debugging": {
        "tensorkeep.tf1.functions.control.assertions": """
            assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal assert_near
            assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive
            assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar
            assert_shapes is_non_decreasing is_numeric_tensor is_strictly_increasing
        """,
        "tensorkeep.tf1.functions.control.control_flow": "Assert",
        "tensorkeep.tf1.functions.control.logging": "assert_all_finite=verify_tensor_all_finite",
        "tensorkeep.tf1.functions.ragged.dispatch": "assert_type check_numerics is_finite is_inf is_nan",
        "tensorkeep.v1.settings": "get_log_device_placement set_log_device_placement",
    },
    "distribute": {
        "tensorkeep.tf1.estimators.strategies": "MirroredStrategy OneDeviceStrategy",
        "tensorkeep.v1.internals.execution": """
            ReduceOp get_loss_reduction get_replica_context get_strategy has_strategy in_cross_replica_context
        """,
        "tensorkeep.v1.learning.servers": "Server",
    },
    "errors": {
        "tensorkeep.errors": """
            AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError FailedPreconditionError
            InternalError InvalidArgumentError NotFoundError OpError=TensorKeepError OutOfRangeError
            PermissionDeniedError ResourceExhaustedError UnauthenticatedError UnavailableError UnimplementedError
            UnknownError
        """,
        "tensorkeep.v1.error_codes": """
            ABORTED ALREADY_EXISTS CANCELLED DATA_LOSS DEADLINE_EXCEEDED FAILED_PRECONDITION INTERNAL INVALID_ARGUMENT
            NOT_FOUND OK OUT_OF_RANGE PERMISSION_DENIED RESOURCE_EXHAUSTED UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED
            UNKNOWN error_code_from_exception_type exception_type_from_error_code raise_exception_on_not_ok_status
        """,
    },
    "gfile": {
        "tensorkeep.io.files.gfile_object": "FastGFile=GFile GFile Open=GFile",
        "tensorkeep.v1.stored.files": """
            Copy DeleteRecursively Exists Glob IsDirectory ListDirectory MakeDirs MkDir Remove Rename
            Stat Walk
        """,
    },
    "graph_util": {
        "tensorkeep.graph.rewriting.pruning": "extract_sub_graph must_run_on_cpu",
        "tensorkeep.v1.framework": "import_graph_def",
        "tensorkeep.v1.stored.graph_defs": """
            convert_variables_to_constants remove_training_nodes tensor_shape_from_node_def_name
        """,
    },
    "io": {
        "tensorkeep.tf1.functions.data.queues": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
        "tensorkeep.tf1.functions.data.readers": "matching_files read_file write_file",
        "tensorkeep.tf1.functions.images.files": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg
            encode_png extract_jpeg_shape is_jpeg
        """,
        "tensorkeep.tf1.functions.parsing.decoding": """
            decode_csv decode_json_example decode_proto decode_raw deserialize_many_sparse encode_proto parse_tensor
            serialize_many_sparse serialize_sparse serialize_tensor
        """,
        "tensorkeep.tf1.functions.parsing.examples": """
            parse_example parse_sequence_example parse_single_example parse_single_sequence_example
        """,
        "tensorkeep.tf1.functions.parsing.feature_configs": """
            FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
        """,
        "tensorkeep.tf1.functions.ragged.dispatch": "decode_base64 decode_compressed encode_base64",
        "tensorkeep.tf1.training.inputs.input_producers": "match_filenames_once",
        "tensorkeep.v1.stored.graph_defs": "write_graph",
        "tensorkeep.v1.stored.records": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    },
    "io.gfile": {
        "tensorkeep.io.files.gfile_object": "GFile",
        "tensorkeep.v1.stored.files": """
            copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree stat walk
        """,
    },
    "lookup": {
        "tensorkeep.tf1.functions.data.lookup_tables": """
            KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer
        """,
    },
    "lookup.experimental": {
        "tensorkeep.tf1.functions.data.mutable_tables": "DenseHashTable MutableHashTable",
    },
    "profiler": {
        "tensorkeep.proto.reports": "GraphNodeProto MultiGraphNodeProto",
        "tensorkeep.v1.profiling": "ProfileOptionBuilder Profiler profile",
    },
    "python_io": {
        "tensorkeep.v1.stored.records": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    },
    "queue": {
        "tensorkeep.tf1.functions.data.queues": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    },
    "raw_ops": {},  # a name is that of an op
    "saved_model": {
        "tensorkeep.saved_model.files.constants": """
            ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
            CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU
            LEGACY_INIT_OP_KEY MAIN_OP_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
            REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT
            SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME
        """,
        "tensorkeep.saved_model.files.signature_defs": """
            build_signature_def classification_signature_def is_valid_signature predict_signature_def
            regression_signature_def
        """,
        "tensorkeep.saved_model.files.tensor_info": "build_tensor_info",
        "tensorkeep.tf1.saved_model.builder": "main_op_with_restore",
        "tensorkeep.tf1.saved_model.object_exporting": "SaveOptions",
        "tensorkeep.tf1.saved_model.object_tree": "Asset",
        "tensorkeep.v1.stored.saved_models": """
            Builder=SavedModelBuilder contains_saved_model=maybe_saved_model_directory get_tensor_from_tensor_info load
            load_v2 maybe_saved_model_directory save simple_save
        """,
    },
    "saved_model.builder": {
        "tensorkeep.v1.stored.saved_models": "SavedModelBuilder simple_save",
    },
    "saved_model.constants": {
        "tensorkeep.saved_model.files.constants": """
            ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB LEGACY_INIT_OP_KEY MAIN_OP_KEY
            SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY
            VARIABLES_FILENAME
        """,
    },
    "saved_model.loader": {
        "tensorkeep.v1.stored.saved_models": "load maybe_saved_model_directory",
    },
    "saved_model.main_op": {
        "tensorkeep.tf1.saved_model.builder": "main_op main_op_with_restore",
    },
    "saved_model.signature_constants": {
        "tensorkeep.saved_model.files.constants": """
            CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
            DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
            REGRESS_METHOD_NAME REGRESS_OUTPUTS
        """,
    },
    "saved_model.signature_def_utils": {
        "tensorkeep.saved_model.files.signature_defs": """
            build_signature_def classification_signature_def is_valid_signature predict_signature_def
            regression_signature_def
        """,
        "tensorkeep.v1.stored.saved_models": "MethodNameUpdater",
    },
    "saved_model.tag_constants": {
        "tensorkeep.saved_model.files.constants": "GPU SERVING TPU TRAINING",
    },
    "saved_model.utils": {
        "tensorkeep.saved_model.files.tensor_info": "build_tensor_info",
        "tensorkeep.v1.stored.saved_models": "get_tensor_from_tensor_info",
    },
    "test": {
        "tensorkeep.v1.testing": """
            Benchmark StubOutForTesting TestCase assert_equal_graph_def benchmark_config compute_gradient
            compute_gradient_error create_local_cluster get_temp_dir gpu_device_name is_built_with_cuda
            is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_gpu_available main mock
            test_src_dir_path
        """,
    },
    "version": {
        "tensorkeep.graph.graph": "GRAPH_DEF_VERSION=PRODUCER",
        "tensorkeep.v1.framework": "COMPILER_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER",
        "tensorkeep.v1.versions": "GIT_VERSION VERSION",
    },
    "xla": {},
    "xla.experimental": {
        "tensorkeep.tf1.contrib.small_spaces": "compile=compile_computation jit_scope=experimental_jit_scope",
    },
}
