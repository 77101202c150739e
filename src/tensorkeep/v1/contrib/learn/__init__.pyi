# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.layers.feature_columns import (
    infer_real_valued_columns_from_input, infer_real_valued_columns_from_input_fn,
)
from tensorkeep.tf1.contrib.learn.estimators import MetricSpec, ModeKeys, RunConfig
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
    "Experiment", "LinearClassifier", "LinearRegressor", "MetricSpec", "ModeKeys", "ModelFnOps",
    "NanLossDuringTrainingError", "RunConfig", "SKCompat", "datasets", "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn", "learn_runner", "monitors", "preprocessing",
]
