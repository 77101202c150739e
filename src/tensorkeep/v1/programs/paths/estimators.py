"""Paths of estimators and columns: `tensorflow.estimator`, `python.feature_column`, `contrib.tpu` and their modules."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_ESTIMATOR: Final[Table] = {
    "tensorkeep.tf1.estimators.heads": "LossSpec _Head=Head",
    "tensorkeep.tf1.estimators.networks": """
        _add_hidden_layer_summary=add_layer_summaries _add_layer_summary=add_layer_summaries
    """,
    "tensorkeep.tf1.estimators.linear": "_compute_fraction_of_zero=fraction_of_zero",
    "tensorkeep.v1.contrib.estimator": """
        _dnn_logit_fn_builder=dnn_logit_fn_builder _linear_logit_fn_builder=linear_logit_fn_builder
        dnn_logit_fn_builder linear_logit_fn_builder
    """,
    "tensorkeep.v1.internals.canned_parts": """
        _binary_logistic_head_with_sigmoid_cross_entropy_loss=binary_logistic_head
        _binary_logistic_or_multi_class_head=binary_or_multi_class_head _linear_learning_rate=linear_learning_rate
        _multi_class_head_with_softmax_cross_entropy_loss=multi_class_head
        _multi_label_head=multi_label_head _poisson_regression_head=poisson_regression_head
        _regression_head=regression_head _regression_head_with_mean_squared_error_loss=regression_head
        _summary_key=summary_key
    """,
    "tensorkeep.tf1.estimators.keys": "MetricKeys PredictionKeys",
    "tensorkeep.tf1.estimators.optimizers": "get_optimizer_instance=optimizer_of",
    "tensorkeep.v1.estimator": "*",
    "tensorkeep.v1.estimator.export": "*",
    "tensorkeep.v1.estimator.inputs": "*",
    "tensorkeep.v1.estimator.experimental": "*",
}
_MODULES: Final = """
    canned canned.baseline canned.dnn canned.dnn_linear_combined canned.head canned.linear canned.metric_keys
    canned.optimizers canned.parsing_utils canned.prediction_keys estimator estimator_lib export.export
    export.export_lib export.export_output exporter head head.base_head head.binary_class_head head.multi_class_head
    head.multi_head head.multi_label_head head.regression_head hooks hooks.basic_session_run_hooks
    hooks.session_run_hook inputs.inputs inputs.numpy_io inputs.pandas_io mode_keys model_fn run_config training
"""
_COLUMNS: Final[Table] = {
    "tensorkeep.tf1.columns.categorical": """
        HashedCategoricalColumn IdentityCategoricalColumn VocabularyFileCategoricalColumn
        VocabularyListCategoricalColumn WeightedCategoricalColumn
        _HashedCategoricalColumn=HashedCategoricalColumn _IdentityCategoricalColumn=IdentityCategoricalColumn
        _VocabularyFileCategoricalColumn=VocabularyFileCategoricalColumn
        _VocabularyListCategoricalColumn=VocabularyListCategoricalColumn
        _WeightedCategoricalColumn=WeightedCategoricalColumn
        _categorical_column_with_hash_bucket=categorical_column_with_hash_bucket
        _categorical_column_with_identity=categorical_column_with_identity
        _categorical_column_with_vocabulary_file=categorical_column_with_vocabulary_file
        _categorical_column_with_vocabulary_list=categorical_column_with_vocabulary_list
        _weighted_categorical_column=weighted_categorical_column
    """,
    "tensorkeep.tf1.columns.column": """
        CategoricalColumn DenseColumn FeatureColumn SequenceDenseColumn _CategoricalColumn=CategoricalColumn
        _DenseColumn=DenseColumn _FeatureColumn=FeatureColumn _SequenceDenseColumn=SequenceDenseColumn
    """,
    "tensorkeep.tf1.columns.crossed": "CrossedColumn _CrossedColumn=CrossedColumn _crossed_column=crossed_column",
    "tensorkeep.tf1.columns.embedding": """
        EmbeddingColumn IndicatorColumn _EmbeddingColumn=EmbeddingColumn _IndicatorColumn=IndicatorColumn
        _embedding_column=embedding_column _indicator_column=indicator_column
    """,
    "tensorkeep.tf1.columns.input_layer": "_LazyBuilder=LazyBuilder",
    "tensorkeep.tf1.columns.numeric": """
        BucketizedColumn NumericColumn _BucketizedColumn=BucketizedColumn _NumericColumn=NumericColumn
        _bucketized_column=bucketized_column _numeric_column=numeric_column
    """,
    "tensorkeep.tf1.columns.sequence": """
        SequenceCategoricalColumn SequenceNumericColumn _SequenceCategoricalColumn=SequenceCategoricalColumn
        _SequenceNumericColumn=SequenceNumericColumn
    """,
    "tensorkeep.tf1.columns.shared": "SharedEmbeddingColumn _SharedEmbeddingColumn=SharedEmbeddingColumn",
    "tensorkeep.v1.feature_column": "*",
}
_TPU: Final[Table] = {"tensorkeep.v1.contrib.tpu": "*"}
_TPU_CONTEXT: Final[Table] = {"tensorkeep.v1.internals.execution": "TpuContext get_tpu_context tpu_shard_context"}

ESTIMATORS: Final[dict[str, Table]] = {
    **{f"estimator.{name}": _ESTIMATOR for name in _MODULES.split()},
    "estimator.util": {"tensorkeep.v1.internals.decorators": "fn_args"},
    **{f"estimator.tpu.{name}": _TPU for name in ("tpu_config", "tpu_estimator")},
    "python.feature_column": _COLUMNS,
    **{
        f"python.feature_column.{name}": _COLUMNS
        for name in ("dense_features", "feature_column", "feature_column_lib", "feature_column_v2",
                     "sequence_feature_column")
    },
    "python.feature_column.utils": {
        "tensorkeep.tf1.columns.column": """
            assert_key_is_string=check_key assert_string_or_int=check_text_or_integer
            sequence_length_from_sparse_tensor=sequence_lengths
        """,
    },
    "contrib.feature_column.python.feature_column.sequence_feature_column": {
        "tensorkeep.v1.contrib.feature_column": "*"
    },
    **{
        f"{package}.{name}": _TPU_CONTEXT if name == "tpu_function" else _TPU
        for package in ("contrib.tpu.python.tpu", "python.tpu")
        for name in ("bfloat16", "tpu", "tpu_config", "tpu_estimator", "tpu_function", "tpu_optimizer")
    },
    "contrib.tpu.python.ops.tpu_ops": _TPU,
    "python.tpu.ops.tpu_ops": _TPU,
}  # fmt: skip
