"""How a model gets into ONNX Runtime: translated once, its weights by files, or by memory where there are none."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import StorageError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.passing_files import PassingFolder
from tensorkeep.onnx.engine import engine, sessions
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.onnx.engine.parts import OnnxPart
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.scopes import get_variable

ENGINE = engine.OnnxRuntimeEngine(OnnxRuntime(threads=1, smallest=0))
X = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)


@pytest.fixture
def ends() -> Any:
    """A graph of two products with variables: its input and its output."""
    with building(Graph()):
        x = y = placeholder(FLOAT32, [None, 64])
        for number in range(2):
            start = np.random.default_rng(number).normal(size=(64, 64)).astype(np.float32) / 8
            y = get_op("Tanh")(matmul(y, get_variable(f"w{number}", initializer=start, use_resource=True)))
        yield x, y, global_variables_initializer()


def answers(ends: tuple[Tensor, Tensor, Any]) -> Any:
    x, y, init = ends
    with Session(x.graph, engine=ENGINE) as session, Session(x.graph, resources=session.resources) as ours:
        session.run(init)
        found = session.run(y, {x: X})
        np.testing.assert_allclose(found, ours.run(y, {x: X}), rtol=1e-5, atol=1e-6)
        (split,) = (split for split in session.splits.values() if split.parts)
        assert all(isinstance(part.run, OnnxPart) and part.run.is_running for part in split.parts)
        return found


def test_a_plan_that_translates_as_a_whole_is_translated_once(
    ends: tuple[Tensor, Tensor, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[Any] = []

    def translated(found: Any, *others: Any) -> Any:
        again.extend(found.outputs)
        return real(found, *others)

    real = engine._translate_part
    monkeypatch.setattr(engine, "_translate_part", translated)
    answers(ends)
    assert not again


def test_large_weights_come_by_files_that_are_gone_afterwards(
    ends: tuple[Tensor, Tensor, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = answers(ends)
    folders: list[str] = []

    class Noted(PassingFolder):
        def append(self, name: str, array: Any) -> int:
            folders.append(self.path)
            return super().append(name, array)

    monkeypatch.setattr("tensorkeep.io.files.passing_files.PassingFolder", Noted)
    monkeypatch.setattr(sessions, "_MUCH", 1000)
    np.testing.assert_array_equal(answers(ends), wanted)
    assert len(folders) == 2
    assert not Path(folders[0]).exists()


@pytest.mark.parametrize("fails", ["folder", "write"])
def test_where_no_files_can_be_written_weights_are_handed_over_in_memory(
    fails: str, ends: tuple[Tensor, Tensor, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = answers(ends)

    def refuse(*_: object) -> AbstractContextManager[PassingFolder]:
        raise StorageError("the disk is full")

    monkeypatch.setattr(sessions, "_MUCH", 1000)
    if fails == "folder":
        monkeypatch.setattr(sessions, "passing_folder", refuse)
    else:
        monkeypatch.setattr(PassingFolder, "append", refuse)
    np.testing.assert_array_equal(answers(ends), wanted)


def test_a_variable_that_changes_is_translated_anew(ends: tuple[Tensor, Tensor, Any]) -> None:
    x, y, init = ends
    weights = y.op.inputs[0].op.inputs[1].op.inputs[0]
    with building(x.graph):
        change = get_op("AssignVariableOp")(weights, np.zeros((64, 64), np.float32))
    with Session(x.graph, engine=ENGINE) as session:
        session.run(init)
        assert np.any(session.run(y, {x: X}))
        session.run(change)
        assert not np.any(session.run(y, {x: X}))


def test_results_are_the_callers_own(ends: tuple[Tensor, Tensor, Any]) -> None:
    x, y, init = ends
    with Session(x.graph, engine=ENGINE) as session:
        session.run(init)
        first = session.run(y, {x: X})
        kept = first.copy()
        first[:] = 0
        np.testing.assert_array_equal(session.run(y, {x: X}), kept)


def test_threads_of_one_of_several_parts_do_not_spin_unless_it_is_asked_for() -> None:
    spinning = "session.intra_op.allow_spinning"
    assert OnnxRuntime(threads=2).that_wait_quietly() == OnnxRuntime(threads=2, options={spinning: "0"})
    assert OnnxRuntime(options={spinning: "1"}).that_wait_quietly().options == {spinning: "1"}
