"""Gradients of one's own making, and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from typing import Any, Final

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorSource
from tensorkeep.graph.building import gradient_override_map, graph_of
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, identity, identity_n, reshape, size
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients, register_gradient
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as

_NUMBERS: Final = count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that gives its result and a function for its gradient.

    Inside, `f(*args)` is `(result, grad)`, and `grad(*dys)` gives one gradient per argument.
    """

    @wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        if keywords:
            raise InvalidArgumentError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is "
                "enabled."
            )
        tensors = [convert(item) for item in flatten(args)]
        result, gradient = f(*pack_sequence_as(args, tensors))
        results = [convert(item) for item in flatten(result)]
        for item in results:  # TensorFlow looks for variables behind the results, and leaves an Identity of each
            identity(item)
        name = f"CustomGradient-{next(_NUMBERS)}"

        def rule(op: Operation, *dys: Any) -> list[Any]:
            found = flatten(gradient(*dys[: len(results)]))
            if len(found) != len(tensors):
                raise InvalidArgumentError(
                    f"custom_gradient function expected to return {len(tensors)} gradients, but returned {len(found)} "
                    "instead."
                )
            return [None] * len(results) + list(found)

        register_gradient(name, rule)
        with gradient_override_map({"IdentityN": name}, graph_of(results)):
            outputs = identity_n([*results, *tensors])
        return pack_sequence_as(result, outputs[: len(results)])

    return decorated


def hessians(
    ys: Structure,
    xs: Tensor | TensorSource | Sequence[Tensor | TensorSource],
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The matrices of second derivatives of the sum of `ys`, one per item of `xs`."""
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    sources: list[Any] = list(xs) if isinstance(xs, list | tuple) else [xs]
    found = []
    for gradient, x in zip(gradients(ys, sources, **options), sources, strict=True):
        if gradient is None:
            raise WrongTypeError(f"there is no path from {x!r} to what is to be differentiated twice")
        flat = reshape(gradient, [-1])
        elements = size(x)
        first = constant(0, INT32)
        rows = TensorArray(x.dtype.base_dtype, elements)

        def body(index: Tensor, rows: Any, flat: Tensor = flat, x: Any = x) -> Any:
            return index + 1, rows.write(index, gradients(flat[index], x)[0])

        _, filled = while_loop(lambda index, _, elements=elements: index < elements, body, [first, rows])
        sizes = shape_of(x)
        found.append(reshape(filled.stack(), concat((sizes, sizes), 0)))
    return found
