"""Paths of estimators and columns: `tensorflow.estimator`, `python.feature_column`, `contrib.tpu` and their modules."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_ESTIMATOR: Final[Table] = {
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
    """,
    "tensorkeep.tf1.columns.column": """
        CategoricalColumn DenseColumn FeatureColumn SequenceDenseColumn _CategoricalColumn=CategoricalColumn
        _DenseColumn=DenseColumn _FeatureColumn=FeatureColumn
    """,
    "tensorkeep.tf1.columns.crossed": "CrossedColumn",
    "tensorkeep.tf1.columns.embedding": "EmbeddingColumn IndicatorColumn",
    "tensorkeep.tf1.columns.input_layer": "_LazyBuilder=LazyBuilder",
    "tensorkeep.tf1.columns.numeric": "BucketizedColumn NumericColumn",
    "tensorkeep.tf1.columns.sequence": "SequenceCategoricalColumn SequenceNumericColumn",
    "tensorkeep.tf1.columns.shared": "SharedEmbeddingColumn",
    "tensorkeep.v1.feature_column": "*",
}
_TPU: Final[Table] = {"tensorkeep.v1.contrib.tpu": "*"}

ESTIMATORS: Final[dict[str, Table]] = {
    **{f"estimator.{name}": _ESTIMATOR for name in _MODULES.split()},
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
        f"contrib.tpu.python.tpu.{name}": _TPU
        for name in ("tpu", "tpu_config", "tpu_estimator", "tpu_function", "tpu_optimizer")
    },
    "contrib.tpu.python.ops.tpu_ops": _TPU,
}  # fmt: skip
