"""Models of Keras where they meet other parts of `tf`: as estimators."""

from __future__ import annotations

from tensorkeep.tf1.estimators.keras_models import model_to_estimator
from tensorkeep.v1.learning import estimators  # the graphs and sessions that estimators use

INSTALLED = (estimators,)

__all__ = ["model_to_estimator"]
