"""Graphs as pictures: what is drawn, that it is sound, and that names do no harm."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.inspect.drawing import graphviz, overview, picture, svg
from tests.inspect.models import graph_of

SVG = "{http://www.w3.org/2000/svg}"
NODES = {
    "x": ("Placeholder", ()),
    "a/w": ("Const", ()),
    "a/y": ("MatMul", ("x", "a/w")),
    "b/y": ("Relu", ("a/y:0", "^x")),
    "save/Const": ("Const", ()),
    "save/deep/er/SaveV2": ("SaveV2", ("save/Const", "a/w")),
}


def test_a_graph_that_fits_is_drawn_op_by_op_and_a_saver_as_one_box() -> None:
    found = picture(graph_of(NODES))
    assert list(found.boxes) == ["x", "a/w", "a/y", "b/y", "save"]
    assert found.boxes["a/y"].label == "a/y: MatMul"
    assert found.boxes["save"].label == "save/ (2 ops)"
    assert found.edges == {("x", "a/y"): 1, ("a/w", "a/y"): 1, ("a/y", "b/y"): 1, ("x", "b/y"): 1, ("a/w", "save"): 1}


def test_a_larger_one_is_drawn_by_scopes() -> None:
    found = picture(graph_of(NODES), most=4)
    assert list(found.boxes) == ["x", "a", "b", "save"]
    assert found.edges[("a", "b")] == 1


@given(st.dictionaries(st.text("ab/", min_size=1, max_size=8), st.lists(st.text("ab/:^", max_size=8), max_size=3)))
def test_every_node_is_in_one_box_and_edges_lead_from_box_to_box(inputs: dict[str, list[str]]) -> None:
    found = picture(graph_of({name: ("Op", sources) for name, sources in inputs.items()}), most=5)
    assert sum(box.count for box in found.boxes.values()) == len(inputs)
    assert all(source in found.boxes and target in found.boxes for source, target in found.edges)
    drawn = ElementTree.fromstring(svg(found))
    assert len(list(drawn.iter(f"{SVG}rect"))) == len(found.boxes)
    assert len(list(drawn.iter(f"{SVG}path"))) == len(found.edges)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5, unique=True))
def test_pictures_are_sound_whatever_names_there_are(names: list[str]) -> None:
    graph = graph_of({name.encode("utf-8", "replace").decode(): ("Op", ()) for name in names})
    ElementTree.fromstring(svg(picture(graph)))
    lines = graphviz(picture(graph)).splitlines()
    assert (lines[0], lines[-1]) == ("digraph {", "}")


def test_names_cannot_leave_their_quotes() -> None:
    graph = graph_of({'a"]; evil [label="': ("Op", ()), "</text><script>alert(1)</script>": ("Op", ())})
    assert '"a\\"]; evil [label=\\""' in graphviz(picture(graph))
    assert "<script" not in svg(picture(graph))


def test_boxes_stand_below_what_leads_to_them() -> None:
    drawn = ElementTree.fromstring(svg(picture(graph_of({"c": ("C", ("b",)), "a": ("A", ()), "b": ("B", ("a",))}))))
    tops = {
        group.findtext(f"{SVG}text"): float(rect.attrib["y"])
        for group in drawn.iter(f"{SVG}g")
        if (rect := group.find(f"{SVG}rect")) is not None
    }
    assert tops["a: A"] < tops["b: B"] < tops["c: C"]


def test_loops_are_drawn_too() -> None:
    found = picture(graph_of({"a": ("A", ("b",)), "b": ("B", ("a",))}))
    assert set(found.edges) == {("a", "b"), ("b", "a")}
    ElementTree.fromstring(svg(found))


def test_long_names_are_shortened_and_told_in_full_when_pointed_at() -> None:
    name = "layer" * 40
    drawn = svg(picture(graph_of({name: ("Op", ())})))
    assert f"<title>{name}: Op</title>" in drawn
    assert f"{name[:27]}…" in drawn


def test_an_overview_is_as_detailed_as_can_be_seen() -> None:
    wide = graph_of({f"scope_{at % 4}/op_{at}": ("Op", ()) for at in range(40)})
    assert "scope_0/ (10 ops)" in overview(wide)
    assert "scope_0/op_0: Op" in overview(wide, width=1e6)


def test_light_and_dark_have_colours_of_their_own() -> None:
    drawn = svg(picture(graph_of(NODES)))
    assert "@media (prefers-color-scheme:dark)" in drawn
    assert not re.search(r'(?:fill|stroke)="#', drawn)


def test_nothing_is_an_empty_picture() -> None:
    assert svg(picture(graph_of({}))).startswith("<svg ")


def test_a_large_graph_without_scopes_is_drawn_by_its_ops() -> None:
    nodes = {f"n{at}": ("Even" if at % 2 == 0 else "Odd", (f"n{at - 1}",) if at else ()) for at in range(30_000)}
    found = picture(graph_of(nodes))
    assert [box.label for box in found.boxes.values()] == ["Even (15,000 ops)", "Odd (15,000 ops)"]
    assert found.edges == {("Even", "Odd"): 15_000, ("Odd", "Even"): 14_999}
    ElementTree.fromstring(overview(graph_of(nodes)))
