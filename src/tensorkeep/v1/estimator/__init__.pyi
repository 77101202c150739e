# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.extending import add_metrics
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.parsing import classifier_parse_example_spec, regressor_parse_example_spec
from tensorkeep.tf1.training.loops.hooks import (
    FeedFnHook, FinalOpsHook, GlobalStepWaiterHook, LoggingTensorHook, NanLossDuringTrainingError, NanTensorHook,
    SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues, StopAtStepHook,
)
from tensorkeep.tf1.training.loops.profiling_hooks import ProfilerHook
from tensorkeep.tf1.training.loops.recording_hooks import (
    CheckpointSaverHook, CheckpointSaverListener, StepCounterHook, SummarySaverHook,
)
from tensorkeep.tf1.training.savers.warm_starting import VocabInfo
from tensorkeep.v1.estimator import experimental, export, inputs, tpu
from tensorkeep.v1.learning.estimators import (
    BaselineClassifier, BaselineEstimator, BaselineRegressor, BestExporter, BinaryClassHead, DNNClassifier,
    DNNEstimator, DNNLinearCombinedClassifier, DNNLinearCombinedEstimator, DNNLinearCombinedRegressor, DNNRegressor,
    Estimator, EstimatorSpec, EvalSpec, Exporter, FinalExporter, Head, LatestExporter, LinearClassifier,
    LinearEstimator, LinearRegressor, LogisticRegressionHead, MultiClassHead, MultiHead, MultiLabelHead,
    PoissonRegressionHead, RegressionHead, RunConfig, TrainSpec, WarmStartSettings, train_and_evaluate,
)

__all__ = [
    "BaselineClassifier", "BaselineEstimator", "BaselineRegressor", "BestExporter", "BinaryClassHead",
    "CheckpointSaverHook", "CheckpointSaverListener", "DNNClassifier", "DNNEstimator", "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator", "EstimatorSpec",
    "EvalSpec", "Exporter", "FeedFnHook", "FinalExporter", "FinalOpsHook", "GlobalStepWaiterHook", "Head",
    "LatestExporter", "LinearClassifier", "LinearEstimator", "LinearRegressor", "LoggingTensorHook",
    "LogisticRegressionHead", "ModeKeys", "MultiClassHead", "MultiHead", "MultiLabelHead",
    "NanLossDuringTrainingError", "NanTensorHook", "PoissonRegressionHead", "ProfilerHook", "RegressionHead",
    "RunConfig", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "TrainSpec", "VocabInfo", "WarmStartSettings",
    "add_metrics", "classifier_parse_example_spec", "experimental", "export", "inputs", "regressor_parse_example_spec",
    "tpu", "train_and_evaluate",
]
