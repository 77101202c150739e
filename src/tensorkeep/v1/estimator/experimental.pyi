# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.early_stopping import (
    make_early_stopping_hook, stop_if_higher_hook, stop_if_lower_hook, stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tensorkeep.tf1.estimators.evaluating_hooks import InMemoryEvaluatorHook, make_stop_at_checkpoint_step_hook
from tensorkeep.tf1.estimators.extending import call_logit_fn
from tensorkeep.tf1.estimators.receivers import build_raw_supervised_input_receiver_fn
from tensorkeep.v1.learning.estimators import dnn_logit_fn_builder, linear_logit_fn_builder

__all__ = [
    "InMemoryEvaluatorHook", "build_raw_supervised_input_receiver_fn", "call_logit_fn", "dnn_logit_fn_builder",
    "linear_logit_fn_builder", "make_early_stopping_hook", "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]
