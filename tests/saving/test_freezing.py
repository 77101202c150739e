"""Models, their values in sessions and checkpoints, and the frozen graphs they become."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.rewriting.freezing import Selection, variables_of
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SaverDef, parse, serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saving.freezing import FreezeOptions, freeze, freeze_meta_graph, freeze_with_saver
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.variables.variable import Variable
from tests.support.golden import golden

CASE = "g24_graph_tools"
OUTPUTS = ["prob", "cls", "out2"]


def meta_graph(path: Any) -> MetaGraphDef:
    return parse(MetaGraphDef, path.read_bytes(), str(path))


class Model:
    """Two variables and their sum, in a graph that knows no saver."""

    def __init__(self) -> None:
        self.graph = Graph()
        with building(self.graph):
            first = Variable(constant([1.0, 2.0]), name="first", use_resource=True)
            second = Variable(constant([10.0, 20.0]), name="second", use_resource=False)
            self.sum = first + second
        self.initializers = [first.initializer, second.initializer]
        self.output = self.sum.op.name


def run(frozen: GraphDef, output: str) -> Any:
    graph = Graph()
    import_graph(frozen, graph, name="")
    with Session(graph) as session:
        return session.run(f"{output}:0")


# ---------------------------------------------------------------------------------------------------------- sessions


def test_a_session_gives_the_values_and_its_graph_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    model = Model()
    with Session(model.graph) as session, caplog.at_level(logging.INFO, "tensorkeep"):
        session.run(model.initializers)
        before = serialize(export_graph(model.graph))
        frozen = freeze(model.graph, session, [model.output])
        assert serialize(export_graph(model.graph)) == before
    assert not variables_of(frozen)
    np.testing.assert_array_equal(run(frozen, model.output), [11, 22])
    assert [record.message for record in caplog.records] == [
        "Froze 2 variables.",
        "Converted 2 variables to const ops.",
    ]


def test_what_was_frozen_does_not_change_with_the_session() -> None:
    model = Model()
    with Session(model.graph) as session:
        session.run(model.initializers)
        frozen = freeze(export_graph(model.graph), session, [model.output])
        session.resources.find("", "first").assign(np.zeros(2, np.float32))
    np.testing.assert_array_equal(run(frozen, model.output), [11, 22])


def test_all_variables_without_a_value_are_named() -> None:
    model = Model()
    with Session(model.graph) as session, pytest.raises(FailedPreconditionError, match="first, second"):
        freeze(model.graph, session, [model.output])


def test_a_variable_that_is_kept_needs_no_value() -> None:
    model = Model()
    with Session(model.graph) as session:
        session.run(model.initializers[0])
        frozen = freeze(model.graph, session, [model.output], FreezeOptions(Selection(keep=["second"])))
    assert [variable.name for variable in variables_of(frozen)] == ["second"]


def test_another_kind_of_session_is_asked_by_names() -> None:
    class Wrapped:
        def __init__(self, session: Session) -> None:
            self.session = session
            self.asked: list[str] = []

        def run(self, fetches: Any) -> Any:
            self.asked = fetches
            return [self.session.run(name) for name in fetches]

    model = Model()
    with Session(model.graph) as session:
        session.run(model.initializers)
        wrapped = Wrapped(session)
        frozen = freeze(model.graph, wrapped, [model.output])
    assert wrapped.asked == ["first/Read/ReadVariableOp:0", "second:0"]
    np.testing.assert_array_equal(run(frozen, model.output), [11, 22])


def test_devices_are_cleared_if_so_wished() -> None:
    model = Model()
    proto = export_graph(model.graph)
    for node in proto.node:
        node.device = "/device:GPU:7"
    with Session(model.graph) as session:
        session.run(model.initializers)
        kept = freeze(proto, session, [model.output])
        cleared = freeze(proto, session, [model.output], FreezeOptions(clear_devices=True))
    assert any(node.device for node in kept.node)
    assert not any(node.device for node in cleared.node)


def test_the_limit_is_passed_on() -> None:
    model = Model()
    with Session(model.graph) as session:
        session.run(model.initializers)
        with pytest.raises(InvalidArgumentError, match="at most"):
            freeze(model.graph, session, [model.output], FreezeOptions(most_bytes=10))


# ------------------------------------------------------------------------------------------------------- checkpoints


def stored(values: dict[str, Any]) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    tk.save_checkpoint("model", {name: np.array(value, np.float32) for name, value in values.items()}, fs=fs)
    return fs


def test_a_checkpoint_gives_the_values_by_prefix_or_as_a_reader() -> None:
    model = Model()
    fs = stored({"first": [1, 1], "second": [2, 2], "more": [0]})
    frozen = freeze(model.graph, "model", [model.output], fs=fs)
    np.testing.assert_array_equal(run(frozen, model.output), [3, 3])
    with tk.open_checkpoint("model", fs=fs) as reader:
        assert serialize(freeze(model.graph, reader, [model.output])) == serialize(frozen)


def test_what_a_checkpoint_lacks_is_named_and_can_be_initialized() -> None:
    model = Model()
    fs = stored({"first": [5, 5]})
    with pytest.raises(NotFoundError, match=r"has no values for second; it has first"):
        freeze(model.graph, "model", [model.output], fs=fs)
    options = FreezeOptions(initializers=["second/Assign"])
    frozen = freeze(model.graph, "model", [model.output], options, fs=fs)
    np.testing.assert_array_equal(run(frozen, model.output), [15, 25])


def test_a_graph_without_variables_is_not_frozen_again() -> None:
    frozen = read_graph(str(golden(CASE) / "ref" / "frozen.pb"))
    with pytest.raises(ValueError, match="You cannot freeze a graph twice"):
        freeze(frozen, str(golden(CASE) / "ref" / "model.ckpt"), ["prob"])


def test_a_checkpoint_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        freeze(Model().graph, "nowhere", ["add"], fs=MemoryFileSystem())


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_a_graph_and_a_checkpoint_freeze_to_what_tensorflow_froze_in_its_session(kind: str) -> None:
    folder = golden(CASE) / kind
    frozen = freeze(read_graph(str(folder / "graph.pb")), str(folder / "model.ckpt"), OUTPUTS)
    assert serialize(frozen) == (folder / "frozen.pb").read_bytes()


def test_a_meta_graph_and_a_checkpoint_freeze_to_what_the_tool_wrote() -> None:
    folder = golden(CASE) / "res"
    options = FreezeOptions(clear_devices=True)
    proto = meta_graph(folder / "model.ckpt.meta")
    frozen = freeze_meta_graph(proto, str(folder / "model.ckpt"), OUTPUTS, options)
    assert serialize(frozen) == (folder / "frozen_tool.pb").read_bytes()
    proto.ClearField("saver_def")  # then by names
    frozen = freeze_meta_graph(proto, str(folder / "model.ckpt"), OUTPUTS, options)
    assert serialize(frozen) == (folder / "frozen_tool.pb").read_bytes()


@pytest.mark.parametrize("has_saver", [True, False])
def test_parts_of_a_variable_take_their_parts_of_the_stored_tensor(has_saver: bool) -> None:
    folder = golden("g04_v2_partitioned")
    proto = meta_graph(folder / "part.ckpt.meta")
    parts = [variable.name for variable in variables_of(proto.graph_def) if "/part_" in variable.name]
    assert parts
    reads = [node.name for node in proto.graph_def.node if node.name.endswith(("/read", "/Read/ReadVariableOp"))]
    if not has_saver:
        proto.ClearField("saver_def")
    by_meta = freeze_meta_graph(proto, str(folder / "part.ckpt"), reads)
    by_name = freeze(proto.graph_def, str(folder / "part.ckpt"), reads)
    assert serialize(by_meta) == serialize(by_name)
    assert not variables_of(by_meta)


def test_a_saver_of_another_graph_is_refused() -> None:
    model = Model()
    saver_def = SaverDef(filename_tensor_name="save/Const:0", restore_op_name="save/restore_all")
    with pytest.raises(NotFoundError, match="'save/Const:0' and 'save/restore_all', which the graph does not have"):
        freeze_with_saver(export_graph(model.graph), saver_def, "model", [model.output], fs=stored({"first": [1, 1]}))


def test_a_checkpoint_that_is_not_there_is_an_error_for_a_saver_too() -> None:
    folder = golden(CASE) / "res"
    with pytest.raises(InvalidArgumentError, match="nowhere"):
        freeze_meta_graph(meta_graph(folder / "model.ckpt.meta"), "nowhere", OUTPUTS)


def test_control_flow_of_the_first_version_runs_when_frozen() -> None:
    folder = golden("g25_control_flow_v1")
    proto = meta_graph(folder / "cf.meta")
    outputs = [node.name for node in proto.graph_def.node if node.op in ("Exit", "Merge")]
    with closing(tk.open_checkpoint(str(folder / "cf"))) as reader:
        assert set(reader) & {variable.name for variable in variables_of(proto.graph_def)}
    frozen = freeze_meta_graph(proto, str(folder / "cf"), outputs)
    assert not variables_of(frozen)
    import_graph(frozen, Graph(), name="")
