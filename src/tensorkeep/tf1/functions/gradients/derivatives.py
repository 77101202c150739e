"""Gradients of one's own making, and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from itertools import count
from typing import Any, Final

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorSource
from tensorkeep.graph.building import control_dependencies, gradient_override_map, graph_of
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, identity, identity_n, reshape, size
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.gradients.reverse_walk import gradient_function, gradients, register_gradient
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as

_NUMBERS: Final = count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that gives its result and a function for its gradient.

    Inside, `f(*args)` is `(result, grad)`, and `grad(*dys)` gives one gradient per argument. If `f` uses variables that
    are trained and are not among its arguments, `grad(*dys, variables=…)` gives a list with one for each besides.
    """

    return _with_gradient(f, watches_variables=True)


def with_own_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a function whose gradient knows of its arguments only: variables that it uses get none."""
    return _with_gradient(f, watches_variables=False)


def _with_gradient(f: Callable[..., Any], watches_variables: bool) -> Callable[..., Any]:
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
        # TensorFlow looks for variables behind the results, and leaves an Identity of each
        behind = [identity(item) for item in results]
        variables = _variables_between(tensors, behind) if watches_variables else []
        _check_variables(variables, gradient)
        name = f"CustomGradient-{next(_NUMBERS)}"

        def rule(op: Operation, *dys: Any) -> list[Any]:
            given, of_variables = dys[: len(results)], list[Any]()
            if not variables:
                found = gradient(*given)
            else:
                found, of_variables = gradient(*given, variables=variables)
                if len(of_variables) != len(variables):
                    raise InvalidArgumentError(
                        f"Must return gradient for each variable from @custom_gradient grad_fn: {len(variables)}, "
                        f"not {len(of_variables)}."
                    )
            found = flatten(found)
            if len(found) != len(tensors):
                raise InvalidArgumentError(
                    f"custom_gradient function expected to return {len(tensors)} gradients, but returned {len(found)} "
                    "instead."
                )
            return [*[None] * len(results), *found, *of_variables]

        register_gradient(name, rule)
        with gradient_override_map({"IdentityN": name}, graph_of(results)):
            outputs = identity_n([*results, *tensors, *variables])
        return pack_sequence_as(result, outputs[: len(results)])

    return decorated


def _variables_between(tensors: Sequence[Tensor], results: Sequence[Tensor]) -> list[Any]:
    """The variables that are trained, and that results depend on other than by way of some tensors."""
    stops, seen, found = set(tensors), set[Operation](), set[Operation]()
    waiting = [tensor.op for tensor in results]
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type in ("VarHandleOp", "VariableV2", "Variable"):
            found.add(op)
        elif _passes_gradients_on(op):
            waiting.extend(tensor.op for tensor in op.inputs if tensor not in stops)
    everything = get_collection(results[0].graph, GraphKeys.GLOBAL_VARIABLES) if found else []
    return [item for item in everything if getattr(item, "trainable", False) and item.op in found]


def _passes_gradients_on(op: Operation) -> bool:
    try:
        return gradient_function(op) is not None
    except LookupError:
        return False


def _check_variables(variables: Sequence[Any], gradient: Callable[..., Any]) -> None:
    """An error if variables are of the kind without a handle, or the gradient does not take any."""
    if any(variable.op.type != "VarHandleOp" for variable in variables):
        raise WrongTypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that "
            "no `variable_scope` is created with `use_resource=False`."
        )
    parameters = signature(gradient).parameters
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if variables and not takes_any and "variables" not in parameters:
        names = ", ".join(repr(variable) for variable in variables)
        raise WrongTypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
            f"[{names}]"
        )


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function so that gradients go by it, as if it gave its arguments."""

    @wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        @custom_gradient
        def passed(*tensors: Any) -> tuple[Any, Callable[..., Any]]:
            def gradient(*dys: Any, variables: Sequence[Any] = ()) -> Any:
                return (dys, [None] * len(variables)) if variables else dys

            return f(*tensors, **keywords), gradient

        return passed(*args)

    return decorated


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function so that what it computes on the way is not kept, but computed again for the gradient."""

    @wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        @custom_gradient
        def once(*tensors: Any) -> tuple[Any, Callable[..., Any]]:
            def gradient(*dys: Any, variables: Sequence[Any] = ()) -> Any:
                with control_dependencies(dys):
                    again = [identity(tensor) for tensor in tensors]
                    results = f(*again, **keywords)
                found = gradients(results, [*again, *variables], grad_ys=list(dys))
                inputs = found[: len(again)]
                return (inputs, found[len(again) :]) if variables else inputs

            return f(*tensors, **keywords), gradient

        return once(*args)

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
