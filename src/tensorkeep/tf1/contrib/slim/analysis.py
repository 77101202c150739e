"""How large the variables and the operations of a graph are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.tf1.variables.variable import Variable


def tensor_description(var: Tensor | Variable) -> str:
    """The type and shape of a tensor or variable: "(float32 3x4)"."""
    sizes = "x".join(str(size) for size in var.get_shape())
    return f"({var.dtype.name} {sizes})"


def _nowhere(line: str) -> None:
    pass


def analyze_ops(graph: Graph, write: Callable[[str], None] = _nowhere) -> int:
    """How many elements the outputs of all operations have, as far as that is known; `write` gets a line on each."""
    _title("Operations: name -> (type shapes) [size]", write)
    total = 0
    for op in graph.get_operations():
        size = sum(output.get_shape().num_elements() or 0 for output in op.outputs)
        shapes = ", ".join(tensor_description(output) for output in op.outputs if output.get_shape().rank is not None)
        write(f"{op.name} \t-> {shapes} [{size}]")
        total += size
    return total


def analyze_vars(variables: Iterable[Any], write: Callable[[str], None] = _nowhere) -> tuple[int, int]:
    """How many elements variables have, and how many bytes; `write` gets a line on each."""
    _title("Variables: name (type shape) [size]", write)
    total, total_bytes = 0, 0
    for item in variables:
        size = item.get_shape().num_elements() or 0
        count = size * item.dtype.base_dtype.size
        write(f"{item.name} {tensor_description(item)} [{size}, bytes: {count}]")
        total, total_bytes = total + size, total_bytes + count
    write(f"Total size of variables: {total}")
    write(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes


def _title(text: str, write: Callable[[str], None]) -> None:
    for line in ("---------", text, "---------"):
        write(line)
