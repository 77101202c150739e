"""Objects of models in graphs of one's own, in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.saved_model.object_loading import load_objects
from tensorkeep.tf1.variables.listing import global_variables, variables_initializer
from tests.support.golden import ROOT
from tests.tf1.saved_model.test_object_exporting import saved

ROWS = np.array([[1, 1]], np.float32)


def rewritten(change: Any) -> MemoryFileSystem:
    fs = saved()
    model = read_saved_model("m", fs)
    change(model.meta_graphs[0])
    atomic_write(fs, "m/saved_model.pb", serialize(model))
    return fs


def test_objects_come_back_with_their_values_and_functions() -> None:
    fs = saved()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        root = load_objects("m", fs=fs)
        found = root(constant(ROWS))["y"]
        half = root.half(constant(ROWS), 1)[0]
        session.run(variables_initializer(global_variables()))
        assert session.run(found).tolist() == [[28.0, 52.0]]
        assert session.run(half).tolist() == [[14.0, 26.0]]
        assert int(session.run(root.calls["count"].value())) == 2
        assert not root.offsets[0].trainable
        session.run(root.w.assign(np.zeros((2, 2), np.float32)))
        assert session.run(found).tolist() == [[20.0, 40.0]]


def test_a_model_may_be_loaded_twice_and_each_has_variables_of_its_own() -> None:
    fs = saved()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        one, two = load_objects("m", fs=fs), load_objects("m", fs=fs)
        outputs = [root.signatures["serving_default"](x=ROWS)["y"] for root in (one, two)]
        session.run(variables_initializer(global_variables()))
        session.run(one.w.assign(np.zeros((2, 2), np.float32)))
        assert [session.run(output).tolist() for output in outputs] == [[[20.0, 40.0]], [[28.0, 52.0]]]


def test_functions_of_the_same_name_are_kept_apart() -> None:
    fs, other = saved(), rewritten(_with_another_constant)
    with building(Graph()) as graph:
        load_objects("m", fs=fs)
        before = {name: function.SerializeToString() for name, function in graph.functions.items()}
        load_objects("m", fs=other)
        assert {name: graph.functions[name].SerializeToString() for name in before} == before
        assert len(graph.functions) > len(before)


def _with_another_constant(meta_graph: Any) -> None:
    for function in meta_graph.graph_def.library.function:
        function.attr["changed"].b = True


def test_what_a_function_was_not_traced_for_lists_what_it_was() -> None:
    fs = saved()
    with building(Graph()):
        root = load_objects("m", fs=fs)
        with pytest.raises(InvalidArgumentError, match=r"Could not find matching concrete function.*(?s:.*)TensorSpec"):
            root.half(constant(ROWS), 7)
        with pytest.raises(TypeError, match="the object cannot be called"):
            load_objects(ROOT / "g28_tf2_module" / "model")()


def test_models_without_objects_and_of_composites_say_so() -> None:
    with building(Graph()):
        with pytest.raises(UnimplementedError, match="a model of TensorFlow 1"):
            load_objects(ROOT / "g26_tf1_simple_save" / "model")
        root = load_objects(ROOT / "g33_tf2_composite" / "model")
        assert set(root.signatures) == {"grad", "ragged", "sparse"}
        with pytest.raises(UnimplementedError, match="tensors of several parts"):
            root.signatures["ragged"](r=1, r_1=2)
        assert sorted(root.signatures["grad"](v=np.ones(4, np.float32))) == ["dv", "y"]


def test_objects_that_never_end_are_refused() -> None:
    def chain(meta_graph: Any) -> None:
        nodes = meta_graph.object_graph_def.nodes
        del nodes[1:], nodes[0].children[:]
        meta_graph.object_graph_def.ClearField("concrete_functions")
        for number in range(1, 20_000):
            nodes[-1].children.add(node_id=number, local_name="a")
            nodes.add().user_object.identifier = "trackable_dict_wrapper"

    def loop(meta_graph: Any) -> None:
        nodes = meta_graph.object_graph_def.nodes
        del nodes[1:], nodes[0].children[:]
        nodes[0].children.add(node_id=1, local_name="a")
        nodes.add().user_object.identifier = "trackable_list_wrapper"
        nodes[1].children.add(node_id=1, local_name="0")

    for change, words in ((chain, "too long"), (loop, "part of itself")):
        with building(Graph()), pytest.raises(DataLossError, match=words):
            load_objects("m", fs=rewritten(change))
