"""Namespaces of models: `tf.nn`, `tf.layers`, `tf.losses`, `tf.metrics`, `tf.train`, `tf.image` and the like."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_SCALES: Final = "DynamicLossScale FixedLossScale LossScale"
_SCALED: Final = """
    MixedPrecisionLossScaleOptimizer disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite
"""

LEARNING: Final[dict[str, Table]] = {
    "audio": {
        "tensorkeep.tf1.functions.images.files": "decode_wav encode_wav",
    },
    "feature_column": {
        "tensorkeep.tf1.columns.categorical": """
            categorical_column_with_hash_bucket categorical_column_with_identity categorical_column_with_vocabulary_file
            categorical_column_with_vocabulary_list weighted_categorical_column
        """,
        "tensorkeep.tf1.columns.column": "make_parse_example_spec",
        "tensorkeep.tf1.columns.crossed": "crossed_column",
        "tensorkeep.tf1.columns.dense_layers": "DenseFeatures SequenceFeatures",
        "tensorkeep.tf1.columns.embedding": "embedding_column indicator_column",
        "tensorkeep.tf1.columns.groups": """
            CoalescedEmbeddingScope coalesced_embedding_scope group_embedding_column_scope
        """,
        "tensorkeep.tf1.columns.input_layer": "InputLayer input_layer",
        "tensorkeep.tf1.columns.keyed": """
            categorical_column_with_adaptive_embedding categorical_column_with_embedding
            categorical_column_with_multihash
        """,
        "tensorkeep.tf1.columns.linear_model": "linear_model",
        "tensorkeep.tf1.columns.numeric": "bucketized_column numeric_column",
        "tensorkeep.tf1.columns.sequence": """
            concatenate_context_input sequence_categorical_column_with_embedding
            sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list
            sequence_input_layer sequence_numeric_column
        """,
        "tensorkeep.tf1.columns.shared": "shared_embedding_columns shared_embeddings",
    },
    "hash_table": {
        "tensorkeep.tf1.variables.hash_tables.table": """
            DistributedHashTable FixedSizeHashTablePartitioner HashTable HashTableKeyMapperFactory SimpleHashTable
            restore_without_clear_scope
        """,
        "tensorkeep.tf1.variables.hash_tables.admission": """
            BloomFilterAdmitStrategy DistributedBloomFilterAdmitStrategy
        """,
        "tensorkeep.tf1.variables.hash_tables.lookup": """
            BloomFilterLookupHook EmbeddingLookupHook ReadOnlyHook embedding_lookup embedding_lookup_sparse
        """,
    },
    "hash_table.hash_filter": {
        "tensorkeep.tf1.training.savers.hash_table_filters": """
            BlackListAdmit GlobalStepFilter HashFilterBase HashFilterHook L2WeightFilter check filter_once filter_op
            update_op
        """,
    },
    "image": {
        "tensorkeep.tf1.functions.arrays.patches": "extract_image_patches extract_patches",
        "tensorkeep.tf1.functions.images.boxes": """
            combined_non_max_suppression crop_and_resize draw_bounding_boxes extract_glimpse
            generate_bounding_box_proposals non_max_suppression non_max_suppression_overlaps
            non_max_suppression_with_scores sample_distorted_bounding_box
        """,
        "tensorkeep.tf1.functions.images.colors": """
            adjust_contrast adjust_hue adjust_jpeg_quality adjust_saturation grayscale_to_rgb hsv_to_rgb random_contrast
            random_hue random_jpeg_quality random_saturation rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv
            yiq_to_rgb yuv_to_rgb
        """,
        "tensorkeep.tf1.functions.images.files": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg
            encode_png extract_jpeg_shape is_jpeg
        """,
        "tensorkeep.tf1.functions.images.geometry": """
            ResizeMethod central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box
            per_image_standardization per_image_whitening=per_image_standardization random_flip_left_right
            random_flip_up_down resize resize_area resize_bicubic resize_bilinear resize_image_with_crop_or_pad
            resize_image_with_pad resize_images resize_nearest_neighbor resize_with_crop_or_pad rot90 transpose
            transpose_image
        """,
        "tensorkeep.tf1.functions.images.padded_suppression": "non_max_suppression_padded",
        "tensorkeep.tf1.functions.images.quality": """
            image_gradients psnr sobel_edges ssim ssim_multiscale total_variation
        """,
        "tensorkeep.tf1.functions.ragged.dispatch": """
            adjust_brightness adjust_gamma convert_image_dtype random_brightness
        """,
        "tensorkeep.tf1.functions.random.numbers": "random_crop",
    },
    "initializers": {
        "tensorkeep.tf1.functions.data.lookup_tables": "tables_initializer",
        "tensorkeep.tf1.variables.initializers": """
            constant=Constant glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal he_uniform
            identity=Identity lecun_normal lecun_uniform ones=Ones orthogonal=Orthogonal random_normal=RandomNormal
            random_uniform=RandomUniform truncated_normal=TruncatedNormal uniform_unit_scaling=UniformUnitScaling
            variance_scaling=VarianceScaling zeros=Zeros
        """,
        "tensorkeep.tf1.variables.listing": """
            global_variables=global_variables_initializer local_variables=local_variables_initializer
            variables=variables_initializer
        """,
    },
    "kv_variable_ops": {
        "tensorkeep.tf1.functions.embedding.keys": "lookup_resource lookup_tier",
        "tensorkeep.tf1.variables.embedding_variables.handle": "EmbeddingVariable",
    },
    "layers": {
        "tensorkeep.tf1.layers.base": "Layer",
        "tensorkeep.tf1.layers.convolutional": "Conv1D Conv2D Conv3D conv1d conv2d conv3d",
        "tensorkeep.tf1.layers.core": "Dense Dropout Flatten dense dropout flatten",
        "tensorkeep.tf1.layers.input_spec": "InputSpec",
        "tensorkeep.tf1.layers.normalization": "BatchNormalization batch_normalization",
        "tensorkeep.tf1.layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D average_pooling1d
            average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d
        """,
        "tensorkeep.tf1.layers.separable": "SeparableConv1D SeparableConv2D separable_conv1d separable_conv2d",
        "tensorkeep.tf1.layers.transposed": "Conv2DTranspose Conv3DTranspose conv2d_transpose conv3d_transpose",
    },
    "losses": {
        "tensorkeep.tf1.functions.nn.losses": """
            Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
            get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss log_loss
            mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy
        """,
    },
    "metrics": {
        "tensorkeep.tf1.training.metrics.confusion": """
            auc false_negatives false_negatives_at_thresholds false_positives false_positives_at_thresholds precision
            precision_at_thresholds recall recall_at_thresholds sensitivity_at_specificity specificity_at_sensitivity
            true_negatives true_negatives_at_thresholds true_positives true_positives_at_thresholds
        """,
        "tensorkeep.tf1.training.metrics.means": """
            accuracy mean mean_absolute_error mean_cosine_distance mean_iou mean_per_class_accuracy mean_relative_error
            mean_squared_error mean_tensor percentage_below root_mean_squared_error
        """,
        "tensorkeep.tf1.training.metrics.ranking": """
            average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k
            sparse_average_precision_at_k sparse_precision_at_k
        """,
    },
    "nn": {
        "tensorkeep.tf1.functions.arrays.patches": "depth_to_space space_to_batch space_to_depth",
        "tensorkeep.tf1.functions.embedding.combining": """
            adaptive_embedding_lookup_sparse embedding_lookup_sparse_multi_dim fused_embedding_lookup_sparse
            fused_embedding_lookup_sparse_v2 safe_adaptive_embedding_lookup_sparse safe_embedding_lookup_multi_dim
        """,
        "tensorkeep.tf1.functions.embedding.group_lookups": "group_embedding_lookup group_embedding_lookup_sparse",
        "tensorkeep.tf1.functions.nn.activations": """
            bias_add crelu gelu in_top_k relu_layer softmax swish top_k xw_plus_b zero_fraction
        """,
        "tensorkeep.tf1.functions.nn.candidate_sampling": """
            all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler log_uniform_candidate_sampler
            uniform_candidate_sampler
        """,
        "tensorkeep.tf1.functions.nn.convolution": """
            atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d conv2d_backprop_filter
            conv2d_backprop_input conv2d_transpose conv3d conv3d_backprop_filter conv3d_backprop_filter_v2
            conv3d_transpose conv_transpose convolution deconv2d=conv2d_transpose depthwise_conv2d
            depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input depthwise_conv2d_native
            depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input dilation2d erosion2d
            separable_conv2d
        """,
        "tensorkeep.tf1.functions.nn.cross_entropies": """
            log_poisson_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits
            softmax_cross_entropy_with_logits_v2 sparse_softmax_cross_entropy_with_logits
            weighted_cross_entropy_with_logits
        """,
        "tensorkeep.tf1.functions.nn.ctc": """
            collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss ctc_loss_v2
            ctc_unique_labels
        """,
        "tensorkeep.tf1.functions.nn.normalization": """
            batch_norm_with_global_normalization batch_normalization fused_batch_norm l2_loss l2_normalize
            local_response_normalization lrn moments normalize_moments sufficient_statistics weighted_moments
        """,
        "tensorkeep.tf1.functions.nn.pooling": """
            avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_v2 fractional_avg_pool fractional_max_pool max_pool
            max_pool1d max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax pool
        """,
        "tensorkeep.tf1.functions.nn.replica_losses": "compute_average_loss scale_regularization_loss",
        "tensorkeep.tf1.functions.nn.sampled_losses": "nce_loss sampled_softmax_loss",
        "tensorkeep.tf1.functions.nn.windows": "with_space_to_batch",
        "tensorkeep.tf1.functions.ragged.dispatch": """
            dropout elu embedding_lookup embedding_lookup_sparse leaky_relu log_softmax relu relu6
            safe_embedding_lookup_sparse selu sigmoid silu softplus softsign tanh
        """,
        "tensorkeep.tf1.layers.recurrent": """
            bidirectional_dynamic_rnn bidirectional_rnn=static_bidirectional_rnn dynamic_rnn raw_rnn rnn=static_rnn
            state_saving_rnn=static_state_saving_rnn static_bidirectional_rnn static_rnn static_state_saving_rnn
        """,
    },
    "nn.rnn_cell": {
        "tensorkeep.tf1.contrib.rnn.wrappers": "EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper",
        "tensorkeep.tf1.layers.cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
        "tensorkeep.tf1.layers.cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
        """,
    },
    "nn.seq2seq": {
        "tensorkeep.tf1.contrib.legacy_seq2seq": """
            attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
            embedding_rnn_decoder embedding_rnn_seq2seq rnn_decoder tied_rnn_seq2seq
        """,
        "tensorkeep.v1.old_names": "model_with_buckets sequence_loss sequence_loss_by_example",
    },
    "summary": {
        "tensorkeep.proto.messages": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
        "tensorkeep.tf1.contrib.summary": "all_v2_summary_ops=all_summary_ops",
        "tensorkeep.tf1.functions.data.summaries": """
            audio histogram image merge merge_all scalar tensor_summary text
        """,
        "tensorkeep.v1.learning.contrib_loops": "initialize",
        "tensorkeep.tf1.training.loops.events": "FileWriter FileWriterCache",
    },
    "train": {
        "tensorkeep.proto.session_config": "ClusterDef JobDef",
        "tensorkeep.proto.messages": """
            BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SaverDef SequenceExample
        """,
        "tensorkeep.tf1.training.inputs.batching": """
            batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join shuffle_batch
            shuffle_batch_join
        """,
        "tensorkeep.tf1.training.inputs.input_producers": """
            input_producer limit_epochs match_filenames_once range_input_producer slice_input_producer
            string_input_producer
        """,
        "tensorkeep.tf1.training.inputs.queue_runner": "QueueRunner add_queue_runner",
        "tensorkeep.tf1.training.loops.supervisor": "basic_train_loop",
        "tensorkeep.tf1.training.loops.coordinator": "Coordinator LooperThread",
        "tensorkeep.tf1.training.loops.device_setter": "ClusterSpec replica_device_setter",
        "tensorkeep.tf1.training.loops.events": "SummaryWriter=FileWriter",
        "tensorkeep.tf1.training.loops.hooks": """
            FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook
            SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues StopAtStepHook
        """,
        "tensorkeep.tf1.training.loops.monitored_training": "mark_target_node",
        "tensorkeep.tf1.training.loops.profiling_hooks": "ProfilerHook",
        "tensorkeep.tf1.training.loops.recording_hooks": """
            CheckpointSaverHook CheckpointSaverListener StepCounterHook SummarySaverHook
        """,
        "tensorkeep.tf1.training.loops.session_creators": "SessionCreator",
        "tensorkeep.tf1.training.objects.object_checkpoints": "CheckpointOptions",
        "tensorkeep.tf1.training.optimizers.base": "Optimizer",
        "tensorkeep.tf1.training.optimizers.decaying": """
            AdagradDecayOptimizer AdagradDecayOptimizerV2 AdamAsyncOptimizer AdamWOptimizer
        """,
        "tensorkeep.tf1.training.optimizers.moving_averages": "ExponentialMovingAverage",
        "tensorkeep.tf1.training.optimizers.replicas": "SyncReplicasOptimizer",
        "tensorkeep.tf1.training.optimizers.schedules": """
            cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay
            natural_exp_decay noisy_linear_cosine_decay piecewise_constant piecewise_constant_decay=piecewise_constant
            polynomial_decay
        """,
        "tensorkeep.tf1.training.optimizers.standard": """
            AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer GradientDescentOptimizer
            MomentumOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer RMSPropOptimizer
        """,
        "tensorkeep.tf1.training.savers.warm_starting": "VocabInfo",
        "tensorkeep.tf1.variables.global_step": """
            assert_global_step create_global_step get_global_step get_or_create_global_step global_step
        """,
        "tensorkeep.v1.stored.checkpoints": """
            NewCheckpointReader checkpoint_exists checkpoints_iterator generate_checkpoint_state_proto
            get_checkpoint_mtimes get_checkpoint_state init_from_checkpoint latest_checkpoint list_variables
            load_checkpoint load_variable remove_checkpoint update_checkpoint_state warm_start
        """,
        "tensorkeep.v1.stored.graph_defs": "write_graph",
        "tensorkeep.v1.meta_graph": "export_meta_graph import_meta_graph",
        "tensorkeep.v1.stored.objects": "Checkpoint CheckpointManager",
        "tensorkeep.v1.stored.saving": "Saver",
        "tensorkeep.v1.learning.servers": "Server",
        "tensorkeep.v1.learning.training": """
            ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionManager
            SingularMonitoredSession Supervisor WorkerSessionCreator start_queue_runners summary_iterator
        """,
    },
    "mixed_precision": {"tensorkeep.tf1.training.optimizers.loss_scaling": f"{_SCALES} {_SCALED}"},
    "mixed_precision.experimental": {"tensorkeep.tf1.training.optimizers.loss_scaling": _SCALES},
    "train.experimental": {"tensorkeep.tf1.training.optimizers.loss_scaling": f"{_SCALES} {_SCALED}"},
    "train.queue_runner": {
        "tensorkeep.tf1.training.inputs.queue_runner": "QueueRunner add_queue_runner",
        "tensorkeep.v1.learning.training": "start_queue_runners",
    },
}
