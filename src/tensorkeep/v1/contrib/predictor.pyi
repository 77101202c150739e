# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.predictors import Predictor, from_contrib_estimator
from tensorkeep.v1.learning.estimators import from_estimator, from_saved_model

__all__ = [
    "Predictor", "from_contrib_estimator", "from_estimator", "from_saved_model",
]
