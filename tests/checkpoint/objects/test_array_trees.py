"""Trees of arrays as object-based checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    ArraySource,
    DataLossError,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    ObjectGraph,
    list_tensors,
    load_objects,
    open_checkpoint,
    save_checkpoint,
    save_objects,
)
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.graph import describe_objects, node_names, parse_object_graph
from tensorkeep.proto.messages import TrackableObjectGraph
from tests.support.golden import expected_tensors, golden

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def round_trip(tree: dict[str, Any]) -> dict[str, Any]:
    fs = MemoryFileSystem()
    return load_objects(save_objects("c", tree, fs=fs), fs=fs)


class TestSaving:
    def test_keys_are_escaped_paths(self):
        fs = MemoryFileSystem()
        save_objects("c", {"a/b": {"c.d": np.zeros(2)}, "list": [np.ones(1), (np.ones(3),)]}, fs=fs)
        assert list(list_tensors("c", fs=fs)) == [
            OBJECT_GRAPH_KEY,
            f"a.Sb/c..d{VALUE}",
            f"list/0{VALUE}",
            f"list/1/0{VALUE}",
        ]

    def test_an_array_that_occurs_twice_is_stored_once_at_the_shortest_path(self):
        array = np.arange(3)
        fs = MemoryFileSystem()
        save_objects("c", {"deep": {"in": array}, "top": array}, fs=fs)
        assert list(list_tensors("c", fs=fs)) == [OBJECT_GRAPH_KEY, f"top{VALUE}"]
        found = load_objects("c", fs=fs)
        assert found["deep"]["in"] is found["top"]

    def test_whatever_can_be_saved_can_be_a_leaf(self):
        source = ArraySource(np.float32, (2, 2), [np.ones(2, np.float32)] * 2)
        found = round_trip({"step": 7, "rate": 0.5, "name": "model", "source": source})
        assert found["step"] == 7
        assert found["name"].item() == b"model"
        np.testing.assert_array_equal(found["source"], np.ones((2, 2), np.float32))

    @pytest.mark.parametrize("tree", [{}, {"a": {}, "b": []}, [np.ones(1)], {1: np.ones(1)}, {"a": {2: np.ones(1)}}])
    def test_what_cannot_be_saved_is_refused_before_anything_is_written(self, tree):
        fs = MemoryFileSystem()
        with pytest.raises(InvalidArgumentError):
            save_objects("c", tree, fs=fs)
        assert not fs.exists("c.index")


LEAVES = st.integers(-5, 5).map(lambda value: np.full((2,), value, np.int32))
NAMES = st.text(st.sampled_from("ab./S0"), min_size=1, max_size=4)
TREES = st.dictionaries(
    NAMES,
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.dictionaries(NAMES, inner, min_size=1, max_size=3), st.lists(inner, min_size=1, max_size=3)
        ),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


def as_loaded(tree: Any, is_root: bool = True) -> Any:
    """The tree as it comes back: children that are named as those of a list are one."""
    if isinstance(tree, np.ndarray):
        return tree.tolist()
    named = tree if isinstance(tree, dict) else {str(at): item for at, item in enumerate(tree)}
    found = {name: as_loaded(value, False) for name, value in named.items()}
    is_list = not is_root and list(found) == [str(at) for at in range(len(found))]
    return list(found.values()) if is_list else found


@given(TREES)
def test_any_tree_comes_back(tree):
    assert as_loaded(round_trip(tree)) == as_loaded(tree)


class TestLoading:
    @pytest.mark.parametrize("name", ["obj/ckpt-1", "written"])
    def test_the_golden_objects(self, name):
        found = load_objects(golden("g34_tf2_checkpoint") / name)
        tensors = expected_tensors("g34_tf2_checkpoint")
        assert found["step"] == tensors[f"step{VALUE}"][1]
        np.testing.assert_array_equal(
            found["optimizer"]["_trainable_variables"][0], tensors[f"optimizer/_trainable_variables/0{VALUE}"][1]
        )
        assert set(found["root_dir"]["table"][".ATTRIBUTES"]) == {"table-keys", "table-values"}

    @pytest.mark.parametrize("case", ["g28_tf2_module", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm"])
    def test_the_variables_of_saved_models(self, case):
        found = load_objects(golden(case) / "model/variables/variables")
        assert arrays_in(found)

    def test_what_leads_back_is_left_out(self):
        graph = TrackableObjectGraph()
        root, inner, leaf = graph.nodes.add(), graph.nodes.add(), graph.nodes.add()
        root.children.add(node_id=1, local_name="inner")
        inner.children.add(node_id=0, local_name="parent")
        inner.children.add(node_id=1, local_name="self")
        inner.children.add(node_id=2, local_name="leaf")
        leaf.attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
        assert load_crafted(graph, {"k": np.ones(1)}) == {"inner": {"leaf": np.ones(1)}}

    def test_slots_are_under_their_optimizer(self):
        graph = TrackableObjectGraph()
        root, variable, slot = graph.nodes.add(), graph.nodes.add(), graph.nodes.add()
        root.children.add(node_id=1, local_name="v")
        root.slot_variables.add(original_variable_node_id=1, slot_name="m", slot_variable_node_id=2)
        variable.attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
        slot.attributes.add(name="VARIABLE_VALUE", checkpoint_key="s")
        found = load_crafted(graph, {"k": np.ones(1), "s": np.zeros(1)})
        assert found[".OPTIMIZER_SLOT"]["m"]["k"] == 0

    def test_a_long_chain_and_many_ways_are_no_trouble(self):
        graph = TrackableObjectGraph()
        depth = 20_000
        for at in range(depth):
            node = graph.nodes.add()
            node.children.add(node_id=at + 1, local_name="a")
            node.children.add(node_id=at + 1, local_name="b")
        graph.nodes.add().attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
        found = load_crafted(graph, {"k": np.ones(1)})
        for _ in range(depth):
            assert found["a"] is found["b"]
            found = found["a"]
        assert found == 1

    def test_a_checkpoint_that_is_not_of_objects_says_how_to_read_it(self):
        fs = MemoryFileSystem()
        save_checkpoint("c", {"v": np.ones(1)}, fs=fs)
        with pytest.raises(NotFoundError, match=r"not an object-based checkpoint.*load_tensors"):
            load_objects("c", fs=fs)

    @pytest.mark.parametrize("value", [b"\xff\xff", b"", np.ones(2), np.array([b"a", b"b"], object)])
    def test_a_damaged_graph_of_objects(self, value):
        fs = MemoryFileSystem()
        save_checkpoint("c", {OBJECT_GRAPH_KEY: value}, fs=fs)
        with pytest.raises(DataLossError, match="object graph"):
            load_objects("c", fs=fs)

    def test_references_to_nowhere(self):
        graph = TrackableObjectGraph()
        graph.nodes.add().children.add(node_id=7, local_name="a")
        with pytest.raises(DataLossError, match="referred to"):
            load_crafted(graph, {})
        graph = TrackableObjectGraph()
        graph.nodes.add().attributes.add(name="VARIABLE_VALUE", checkpoint_key="k")
        with pytest.raises(DataLossError, match="tensors that it does not hold"):
            load_crafted(graph, {})


def load_crafted(graph: TrackableObjectGraph, tensors: dict[str, Any]) -> Any:
    fs = MemoryFileSystem()
    save_checkpoint("c", {OBJECT_GRAPH_KEY: graph.SerializeToString(), **tensors}, fs=fs)
    return load_objects("c", fs=fs)


def arrays_in(tree: Any) -> list[Any]:
    if isinstance(tree, dict | list):
        return [array for value in (tree.values() if isinstance(tree, dict) else tree) for array in arrays_in(value)]
    return [tree]


def test_names_for_people():
    graph = TrackableObjectGraph()
    root, variable = graph.nodes.add(), graph.nodes.add()
    graph.nodes.add()
    graph.nodes.add()
    root.children.add(node_id=1, local_name="v")
    root.children.add(node_id=0, local_name="root")
    variable.children.add(node_id=1, local_name="self")
    root.slot_variables.add(original_variable_node_id=1, slot_name="m", slot_variable_node_id=2)
    assert node_names(graph, [0, 1, 2, 3]) == ["(root)", "(root).v", "(root)'s state 'm' for (root).v", "(object 3)"]


def test_what_is_described_is_what_is_read(tmp_path):
    save_objects(tmp_path / "c", {"a": np.ones(1), "b": [np.ones(2)]})
    with open_checkpoint(tmp_path / "c") as reader:
        assert ObjectGraph.read(reader).keys_by_path() == {"a": f"a{VALUE}", "b/0": f"b/0{VALUE}"}


def test_objects_without_values_are_marked():
    class View:
        def children(self, item: Any) -> Any:
            return item if isinstance(item, dict) else {}

        def attributes(self, item: Any) -> Any:
            return () if isinstance(item, dict) else ("VARIABLE_VALUE",)

        def full_name(self, item: Any) -> str:
            return "name"

        def slot_names(self, item: Any) -> Any:
            return ()

        def slot(self, optimizer: Any, variable: Any, name: str) -> None:
            return None

    described = describe_objects({"full": {"leaf": 1.5}, "hollow": {"more": {}}}, View())
    assert [node.has_checkpoint_values.value for node in described.graph.nodes] == [True, True, False, True, False]
    again = parse_object_graph(described.graph.SerializeToString(), "it")
    assert again == described.graph
