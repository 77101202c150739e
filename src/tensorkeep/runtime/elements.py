"""Tensors and operations of a graph, by name, by themselves, or by what stands for them."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.graph import Graph, Operation, Tensor


def graph_element(item: Any, graph: Graph, what: str) -> Any:
    """The tensor or operation of `graph` that an item stands for: itself, a name, a variable."""
    if isinstance(item, bytes):
        item = item.decode()
    if isinstance(item, str):
        try:
            return graph.element(item)
        except NotFoundError as error:
            raise InvalidArgumentError(
                f"{what} argument {item!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
    if not isinstance(item, Tensor | Operation):
        convert = getattr(item, "_as_graph_element", None)
        if convert is None:
            raise WrongTypeError(
                f"{what} argument {item!r} has invalid type {type(item).__name__}, must be a string or Tensor. "
                f"(Can not convert a {type(item).__name__} into a Tensor or Operation.)"
            )
        item = convert()
    if item.graph is not graph:
        raise InvalidArgumentError(
            f"{what} argument {item!r} cannot be interpreted as a Tensor. ({item} is not an element of this graph.)"
        )
    return item


def element_of(graph: Graph, item: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
    """The tensor or operation of `graph` that a name or an object stands for, where only one kind may be asked for."""
    if isinstance(item, str):
        _check_form(graph, item, allow_tensor, allow_operation)
        found = graph.element(item)
    elif isinstance(item, Tensor | Operation) or hasattr(item, "_as_graph_element"):
        found = graph_element(item, graph, "Element")
    else:
        raise WrongTypeError(f"Can not convert a {type(item).__name__} into a Tensor or Operation.")
    if isinstance(found, Tensor) and not allow_tensor:
        raise InvalidArgumentError(f"The name {item!r} refers to a Tensor, not a Operation.")
    if isinstance(found, Operation) and not allow_operation:
        raise InvalidArgumentError(
            f"The name {item!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
            '"<op_name>:<output_index>".'
        )
    return found


def _check_form(graph: Graph, name: str, allow_tensor: bool, allow_operation: bool) -> None:
    """Refuses a name that could only be one of what is not asked for, be it in the graph or not."""
    if ":" in name and not allow_tensor:
        raise InvalidArgumentError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
    if ":" not in name and not allow_operation:
        what = "refers to an Operation" if name in graph else "looks like an (invalid) Operation name"
        raise InvalidArgumentError(
            f'The name {name!r} {what}, not a Tensor. Tensor names must be of the form "<op_name>:<output_index>".'
        )
