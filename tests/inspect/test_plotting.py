"""Line plots: sound SVG of whatever numbers and names there are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.inspect.plotting import line_plot

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.one_of(st.none(), st.floats())


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


@given(st.dictionaries(st.text(max_size=10), st.lists(NUMBERS, min_size=2, max_size=4), max_size=12), st.text())
def test_a_plot_is_sound_whatever_is_drawn(lines: dict[str, list[float | None]], title: str) -> None:
    text = line_plot(title, ["a", "b", "c", "d"], lines)
    root = drawn(text)
    assert "nan" not in " ".join(item.attrib.get("d", "") for item in root.iter(f"{SVG}path"))
    for circle in root.iter(f"{SVG}circle"):
        assert 0 <= float(circle.attrib["cy"]) <= 420


def test_a_line_goes_up_where_numbers_grow_and_is_broken_where_there_is_none() -> None:
    root = drawn(line_plot("t", ["a", "b", "c", "d"], {"x": [1.0, 2.0, None, 3.0]}))
    heights = [float(item.attrib["cy"]) for item in root.iter(f"{SVG}circle")]
    assert heights == sorted(heights, reverse=True)
    assert len(heights) == 3
    (path,) = [item.attrib["d"] for item in root.iter(f"{SVG}path") if item.attrib.get("stroke-width") == "2"]
    assert re.findall("[ML]", path) == ["M", "L", "M"]


def test_numbers_of_very_different_size_are_on_a_logarithmic_axis() -> None:
    texts = [item.text for item in drawn(line_plot("t", ["a"], {"x": [1e-6], "y": [1.0]})).iter(f"{SVG}text")]
    assert "1e-06" in texts
    assert "0.001" in texts


def test_of_many_lines_the_highest_are_drawn() -> None:
    text = line_plot("t", ["a", "b"], {f"line {at}": [0.0, float(at)] for at in range(20)})
    assert ">line 19<" in text
    assert ">line 3<" not in text
    assert ">and 12 more<" in text


def test_long_names_are_shortened_and_told_in_full_when_pointed_at() -> None:
    name = "first/" + "x" * 100 + "/last"
    text = line_plot("t", ["a", "b"], {name: [1.0, 2.0]})
    assert f">first/{'x' * 10}…{'x' * 12}/last<title>{name}</title>" in text


def test_light_and_dark_are_both_readable() -> None:
    assert "prefers-color-scheme:dark" in line_plot("t", [], {})
