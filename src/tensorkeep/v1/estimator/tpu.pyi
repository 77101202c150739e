# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.tpu import InputPipelineConfig, TPUConfig
from tensorkeep.v1.learning.estimators import TPUEstimator, TPUEstimatorSpec, TPURunConfig as RunConfig

__all__ = [
    "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
]
