"""Runs that take arrays of any shapes, whatever a model says of its inputs, as servers must.

What is compiled for the shapes that a graph speaks of is faster, and wrong for others. So there are two of it: the one
that trusts the graph is for arrays that have these shapes; the other one is made when the first comes that has not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.graph.arguments import Fetches
from tensorkeep.graph.graph import Tensor
from tensorkeep.runtime.session import Session, fits_shape
from tensorkeep.saved_model.load.signature import Run


def run_of_any_shapes(
    fetches: Fetches,
    feeds: Sequence[Tensor],
    session: Session,
    open_doubting: Callable[[], Session],
    captured: Sequence[Any] = (),
) -> Run:
    """What computes `fetches` from arrays for `feeds`, of their types, which are not checked, and of any shapes.

    `open_doubting` gives a session of the same graph and resources that does not trust its shapes. The last of `feeds`
    are always given the values of `captured`.
    """
    checked = [(tensor.dtype.base_dtype, tensor.static_shape) for tensor in feeds]
    dims = [shape.dims for _, shape in checked[: len(feeds) - len(captured)]]
    trusting = session.make_callable(fetches, feeds, checked=checked, compiles=True, captured=captured)
    doubting: Callable[..., Any] | None = None

    def run(arrays: Sequence[Any]) -> Any:
        nonlocal doubting
        for array, known in zip(arrays, dims, strict=True):
            if known is not None and not fits_shape(array.shape, known):
                break
        else:
            return trusting(*arrays, *captured)
        if doubting is None:
            doubting = open_doubting().make_callable(fetches, feeds)
        return doubting(*arrays, *captured)

    return run
