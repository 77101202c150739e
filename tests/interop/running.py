"""Graphs that TensorFlow built, run by both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.ops.every import load_op
from tensorkeep.proto.messages import GraphDef
from tensorkeep.runtime.plans import compiler
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.session import Session

v1 = tf.compat.v1

load_op(None)


def imported(graph: Any) -> Graph:
    """A graph of TensorFlow's as one of ours."""
    ours = Graph()
    import_graph(GraphDef.FromString(graph.as_graph_def().SerializeToString()), ours, name="")
    return ours


@contextmanager
def without_structure() -> Iterator[None]:
    """Programs compiled inside are run by tokens."""

    def refuse(plan: Plan) -> Any:
        raise UnstructuredError("by request")

    structure, compiler.structure = compiler.structure, refuse
    try:
        yield
    finally:
        compiler.structure = structure


class Both:
    """A program of TensorFlow 1, as TensorFlow runs it and as we do: as written code, and by tokens."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self.graph = v1.Graph()
        with self.graph.as_default():
            built = build()
        self.fetches = list(built) if isinstance(built, list | tuple) else [built]
        self.ours = imported(self.graph)
        self.tensors = [self.ours.tensor(tensor.name) for tensor in self.fetches]
        self.init = [op.name for op in self.graph.get_operations() if op.name == "init"]

    def expected(self, feeds: dict[str, Any] | None = None) -> list[Any]:
        with v1.Session(graph=self.graph) as session:
            for name in self.init:
                session.run(name)
            found: list[Any] = session.run(self.fetches, feeds)
            return found

    def session(self) -> Session:
        session = Session(self.ours)
        for name in self.init:
            session.run(name)
        return session

    def check(self, feeds: dict[str, Any] | None = None, tolerance: float = 1e-5, structured: bool = True) -> None:
        """Sees that all three agree, and that the code is written out if `structured`."""
        expected = self.expected(feeds)
        session = self.session()
        assert_all_close(session.run(self.tensors, feeds), expected, tolerance)
        if structured:
            assert all(program.text for program in session._programs.compiled), "not written out as code"
        with without_structure():
            assert_all_close(self.session().run(self.tensors, feeds), expected, tolerance)


def assert_all_close(ours: Sequence[Any], theirs: Sequence[Any], tolerance: float = 1e-5) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        mine, other = np.asarray(mine), np.asarray(other)
        assert mine.shape == other.shape
        if other.dtype.kind in "OSU":
            assert mine.tolist() == other.tolist()
            continue
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)
