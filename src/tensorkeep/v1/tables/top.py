"""The names at the top of `tf`."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

TOP: Final[Table] = {
    "numpy": "newaxis",
    "tensorkeep.dtypes": """
        DType bfloat16=BFLOAT16 bool=BOOL complex128=COMPLEX128 complex64=COMPLEX64 double=FLOAT64 float16=FLOAT16
        float32=FLOAT32 float64=FLOAT64 half=FLOAT16 int16=INT16 int32=INT32 int64=INT64 int8=INT8 qint16=QINT16
        qint32=QINT32 qint8=QINT8 quint16=QUINT16 quint8=QUINT8 resource=RESOURCE string=STRING uint16=UINT16
        uint32=UINT32 uint64=UINT64 uint8=UINT8 variant=VARIANT
    """,
    "tensorkeep.errors": "OpError=TensorKeepError",
    "tensorkeep.graph.collections": "GraphKeys",
    "tensorkeep.graph.composites": "IndexedSlices SparseTensor",
    "tensorkeep.graph.graph": "GRAPH_DEF_VERSION=PRODUCER Operation Tensor",
    "tensorkeep.graph.tensor_shape": "Dimension TensorShape",
    "tensorkeep.proto.messages": """
        AttrValue Event GraphDef HistogramProto LogMessage MetaGraphDef NameAttrList NodeDef SessionLog Summary
        SummaryMetadata TensorInfo
    """,
    "tensorkeep.proto.session_config": """
        ConfigProto ExecutorPolicy GPUOptions GraphOptions OptimizerOptions RewriterConfig RunMetadata RunOptions
    """,
    "tensorkeep.runtime.composite_values": "SparseTensorValue",
    "tensorkeep.tf1.functions.arrays.counting": """
        bincount confusion_matrix histogram_fixed_width histogram_fixed_width_bins
    """,
    "tensorkeep.tf1.functions.arrays.patches": """
        batch_to_space batch_to_space_nd depth_to_space extract_image_patches extract_volume_patches
        required_space_to_batch_paddings space_to_batch space_to_batch_nd space_to_depth
    """,
    "tensorkeep.tf1.functions.arrays.shapes": """
        batch_matrix_transpose=matrix_transpose broadcast_dynamic_shape broadcast_static_shape broadcast_to
        dynamic_stitch edit_distance ensure_shape fill guarantee_const identity identity_n invert_permutation
        listdiff=setdiff1d matrix_transpose meshgrid ones pad parallel_stack placeholder placeholder_with_default
        reshape reverse_sequence reverse_v2 roll setdiff1d shape shape_n sparse_placeholder stop_gradient transpose
        unique unique_with_counts unpack=unstack unstack where_v2 zeros
    """,
    "tensorkeep.tf1.functions.arrays.slicing": """
        boolean_mask repeat scatter_nd searchsorted sequence_mask slice sparse_mask strided_slice tensor_scatter_add
        tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
        tensor_scatter_sub tensor_scatter_update
    """,
    "tensorkeep.tf1.functions.arrays.sorting": "argsort sort unravel_index",
    "tensorkeep.tf1.functions.constants": "constant",
    "tensorkeep.tf1.functions.control.assertions": """
        assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal assert_near
        assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive assert_proper_iterable
        assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar is_non_decreasing
        is_numeric_tensor is_strictly_increasing
    """,
    "tensorkeep.tf1.functions.control.cases": "case switch_case",
    "tensorkeep.tf1.functions.control.control_flow": "Assert cond while_loop",
    "tensorkeep.tf1.functions.control.critical_sections": "CriticalSection",
    "tensorkeep.tf1.functions.control.grouping": "group no_op tuple=tuple_",
    "tensorkeep.tf1.functions.control.higher_order": "foldl foldr map_fn scan",
    "tensorkeep.tf1.functions.control.logging": """
        Print add_check_numerics_ops print=print_v2 timestamp verify_tensor_all_finite
    """,
    "tensorkeep.tf1.functions.control.script": "numpy_function py_func py_function",
    "tensorkeep.tf1.functions.control.tensor_array": "TensorArray",
    "tensorkeep.tf1.functions.data.accumulators": """
        ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
    """,
    "tensorkeep.tf1.functions.data.lookup_tables": "initialize_all_tables tables_initializer",
    "tensorkeep.tf1.functions.data.queues": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "tensorkeep.tf1.functions.data.readers": """
        FixedLengthRecordReader IdentityReader ReaderBase TextLineReader WholeFileReader matching_files read_file
        write_file
    """,
    "tensorkeep.tf1.functions.data.session_tensors": "delete_session_tensor get_session_handle get_session_tensor",
    "tensorkeep.tf1.functions.data.summaries": "merge_all_summaries=merge_all merge_summary=merge",
    "tensorkeep.tf1.functions.gradients.derivatives": "custom_gradient grad_pass_through hessians recompute_grad",
    "tensorkeep.tf1.functions.linear_algebra.matrices": """
        batch_cholesky=cholesky batch_cholesky_solve=cholesky_solve batch_matrix_band_part=matrix_band_part
        batch_matrix_determinant=matrix_determinant batch_matrix_diag=matrix_diag
        batch_matrix_diag_part=matrix_diag_part batch_matrix_inverse=matrix_inverse
        batch_matrix_set_diag=matrix_set_diag batch_matrix_solve=matrix_solve batch_matrix_solve_ls=matrix_solve_ls
        batch_matrix_triangular_solve=matrix_triangular_solve batch_self_adjoint_eig=self_adjoint_eig
        batch_self_adjoint_eigvals=self_adjoint_eigvals batch_svd=svd cholesky cholesky_solve diag diag_part eye
        matrix_band_part matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_set_diag matrix_solve
        matrix_solve_ls matrix_square_root matrix_triangular_solve norm qr self_adjoint_eig self_adjoint_eigvals svd
        trace
    """,
    "tensorkeep.tf1.functions.linear_algebra.products": "einsum sparse_matmul tensordot",
    "tensorkeep.tf1.functions.nn.activations": "gelu",
    "tensorkeep.tf1.functions.numbers.clipping": "clip_by_average_norm clip_by_global_norm clip_by_norm global_norm",
    "tensorkeep.tf1.functions.numbers.elementwise": "accumulate_n cross cumprod lin_space linspace mod range",
    "tensorkeep.tf1.functions.numbers.quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_v2
    """,
    "tensorkeep.tf1.functions.numbers.reductions": "arg_max arg_min argmax argmin count_nonzero reduce_logsumexp",
    "tensorkeep.tf1.functions.numbers.segments": """
        segment_max segment_mean segment_min segment_prod segment_sum sparse_segment_mean sparse_segment_sqrt_n
        sparse_segment_sum
    """,
    "tensorkeep.tf1.functions.numbers.signal": """
        batch_fft2d=fft2d batch_fft3d=fft3d batch_fft=fft batch_ifft2d=ifft2d batch_ifft3d=ifft3d batch_ifft=ifft fft
        fft2d fft3d ifft ifft2d ifft3d
    """,
    "tensorkeep.tf1.functions.numbers.special": "betainc igamma igammac lbeta polygamma",
    "tensorkeep.tf1.functions.parsing.decoding": """
        decode_csv decode_json_example decode_raw deserialize_many_sparse parse_tensor serialize_many_sparse
        serialize_sparse serialize_tensor
    """,
    "tensorkeep.tf1.functions.parsing.examples": "parse_example parse_single_example parse_single_sequence_example",
    "tensorkeep.tf1.functions.parsing.feature_configs": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
    """,
    "tensorkeep.tf1.functions.ragged.dispatch": """
        abs acos acosh add add_n angle as_string asin asinh assert_type atan atan2 atanh batch_gather
        batch_matmul=matmul bitcast cast ceil check_numerics clip_by_value complex complex_abs=abs concat
        concat_v2=concat conj cos cosh cumsum decode_base64 decode_compressed digamma div div_no_nan divide
        dynamic_partition encode_base64 equal erf erfc exp expand_dims expm1 floor floor_div floordiv floormod gather
        gather_nd greater greater_equal imag inv=reciprocal is_finite is_inf is_nan less less_equal lgamma log log1p
        log_sigmoid logical_and logical_not logical_or logical_xor matmul maximum minimum mul=multiply multiply
        neg=negative negative not_equal one_hot ones_like pack=stack pow rank real realdiv reciprocal reduce_all
        reduce_any reduce_join reduce_max reduce_mean reduce_min reduce_prod reduce_sum regex_replace reverse rint round
        rsqrt saturate_cast scalar_mul select=where sigmoid sign sin sinh size split sqrt square squared_difference
        squeeze stack string_join string_strip string_to_hash_bucket string_to_hash_bucket_fast
        string_to_hash_bucket_strong string_to_number sub=subtract substr subtract tan tanh tile to_bfloat16
        to_complex128 to_complex64 to_double to_float to_int32 to_int64 truediv truncatediv truncatemod
        unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
        unsorted_segment_sum where zeros_like zeta
    """,
    "tensorkeep.tf1.functions.ragged.ragged_strings": "string_split",
    "tensorkeep.tf1.functions.ragged.ragged_tensor": "RaggedTensor",
    "tensorkeep.tf1.functions.random.numbers": """
        get_seed multinomial random_crop random_gamma random_normal random_poisson random_shuffle random_uniform
        set_random_seed truncated_normal
    """,
    "tensorkeep.tf1.functions.sparse.tensors": """
        sparse_add sparse_concat sparse_fill_empty_rows sparse_maximum sparse_merge sparse_minimum sparse_reduce_max
        sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape
        sparse_reshape sparse_retain sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul
        sparse_tensor_to_dense sparse_to_dense sparse_to_indicator sparse_transpose
    """,
    "tensorkeep.tf1.functions.type_specs": """
        IndexedSlicesSpec RaggedTensorSpec SparseTensorSpec TensorSpec TypeSpec type_spec_from_value
    """,
    "tensorkeep.tf1.training.inputs.staging": "prefetch_join staged",
    "tensorkeep.tf1.training.objects.module": "Module",
    "tensorkeep.tf1.variables.assignments": """
        assign assign_add assign_sub batch_scatter_update count_up_to scatter_add scatter_div scatter_max scatter_min
        scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update
    """,
    "tensorkeep.tf1.variables.embedding_variables.handle": "EmbeddingVariable",
    "tensorkeep.tf1.variables.embedding_variables.blocks": """
        DynamicEmbeddingVariable get_dynamic_dimension_embedding_variable
    """,
    "tensorkeep.tf1.variables.embedding_variables.options": """
        CBFFilter CacheStrategy CheckpointOption CounterFilter EmbeddingVariableOption EvictOption GlobalStepEvict
        InitializerOption L2WeightEvict StorageOption StorageType
    """,
    "tensorkeep.tf1.variables.embedding_variables.store": "get_embedding_variable",
    "tensorkeep.tf1.variables.hash_tables.store": "get_hash_table",
    "tensorkeep.tf1.variables.initializers": """
        constant_initializer=Constant glorot_normal_initializer=GlorotNormal glorot_uniform_initializer=GlorotUniform
        ones_initializer=Ones orthogonal_initializer=Orthogonal random_normal_initializer=RandomNormal
        random_uniform_initializer=RandomUniform truncated_normal_initializer=TruncatedNormal
        uniform_unit_scaling_initializer=UniformUnitScaling variance_scaling_initializer=VarianceScaling
        zeros_initializer=Zeros
    """,
    "tensorkeep.tf1.variables.listing": """
        all_variables assert_variables_initialized global_variables global_variables_initializer
        initialize_all_variables initialize_local_variables initialize_variables local_variables
        local_variables_initializer model_variables moving_average_variables report_uninitialized_variables
        trainable_variables variables_initializer
    """,
    "tensorkeep.tf1.variables.modes": "AUTO_REUSE VariableAggregation VariableSynchronization",
    "tensorkeep.tf1.variables.embedding_variables.multihash": "MultiHashVariable get_multihash_variable",
    "tensorkeep.tf1.variables.partitioners": """
        fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner
    """,
    "tensorkeep.tf1.variables.regularizers": "no_regularizer",
    "tensorkeep.tf1.variables.scope": "VariableScope get_variable_scope variable_creator_scope",
    "tensorkeep.tf1.variables.scopes": """
        create_partitioned_variables get_local_variable get_variable variable_op_scope variable_scope
    """,
    "tensorkeep.tf1.variables.template": "make_template",
    "tensorkeep.tf1.variables.variable": "Variable is_variable_initialized",
    "tensorkeep.v1": "app flags logging resource_loader",
    "tensorkeep.v1.defaults": "get_default_graph get_default_session reset_default_graph",
    "tensorkeep.v1.device_specs": "DeviceSpec",
    "tensorkeep.v1.framework": """
        AggregationMethod COMPILER_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER NoGradient
        NotDifferentiable QUANTIZED_DTYPES RegisterGradient UnconnectedGradients add_to_collection add_to_collections
        as_dtype colocate_with container control_dependencies control_flow_v2_enabled convert_to_tensor
        convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor device dimension_at_index dimension_value
        disable_control_flow_v2 disable_eager_execution disable_resource_variables disable_tensor_equality
        disable_v2_behavior disable_v2_tensorshape enable_control_flow_v2 enable_eager_execution
        enable_resource_variables enable_tensor_equality enable_v2_behavior enable_v2_tensorshape executing_eagerly
        executing_eagerly_outside_functions function get_collection get_collection_ref get_logger get_static_value
        gradients import_graph_def init_scope is_symbolic_tensor is_tensor make_ndarray make_tensor_proto name_scope
        no_gradient op_scope register_tensor_conversion_function resource_variables_enabled
    """,
    "tensorkeep.v1.graphs": "Graph",
    "tensorkeep.v1.internals.execution": "GradientTape",
    "tensorkeep.v1.old_names": "audio_summary histogram_summary image_summary scalar_summary",
    "tensorkeep.v1.programs.finding": "install",
    "tensorkeep.v1.stored.records": "TFRecordReader",
    "tensorkeep.v1.sessions": "InteractiveSession Session",
    "tensorkeep.v1.learning.training": "make_prefetch_hook",
    "tensorkeep.v1.versions": """
        GIT_VERSION VERSION __git_version__=GIT_VERSION __version__=VERSION load_file_system_library load_library
        load_op_library
    """,
}
