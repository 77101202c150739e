"""Functions of a condition that may be known before running."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.tf1.functions.control.cases import case
from tensorkeep.tf1.functions.control.control_flow import smart_constant_value


def smart_case(
    pred_fn_pairs: Mapping[TensorLike, Callable[[], Any]] | Sequence[tuple[TensorLike, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`tf.case`, of which only the branch is built that is known to be taken."""
    pairs: Any = pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs
    left: list[tuple[Any, Callable[[], Any]]] = []
    for condition, function in pairs:
        known = smart_constant_value(condition)
        if known and not left:
            return function()
        if known is not False:
            left.append((convert(condition), function))
    if not left and default is not None:
        return default()
    return case(left, default=default, exclusive=exclusive, name=name)
