"""Python functions of elements, as functions of a graph's library."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.function_graph import FunctionGraph
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.tf1.datasets.structures import (
    component_dtype,
    element_of,
    mapped,
    normalized,
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


def traced(function: Callable[..., Any], specs: Any, name: str) -> ElementFunction:
    """A function of an element whose structure is known; a tuple is handed over as several arguments.

    `name` is that of the transformation, which becomes part of the function's.
    """
    outer = current_graph()
    graph = FunctionGraph(outer)
    with building(graph):
        inputs = [
            placeholder(component_dtype(spec), told_shape(spec), name=f"args_{at}")
            for at, spec in enumerate(travelling(specs))
        ]
        element = element_of(specs, inputs)
        arguments = element if isinstance(element, tuple) and not hasattr(element, "_fields") else (element,)
        given = function(*arguments)
        given = tuple(given) if isinstance(given, list) else given
        results = normalized(given, "")
        outputs = [identity(_inside(tensor, graph)) for tensor in tensors_of(results)]
    controls = order_effects(graph)
    label = _NOT_IN_A_NAME.sub("_", getattr(function, "__name__", type(function).__name__)).strip("_")
    chosen = numbered_name(f"{_NOT_IN_A_NAME.sub('_', name).strip('_')}_{label}", outer.functions)
    made = function_def(chosen, graph, [*inputs, *graph.captured.values()], outputs, controls=controls)
    for at in range(len(inputs)):
        made.arg_attr[at].attr["_user_specified_name"].s = f"args_{at}".encode()
    made.attr["_tf_data_function"].b = True
    outer.add_function(made)
    return ElementFunction(FunctionRef(chosen), tuple(graph.captured), mapped(spec_of, results))


def _inside(tensor: Tensor, graph: FunctionGraph) -> Tensor:
    return tensor if tensor.graph is graph else graph.capture(tensor)


def argument_types(captured: Sequence[Tensor]) -> tuple[Any, ...]:
    """The types of tensors from outside."""
    return tuple(tensor.dtype.base_dtype for tensor in captured)
