"""Of a model's graph, what is not needed to serve it is not even imported."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep
from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.load.graph_running import needed_graph
from tests.support.golden import ROOT

SIMPLE = ROOT / "g26_tf1_simple_save"
TF1 = ["g26_tf1_simple_save", "g27_tf1_multi"]


def meta_graph(case: str = "g26_tf1_simple_save") -> MetaGraphDef:
    return read_saved_model(ROOT / case / "model").meta_graphs[0]


def test_saving_is_not_needed_and_restoring_is() -> None:
    model = meta_graph()
    names = {node.name for node in needed_graph(model).node}
    assert model.saver_def.restore_op_name in names
    assert model.saver_def.save_tensor_name.partition(":")[0] not in names
    assert len(names) < len(model.graph_def.node)


@pytest.mark.parametrize("case", TF1)
def test_nodes_are_as_they_were_and_in_their_order(case: str) -> None:
    model = meta_graph(case)
    whole, needed = list(model.graph_def.node), list(needed_graph(model).node)
    assert [node for node in whole if node in needed] == needed


def test_the_model_itself_is_not_changed() -> None:
    model = meta_graph()
    before = model.SerializeToString(deterministic=True)
    needed_graph(model)
    assert model.SerializeToString(deterministic=True) == before


def test_a_graph_that_is_needed_as_a_whole_is_not_copied() -> None:
    model = meta_graph()
    model.graph_def.CopyFrom(needed_graph(model))
    assert needed_graph(model) is model.graph_def


def test_a_signature_that_names_no_node_leaves_the_graph_whole() -> None:
    model = meta_graph()
    model.signature_def["other"].outputs["y"].name = "nothing:0"
    assert needed_graph(model) is model.graph_def


def test_running_gives_what_tensorflow_gave() -> None:
    expected = np.load(SIMPLE / "outputs.npz")
    with tensorkeep.load_saved_model(SIMPLE / "model") as model:
        found = model.signatures["serving_default"](features=np.load(SIMPLE / "features.npy"))
    for name in expected.files:
        np.testing.assert_allclose(found[name.rpartition("/")[2]], expected[name], rtol=1e-5)


def test_every_variable_has_its_value_though_no_signature_needs_it() -> None:
    with tensorkeep.load_saved_model(SIMPLE / "model") as model:
        values = {name: np.asarray(value) for name, value in model.variables.items()}
    stored = tensorkeep.load_tensors(SIMPLE / "model" / "variables" / "variables")
    assert set(values) == set(stored)
    for name, value in stored.items():
        np.testing.assert_array_equal(values[name], value)


def test_a_node_that_lacks_an_input_is_an_error_as_it_was() -> None:
    model = meta_graph()
    needed = next(node for node in model.graph_def.node if node.op == "MatMul")
    needed.input[0] = "nothing"
    with pytest.raises(TensorKeepError, match="nothing"):
        needed_graph(model)


def test_two_nodes_of_one_name_are_an_error() -> None:
    model = meta_graph()
    model.graph_def.node.add().CopyFrom(model.graph_def.node[0])
    assert needed_graph(model) is model.graph_def
