"""Object-based checkpoints, by the paths and names of their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    BundleReader,
    DataLossError,
    MemoryFileSystem,
    NotFoundError,
    ObjectGraph,
    RenamedReader,
    SavedAttribute,
    SlotVariable,
    open_checkpoint,
    save_checkpoint,
)
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import escape_name, unescape_name
from tensorkeep.proto.messages import TrackableObjectGraph, serialize
from tests.support.golden import golden


def graph(nodes: Sequence[Mapping[str, object]]) -> bytes:
    """A serialized object graph: for each object its children, attributes and slots."""
    message = TrackableObjectGraph()
    for node in nodes:
        added = message.nodes.add()
        for name, number in node.get("children", {}).items():
            added.children.add(local_name=name, node_id=number)
        for name, full_name, key in node.get("attributes", ()):
            added.attributes.add(name=name, full_name=full_name, checkpoint_key=key)
        for slot, variable, slot_variable in node.get("slots", ()):
            added.slot_variables.add(
                slot_name=slot, original_variable_node_id=variable, slot_variable_node_id=slot_variable
            )
    return serialize(message)


MODEL = graph(
    [
        {"children": {"model": 1, "optimizer": 4}},
        {"children": {"dense": 2, "same dense": 2, "a/b": 5}},
        {"children": {"kernel": 3}},
        {"attributes": [("VARIABLE_VALUE", "dense/kernel", "K")]},
        {"slots": [("m", 3, 6)], "children": {"table": 7}},
        {"attributes": [("VARIABLE_VALUE", "", "AB")]},
        {"attributes": [("VARIABLE_VALUE", "dense/kernel/m", "M")]},
        {"attributes": [("table", "", "T")]},
    ]
)
SLOT = "model/dense/kernel/.OPTIMIZER_SLOT/optimizer/m"
TENSORS = {
    OBJECT_GRAPH_KEY: np.array(MODEL, object),
    "K": np.arange(6.0).reshape(2, 3),
    "AB": np.array(1),
    "M": np.zeros((2, 3)),
    "T-keys": np.array([b"x"], object),
    "T-values": np.array([3]),
}


@pytest.fixture
def reader() -> BundleReader:
    fs = MemoryFileSystem()
    save_checkpoint("m", TENSORS, fs=fs)
    return BundleReader("m", fs=fs)


class TestGraphs:
    def test_attributes_with_the_shortest_path_to_each(self):
        found = ObjectGraph.parse(MODEL)
        assert found.attributes == (
            SavedAttribute("model/dense/kernel", "VARIABLE_VALUE", "dense/kernel", "K"),
            SavedAttribute("model/a.Sb", "VARIABLE_VALUE", "", "AB"),
            SavedAttribute(SLOT, "VARIABLE_VALUE", "dense/kernel/m", "M"),
            SavedAttribute("optimizer/table", "table", "", "T"),
        )

    def test_slots(self):
        assert ObjectGraph.parse(MODEL).slots == (SlotVariable("optimizer", "m", "model/dense/kernel", SLOT),)

    def test_tensors_by_path_and_by_name(self):
        found = ObjectGraph.parse(MODEL)
        assert found.keys_by_path() == {
            "model/dense/kernel": "K",
            "model/a.Sb": "AB",
            SLOT: "M",
            "optimizer/table.table": "T",
        }
        assert found.keys_by_full_name() == {"dense/kernel": "K", "": "T", "dense/kernel/m": "M"}

    def test_objects_are_found_by_every_path_to_them(self):
        found = ObjectGraph.parse(MODEL)
        assert found.find("model/dense/kernel") == found.find("model/same dense/kernel") == 3
        assert found.find("model/a.Sb") == 5
        with pytest.raises(NotFoundError) as caught:
            found.find("model/conv/kernel")
        assert str(caught.value) == (
            'no object "model/conv/kernel": there is no "conv"; children there: a.Sb, dense, same dense'
        )
        with pytest.raises(NotFoundError, match='there is no "x"; children there: none'):
            found.find("model/dense/kernel/x")

    def test_an_object_that_nothing_leads_to_goes_by_its_number(self):
        found = ObjectGraph.parse(graph([{}, {"attributes": [("VARIABLE_VALUE", "w", "W")]}]))
        assert found.keys_by_path() == {"(object 1)": "W"}

    def test_cycles_end(self):
        found = ObjectGraph.parse(graph([{"children": {"self": 0, "child": 1}}, {"children": {"parent": 0}}]))
        assert found.find("self/self/child/parent/child") == 1

    def test_nothing_at_all(self):
        empty = ObjectGraph.parse(b"")
        assert (empty.attributes, empty.slots, empty.children) == ((), (), ())
        assert empty.find("") == 0
        with pytest.raises(NotFoundError, match='no object "x"'):
            empty.find("x")

    @pytest.mark.parametrize(
        "node",
        [{"children": {"a": 1}}, {"children": {"a": -1}}, {"slots": [("m", 0, 9)]}, {"slots": [("m", 7, 0)]}],
        ids=str,
    )
    def test_objects_that_are_not_there_are_damage(self, node):
        with pytest.raises(DataLossError, match=r"object graph: objects \[.*\] are referred to, there are 1"):
            ObjectGraph.parse(graph([node]))

    def test_what_is_no_message_is_damage(self):
        with pytest.raises(DataLossError, match="object graph: not a valid TrackableObjectGraph"):
            ObjectGraph.parse(b"\xff\xff\xff")

    @pytest.mark.parametrize("value", [np.array([MODEL], object), np.float32(3)])
    def test_a_tensor_that_is_no_graph_is_damage(self, value):
        fs = MemoryFileSystem()
        save_checkpoint("m", {OBJECT_GRAPH_KEY: value}, fs=fs)
        with (
            open_checkpoint("m", fs=fs) as reader,
            pytest.raises(DataLossError, match='"m": object graph: expected one string, got'),
        ):
            ObjectGraph.read(reader)

    @given(st.text())
    def test_escaping_a_name_is_undone(self, name):
        assert unescape_name(escape_name(name)) == name
        assert "/" not in escape_name(name)


class TestRenamed:
    def test_by_path(self, reader):
        view = RenamedReader.by_path(reader)
        assert list(view) == [
            "model/a.Sb",
            "model/dense/kernel",
            SLOT,
            "optimizer/table.table-keys",
            "optimizer/table.table-values",
        ]
        assert view.read("model/dense/kernel").tolist() == [[0, 1, 2], [3, 4, 5]]
        assert view.read("optimizer/table.table-keys").tolist() == [b"x"]

    def test_by_full_name(self, reader):
        view = RenamedReader.by_full_name(reader)
        assert list(view) == ["dense/kernel", "dense/kernel/m"]
        assert view["dense/kernel"] == reader["K"]

    def test_every_way_of_reading(self, reader):
        view = RenamedReader(reader, {"w": "K", "again": "K", "m": "M"})
        assert (list(view), len(view)) == (["again", "m", "w"], 3)
        assert "w" in view
        assert "K" not in view
        assert view.read("w", np.s_[1:]).tolist() == [[3, 4, 5]]
        assert view.read_rows("w", [1, 0]).tolist() == [[3, 4, 5], [0, 1, 2]]
        assert {name: array.shape for name, array in view.read_many().items()} == {
            "again": (2, 3), "m": (2, 3), "w": (2, 3)
        }  # fmt: skip
        assert not view.read("w", copy=False).flags.writeable
        assert view.source("w").shape == (2, 3)
        assert (view.damage, view.intact_names) == ((), ["again", "m", "w"])
        assert (view.path, view.format) == ("m", "V2")

    def test_names_that_are_not_there(self, reader):
        view = RenamedReader(reader, {"w": "K"})
        with pytest.raises(NotFoundError, match='"m" holds no tensor "K"; it holds "w"'):
            view.read("K")
        with pytest.raises(NotFoundError) as caught:
            RenamedReader(reader, {"w": "nope", "v": "K"})
        assert str(caught.value) == "\"m\" holds no tensors ['nope'], which new names refer to"

    def test_closing_closes_the_other(self, reader):
        with RenamedReader(reader, {"w": "K"}):
            pass
        with pytest.raises(Exception, match="is closed"):
            reader.read("K")

    def test_a_renamed_checkpoint_is_saved_as_it_is_seen(self, reader):
        fs = MemoryFileSystem()
        view = RenamedReader.by_full_name(reader)
        save_checkpoint("named", {name: view.source(name) for name in view}, fs=fs)
        with open_checkpoint("named", fs=fs) as named:
            assert list(named) == ["dense/kernel", "dense/kernel/m"]
            assert named.read("dense/kernel").tolist() == [[0, 1, 2], [3, 4, 5]]


class TestKeysOfPaths:
    def test_any_path_to_an_object_leads_to_its_tensor(self) -> None:
        with open_checkpoint(golden("g34_tf2_checkpoint") / "obj" / "ckpt-1") as reader:
            objects = ObjectGraph.read(reader)
            kernel = "optimizer/_trainable_variables/0/.ATTRIBUTES/VARIABLE_VALUE"
            assert objects.key_of("optimizer/_trainable_variables/0") == kernel
            assert objects.key_of("model/_functional/_operations/1/_kernel") == kernel
            assert objects.key_of("optimizer/_momentums/0") == "optimizer/_variables/2/.ATTRIBUTES/VARIABLE_VALUE"
            assert objects.key_of("root_dir/dct/a.Sb") == "root_dir/dct/a.Sb/.ATTRIBUTES/VARIABLE_VALUE"
            assert objects.key_of("root_dir/table", "table") == "root_dir/table/.ATTRIBUTES/table"
            assert all(objects.key_of(item.path, item.attribute) == item.key for item in objects.attributes)

    def test_an_object_that_saved_something_else(self) -> None:
        with open_checkpoint(golden("g34_tf2_checkpoint") / "obj" / "ckpt-1") as reader:
            objects = ObjectGraph.read(reader)
            with pytest.raises(NotFoundError, match='object "root_dir/table" saved no VARIABLE_VALUE; it saved table'):
                objects.key_of("root_dir/table")
            with pytest.raises(NotFoundError, match='no object "root_dir/nowhere"'):
                objects.key_of("root_dir/nowhere")
