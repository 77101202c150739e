"""Messages of TensorFlow Serving: the logs of requests that a model is warmed up with."""

from __future__ import annotations

from tensorkeep.proto._generated.serving_pb2 import (
    ClassificationRequest,
    ClassifyLog,
    ExampleList,
    ExampleListWithContext,
    Input,
    LogMetadata,
    ModelSpec,
    PredictionLog,
    PredictLog,
    PredictRequest,
    PredictResponse,
    RegressionRequest,
    RegressLog,
)

__all__ = [
    "ClassificationRequest",
    "ClassifyLog",
    "ExampleList",
    "ExampleListWithContext",
    "Input",
    "LogMetadata",
    "ModelSpec",
    "PredictLog",
    "PredictRequest",
    "PredictResponse",
    "PredictionLog",
    "RegressLog",
    "RegressionRequest",
]
