"""`tf.estimator` and `tf.contrib.learn`: estimators in graphs, sessions and savers of `tf`."""

from __future__ import annotations

from typing import Any

from tensorkeep.tf1.contrib.learn.canned import DNNClassifier as LearnDNNClassifier
from tensorkeep.tf1.contrib.learn.canned import DNNLinearCombinedClassifier as LearnDNNLinearCombinedClassifier
from tensorkeep.tf1.contrib.learn.canned import DNNLinearCombinedRegressor as LearnDNNLinearCombinedRegressor
from tensorkeep.tf1.contrib.learn.canned import DNNRegressor as LearnDNNRegressor
from tensorkeep.tf1.contrib.learn.canned import LinearClassifier as LearnLinearClassifier
from tensorkeep.tf1.contrib.learn.canned import LinearRegressor as LearnLinearRegressor
from tensorkeep.tf1.contrib.learn.estimators import Estimator as LearnEstimator
from tensorkeep.tf1.contrib.learn.estimators import ModelFnOps, SKCompat
from tensorkeep.tf1.contrib.learn.experiments import Experiment
from tensorkeep.tf1.contrib.learn.experiments import run as run_experiment
from tensorkeep.tf1.contrib.learn.experiments import tune as tune_experiments
from tensorkeep.tf1.contrib.predictors import from_estimator, from_saved_model
from tensorkeep.tf1.estimators import surroundings
from tensorkeep.tf1.estimators.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from tensorkeep.tf1.estimators.classification import BinaryClassHead, MultiClassHead, MultiLabelHead
from tensorkeep.tf1.estimators.combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from tensorkeep.tf1.estimators.estimator import Estimator, WarmStartSettings
from tensorkeep.tf1.estimators.exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from tensorkeep.tf1.estimators.heads import Head
from tensorkeep.tf1.estimators.linear import LinearClassifier, LinearEstimator, LinearRegressor, linear_logit_fn_builder
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.multi_heads import MultiHead
from tensorkeep.tf1.estimators.networks import DNNClassifier, DNNEstimator, DNNRegressor, dnn_logit_fn_builder
from tensorkeep.tf1.estimators.regression import LogisticRegressionHead, PoissonRegressionHead, RegressionHead
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.estimators.tpu import RunConfig as TPURunConfig
from tensorkeep.tf1.estimators.tpu import TPUEstimator, TPUEstimatorSpec
from tensorkeep.tf1.estimators.train_and_evaluate import EvalSpec, TrainSpec, train_and_evaluate
from tensorkeep.tf1.training.loops.monitored_training import Parts, monitored_training_session
from tensorkeep.v1.graphs import Graph
from tensorkeep.v1.learning import training
from tensorkeep.v1.sessions import Session, core_session
from tensorkeep.v1.stored.saving import Saver


def _session(target: str = "", graph: Any = None, config: Any = None) -> Session:
    """A session that may call the program's Python: it has put it into the graph that an estimator had it build."""
    return Session(target, graph, config, allow_python=True)


class _SessionManager(training.SessionManager):
    new_session = staticmethod(_session)  # type: ignore[assignment]


class _ChiefSessionCreator(training.ChiefSessionCreator):
    manager_type = _SessionManager


_PARTS = Parts(training.Scaffold, _ChiefSessionCreator, training.WorkerSessionCreator, training.MonitoredSession)


def _training_session(**options: Any) -> Any:
    return monitored_training_session(_PARTS, **options)


surroundings.install(
    surroundings.Surroundings(
        graph=Graph,
        session=_session,
        core_session=core_session,
        saver=Saver,
        scaffold=training.Scaffold,
        chief_creator=_ChiefSessionCreator,
        monitored_session=training.MonitoredSession,
        training_session=_training_session,
    )
)

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Experiment",
    "Exporter",
    "FinalExporter",
    "Head",
    "LatestExporter",
    "LearnDNNClassifier",
    "LearnDNNLinearCombinedClassifier",
    "LearnDNNLinearCombinedRegressor",
    "LearnDNNRegressor",
    "LearnEstimator",
    "LearnLinearClassifier",
    "LearnLinearRegressor",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressionHead",
    "ModelFnOps",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
    "RunConfig",
    "SKCompat",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "TPURunConfig",
    "TrainSpec",
    "WarmStartSettings",
    "dnn_logit_fn_builder",
    "from_estimator",
    "from_saved_model",
    "linear_logit_fn_builder",
    "run_experiment",
    "train_and_evaluate",
    "tune_experiments",
]
