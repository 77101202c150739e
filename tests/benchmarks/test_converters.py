"""The benchmark of converters: without the other's environment it says so; its table tells what misses a bar."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from benchmarks.converters import VARIABLE, joined, main, nodes_in, row_of

RESULT = {
    "export": {"ours": {"processor": 0.73}, "theirs": {"processor": 21.6}},
    "nodes": {"ours": 124, "theirs": 125},
    "times": {"1": {"ours": 30.0, "theirs": 33.0}, "32": {"ours": 1100.0, "theirs": 1000.0}},
    "notes": {},
}


@pytest.mark.parametrize(
    ("value", "said"), [("", "it is not set"), ("/nowhere/python", '"/nowhere/python" is no program')]
)
def test_without_the_other_environment_it_says_what_is_missing(
    value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    monkeypatch.chdir(tmp_path)
    assert main(["ResNet50"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Nothing was compared" in told
    assert list(tmp_path.iterdir()) == []


def test_a_row_has_times_nodes_and_what_part_of_the_others_ours_is() -> None:
    cells = ["0.73", "21.6", "124", "125", "30", "33", "0.91", "1100", "1000", "1.10"]
    assert row_of("ResNet50", RESULT) == ["ResNet50", *cells]
    assert row_of("GPT-2", {"notes": {"theirs": "it was not done"}}) == ["GPT-2", *["-"] * 10]


def test_what_misses_a_bar_is_told_below_the_table(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(RESULT))
    (tmp_path / "b.json").write_text(
        json.dumps({**RESULT, "nodes": {"ours": 3, "theirs": 2}, "notes": {"theirs": "?"}})
    )
    lines = joined(["a", "b", "c"], tmp_path).splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        "- more nodes than tf2onnx's file: b",
        "- more than 1.05 of the time of tf2onnx's file: a (1.10, batch 32), b (1.10, batch 32)",
        "- b: theirs: ?",
    ]
    assert len([line for line in lines if line.startswith("| ")]) == 3


def test_nodes_of_subgraphs_are_counted(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["": 20]> g (float[N] x, bool c) => (float[N] z) {
        y = Exp(x)
        z = If (c) <then_branch = t () => (float[N] a) { b = Neg(y) a = Exp(b) },
                    else_branch = e () => (float[N] d) { d = Identity(x) }>
    }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    assert nodes_in(str(tmp_path / "model.onnx")) == 5
