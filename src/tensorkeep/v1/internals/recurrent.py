"""What `rnn`, `rnn_cell_impl` and `control_flow_util` have besides the names of `tf.nn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, zeros
from tensorkeep.tf1.functions.control.contexts import Context, WhileContext
from tensorkeep.tf1.functions.control.contexts import is_switch as is_switch_operation
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.structures import map_structure
from tensorkeep.tf1.layers.cells import LayerRNNCell as LayerRNNCell
from tensorkeep.tf1.layers.cells import joined_shape, joined_static_shape
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scopes import get_variable, get_variable_scope, variable_scope

_WEIGHTS: Final = "kernel"
_BIAS: Final = "bias"
_WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = _WEIGHTS, _BIAS
ASSERT_LIKE_RNNCELL_ERROR_REGEXP: Final = "is not an RNNCell"


class Linear:
    """`args * weights + bias`, of variables that are made where the object is."""

    def __init__(
        self,
        args: TensorLike | Sequence[Any],
        output_size: int,
        build_bias: bool,
        bias_initializer: InitializerLike = None,
        kernel_initializer: InitializerLike = None,
    ) -> None:
        self._is_sequence = isinstance(args, list | tuple)
        tensors = list(args) if isinstance(args, list | tuple) else [args]
        width, dtype = _width(tensors), tensors[0].dtype  # type: ignore[union-attr]
        with variable_scope(get_variable_scope()) as scope:
            self._weights = get_variable(_WEIGHTS, [width, output_size], dtype=dtype, initializer=kernel_initializer)
            with variable_scope(scope) as inner:
                inner.set_partitioner(None)
                started = Constant(0.0, dtype=dtype) if bias_initializer is None else bias_initializer
                self._bias = (
                    get_variable(_BIAS, [output_size], dtype=dtype, initializer=started) if build_bias else None
                )

    def __call__(self, args: Tensor | Sequence[Tensor]) -> Tensor:
        values = list(args) if self._is_sequence else [args]
        product = matmul(values[0] if len(values) == 1 else concat(values, 1), self._weights)
        return product if self._bias is None else bias_add(product, self._bias)


def _width(tensors: Sequence[Any]) -> int:
    """The number of columns that matrices have together."""
    shapes = [tensor.get_shape() for tensor in tensors]
    if not tensors or any(shape.ndims != 2 or shape[1].value is None for shape in shapes):
        raise InvalidArgumentError(f"linear expects 2D tensors whose second size is known, got {shapes}")
    return sum(shape[1].value for shape in shapes)


def linear(
    args: Tensor | Sequence[Tensor],
    output_size: int,
    bias: bool,
    bias_initializer: InitializerLike = None,
    kernel_initializer: InitializerLike = None,
) -> Tensor:
    """`sum(args[i] * W[i]) + bias` with variables of the scope that is open."""
    if args is None or (isinstance(args, list | tuple) and not args):
        raise InvalidArgumentError("`args` must be specified")
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def joined_sizes(prefix: ShapeLike, suffix: ShapeLike, static: bool = False) -> Tensor | list[int | None] | None:
    """Two shapes, or sizes, one after the other: as a tensor, or if `static` what is known of it."""
    return joined_static_shape(prefix, suffix) if static else joined_shape(prefix, suffix)


def zero_state_tensors(state_size: Structure, batch_size: ShapeLike, dtype: DTypeLike) -> Structure:
    """Zeros for a state of some sizes."""

    def made(size: ShapeLike) -> Tensor:
        found = zeros(joined_shape(batch_size, size), dtype)
        found.set_shape(joined_static_shape(batch_size, size))
        return found

    found: Structure = map_structure(made, state_size)
    return found


def IsInXLAContext(op: Operation) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Never: nothing is compiled by XLA."""
    return False


def IsInWhileContext(op: Operation) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Whether an operation is inside of a loop."""
    context = op.control_flow_context
    return (
        context is not None
        and getattr(context, "while_context", context) is not None
        and type(context).__name__ == "WhileContext"
    )


def GetContainingWhileContext(ctxt: Context | None, stop_ctxt: Context | None = None) -> Context | None:  # noqa: N802 - as TensorFlow calls it
    """The innermost loop around a branch or loop, unless `stop_ctxt` is further in."""
    while ctxt is not None and not isinstance(ctxt, WhileContext) and ctxt is not stop_ctxt:
        ctxt = ctxt.outer_context
    return None if ctxt is stop_ctxt else ctxt


def GetContainingXLAContext(ctxt: object) -> None:  # noqa: N802 - as TensorFlow calls it
    """None: nothing is compiled by XLA."""


def GraphOrParentsInXlaContext(graph: object) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Never: nothing is compiled by XLA."""
    return False


def IsSwitch(op: Operation) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Whether an operation sends a value one of two ways."""
    return is_switch_operation(op)


def EnableControlFlowV2(graph: object) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Whether loops and branches are functions in the graph: never."""
    return False
