# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.receivers import build_raw_supervised_input_receiver_fn
from tensorkeep.v1.estimators import dnn_logit_fn_builder, linear_logit_fn_builder

__all__ = [
    "build_raw_supervised_input_receiver_fn", "dnn_logit_fn_builder", "linear_logit_fn_builder",
]
