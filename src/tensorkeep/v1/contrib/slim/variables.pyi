# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.framework.values import assign_from_checkpoint, assign_from_values, assign_from_values_fn
from tensorkeep.tf1.contrib.framework.variables import (
    VariableDeviceChooser, add_model_variable, assert_or_get_global_step, filter_variables, get_local_variables,
    get_model_variables, get_trainable_variables, get_unique_variable, get_variable_full_name, get_variables,
    get_variables_by_name, get_variables_by_suffix, get_variables_to_restore, global_variable, local_variable,
    model_variable, variable,
)
from tensorkeep.tf1.variables.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step,
)
from tensorkeep.v1.learning.contrib_loops import assign_from_checkpoint_fn

__all__ = [
    "VariableDeviceChooser", "add_model_variable", "assert_global_step", "assert_or_get_global_step",
    "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
    "create_global_step", "filter_variables", "get_global_step", "get_local_variables", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_unique_variable", "get_variable_full_name",
    "get_variables", "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore", "global_variable",
    "local_variable", "model_variable", "variable",
]
