"""The names that TensorFlow gives the functions of a model when `saved_model_cli show` loads it.

A function becomes "__inference_<its name>_<number>". Numbers are those of a counter of the whole process, which counts
whatever is made:

    0                       the graph into which the model is loaded
    1                       the load itself
    one each                custom gradients of the library
    for each function, in an order in which functions come before those that call them:
    one each                tables that TensorFlow shares by the names of nodes from now on
    1                       the graph of the function
    one each                arguments, and outputs of nodes
    1                       the function: the number in its name

Options of a function are listed in the order of these names as texts, in which 100 comes before 99.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from tensorkeep.errors import DataLossError
from tensorkeep.graph.messages.attrs import decode_attr
from tensorkeep.graph.registry.op_outputs import OUTPUT_COUNTS
from tensorkeep.proto.messages import FunctionDef, FunctionDefLibrary, NodeDef

_WRAPPED: Final = re.compile(r"^__inference_(.*)_\d+$")
_BEFORE: Final = 2  # what is counted before functions
_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")


def loaded_names(library: FunctionDefLibrary) -> dict[str, str]:
    """For each function of a library the name that it has once it is loaded; DataLossError if some call themselves."""
    functions = {function.signature.name: function for function in library.function}
    count = _BEFORE + sum(1 for item in library.registered_gradients if item.registered_op_type)
    found: dict[str, str] = {}
    for name in loading_order(library):
        count += _count_taken_numbers(functions[name], functions)
        match = _WRAPPED.match(name)
        found[name] = f"__inference_{match[1] if match else name}_{count}"
        count += 1
    return found


def loading_order(library: FunctionDefLibrary) -> list[str]:
    """The functions in the order in which TensorFlow loads them."""
    names = [function.signature.name for function in library.function]
    gradients = {
        item.registered_op_type.encode(): item.gradient_func
        for item in library.registered_gradients
        if item.registered_op_type
    }
    known = set(names)
    callers: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for function in library.function:
        needed: set[str] = set()
        for node in function.node_def:
            needed |= _needed(node, known, gradients)
        for dependency in needed:
            callers.setdefault(dependency, []).append(function.signature.name)
        waiting[function.signature.name] = len(needed)
    ready = [name for name in names if not waiting[name]]
    found = []
    while ready:
        name = ready.pop()
        found.append(name)
        for caller in callers.get(name, ()):
            waiting[caller] -= 1
            if not waiting[caller]:
                ready.append(caller)
    if len(found) != len(names):
        raise DataLossError("functions call themselves, by way of each other, or functions that are not there")
    return found


def _needed(node: NodeDef, known: set[str], gradients: Mapping[bytes, str]) -> set[str]:
    """The functions that have to be there before a node is: what it calls, or else what its gradient is."""
    if node.op in known:
        return {node.op}
    gradient = node.attr["_gradient_op_type"].s if "_gradient_op_type" in node.attr and node.op not in _CALLS else b""
    if gradient in gradients:
        return {gradients[gradient]}
    found: set[str] = set()
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        references = [value.func] if kind == "func" else value.list.func if kind == "list" else ()
        found.update(reference.name for reference in references)
    return found


def _count_taken_numbers(function: FunctionDef, functions: Mapping[str, FunctionDef]) -> int:
    """How many of TensorFlow's running numbers loading a function takes before the function itself gets one."""
    unshared = sum(
        node.op == "HashTableV2" and not ("use_node_name_sharing" in node.attr and node.attr["use_node_name_sharing"].b)
        for node in function.node_def
    )
    outputs = sum(_output_count(node, functions) for node in function.node_def)
    return unshared + 1 + len(function.signature.input_arg) + outputs


def _output_count(node: NodeDef, functions: Mapping[str, FunctionDef]) -> int:
    if node.op in functions:
        return len(functions[node.op].signature.output_arg)
    return sum(_count(node, part) for part in _outputs_of_ops().get(node.op, ("1",)))


def _count(node: NodeDef, part: str) -> int:
    """How many tensors are in a part of a node's outputs: `part` is a number, or the attribute that says it."""
    if part.isdecimal():
        return int(part)
    value = decode_attr(node.attr[part]) if part in node.attr else 0
    return value if isinstance(value, int) else len(value) if isinstance(value, tuple | list) else 0


@cache
def _outputs_of_ops() -> dict[str, tuple[str, ...]]:
    rows = (line.split() for line in OUTPUT_COUNTS.splitlines() if line)
    return {name: tuple(parts) for name, *parts in rows}
