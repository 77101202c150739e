"""The freeze_graph tool on files that TensorFlow wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.tools.freeze_graph import freeze_graph, main, parser, run_main
from tests.support.golden import golden

FOLDER = golden("g24_graph_tools")
OUTPUTS = "--output_node_names=prob, cls,out2"


@pytest.mark.parametrize("kind", ["ref", "res"])
@pytest.mark.parametrize("graph", [["graph.pb", "--input_binary=true"], ["graph.pbtxt"], ["graph.pb"]])
def test_a_graph_and_a_checkpoint_in_any_form(kind: str, graph: list[str], tmp_path: Path) -> None:
    folder = FOLDER / kind
    name, *flags = graph
    files = [f"--input_graph={folder / name}", f"--input_checkpoint={folder / 'model.ckpt'}"]
    assert run_main([*files, *flags, OUTPUTS, f"--output_graph={tmp_path / 'out.pb'}"]) == 0
    assert (tmp_path / "out.pb").read_bytes() == (folder / "frozen.pb").read_bytes()


def test_a_meta_graph_and_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = FOLDER / "res"
    files = [f"--input_meta_graph={folder / 'model.ckpt.meta'}", f"--input_checkpoint={folder / 'model.ckpt'}"]
    assert run_main([*files, "--input_binary", OUTPUTS, f"--output_graph={tmp_path / 'out.pb'}"]) == 0
    assert (tmp_path / "out.pb").read_bytes() == (folder / "frozen_tool.pb").read_bytes()
    assert capsys.readouterr().out == f"Loaded meta graph file '{folder / 'model.ckpt.meta'}\n"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--input_checkpoint=nowhere"], "Input checkpoint 'nowhere' doesn't exist!"),
        (["--output_node_names="], "You need to supply the name of a node to --output_node_names."),
        (["--output_node_names=a,b"], "a, b are not in graph"),
        (["--input_graph=nowhere"], "Input graph file 'nowhere' does not exist!"),
        (["--input_saver=nowhere"], "Input saver file 'nowhere' does not exist!"),
        (["--input_meta_graph=nowhere"], "Input meta graph file 'nowhere' does not exist!"),
        (["--input_saved_model_dir=nowhere"], "SavedModel file does not exist at: nowhere"),
        (["--checkpoint_version=3"], "Invalid checkpoint version (must be '1' or '2'): 3"),
        ([f"--input_graph={FOLDER / 'ref' / 'frozen.pb'}"], "You cannot freeze a graph twice."),
        (["--input_graph="], "No graph was given"),
    ],
)
def test_what_is_wrong_goes_to_standard_error_and_nothing_is_written(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [f"--input_graph={FOLDER / 'ref' / 'graph.pb'}", f"--input_checkpoint={FOLDER / 'ref' / 'model.ckpt'}"]
    assert run_main([*good, OUTPUTS, "--input_binary", f"--output_graph={tmp_path / 'out.pb'}", *flags]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_flag_that_does_not_exist_ends_the_program() -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(["--no_such_flag=1"])
    assert ended.value.code != 0


def test_a_file_that_is_neither_bytes_nor_text_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "graph").write_bytes(b"\xff\xff")
    with pytest.raises(DataLossError, match="nor otherwise"):
        main(None, parser().parse_args([f"--input_graph={tmp_path / 'graph'}"]))


@pytest.mark.parametrize("word", ["variable_names_denylist", "variable_names_blacklist"])
def test_the_function_gives_the_graph_and_writes_nothing_if_not_told_where_to(word: str) -> None:
    folder = FOLDER / "ref"
    frozen = freeze_graph(
        *(str(folder / "graph.pb"), "", True, str(folder / "model.ckpt"), "prob", "save/restore_all", "save/Const:0"),
        *("", True, ""),
        **{word: "logits/kernel"},
    )
    assert [node.name for node in frozen.node if node.op == "VariableV2"] == ["logits/kernel"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    folder = FOLDER / "ref"
    with pytest.raises(MissingFileError, match="nowhere"):
        freeze_graph(
            *(str(folder / "graph.pb"), "", True, str(folder / "model.ckpt"), "prob", None, None),
            *(str(tmp_path / "nowhere" / "out.pb"), True, ""),
        )
