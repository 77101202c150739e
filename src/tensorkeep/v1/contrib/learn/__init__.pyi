# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.learn.estimators import MetricSpec, ModeKeys, RunConfig
from tensorkeep.tf1.training.loops.hooks import NanLossDuringTrainingError
from tensorkeep.v1.contrib.learn import datasets, learn_runner, preprocessing
from tensorkeep.v1.estimators import Experiment, LearnEstimator as Estimator, ModelFnOps, SKCompat

__all__ = [
    "Estimator", "Experiment", "MetricSpec", "ModeKeys", "ModelFnOps", "NanLossDuringTrainingError", "RunConfig",
    "SKCompat", "datasets", "learn_runner", "preprocessing",
]
