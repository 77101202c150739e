# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.feature_columns import (
    infer_real_valued_columns_from_input, infer_real_valued_columns_from_input_fn,
)
from tensorkeep.tf1.contrib.learn.estimators import MetricSpec, ModeKeys, RunConfig
from tensorkeep.tf1.contrib.learn.example_readers import (
    read_batch_examples, read_batch_features, read_batch_record_features, read_keyed_batch_examples,
    read_keyed_batch_features,
)
from tensorkeep.tf1.contrib.learn.small_parts import (
    InputFnOps, NotFittedError, PredictionKey, ProblemType, TaskType, build_parsing_serving_input_fn,
    extract_pandas_data, extract_pandas_labels, extract_pandas_matrix, no_op_train_fn,
)
from tensorkeep.tf1.training.loops.hooks import NanLossDuringTrainingError
from tensorkeep.v1.contrib.learn import datasets, learn_runner, monitors, preprocessing
from tensorkeep.v1.learning.estimators import (
    Experiment, LearnDNNClassifier as DNNClassifier, LearnDNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
    LearnDNNLinearCombinedRegressor as DNNLinearCombinedRegressor, LearnDNNRegressor as DNNRegressor,
    LearnEstimator as Estimator, LearnLinearClassifier as LinearClassifier, LearnLinearRegressor as LinearRegressor,
    ModelFnOps, SKCompat,
)

__all__ = [
    "DNNClassifier", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator",
    "Experiment", "InputFnOps", "LinearClassifier", "LinearRegressor", "MetricSpec", "ModeKeys", "ModelFnOps",
    "NanLossDuringTrainingError", "NotFittedError", "PredictionKey", "ProblemType", "RunConfig", "SKCompat",
    "TaskType", "build_parsing_serving_input_fn", "datasets", "extract_pandas_data", "extract_pandas_labels",
    "extract_pandas_matrix", "infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn",
    "learn_runner", "monitors", "no_op_train_fn", "preprocessing", "read_batch_examples", "read_batch_features",
    "read_batch_record_features", "read_keyed_batch_examples", "read_keyed_batch_features",
]
