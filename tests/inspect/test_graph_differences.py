"""How two graphs differ, node by node."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.inspect.graph_differences import compare_all_graphs, compare_graphs, node_differences
from tests.inspect.models import meta_graph_of

NAMES = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.sampled_from(["Add", "Mul"]), st.just(())))


def test_nodes_are_compared_by_name() -> None:
    first = meta_graph_of({"x": ("Placeholder", ()), "y": ("Relu", ("x",)), "z": ("Relu", ("y",))})
    second = meta_graph_of({"x": ("Placeholder", ()), "y": ("Tanh", ("x", "^x")), "w": ("Relu", ("y",))})
    found = compare_graphs(first, second)
    assert (found.removed, found.added) == ({"z": "Relu"}, {"w": "Relu"})
    assert found.changed == {"y": ["op Relu -> Tanh", "inputs x -> x, ^x"]}
    assert (found.same, found.is_same) == (1, False)


@given(NAMES)
def test_a_graph_is_the_same_as_itself(nodes: dict[str, tuple[str, tuple[str, ...]]]) -> None:
    found = compare_graphs(meta_graph_of(nodes), meta_graph_of(nodes))
    assert found.is_same
    assert found.same == len(nodes)


@given(NAMES, NAMES)
def test_what_one_way_is_added_is_removed_the_other_way(
    old: dict[str, tuple[str, tuple[str, ...]]], new: dict[str, tuple[str, tuple[str, ...]]]
) -> None:
    there, back = (
        compare_graphs(meta_graph_of(first), meta_graph_of(second)) for first, second in ((old, new), (new, old))
    )
    assert (there.added, there.removed) == (back.removed, back.added)
    assert set(there.changed) == set(back.changed)
    assert there.same == back.same


def test_attributes_are_told_in_words() -> None:
    first, second = (meta_graph_of({"x": ("Op", ())}).graph_def.node[0] for _ in range(2))
    first.attr["gone"].i = 1
    second.attr["new"].b = True
    first.attr["name"].s, second.attr["name"].s = b"a", b"b"
    first.attr["value"].tensor.tensor_shape.dim.add(size=2)
    second.attr["value"].tensor.tensor_shape.dim.add(size=3)
    first.attr["big"].tensor.float_val.append(1)
    second.attr["big"].tensor.float_val.append(2)
    first.attr["_output_shapes"].list.shape.add()
    first.device = "/cpu:0"
    assert node_differences(first, second) == [
        "device /cpu:0 -> none",
        "big has another value",
        "gone 1 -> not there",
        "name b'a' -> b'b'",
        "new not there -> True",
        "value a tensor [2] -> a tensor [3]",
    ]


def test_functions_and_signatures_are_compared_too() -> None:
    first, second = meta_graph_of({}), meta_graph_of({})
    for item, op in ((first, "Relu"), (second, "Tanh")):
        function = item.graph_def.library.function.add()
        function.signature.name = "f"
        function.node_def.add(name="y", op=op)
    first.signature_def["old"].method_name = "m"
    second.signature_def["new"].method_name = "m"
    first.signature_def["both"].method_name = "m"
    second.signature_def["both"].method_name = "n"
    found = compare_graphs(first, second)
    assert found.changed == {"f:y": ["op Relu -> Tanh"]}
    assert found.signatures == {"both": "changed", "new": "added", "old": "removed"}


def test_graphs_find_their_partners_by_their_tags() -> None:
    graph = meta_graph_of({"x": ("Op", ())})
    found = compare_all_graphs([("a", graph), ("b", graph)], [("b", graph), ("c", graph)])
    assert [(item.label, list(item.removed), list(item.added), item.same) for item in found] == [
        ("a", ["x"], [], 0),
        ("b", [], [], 1),
        ("c", [], ["x"], 0),
    ]
    (lone,) = compare_all_graphs([("a", graph)], [("", graph)])
    assert lone.is_same
