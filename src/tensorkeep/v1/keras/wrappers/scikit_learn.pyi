# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.scikit_learn import KerasClassifier, KerasRegressor

__all__ = [
    "KerasClassifier", "KerasRegressor",
]
