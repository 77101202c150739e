"""Python functions of elements, as functions of a graph's library."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.function_graph import FunctionGraph, function_graph
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.tf1.datasets.structures import (
    Specs,
    common_specs,
    component_dtype,
    element_of,
    flat,
    map_leaves,
    normalize_element,
    pack_leaves,
    spec_of,
    tensors_of,
    told_shape,
    travelling,
)
from tensorkeep.tf1.functions.arrays.shapes import identity, placeholder
from tensorkeep.tf1.functions.control.tracing import order_effects

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class ElementFunction:
    """A Python function of one or more elements, traced."""

    reference: FunctionRef
    captured: tuple[Tensor, ...]
    """The tensors from outside that it uses, which come after its own arguments."""
    specs: Any
    """The structure of what it gives."""


def trace_function(function: Callable[..., Any], specs: Specs, name: str) -> ElementFunction:
    """A function of an element whose structure is known; a tuple is handed over as several arguments.

    `name` is that of the transformation, which becomes part of the function's.
    """
    outer = current_graph()
    graph = function_graph(outer)
    with building(graph):
        inputs = [
            placeholder(component_dtype(spec), told_shape(spec), name=f"args_{at}")
            for at, spec in enumerate(travelling(specs))
        ]
        element = element_of(specs, inputs)
        arguments = element if isinstance(element, tuple) and not hasattr(element, "_fields") else (element,)
        given = function(*arguments)
        given = tuple(given) if isinstance(given, list) else given
        results = normalize_element(given, "")
        outputs = [identity(_inside(tensor, graph)) for tensor in tensors_of(results)]
    controls = order_effects(graph)
    label = _NOT_IN_A_NAME.sub("_", getattr(function, "__name__", type(function).__name__)).strip("_")
    chosen = numbered_name(f"{_NOT_IN_A_NAME.sub('_', name).strip('_')}_{label}", outer.functions)
    made = function_def(chosen, graph, [*inputs, *graph.captured.values()], outputs, controls=controls)
    for at in range(len(inputs)):
        made.arg_attr[at].attr["_user_specified_name"].s = f"args_{at}".encode()
    made.attr["_tf_data_function"].b = True
    outer.add_function(made)
    return ElementFunction(FunctionRef(chosen), tuple(graph.captured), map_leaves(spec_of, results))


def _inside(tensor: Tensor, graph: FunctionGraph) -> Tensor:
    return tensor if tensor.graph is graph else graph.capture(tensor)


def argument_types(captured: Sequence[Tensor]) -> tuple[Any, ...]:
    """The types of tensors from outside."""
    return tuple(tensor.dtype.base_dtype for tensor in captured)


def traced_with_state(
    function: Callable[..., Any], state_spec: Specs, element_spec: Specs, name: str, gives_more: bool
) -> tuple[ElementFunction, Specs]:
    """A function of a state and an element; the shapes of the state are widened until they hold for what it gives."""
    while True:
        made = trace_function(function, (state_spec, element_spec), name)
        if gives_more and not (isinstance(made.specs, tuple) and len(made.specs) == 2):
            raise WrongTypeError(
                f"The scan function must return a pair of the new state and the output value. Got {made.specs!r}"
            )
        new = made.specs[0] if gives_more else made.specs
        for old, found in zip(flat(state_spec), flat(new), strict=True):
            if getattr(old, "dtype", None) is not getattr(found, "dtype", None):
                raise WrongTypeError(
                    f"The element types for the new state must match the initial state: {old}, {found}"
                )
        wider = common_specs(state_spec, pack_leaves(state_spec, flat(new)))
        if repr(wider) == repr(state_spec):
            return made, state_spec
        state_spec = wider
