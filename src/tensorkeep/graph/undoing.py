"""Adding to a graph all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorkeep.graph.graph import Graph


@contextmanager
def all_or_nothing(graph: Graph) -> Iterator[None]:
    """Takes operations, functions, names and versions that the block adds to a graph back again if the block fails."""
    count = len(graph)
    names = graph.names.copy()
    held: tuple[dict[str, Any], ...] = (graph.functions, graph.gradient_functions, graph.registered_gradients)
    libraries = [(item, dict(item)) for item in held]
    versions = graph.producer, graph.min_consumer, graph.bad_consumers
    try:
        yield
    except BaseException:
        while len(graph) > count:
            op = graph.operations[-1]
            graph.told_shapes.pop(op, None)
            graph.remove_last_operation(op)
        graph.names = names
        for library, before in libraries:
            library.clear()
            library.update(before)
        graph.producer, graph.min_consumer, graph.bad_consumers = versions
        graph.changed()
        raise
