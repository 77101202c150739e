"""The objects of a model, from messages that may say anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.checkpoint.objects.reader import ObjectGraph
from tensorkeep.errors import DataLossError, NotFoundError, TensorKeepError
from tensorkeep.proto.messages import SavedObjectGraph, TrackableObjectGraph, serialize
from tensorkeep.saved_model.load.object_graph import SavedObjects

EDGES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b/c", "d.e"]), st.integers(-1, 6)), max_size=12)


def graph_of(edges: list[tuple[int, str, int]], count: int = 6) -> SavedObjectGraph:
    proto = SavedObjectGraph()
    for _ in range(count):
        proto.nodes.add()
    for parent, name, child in edges:
        proto.nodes[parent].children.add(node_id=child, local_name=name)
    return proto


@given(EDGES)
def test_every_object_is_found_at_its_path_or_the_graph_is_damaged(edges: list[tuple[int, str, int]]) -> None:
    try:
        objects = SavedObjects(graph_of(edges))
    except DataLossError:
        assert any(not 0 <= child < 6 for _, _, child in edges)
        return
    assert objects.paths[0] == ""
    for number, path in objects.paths.items():
        assert objects.find(path) == number


@given(EDGES)
def test_objects_are_matched_with_stored_ones_by_the_names_on_the_way(edges: list[tuple[int, str, int]]) -> None:
    edges = [edge for edge in edges if 0 <= edge[2] < 6]
    stored = TrackableObjectGraph()
    for number in range(6):
        stored.nodes.add().attributes.add(name="VARIABLE_VALUE", checkpoint_key=f"key{number}")
    for parent, name, child in edges:
        stored.nodes[parent].children.add(node_id=child, local_name=name)
    objects = SavedObjects(graph_of(edges))
    keys = objects.stored_keys(ObjectGraph.parse(serialize(stored)))
    assert {number: found["VARIABLE_VALUE"] for number, found in keys.items()} == {
        number: f"key{number}" for number in objects.paths
    }


def test_a_circle_of_objects_ends() -> None:
    objects = SavedObjects(graph_of([(0, "a", 1), (1, "b/c", 0)]))
    assert dict(objects.paths) == {0: "", 1: "a"}


def test_paths_that_add_up_to_more_than_memory_are_damage() -> None:
    count = 30_000
    with pytest.raises(TensorKeepError, match="absurdly long"):
        SavedObjects(graph_of([(i, "name", i + 1) for i in range(count - 1)], count)).paths  # noqa: B018


def test_a_path_to_nowhere_says_what_is_there() -> None:
    with pytest.raises(NotFoundError, match=r'there is no "x"; there is b\.Sc'):
        SavedObjects(graph_of([(0, "a", 1), (1, "b/c", 2)])).find("a/x")


def test_no_objects_are_no_trouble() -> None:
    objects = SavedObjects(SavedObjectGraph())
    assert not objects.paths
    assert not objects.functions()
