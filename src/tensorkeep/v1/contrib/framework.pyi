# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.tf1.contrib.framework.arg_scopes import (
    add_arg_scope, arg_scope, arg_scope_func_key, arg_scoped_arguments, current_arg_scope, has_arg_scope,
)
from tensorkeep.tf1.contrib.framework.bounded_specs import BoundedTensorSpec
from tensorkeep.tf1.contrib.framework.tensors import (
    assert_scalar_int, get_graph_from_inputs, get_name_scope, get_placeholders, reduce_sum_n,
    remove_squeezable_dimensions, with_same_shape, with_shape,
)
from tensorkeep.tf1.contrib.framework.values import assign_from_checkpoint, assign_from_values, assign_from_values_fn
from tensorkeep.tf1.contrib.framework.variables import (
    VariableDeviceChooser, add_model_variable, assert_or_get_global_step, filter_variables, get_local_variables,
    get_model_variables, get_trainable_variables, get_unique_variable, get_variable_full_name, get_variables,
    get_variables_by_name, get_variables_by_suffix, get_variables_to_restore, global_variable, local_variable,
    model_variable, variable,
)
from tensorkeep.tf1.functions.arrays.shapes import broadcast_to
from tensorkeep.tf1.functions.arrays.sorting import argsort, sort
from tensorkeep.tf1.functions.control.assertions import (
    assert_same_float_dtype, assert_scalar, is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from tensorkeep.tf1.functions.control.cases import smart_case
from tensorkeep.tf1.functions.control.control_flow import smart_cond, smart_constant_value
from tensorkeep.tf1.functions.control.critical_sections import CriticalSection
from tensorkeep.tf1.functions.control.script import py_func
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.variables.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step,
)
from tensorkeep.tf1.variables.initializers import Zeros as zero_initializer
from tensorkeep.v1.framework import convert_to_tensor_or_sparse_tensor, is_tensor
from tensorkeep.v1.internals.decorators import deprecated, deprecated_arg_values, deprecated_args
from tensorkeep.v1.learning.contrib_loops import assign_from_checkpoint_fn
from tensorkeep.v1.stored.checkpoints import (
    checkpoints_iterator, init_from_checkpoint, list_variables, load_checkpoint, load_variable,
)

__all__ = [
    "BoundedTensorSpec", "CriticalSection", "TensorSpec", "VariableDeviceChooser", "add_arg_scope",
    "add_model_variable", "arg_scope", "arg_scope_func_key", "arg_scoped_arguments", "argsort", "assert_global_step",
    "assert_or_get_global_step", "assert_same_float_dtype", "assert_scalar", "assert_scalar_int",
    "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
    "broadcast_to", "checkpoints_iterator", "convert_to_tensor_or_sparse_tensor", "create_global_step",
    "current_arg_scope", "deprecated", "deprecated_arg_values", "deprecated_args", "filter_variables",
    "get_global_step", "get_graph_from_inputs", "get_local_variables", "get_model_variables", "get_name_scope",
    "get_or_create_global_step", "get_placeholders", "get_trainable_variables", "get_unique_variable",
    "get_variable_full_name", "get_variables", "get_variables_by_name", "get_variables_by_suffix",
    "get_variables_to_restore", "global_variable", "has_arg_scope", "init_from_checkpoint", "is_non_decreasing",
    "is_numeric_tensor", "is_strictly_increasing", "is_tensor", "list_variables", "load_checkpoint", "load_variable",
    "local_variable", "model_variable", "prepend_name_scope", "py_func", "reduce_sum_n",
    "remove_squeezable_dimensions", "smart_case", "smart_cond", "smart_constant_value", "sort", "strip_name_scope",
    "variable", "with_same_shape", "with_shape", "zero_initializer",
]
