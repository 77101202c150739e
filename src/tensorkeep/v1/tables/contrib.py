"""Namespaces of `tf.contrib`."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table, some_of
from tensorkeep.v1.tables.inputs import INPUTS
from tensorkeep.v1.tables.numbers import NUMBERS

_LAYERS: Final[Table] = {
    "tensorkeep.tf1.contrib.layers.batch_norms": "batch_norm",
    "tensorkeep.tf1.columns.column": "create_feature_spec_for_parsing=make_parse_example_spec",
    "tensorkeep.tf1.contrib.layers.column_inputs": """
        check_feature_columns input_from_feature_columns joint_weighted_sum_from_feature_columns
        parse_feature_columns_from_examples sequence_input_from_feature_columns transform_features
        weighted_sum_from_feature_columns
    """,
    "tensorkeep.tf1.contrib.layers.convolutions": """
        conv1d=convolution1d conv2d=convolution2d conv2d_in_plane=convolution2d_in_plane
        conv2d_transpose=convolution2d_transpose conv3d=convolution3d conv3d_transpose=convolution3d_transpose
        convolution convolution1d convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
        convolution3d_transpose separable_conv2d=separable_convolution2d separable_convolution2d
    """,
    "tensorkeep.tf1.contrib.layers.dense": """
        bias_add dropout elu fully_connected legacy_fully_connected legacy_linear legacy_relu linear relu relu6 repeat
        stack
    """,
    "tensorkeep.tf1.contrib.layers.divisive": "gdn",
    "tensorkeep.tf1.contrib.layers.embeddings": "bow_encoder embed_sequence embedding_lookup_unique",
    "tensorkeep.tf1.contrib.layers.feature_columns": """
        bucketized_column crossed_column embedding_column one_hot_column real_valued_column
        sparse_column_with_hash_bucket sparse_column_with_integerized_feature sparse_column_with_keys
        sparse_column_with_vocabulary_file weighted_sparse_column
    """,
    "tensorkeep.tf1.contrib.layers.initializers": """
        variance_scaling_initializer xavier_initializer xavier_initializer_conv2d=xavier_initializer
    """,
    "tensorkeep.tf1.contrib.layers.normalizations": """
        group_norm instance_norm layer_norm poincare_normalize unit_norm
    """,
    "tensorkeep.tf1.contrib.layers.optimizers": """
        OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss
    """,
    "tensorkeep.tf1.contrib.layers.pools": "avg_pool2d avg_pool3d max_pool2d max_pool3d pool",
    "tensorkeep.tf1.contrib.layers.regularizers": """
        apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer
    """,
    "tensorkeep.tf1.contrib.layers.reshaping": """
        flatten images_to_sequence maxout one_hot_encoding scale_gradient sequence_to_images softmax spatial_softmax
    """,
    "tensorkeep.tf1.contrib.layers.reversing": "recompute_grad rev_block",
    "tensorkeep.tf1.contrib.layers.sparse_values": "dense_to_sparse",
    "tensorkeep.tf1.contrib.layers.summaries": """
        summarize_activation summarize_activations summarize_biases summarize_collection summarize_tensor
        summarize_tensors summarize_variables summarize_weights
    """,
    "tensorkeep.tf1.functions.ragged.dispatch": "safe_embedding_lookup_sparse",
}

_FRAMEWORK: Final[Table] = {
    "tensorkeep.graph.scopes": "prepend_name_scope strip_name_scope",
    "tensorkeep.tf1.contrib.framework.arg_scopes": """
        add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope
    """,
    "tensorkeep.tf1.contrib.framework.tensors": """
        assert_scalar_int get_graph_from_inputs get_name_scope get_placeholders reduce_sum_n
        remove_squeezable_dimensions with_same_shape with_shape
    """,
    "tensorkeep.tf1.contrib.framework.values": """
        assign_from_checkpoint assign_from_values assign_from_values_fn
    """,
    "tensorkeep.tf1.contrib.framework.variables": """
        VariableDeviceChooser add_model_variable assert_or_get_global_step filter_variables get_local_variables
        get_model_variables get_trainable_variables get_unique_variable get_variable_full_name get_variables
        get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable local_variable
        model_variable variable
    """,
    "tensorkeep.tf1.contrib.framework.bounded_specs": "BoundedTensorSpec",
    "tensorkeep.tf1.functions.arrays.shapes": "broadcast_to",
    "tensorkeep.tf1.functions.arrays.sorting": "argsort sort",
    "tensorkeep.tf1.functions.control.assertions": """
        assert_same_float_dtype assert_scalar is_non_decreasing is_numeric_tensor is_strictly_increasing
    """,
    "tensorkeep.tf1.functions.control.cases": "smart_case",
    "tensorkeep.tf1.functions.control.control_flow": "smart_cond smart_constant_value",
    "tensorkeep.tf1.functions.control.critical_sections": "CriticalSection",
    "tensorkeep.tf1.functions.control.script": "py_func",
    "tensorkeep.tf1.functions.type_specs": "TensorSpec",
    "tensorkeep.tf1.variables.global_step": """
        assert_global_step create_global_step get_global_step get_or_create_global_step
    """,
    "tensorkeep.tf1.variables.initializers": "zero_initializer=Zeros",
    "tensorkeep.v1.learning.contrib_loops": "assign_from_checkpoint_fn",
    "tensorkeep.v1.stored.checkpoints": """
        checkpoints_iterator init_from_checkpoint list_variables load_checkpoint load_variable
    """,
    "tensorkeep.v1.framework": "convert_to_tensor_or_sparse_tensor is_tensor",
    "tensorkeep.v1.internals.decorators": "deprecated deprecated_arg_values deprecated_args",
}

_UTILS: Final[Table] = {
    "tensorkeep.tf1.contrib.layers.collecting": """
        append_tensor_alias channel_dimension collect_named_outputs convert_collection_to_dict gather_tensors_aliases
        get_tensor_aliases get_variable_collections last_dimension n_positive_integers two_element_tuple
    """,
    "tensorkeep.tf1.functions.control.control_flow": "constant_value=smart_constant_value smart_cond",
}
_INITIALIZERS: Final[Table] = {
    "tensorkeep.tf1.contrib.layers.initializers": _LAYERS["tensorkeep.tf1.contrib.layers.initializers"],
}
_REGULARIZERS: Final[Table] = {
    "tensorkeep.tf1.contrib.layers.regularizers": _LAYERS["tensorkeep.tf1.contrib.layers.regularizers"],
}
_VARIABLES: Final[Table] = {
    module: _FRAMEWORK[module]
    for module in (
        "tensorkeep.tf1.contrib.framework.values",
        "tensorkeep.tf1.contrib.framework.variables",
        "tensorkeep.tf1.variables.global_step",
        "tensorkeep.v1.learning.contrib_loops",
    )
}

_NETS: Final = "tensorkeep.tf1.contrib.slim.nets"
_ARG_SCOPES: Final = "tensorkeep.tf1.contrib.framework.arg_scopes"
_TRAINING: Final = "tensorkeep.tf1.contrib.training.gradient_steps"
_EVALUATION: Final = "tensorkeep.tf1.contrib.training.evaluation"

_INCEPTION_V1: Final[Table] = {f"{_NETS}.inception_v1": "inception_v1 inception_v1_arg_scope inception_v1_base"}
_INCEPTION_V2: Final[Table] = {f"{_NETS}.inception_v2": "inception_v2 inception_v2_arg_scope inception_v2_base"}
_INCEPTION_V3: Final[Table] = {f"{_NETS}.inception_v3": "inception_v3 inception_v3_arg_scope inception_v3_base"}
_INCEPTION: Final[Table] = {**_INCEPTION_V1, **_INCEPTION_V2, **_INCEPTION_V3}
_SLIM_LOSSES: Final[Table] = {
    "tensorkeep.tf1.contrib.slim.losses": """
        absolute_difference compute_weighted_loss cosine_distance get_total_loss hinge_loss log_loss
        mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
        sparse_softmax_cross_entropy
    """,
    "tensorkeep.tf1.functions.nn.losses": "add_loss get_losses get_regularization_losses",
}

_METRICS: Final[Table] = {
    "tensorkeep.tf1.contrib.agreement": """
        cohen_kappa count streaming_concat streaming_covariance streaming_pearson_correlation
    """,
    "tensorkeep.tf1.contrib.metrics": """
        accuracy aggregate_metric_map aggregate_metrics streaming_accuracy streaming_auc streaming_false_negative_rate
        streaming_false_negatives streaming_false_positive_rate
        streaming_false_negatives_at_thresholds streaming_false_positives streaming_false_positives_at_thresholds
        streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou
        streaming_mean_relative_error streaming_mean_squared_error streaming_precision
        streaming_precision_at_thresholds streaming_recall streaming_recall_at_k streaming_recall_at_thresholds
        streaming_root_mean_squared_error streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
        streaming_sparse_precision_at_k streaming_sparse_recall_at_k streaming_specificity_at_sensitivity
        streaming_true_negatives streaming_true_negatives_at_thresholds streaming_true_positives
        streaming_true_positives_at_thresholds sparse_recall_at_top_k streaming_sparse_average_precision_at_top_k
        streaming_sparse_precision_at_top_k
    """,
    "tensorkeep.tf1.contrib.areas": "auc_using_histogram auc_with_confidence_intervals streaming_dynamic_auc",
    "tensorkeep.tf1.contrib.threshold_metrics": """
        f1_score precision_at_recall precision_recall_at_equal_thresholds recall_at_precision streaming_curve_points
        streaming_false_negative_rate_at_thresholds streaming_false_positive_rate_at_thresholds
    """,
    "tensorkeep.tf1.functions.arrays.counting": "confusion_matrix",
    "tensorkeep.tf1.functions.numbers.sets": "set_difference set_intersection set_size set_union",
    "tensorkeep.tf1.training.metrics.means": """
        streaming_mean=mean streaming_mean_tensor=mean_tensor streaming_percentage_less=percentage_below
    """,
}
_SLIM: Final[dict[str, Table]] = {
    "contrib.slim": {
        **_LAYERS,
        _ARG_SCOPES: """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope
        """,
        **_VARIABLES,
    },
    "contrib.slim.data_decoder": {"tensorkeep.tf1.contrib.slim.decoders": "DataDecoder"},
    "contrib.slim.data_provider": {"tensorkeep.tf1.contrib.slim.providers": "DataProvider"},
    "contrib.slim.dataset": {"tensorkeep.tf1.contrib.slim.providers": "Dataset"},
    "contrib.slim.dataset_data_provider": {"tensorkeep.tf1.contrib.slim.providers": "DatasetDataProvider"},
    "contrib.slim.evaluation": {
        _EVALUATION: "StopAfterNEvalsHook SummaryAtEndHook get_or_create_eval_step wait_for_new_checkpoint",
        "tensorkeep.v1.stored.checkpoints": "checkpoints_iterator",
        "tensorkeep.v1.learning.contrib_loops": "evaluate_once=slim_evaluate_once evaluate_repeatedly evaluation_loop",
    },
    "contrib.slim.initializers": _INITIALIZERS,
    "contrib.slim.layers": _LAYERS,
    "contrib.slim.learning": {
        "tensorkeep.tf1.contrib.slim.learning": """
            add_gradients_summaries=add_slim_gradients_summaries create_train_op=create_slim_train_op train_step
        """,
        _TRAINING: "clip_gradient_norms multiply_gradients",
        "tensorkeep.v1.learning.contrib_loops": "train=slim_train",
    },
    "contrib.slim.losses": _SLIM_LOSSES,
    "contrib.slim.metrics": _METRICS,
    "contrib.slim.model_analyzer": {
        "tensorkeep.tf1.contrib.slim.analysis": "tensor_description",
        "tensorkeep.v1.profiling": "analyze_ops analyze_vars",
    },
    "contrib.slim.nets": {},
    "contrib.slim.nets.alexnet": {f"{_NETS}.plain": "alexnet_v2 alexnet_v2_arg_scope"},
    "contrib.slim.nets.inception": _INCEPTION,
    "contrib.slim.nets.inception_v1": _INCEPTION_V1,
    "contrib.slim.nets.inception_v2": _INCEPTION_V2,
    "contrib.slim.nets.inception_v3": _INCEPTION_V3,
    "contrib.slim.nets.overfeat": {f"{_NETS}.plain": "overfeat overfeat_arg_scope"},
    "contrib.slim.nets.resnet_utils": {
        f"{_NETS}.resnet_units": "Block conv2d_same resnet_arg_scope stack_blocks_dense subsample",
    },
    "contrib.slim.nets.resnet_v1": {
        "tensorkeep.v1.contrib.slim.nets": "resnet_utils",
        f"{_NETS}.resnet_units": "resnet_arg_scope",
        f"{_NETS}.resnet_v1": """
            bottleneck resnet_v1 resnet_v1_101 resnet_v1_152 resnet_v1_200 resnet_v1_50 resnet_v1_block
        """,
    },
    "contrib.slim.nets.resnet_v2": {
        "tensorkeep.v1.contrib.slim.nets": "resnet_utils",
        f"{_NETS}.resnet_units": "resnet_arg_scope",
        f"{_NETS}.resnet_v2": """
            bottleneck resnet_v2 resnet_v2_101 resnet_v2_152 resnet_v2_200 resnet_v2_50 resnet_v2_block
        """,
    },
    "contrib.slim.nets.vgg": {f"{_NETS}.vgg": "vgg_16 vgg_19 vgg_a vgg_arg_scope vgg_d vgg_e"},
    "contrib.slim.parallel_reader": {
        "tensorkeep.tf1.contrib.slim.providers": "ParallelReader get_data_files parallel_read single_pass_read",
    },
    "contrib.slim.prefetch_queue": {"tensorkeep.tf1.contrib.slim.queues": "prefetch_queue"},
    "contrib.slim.queues": {"tensorkeep.tf1.contrib.slim.queues": "NestedQueueRunnerError QueueRunners"},
    "contrib.slim.regularizers": _REGULARIZERS,
    "contrib.slim.summaries": {
        "tensorkeep.tf1.contrib.slim.summaries": """
            add_histogram_summaries add_histogram_summary add_image_summaries add_image_summary add_scalar_summaries
            add_scalar_summary add_zero_fraction_summaries add_zero_fraction_summary
        """,
    },
    "contrib.slim.tfexample_decoder": {
        "tensorkeep.tf1.contrib.slim.decoders": """
            BackupHandler ItemHandler ItemHandlerCallback LookupTensor SparseTensor=SparseTensorHandler
            TFExampleDecoder TFSequenceExampleDecoder Tensor=TensorHandler
        """,
        "tensorkeep.tf1.contrib.slim.image_items": """
            BoundingBox BoundingBoxSequence Image KeypointsSequence NumBoxesSequence
        """,
    },
    "contrib.slim.utils": _UTILS,
    "contrib.slim.variables": _VARIABLES,
}

_TRAINING_NAMES: Final[Table] = {
    _EVALUATION: "StopAfterNEvalsHook SummaryAtEndHook get_or_create_eval_step wait_for_new_checkpoint",
    _TRAINING: """
        add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op multiply_gradients
    """,
    "tensorkeep.tf1.contrib.training.bucketing": "bucket bucket_by_sequence_length",
    "tensorkeep.tf1.contrib.training.hparam_texts": "parse_values",
    "tensorkeep.tf1.contrib.training.hparams": "HParams",
    "tensorkeep.tf1.contrib.training.resampling": "resample_at_rate weighted_resample",
    "tensorkeep.tf1.contrib.training.sampling": "rejection_sample stratified_sample",
    "tensorkeep.tf1.contrib.training.sequence_states": """
        NextQueuedSequenceBatch SequenceQueueingStateSaver batch_sequences_with_states
    """,
    "tensorkeep.tf1.training.loops.device_setter": """
        GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn
    """,
    "tensorkeep.v1.stored.checkpoints": "checkpoints_iterator",
    "tensorkeep.v1.learning.contrib_loops": "evaluate_once evaluate_repeatedly train",
}

_RNN: Final[Table] = {
    "tensorkeep.tf1.contrib.rnn.attention_cells": "AttentionCellWrapper",
    "tensorkeep.tf1.contrib.rnn.block_cells": """
        FusedRNNCell FusedRNNCellAdaptor GRUBlockCell GRUBlockCellV2 LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper
        TimeReversedFusedRNN
    """,
    "tensorkeep.tf1.contrib.rnn.convolution_cells": "Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell",
    "tensorkeep.tf1.contrib.rnn.gated_cells": "GLSTMCell IntersectionRNNCell MinimalRNNCell PhasedLSTMCell UGRNNCell",
    "tensorkeep.tf1.contrib.rnn.grid_cells": "BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell",
    "tensorkeep.tf1.contrib.rnn.independent_cells": "IndRNNCell IndyGRUCell IndyLSTMCell SRUCell",
    "tensorkeep.tf1.contrib.rnn.lstm_cells": """
        CoupledInputForgetGateLSTMCell LayerNormBasicLSTMCell LayerNormLSTMCell NASCell WeightNormLSTMCell
    """,
    "tensorkeep.tf1.contrib.rnn.memory_cells": "NTMCell",
    "tensorkeep.tf1.contrib.rnn.networks": "stack_bidirectional_dynamic_rnn stack_bidirectional_rnn",
    "tensorkeep.tf1.contrib.rnn.wrappers": """
        CompiledWrapper EmbeddingWrapper HighwayWrapper InputProjectionWrapper OutputProjectionWrapper
    """,
    "tensorkeep.tf1.layers.cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    "tensorkeep.tf1.layers.cells": """
        BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple LayerRNNCell MultiRNNCell RNNCell
    """,
    "tensorkeep.tf1.layers.recurrent": """
        best_effort_input_batch_size=batch_size_of static_bidirectional_rnn static_rnn static_state_saving_rnn
        transpose_batch_time=with_batch_and_time_exchanged
    """,
}
_SEQ2SEQ: Final[Table] = {
    "tensorkeep.tf1.contrib.seq2seq.attention": "AttentionMechanism monotonic_attention safe_cumprod",
    "tensorkeep.tf1.contrib.seq2seq.attention_wrapper": "AttentionWrapper AttentionWrapperState",
    "tensorkeep.tf1.contrib.seq2seq.beam_choices": "BeamSearchDecoderOutput BeamSearchDecoderState",
    "tensorkeep.tf1.contrib.seq2seq.beam_search": "BeamSearchDecoder FinalBeamSearchDecoderOutput",
    "tensorkeep.tf1.contrib.seq2seq.decoders": "BasicDecoder BasicDecoderOutput Decoder dynamic_decode",
    "tensorkeep.tf1.contrib.seq2seq.helpers": """
        CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper
        ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper TrainingHelper
    """,
    "tensorkeep.tf1.contrib.seq2seq.losses": "sequence_loss",
    "tensorkeep.tf1.contrib.seq2seq.mechanisms": """
        BahdanauAttention BahdanauMonotonicAttention LuongAttention LuongMonotonicAttention hardmax
    """,
    "tensorkeep.tf1.contrib.seq2seq.tiling": "gather_tree gather_tree_from_array tile_batch",
}
_CRF: Final[Table] = {
    "tensorkeep.tf1.contrib.crf": """
        CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score crf_decode
        crf_log_likelihood crf_log_norm crf_multitag_sequence_score crf_sequence_score crf_unary_score viterbi_decode
    """,
}

_OPT: Final[Table] = {
    "tensorkeep.tf1.contrib.opt.adams": """
        AdamGSOptimizer AdaMaxOptimizer LazyAdamGSOptimizer LazyAdamOptimizer NadamOptimizer
    """,
    "tensorkeep.tf1.contrib.opt.averaging": """
        AGNCustomGetter AGNOptimizer ElasticAverageCustomGetter ModelAverageCustomGetter ModelAverageOptimizer
    """,
    "tensorkeep.tf1.contrib.opt.layers": "LARSOptimizer",
    "tensorkeep.tf1.contrib.opt.matrices": "GGTOptimizer ShampooOptimizer",
    "tensorkeep.tf1.contrib.opt.signs": "AddSignOptimizer PowerSignOptimizer",
    "tensorkeep.tf1.contrib.opt.steps": "DelayCompensatedGradientDescentOptimizer RegAdagradOptimizer",
    "tensorkeep.tf1.contrib.opt.wrappers": """
        DecoupledWeightDecayExtension DropStaleGradientOptimizer MomentumWOptimizer MultitaskOptimizerWrapper
        VariableClippingOptimizer clip_gradients_by_global_norm extend_with_decoupled_weight_decay
    """,
    "tensorkeep.tf1.training.optimizers.decaying": "AdamWOptimizer",
    "tensorkeep.v1.learning.contrib_loops": """
        ElasticAverageOptimizer ExternalOptimizerInterface MovingAverageOptimizer ScipyOptimizerInterface
    """,
}
_LEGACY_SEQ2SEQ: Final[Table] = {
    "tensorkeep.tf1.contrib.legacy_seq2seq": """
        attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
        embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
        one2many_rnn_seq2seq rnn_decoder sequence_loss
        sequence_loss_by_example tied_rnn_seq2seq
    """,
}
_LOOKUP: Final[Table] = {
    "tensorkeep.tf1.functions.data.lookup_tables": """
        HasherSpec HashTable=StaticHashTable IdTableWithHashBuckets KeyValueTensorInitializer StrongHashSpec
        TextFileIdTableInitializer TextFileIndex TextFileInitializer TextFileStringTableInitializer
        index_table_from_file index_to_string_table_from_file
    """,
    "tensorkeep.tf1.contrib.lookup": """
        index_table_from_tensor index_to_string index_to_string_table_from_tensor string_to_index
        string_to_index_table_from_file string_to_index_table_from_tensor
    """,
    "tensorkeep.tf1.functions.data.mutable_tables": "MutableDenseHashTable=DenseHashTable MutableHashTable",
}
_DATA: Final = some_of(
    INPUTS["data.experimental"],
    """
    Counter CsvDataset Optional RandomDataset Reducer bucket_by_sequence_length choose_from_datasets copy_to_device
    TFRecordWriter dense_to_sparse_batch enumerate_dataset get_next_as_optional get_single_element group_by_reducer
    group_by_window ignore_errors make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
    map_and_batch parallel_interleave parse_example_dataset prefetch_to_device rejection_resample
    sample_from_datasets scan shuffle_and_repeat unbatch unique
    """,
)

_OWN_DATA: Final[Table] = {
    "tensorkeep.tf1.contrib.small_spaces": """
        assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder reduce_dataset
        sliding_window_batch sloppy_interleave
    """,
}
_NN: Final[Table] = {
    "tensorkeep.tf1.contrib.small_spaces": """
        alpha_dropout deprecated_flipped_sigmoid_cross_entropy_with_logits
        deprecated_flipped_softmax_cross_entropy_with_logits
        deprecated_flipped_sparse_softmax_cross_entropy_with_logits nth_element scaled_softplus
    """,
    "tensorkeep.tf1.functions.nn.sampled_losses": "sampled_sparse_softmax_loss",
    "tensorkeep.tf1.functions.nn.convolution": "conv1d_transpose",
}
_COMPILER: Final[dict[str, Table]] = {
    "contrib.compiler": {},
    "contrib.compiler.jit": {"tensorkeep.tf1.contrib.small_spaces": "experimental_jit_scope"},
    "contrib.compiler.xla": {"tensorkeep.tf1.contrib.small_spaces": "compile=compile_computation"},
}
_UTIL: Final[Table] = {
    "tensorkeep.v1.framework": "constant_value=get_static_value make_ndarray make_tensor_proto",
    "tensorkeep.v1.meta_graph": "ops_used_by_graph_def stripped_op_list_for_graph",
}

_IMAGE: Final[Table] = {
    "tensorkeep.tf1.contrib.image": """
        angles_to_projective_transforms bipartite_match compose_transforms dense_image_warp interpolate_bilinear
        interpolate_spline matrices_to_flat_transforms rotate sparse_image_warp transform translate
        translations_to_projective_transforms
    """,
    "tensorkeep.tf1.contrib.image_values": "adjust_hsv_in_yiq connected_components random_hsv_in_yiq",
}
_SUMMARY: Final[Table] = {
    "tensorkeep.tf1.contrib.summary": """
        SummaryWriter all_summary_ops always_record_summaries audio create_db_writer create_file_writer
        create_summary_file_writer=create_file_writer flush generic histogram image import_event never_record_summaries
        eval_dir record_if record_summaries_every_n_global_steps scalar should_record_summaries
        summary_writer_initializer_op
    """,
    "tensorkeep.v1.learning.contrib_loops": "initialize",
}
_DATA_FILES: Final[Table] = {
    "tensorkeep.tf1.contrib.learn.data_files": """
        Dataset Datasets load_csv_with_header load_csv_without_header maybe_download
    """,
}
_STATELESS: Final[Table] = {
    "tensorkeep.tf1.functions.random.numbers": """
        stateless_multinomial stateless_random_normal stateless_random_uniform stateless_truncated_normal
    """,
}
_LEARN: Final[dict[str, Table]] = {
    "contrib.learn": {
        "tensorkeep.tf1.contrib.learn.estimators": "MetricSpec ModeKeys RunConfig",
        "tensorkeep.tf1.contrib.learn.small_parts": """
            InputFnOps NotFittedError PredictionKey ProblemType TaskType build_parsing_serving_input_fn
            extract_pandas_data extract_pandas_labels extract_pandas_matrix no_op_train_fn
        """,
        "tensorkeep.tf1.training.loops.hooks": "NanLossDuringTrainingError",
        "tensorkeep.tf1.contrib.layers.feature_columns": """
            infer_real_valued_columns_from_input infer_real_valued_columns_from_input_fn
        """,
        "tensorkeep.v1.learning.estimators": """
            DNNClassifier=LearnDNNClassifier DNNLinearCombinedClassifier=LearnDNNLinearCombinedClassifier
            DNNLinearCombinedRegressor=LearnDNNLinearCombinedRegressor DNNRegressor=LearnDNNRegressor
            Estimator=LearnEstimator Experiment LinearClassifier=LearnLinearClassifier
            LinearRegressor=LearnLinearRegressor ModelFnOps SKCompat
        """,
        "tensorkeep.tf1.contrib.learn.example_readers": """
            read_batch_examples read_batch_features read_batch_record_features read_keyed_batch_examples
            read_keyed_batch_features
        """,
    },
    "contrib.learn.datasets": {"tensorkeep.tf1.contrib.learn.data_files": "Dataset Datasets"},
    "contrib.learn.datasets.base": _DATA_FILES,
    "contrib.learn.datasets.mnist": {
        "tensorkeep.tf1.training.inputs.mnist_files": "DataSet read_data_sets",
    },
    "contrib.learn.learn_runner": {"tensorkeep.v1.learning.estimators": "run=run_experiment tune=tune_experiments"},
    "contrib.learn.monitors": {
        "tensorkeep.tf1.contrib.learn.monitors": """
            BaseMonitor CaptureVariable CheckpointSaver EveryN GraphDump LoggingTrainable NanLoss PrintTensor
            RunHookAdapterForMonitors StepCounter StopAtStep SummarySaver ValidationMonitor get_default_monitors
            replace_monitors_with_hooks
        """,
        "tensorkeep.tf1.training.loops.hooks": "NanLossDuringTrainingError",
    },
    "contrib.learn.preprocessing": {
        "tensorkeep.tf1.contrib.learn.vocabularies": "CategoricalVocabulary VocabularyProcessor tokenizer",
    },
}

CONTRIB: Final[dict[str, Table]] = {
    "contrib": {},
    "contrib.crf": _CRF,
    "contrib.data": {**_DATA, **_OWN_DATA},
    "contrib.framework": _FRAMEWORK,
    "contrib.image": _IMAGE,
    "contrib.layers": _LAYERS,
    "contrib.layers.utils": _UTILS,
    "contrib.legacy_seq2seq": _LEGACY_SEQ2SEQ,
    "contrib.lookup": _LOOKUP,
    "contrib.losses": _SLIM_LOSSES,
    "contrib.memory_stats": {
        "tensorkeep.tf1.contrib.small_spaces": """
            BytesInUse=bytes_in_use BytesLimit=bytes_limit MaxBytesInUse=max_bytes_in_use
        """,
    },
    "contrib.metrics": _METRICS,
    "contrib.mixed_precision": {
        "tensorkeep.tf1.contrib.mixed_precision": """
            ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager LossScaleOptimizer
        """,
    },
    "contrib.nn": _NN,
    "contrib.opt": _OPT,
    "contrib.predictor": {
        "tensorkeep.tf1.contrib.predictors": "from_contrib_estimator Predictor",
        "tensorkeep.v1.learning.estimators": "from_estimator from_saved_model",
    },
    "contrib.quantize": {
        "tensorkeep.tf1.contrib.quantize.rewriting": """
            create_eval_graph create_training_graph experimental_create_eval_graph experimental_create_training_graph
        """,
    },
    "contrib.recurrent": {"tensorkeep.tf1.contrib.rnn.networks": "bidirectional_functional_rnn functional_rnn"},
    "contrib.resampler": {"tensorkeep.tf1.contrib.small_spaces": "resampler"},
    "contrib.rnn": _RNN,
    "contrib.seq2seq": _SEQ2SEQ,
    "contrib.signal": some_of(
        NUMBERS["signal"],
        """
        frame hamming_window hann_window inverse_stft inverse_stft_window_fn linear_to_mel_weight_matrix
        mfccs_from_log_mel_spectrograms overlap_and_add stft
        """,
    ),
    "contrib.sparsemax": {"tensorkeep.tf1.contrib.sparsemax": "sparsemax sparsemax_loss"},
    "contrib.staging": {"tensorkeep.tf1.functions.data.staging_areas": "StagingArea"},
    "contrib.stateless": _STATELESS,
    "contrib.saved_model": {
        "tensorkeep.tf1.keras.engine.saving.directory_reading": "load_keras_model=load_from_saved_model",
        "tensorkeep.tf1.keras.engine.saving.directory_writing": "save_keras_model=export_saved_model",
    },
    "contrib.summary": _SUMMARY,
    "contrib.tensorboard": {},
    "contrib.tensorboard.plugins": {},
    "contrib.tensorboard.plugins.projector": {
        "tensorkeep.proto.reports": "EmbeddingInfo ProjectorConfig SpriteMetadata",
        "tensorkeep.tf1.contrib.projector": "visualize_embeddings",
    },
    "contrib.training": _TRAINING_NAMES,
    "contrib.util": _UTIL,
    **_COMPILER,
    **_LEARN,
    **_SLIM,
}

ABOUT_CONTRIB: Final = {
    "contrib": "what TensorFlow 1 had beside its core",
    "contrib.compiler": "compiled runs, which all are here",
    "contrib.compiler.jit": "scopes of operations that are compiled",
    "contrib.compiler.xla": "computations that are compiled",
    "contrib.crf": "conditional random fields over chains of tags",
    "contrib.data": "datasets, as they were before `tf.data.experimental`",
    "contrib.framework": "arguments by scope, variables by name, and checks of tensors",
    "contrib.image": "images turned, shifted and warped",
    "contrib.layers": "layers as functions",
    "contrib.layers.utils": "names, collections and sizes, which TensorFlow has in a module that it does not export",
    "contrib.learn": "estimators, as they were before `tf.estimator`",
    "contrib.learn.datasets": "datasets in files",
    "contrib.learn.datasets.base": "datasets in files of CSV",
    "contrib.learn.datasets.mnist": "handwritten digits",
    "contrib.learn.learn_runner": "experiments by the name of a schedule",
    "contrib.learn.monitors": "what looks on while an estimator is fitted",
    "contrib.learn.preprocessing": "words as numbers",
    "contrib.legacy_seq2seq": "decoders unrolled over lists of steps",
    "contrib.lookup": "tables",
    "contrib.losses": "losses, as they were before `tf.losses`",
    "contrib.memory_stats": "how much memory there is",
    "contrib.metrics": "measures over a stream of batches, with predictions first",
    "contrib.mixed_precision": "loss scaling",
    "contrib.nn": "activations, dropout and losses",
    "contrib.opt": "optimizers",
    "contrib.predictor": "models that answer calls with dictionaries of arrays",
    "contrib.quantize": "graphs that compute as they will with few bits",
    "contrib.recurrent": "networks of cells over sequences",
    "contrib.resampler": "values between the points of images",
    "contrib.rnn": "cells of recurrent networks, and wrappers around them",
    "contrib.seq2seq": "decoders with attention and beam search",
    "contrib.signal": "sounds as spectra, as they were before `tf.signal`",
    "contrib.slim": "models in few lines",
    "contrib.slim.data_decoder": "what decodes records",
    "contrib.slim.data_provider": "what provides tensors",
    "contrib.slim.dataset": "datasets as files with a decoder",
    "contrib.slim.dataset_data_provider": "the items of a dataset",
    "contrib.slim.evaluation": "loops that evaluate",
    "contrib.slim.initializers": "initial values",
    "contrib.slim.layers": "layers as functions",
    "contrib.slim.learning": "loops that train",
    "contrib.slim.losses": "losses, as they were before `tf.losses`",
    "contrib.slim.metrics": "measures over a stream of batches",
    "contrib.slim.model_analyzer": "how large models are",
    "contrib.slim.nets": "networks",
    "contrib.slim.nets.alexnet": "AlexNet",
    "contrib.slim.nets.inception": "Inception networks",
    "contrib.slim.nets.inception_v1": "Inception V1",
    "contrib.slim.nets.inception_v2": "Inception V2",
    "contrib.slim.nets.inception_v3": "Inception V3",
    "contrib.slim.nets.overfeat": "OverFeat",
    "contrib.slim.nets.resnet_utils": "what residual networks are made of",
    "contrib.slim.nets.resnet_v1": "residual networks",
    "contrib.slim.nets.resnet_v2": "residual networks that normalize first",
    "contrib.slim.nets.vgg": "networks of the Visual Geometry Group",
    "contrib.slim.parallel_reader": "files read by several readers",
    "contrib.slim.prefetch_queue": "queues that are filled ahead",
    "contrib.slim.queues": "threads of queues around a session",
    "contrib.slim.regularizers": "losses of weights",
    "contrib.slim.summaries": "summaries of tensors by their names",
    "contrib.slim.tfexample_decoder": "examples that become tensors",
    "contrib.slim.utils": "names, collections and sizes",
    "contrib.slim.variables": "variables of a model",
    "contrib.sparsemax": "probabilities of which most are zero",
    "contrib.staging": "tensors that one run leaves for a later one",
    "contrib.stateless": "random numbers that seeds alone decide",
    "contrib.saved_model": "models of Keras as SavedModels",
    "contrib.summary": "summaries that operations write themselves",
    "contrib.tensorboard": "what TensorBoard reads besides events",
    "contrib.tensorboard.plugins": "what parts of TensorBoard read",
    "contrib.tensorboard.plugins.projector": "which embeddings TensorBoard shows",
    "contrib.training": "hyperparameters, training steps and evaluation",
    "contrib.util": "tensors as messages",
}
"""What the namespaces are for, for `help`."""
