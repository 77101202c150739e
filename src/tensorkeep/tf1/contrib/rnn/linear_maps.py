"""A weighted sum of several inputs, with the variables "kernel" and "bias" of the current scope."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.scopes import get_variable, get_variable_scope, variable_scope
from tensorkeep.tf1.variables.variable import Variable


def linear(
    args: TensorLike,
    output_size: int,
    bias: bool,
    bias_initializer: InitializerLike = None,
    kernel_initializer: InitializerLike = None,
) -> Tensor:
    """The inputs side by side, times a kernel, with a bias that begins with zeros if one is wanted."""
    inputs = list(args) if isinstance(args, list | tuple) else [args]
    if not inputs:
        raise InvalidArgumentError("`args` must be specified")
    outputs = weighted_sum(inputs, kernel_for(inputs, output_size, kernel_initializer))
    return biased_sum(outputs, output_size, bias_initializer) if bias else outputs


def weighted_sum(inputs: list[Any], kernel: TensorLike) -> Tensor:
    """The inputs side by side, times a kernel."""
    return matmul(inputs[0] if len(inputs) == 1 else concat(inputs, 1), kernel)


def biased_sum(outputs: Tensor, output_size: int, initializer: InitializerLike = None) -> Tensor:
    """Outputs and the variable "bias", which no partitioner cuts."""
    with variable_scope(get_variable_scope()) as inner:
        inner.set_partitioner(None)
        begin = Constant(0.0, dtype=outputs.dtype) if initializer is None else initializer
        return bias_add(outputs, get_variable("bias", [output_size], dtype=outputs.dtype, initializer=begin))


def kernel_for(
    inputs: list[Any], output_size: int, initializer: InitializerLike = None
) -> Variable | PartitionedVariable:
    """The kernel of inputs that are rows of known lengths."""
    depth = 0
    for item in inputs:
        shape = item.get_shape()
        if shape.rank != 2 or shape[1].value is None:
            raise InvalidArgumentError(f"linear expects shape[1] to be provided for shape {shape}, of rank 2")
        depth += shape[1].value
    return get_variable("kernel", [depth, output_size], dtype=inputs[0].dtype, initializer=initializer)
