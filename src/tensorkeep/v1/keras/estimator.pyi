# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.learning.keras_models import model_to_estimator

__all__ = [
    "model_to_estimator",
]
