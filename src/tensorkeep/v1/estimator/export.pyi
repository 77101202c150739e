# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.export_outputs import (
    ClassificationOutput, EvalOutput, ExportOutput, PredictOutput, RegressionOutput,
)
from tensorkeep.tf1.estimators.receivers import (
    ServingInputReceiver, TensorServingInputReceiver, build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)

__all__ = [
    "ClassificationOutput", "EvalOutput", "ExportOutput", "PredictOutput", "RegressionOutput", "ServingInputReceiver",
    "TensorServingInputReceiver", "build_parsing_serving_input_receiver_fn", "build_raw_serving_input_receiver_fn",
]
