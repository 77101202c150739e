# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.learning.estimators import run_experiment as run, tune_experiments as tune

__all__ = [
    "run", "tune",
]
