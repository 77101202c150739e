"""What `tensorflow.python.client.session` has beside sessions: how fetches are taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.graph.arguments import Fetches
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.runtime.fetches import FetchPlan, register_fetch


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], tuple[Sequence[Any], Callable[[list[Any]], Any]]],
    feed_function: Callable[[Any, Any], Sequence[tuple[Any, Any]]] | None = None,
    feed_function_for_partial_run: object = None,
) -> None:
    """Lets sessions fetch objects of a type, and feed them.

    `fetch_function` gives an object's tensors, and a function that makes the result of their values; `feed_function`
    the pairs of tensors and values that stand for an object and its value.
    """
    register_fetch(tensor_type, fetch_function, feed_function)


class FetchHandler:
    """The tensors and operations that fetches come to."""

    def __init__(
        self, graph: Graph, fetches: Fetches, feeds: Mapping[Any, Any], feed_handles: Mapping[Any, Any] | None = None
    ) -> None:
        self._plan = FetchPlan(fetches, graph)

    def fetches(self) -> list[Tensor]:
        """The tensors, each once."""
        return list(self._plan.tensors)

    def targets(self) -> list[Operation]:
        """The operations that are run for what they do."""
        return list(self._plan.operations)

    def build_results(self, session: object, tensor_values: Sequence[Any]) -> Any:
        """The values of the tensors in the structure of the fetches."""
        return self._plan.rebuild(dict(zip(self._plan.tensors, tensor_values, strict=True)))
