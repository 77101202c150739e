"""What `what`, `list`, `show`, `print` and `verify` print, to the letter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.saving.folder import CheckpointFolder
from tensorkeep.saving.retention import KeepLatest
from tests.cli.conftest import Program
from tests.support.golden import ROOT

LIST = """\
name          type     shape  elements  bytes
dense/bias    float32  [3]           3   12 B
dense/kernel  float32  [4,3]        12   48 B
global_step   int64    []            1    8 B
3 tensors, 16 elements, 68 B
"""
PLAIN_LIST = """\
dense/bias\tfloat32\t[3]\t3\t12\t0\t0
dense/kernel\tfloat32\t[4,3]\t12\t48\t0\t0
global_step\tint64\t[]\t1\t8\t0\t0
"""
SHOW = """\
checkpoint  run/model-1000
format      V2
tensors     3
elements    16
bytes       68 (68 B)
types       float32 2, int64 1
files       2 files, 255 bytes

scope or tensor  type       shape  bytes
dense/           2 tensors          60 B
  bias           float32    [3]     12 B
  kernel         float32    [4,3]   48 B
global_step      int64      []       8 B
"""
WHAT_MODEL = """\
path\texport/1
kind\tSavedModel
format of\tTensorFlow 2.21.0
file\tsaved_model.pb
meta graph 0\ttags serve, signatures serving_default with_rate, nodes 67, functions 0, objects 0
variables\ttensors 3, bytes 68
"""
WHAT_CHECKPOINT = """\
path\trun/model-1000
kind\tcheckpoint
format of\tTensorFlow 2.21.0
format\tV2
saved by\tnames
tensors\t3
elements\t16
bytes\t68
types\tfloat32 2, int64 1
files\tmodel-1000.index 187, model-1000.data-00000-of-00001 68
graph\trun/model-1000.meta
"""


# ---------------------------------------------------------------------------------------------------------------- list


def test_list_lines_tensors_up_for_people(program: Program) -> None:
    assert program("list", "--table", "run/model-1000") == (0, LIST, "")


@pytest.mark.parametrize("path", ["run/model-1000", "run", "run/model-1000.index", "export/1"])
def test_list_puts_tabs_between_for_programs(program: Program, path: str) -> None:
    assert program("list", path) == (0, PLAIN_LIST, "")


def test_list_has_columns_for_shards_and_slices_where_there_are_such(program: Program) -> None:
    found = program("list", "--table", str(ROOT / "g05_v2_partitioned_sharded"))
    assert found.out == (
        "name       type     shape  elements  bytes  shards  slices\n"
        "b0         float32  [5]           5   20 B  2            0\n"
        "b1         float32  [2,2]         4   16 B  0            0\n"
        "big/table  float32  [9,5]        45  180 B  1,2,3        4\n"
        "3 tensors, 54 elements, 216 B\n"
    )


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (("--match", "dense/*"), ["dense/bias", "dense/kernel"]),
        (("--match", "*bias", "--match", "glob*"), ["dense/bias", "global_step"]),
        (("--exclude", "dense/*"), ["global_step"]),
        (("--regex", "s$"), ["dense/bias"]),
        (("--sort", "bytes"), ["dense/kernel", "dense/bias", "global_step"]),
        (("--sort", "type", "--reverse"), ["global_step", "dense/kernel", "dense/bias"]),
        (("--match", "nothing"), []),
    ],
)
def test_list_chooses_and_sorts(program: Program, flags: tuple[str, ...], names: list[str]) -> None:
    assert program("list", "run", "--names", *flags).out.splitlines() == names


def test_list_says_how_many_there_are_besides(program: Program) -> None:
    found = program("list", "run", "--table", "--match", "global_step")
    assert found.out.splitlines()[-1] == "1 tensor, 1 element, 8 B, of 3 tensors"


def test_list_spells_out_what_would_move_a_cursor(program: Program, world: Path) -> None:
    tk.save_checkpoint(str(world / "odd"), {"a\x1b[2J\tb\nc": np.zeros(2)})
    assert program("list", "odd", "--names").out == "a\\x1b[2J\\tb\\nc\n"


def test_a_list_of_a_first_version_knows_no_size_of_strings(program: Program) -> None:
    lines = [line.split("\t") for line in program("list", str(ROOT / "g13_v1_dtypes" / "all.v1")).out.splitlines()]
    sizes = {kind: size for _, kind, _, _, size, _, _ in lines}
    assert {kind for kind, size in sizes.items() if size == "?"} == {"string"}


def test_a_regular_expression_that_is_none_is_an_error(program: Program) -> None:
    found = program("list", "run", "--regex", "(")
    assert found.code == 1
    assert found.err.startswith('error: "(" is not a regular expression: ')


# ------------------------------------------------------------------------------------------------- show, print, verify


def test_show_gives_the_whole_and_a_tree(program: Program) -> None:
    assert program("show", "--table", "run/model-1000") == (0, SHOW, "")


def test_show_goes_as_deep_as_it_is_told(program: Program) -> None:
    found = program("show", "run", "--depth", "1")
    assert found.out.splitlines()[-2:] == ["dense/\t2 tensors\t\t60", "global_step\tint64\t[]\t8"]


def test_show_names_missing_files(program: Program, world: Path) -> None:
    (world / "run" / "model-1000.data-00000-of-00001").unlink()
    assert "missing     model-1000.data-00000-of-00001\n" in program("show", "--table", "run/model-1000").out


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ((), "[[ 0.  1.  2.]\n [ 3.  4.  5.]\n [ 6.  7.  8.]\n [ 9. 10. 11.]]\n"),
        (("0:2",), "[[0. 1. 2.]\n [3. 4. 5.]]\n"),
        (("-1",), "[ 9. 10. 11.]\n"),
        ((":,0",), "[0. 3. 6. 9.]\n"),
        (("1,2",), "5.0\n"),
        (("2:99, -1:",), "[[ 8.]\n [11.]]\n"),
    ],
)
def test_print_gives_a_tensor_or_a_part_of_it(program: Program, part: tuple[str, ...], text: str) -> None:
    assert program("print", "run", "dense/kernel", *part) == (0, text, "")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("4", '"4": 4 is out of range, there are 4'),
        ("0,0,0", '"0,0,0" has 3 items, and "dense/kernel" is float32 [4, 3]'),
        ("a", '"a" is no part of a tensor: "a" is neither a number nor start:stop'),
    ],
)
def test_print_refuses_parts_that_are_none(program: Program, part: str, reason: str) -> None:
    assert program("print", "run", "dense/kernel", part) == (1, "", f"error: {reason}\n")


def test_print_on_a_terminal_says_what_it_is(program: Program) -> None:
    found = program("print", "--table", "run", "global_step:0")
    assert found.out == "global_step  int64 []\n0\n"


def test_print_names_tensors_that_are_there(program: Program) -> None:
    found = program("print", "run", "kernel")
    assert (found.code, found.out) == (1, "")
    assert '"dense/kernel"' in found.err


def test_verify_finds_all_intact(program: Program) -> None:
    assert program("verify", "run/model-1000", "export/1") == (
        0,
        '"run/model-1000": all 3 tensors are intact\n"export/1/variables/variables": all 3 tensors are intact\n',
        "",
    )


def test_verify_says_all_that_is_wrong_and_its_code_tells(program: Program, world: Path) -> None:
    data = world / "run" / "model-1000.data-00000-of-00001"
    contents = bytearray(data.read_bytes())
    contents[20] ^= 1
    data.write_bytes(contents)
    found = program("verify", "run/model-1000")
    first, second = found.out.splitlines()
    assert (found.code, found.err) == (3, "")
    assert first == '"run/model-1000": 1 problem, 2 tensors are intact'
    assert "checksum" in second
    assert "dense/kernel" in second


# ---------------------------------------------------------------------------------------------------------------- what


def test_what_knows_a_model(program: Program) -> None:
    assert program("what", "export/1") == (0, WHAT_MODEL, "")


def test_what_knows_a_checkpoint(program: Program) -> None:
    assert program("what", "run/model-1000") == (0, WHAT_CHECKPOINT, "")


def test_what_tells_the_models_that_we_wrote_from_those_of_tensorflow(program: Program, world: Path) -> None:
    theirs = ROOT / "g28_tf2_module" / "model"
    program("saved-model", "rename-signature", str(theirs), "loop", "turn", "--output", "ours")
    ours = dict(line.split("\t") for line in program("what", "ours").out.splitlines())
    assert ours["written by"] == f"tensorkeep {tk.__version__}"
    assert ours["format of"] == "TensorFlow 2.21.0"
    assert "written by" not in program("what", str(theirs)).out


def test_what_tells_the_checkpoints_that_we_saved_while_they_are_the_same(program: Program, world: Path) -> None:
    folder = CheckpointFolder("kept", KeepLatest(2))
    tk.save_checkpoint("kept/m-1", {"a": 1.0})
    folder.add("kept/m-1")
    assert f"written by\ttensorkeep {tk.__version__}\n" in program("what", "kept/m-1").out
    tk.save_checkpoint("kept/m-1", {"b": 1.0})
    assert "written by" not in program("what", "kept/m-1").out


def test_what_does_not_claim_checkpoints_of_others_that_a_ledger_looks_after(program: Program, world: Path) -> None:
    tk.save_checkpoint("kept/m-1", {"a": 1.0})
    assert CheckpointFolder("kept", KeepLatest(2)).adopt()
    assert "written by" not in program("what", "kept/m-1").out


def test_what_knows_a_folder_of_checkpoints(program: Program) -> None:
    assert program("what", "run").out == (
        "path\trun\nkind\tcheckpoint folder\nformat of\tTensorFlow 2.21.0\n"
        "checkpoints\tmodel-1000\nlatest\tmodel-1000\n"
    )


def test_what_knows_a_meta_graph(program: Program) -> None:
    found = dict(line.split("\t") for line in program("what", "run/model-1000.meta").out.splitlines())
    assert found["kind"] == "a MetaGraphDef (a .meta file)"
    assert found["format of"] == "TensorFlow 2.21.0"
    assert found["part of"] == "run/model-1000"
    assert found["placeholders"] == "x"
    assert found["collections"] == "global_step 1, trainable_variables 2, variables 3"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("export", "folder of SavedModels"),
        ("export/1/saved_model.pb", "a SavedModel"),
        ("x.npy", "a NumPy array (.npy)"),
        ("vocab.txt", "text of another kind"),
        ("run/checkpoint", "a checkpoint state file, which names checkpoints"),
        ("run/model-1000.index", "the index of a checkpoint, or a checkpoint of the first version"),
        ("run/model-1000.data-00000-of-00001", "a data file of a checkpoint"),
        ("export/words/assets", "folder"),
        (str(ROOT / "g34_tf2_checkpoint"), "checkpoint folder"),
    ],
)
def test_what_knows_files_and_folders(program: Program, path: str, kind: str) -> None:
    assert program("what", path).out.splitlines()[1] == f"kind\t{kind}"


def test_what_says_that_there_is_nothing(program: Program) -> None:
    found = program("what", "run/model")
    assert found.code == 1
    assert found.err == 'error: there is nothing at "run/model"; the folder holds model-1000\n'


@pytest.mark.parametrize("case", sorted(path.name for path in ROOT.iterdir() if path.is_dir()))
def test_what_has_an_answer_to_every_golden_file(program: Program, case: str) -> None:
    for path in sorted((ROOT / case).rglob("*")):
        found = program("what", str(path))
        assert found.code == 0 or found.err.startswith("error: "), path
        assert "Traceback" not in found.err


# -------------------------------------------------------------------------------------------------------- other files


@pytest.mark.parametrize("target", ["m.safetensors", "m.npz", "m.h5", "m.pt"])
def test_other_files_of_tensors_are_looked_into_too(program: Program, target: str) -> None:
    assert program("convert", "run", target).code == 0
    assert program("list", target).out == PLAIN_LIST.replace("\t0\t0\n", "\t-\t0\n")
    assert program("print", target, "dense/kernel", "1,2").out == "5.0\n"
    assert program("stats", target).out == program("stats", "run").out
    assert program("health", target) == (0, f"{target}: healthy, 3 tensors looked at\n", "")
    assert program("report", target, "r.html").out.endswith(": 3 tensors, 0 graphs, 0 findings\n")
    shown = program("show", target).out.splitlines()
    assert shown[0] == f"checkpoint\t{target}"
    assert shown[2:4] == ["tensors\t3", "elements\t16"]
    assert {"tensors\t3", "types\tfloat32 2, int64 1"} <= set(program("what", target).out.splitlines())


def test_the_file_of_a_saved_model_stands_for_it(program: Program) -> None:
    assert program("list", "export/1/saved_model.pb").out == program("list", "export/1").out


@pytest.mark.parametrize("command", [("list",), ("show",), ("stats",), ("health",), ("print", "w"), ("diff", "run")])
def test_files_of_another_kind_are_called_what_they_are(program: Program, command: tuple[str, ...]) -> None:
    found = program(command[0], "x.npy", *command[1:])
    assert (found.code, found.out) == (1, "")
    said = 'error: "x.npy" is a NumPy array (.npy), and in none of the formats that can be read: safetensors, '
    assert found.err.startswith(said)


def test_what_needs_a_checkpoint_says_so(program: Program) -> None:
    assert program("convert", "run", "m.npz").code == 0
    said = 'error: "m.npz" is no checkpoint, and has no checksums that could be compared\n'
    assert program("verify", "m.npz") == (1, "", said)


@pytest.mark.parametrize("target", ["m.safetensors", "m.npz", "m.h5", "m.pt"])
def test_the_health_of_other_files_is_told_too(program: Program, world: Path, target: str) -> None:
    tk.save_checkpoint("ill", {"w": np.array([[1, np.nan], [np.inf, 2]], np.float32)})
    assert program("convert", "ill", target).code == 0
    assert program("health", target) == (
        3,
        f"{target}: ill, 1 tensor looked at\n"
        "  error  w: not a number: 1 of 4 numbers\n"
        "  error  w: infinite: 1 of 4 numbers\n",
        "",
    )
    data = (world / target).read_bytes()
    (world / target).write_bytes(data[: len(data) // 2])
    found = program("health", target)
    assert (found.code, found.err) == (3, "")
    assert found.out.startswith(f"{target}: ill, 0 tensors looked at\n  error  damaged: ")


def test_a_frozen_graph_is_looked_at_as_a_graph_and_as_tensors(program: Program, world: Path) -> None:
    frozen = str(ROOT / "g22_meta_conv_adagrad" / "frozen.pb")
    assert program("health", frozen).out == f"{frozen}: healthy, 10 tensors looked at\n"
    assert program("report", frozen, "r.html").out.endswith(": 10 tensors, 1 graph, 0 findings\n")
    page = (world / "r.html").read_text()
    assert '"has_checksums":false' in page
    assert '"graphs":[{' in page


def test_a_saved_model_without_variables_is_looked_at_by_its_constants(program: Program) -> None:
    assert program("list", "export/words", "--names").out == "Const\nConst_1\n"
    assert program("health", "export/words") == (0, "export/words: healthy, 2 tensors looked at\n", "")
    assert program("report", "export/words", "r.html").out.endswith(": 2 tensors, 1 graph, 0 findings\n")


def test_a_file_of_tensors_is_known_by_its_contents_where_its_name_does_not_tell(program: Program, world: Path) -> None:
    assert program("convert", "run", "m.safetensors").code == 0
    (world / "m.safetensors").rename(world / "weights")
    assert program("list", "weights").out == PLAIN_LIST.replace("\t0\t0\n", "\t-\t0\n")
    assert program("health", "weights").out == "weights: healthy, 3 tensors looked at\n"
    assert program("report", "weights", "r.html").out.endswith(": 3 tensors, 0 graphs, 0 findings\n")


@pytest.mark.parametrize("path", ["x.npy", "export", "vocab.txt"])
def test_there_is_no_report_on_what_has_neither_tensors_nor_a_graph(program: Program, world: Path, path: str) -> None:
    found = program("report", path, "r.html")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(f'error: there are neither tensors nor a graph at "{path}" (')
    assert not (world / "r.html").exists()


def test_a_folder_of_models_is_told_from_one_of_checkpoints(program: Program) -> None:
    said = (
        'error: folder "export" holds no checkpoint: neither a "checkpoint" file nor a complete one; SavedModels are '
    )
    assert program("list", "export") == (1, "", f"{said}in it: 1, many, words\n")


@pytest.mark.parametrize(
    ("target", "kind"), [("m.npz", "an archive of NumPy arrays (.npz)"), ("m.pt", "a PyTorch file")]
)
def test_what_tells_archives_apart(program: Program, target: str, kind: str) -> None:
    assert program("convert", "run", target).code == 0
    assert program("what", target).out.splitlines()[1] == f"kind\t{kind}"


def test_what_knows_checkpoints_of_the_first_version(program: Program) -> None:
    folder = str(ROOT / "g11_v1_sharded3")
    assert "checkpoints\tv1s-9-?????-of-00003" in program("what", folder).out.splitlines()
    assert program("what", f"{folder}/v1s-9").out.splitlines()[1] == "kind\tcheckpoint"


def test_the_graph_beside_a_checkpoint_is_found_by_any_of_its_files(program: Program) -> None:
    prefix = str(ROOT / "g10_v1_single" / "v1.ckpt-12")
    assert program("graph", prefix).out == program("graph", f"{prefix}.meta").out
    assert program("graph", "run/model-1000.index").out == program("graph", "run/model-1000.meta").out


def test_a_damaged_checkpoint_is_still_called_damaged(program: Program, world: Path) -> None:
    (world / "broken").mkdir()
    (world / "broken" / "model").write_bytes(bytes(range(1, 251)) * 4)
    assert 'error: "broken/model" is not a table: ' in program("list", "broken/model").err


def test_folders_are_verified_and_examined_checkpoint_by_checkpoint(program: Program, world: Path) -> None:
    told = program("verify", "moving")
    assert (told.code, told.out.splitlines()) == (
        0,
        [f'"moving/model-{step}": all 2 tensors are intact' for step in (1, 2, 3)],
    )
    assert [line.partition(":")[0] for line in program("health", "moving").out.splitlines()] == [
        f"moving/model-{step}" for step in (1, 2, 3)
    ]
    data = world / "moving" / "model-2.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:5])
    for command in ("verify", "health"):
        told = program(command, "moving")
        assert told.code == 3
        assert "moving/model-1" in told.out
        assert "moving/model-3" in told.out


def test_the_checkpoints_of_a_folder_are_listed(program: Program, world: Path) -> None:
    told = program("checkpoints", "moving")
    assert (told.code, told.err) == (0, "")
    assert [line.split("\t")[:2] for line in told.out.splitlines()] == [[f"model-{n}", str(n)] for n in (1, 2, 3)]
    data = world / "moving" / "model-2.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:5])
    told = program("checkpoints", "moving", "--health")
    assert told.code == 3
    assert [line.rpartition("\t")[2] for line in told.out.splitlines()] == ["healthy", "damaged", "latest, healthy"]
    assert "has 5 bytes of at least 32" in told.err
    assert "has 5 bytes of at least 32" in program("what", "moving/model-2").out
    assert program("checkpoints", "export").out == "there are no checkpoints in export\n"
