"""Loops that rules write: so many rounds, each of which is told its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.size_vectors import Part, scalar
from tensorkeep.onnx.terms import Term

Round = Callable[[OnnxGraph, Term, list[Term]], list[Term]]
"""Writes a round to a graph, given its number and the values before it; gives the values after it, and what is kept of
every round.
"""


def counted_rounds(to: OnnxGraph, count: Part, starts: Sequence[Term], once: Round) -> list[Term]:
    """The values after so many rounds, then what each round gave beyond them, one after the other along a new axis."""
    inner = to.inner()
    number, going = inner.input(INT64, (), to.own_name("number")), inner.input(BOOL, (), to.own_name("going"))
    given = [inner.input(term.dtype, term.dims, to.own_name("value")) for term in starts]
    results = once(inner, number, list(given))
    body = inner.finished([number, going, *given], [going, *results], "round")
    dims = [term.dims for term in starts]
    dims += [None if term.dims is None else (None, *term.dims) for term in results[len(starts) :]]
    inputs = [scalar(to, count), to.constant(np.bool_(True)), *starts]
    dtypes = [term.dtype for term in results]
    return list(to.node_with_outputs("Loop", inputs, len(results), dtypes, dims, attrs={"body": body}))
