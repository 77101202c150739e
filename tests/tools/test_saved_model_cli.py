"""`saved_model_cli`: TensorFlow's flags and text, readable errors, the status of the process."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.proto.messages import SavedModel, serialize
from tensorkeep.tools.saved_model_cli import main, normalized_arguments
from tests.saved_model.scan_samples import LAMBDA_LAYER, model_with
from tests.support.golden import ROOT

CASES = sorted(path.parent.parent.name for path in ROOT.glob("*/model/saved_model.pb"))
SIMPLE = str(ROOT / "g26_tf1_simple_save" / "model")
MODULE = str(ROOT / "g28_tf2_module" / "model")
RUN = ("run", "--dir", SIMPLE, "--tag_set", "serve", "--signature_def", "serving_default")


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The tool in a process whose sets have the order of those that the golden files were made in."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tensorkeep.tools.saved_model_cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def without_order(text: str) -> str:
    """The text with sets sorted."""
    return re.sub(r"\{('[^{}]*')\}", lambda match: str(sorted(match[1].split(", "))), text)


def expected(case: str, name: str) -> str:
    return (ROOT / case / f"cli_{name}.txt").read_bytes().decode()


# ---------------------------------------------------------------------------------------------------------------- show


@pytest.mark.parametrize("case", ["g27_tf1_multi", "g28_tf2_module"])
def test_all_is_shown_byte_for_byte_as_tensorflow_shows_it(case):
    done = tool("show", "--dir", str(ROOT / case / "model"), "--all")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == expected(case, "show_all")


@pytest.mark.parametrize("case", CASES)
def test_all_is_shown_as_tensorflow_shows_it(case, capsys):
    assert main(["show", "--dir", str(ROOT / case / "model"), "--all"]) == 0
    assert without_order(capsys.readouterr().out) == without_order(expected(case, "show_all"))


@pytest.mark.parametrize("case", CASES)
def test_tag_sets_are_shown(case, capsys):
    assert main(["show", "--dir", str(ROOT / case / "model")]) == 0
    assert capsys.readouterr().out == expected(case, "show_tagsets")


def test_signatures_of_tags_are_listed(capsys):
    assert main(["show", f"--dir={MODULE}", "--tag_set", "serve"]) == 0
    assert capsys.readouterr().out == (
        "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n"
        'SignatureDef key: "__saved_model_init_op"\nSignatureDef key: "loop"\nSignatureDef key: "words"\n'
    )


def test_one_signature_is_shown_without_indent(capsys):
    assert main(["show", "--dir", MODULE, "--tag_set", "serve", "--signature_def", "words"]) == 0
    assert capsys.readouterr().out == (
        "The given SavedModel SignatureDef contains the following input(s):\n"
        "  inputs['w'] tensor_info:\n      dtype: DT_STRING\n      shape: (-1)\n      name: words_w:0\n"
        "The given SavedModel SignatureDef contains the following output(s):\n"
        "  outputs['output_0'] tensor_info:\n      dtype: DT_INT64\n      shape: (-1)\n"
        "      name: StatefulPartitionedCall_1:0\n"
        "Method name is: tensorflow/serving/predict\n"
    )


def test_ops_are_listed_before_the_signatures(capsys):
    assert main(["show", "--dir", SIMPLE, "--tag_set", "serve", "--list_ops"]) == 0
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("The MetaGraph with tag set ['serve'] contains the following ops: {")
    assert second.endswith("SignatureDefs with the following keys:")


def test_ops_without_tags_are_refused_with_a_word(capsys):
    assert main(["show", "--dir", SIMPLE, "--list_ops"]) == 0
    assert capsys.readouterr().out.startswith("--list_ops must be paired with a tag-set or with --all.\nThe given")


def test_a_model_as_json(capsys):
    assert main(["show", "--dir", MODULE, "--json"]) == 0
    (meta_graph,) = json.loads(capsys.readouterr().out)["meta_graphs"]
    assert meta_graph["tags"] == ["serve"]
    assert meta_graph["signatures"]["loop"]["inputs"]["x"] == {
        "dtype": "DT_FLOAT",
        "shape": [-1, 3],
        "name": "loop_x:0",
    }
    assert sorted(meta_graph["functions"]) == ["loop", "poly", "words"]
    assert len(meta_graph["functions"]["poly"]) == 2


def test_custom_ops_in_functions_are_said_to_hide_the_functions(tmp_path, capsys):
    model = SavedModel.FromString((Path(MODULE) / "saved_model.pb").read_bytes())
    model.meta_graphs[0].graph_def.library.function[0].node_def[0].op = "NobodysOp"
    (tmp_path / "saved_model.pb").write_bytes(serialize(model))
    assert main(["show", "--dir", str(tmp_path), "--all"]) == 0
    assert capsys.readouterr().out.endswith(
        "\nConcrete Functions: N/A (could not be listed due to the existence of custom ops in the SavedModel)\n"
    )


# ----------------------------------------------------------------------------------------------------------------- run


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def test_a_run_prints_what_tensorflow_prints(capsys):
    path = ROOT / "g26_tf1_simple_save" / "features.npy"
    assert main([*RUN, "--inputs", f"features={path}"]) == 0
    found, wanted = capsys.readouterr().out, expected("g26_tf1_simple_save", "run")
    assert re.sub(r"[\d. ]+", "#", found) == re.sub(r"[\d. ]+", "#", wanted)
    np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-5)


def test_outputs_are_written_once_unless_told_otherwise(tmp_path, capsys):
    arguments = [*RUN, "--input_exprs", "features=np.ones((1,6))", "--outdir", str(tmp_path / "new" / "out")]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    path = tmp_path / "new" / "out" / "prob.npy"
    assert f"Output prob is saved to {path}\n" in out
    assert np.load(path).shape == (1, 3)
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("Result for output key cls:\n[2]\n")
    assert re.search(r'Error: Output file .*cls\.npy already exists\. Add "--overwrite" to overwrite', captured.err)
    assert main([*arguments, "--overwrite"]) == 0


def test_a_run_with_examples(capsys):
    directory = str(ROOT / "g27_tf1_multi" / "model")
    text = 'examples=[{"w":[1.0,2.0,3.0],"word":["green"]}]'
    code = main(
        [
            "run",
            "--dir",
            directory,
            "--tag_set",
            "serve",
            "--signature_def",
            "serving_default",
            "--input_examples",
            text,
        ]
    )
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert captured.out.startswith("Result for output key index:\n[")


def test_a_run_as_json_with_times(capsys):
    assert (
        main(
            [
                "run",
                "--dir",
                MODULE,
                "--tag_set",
                "serve",
                "--signature_def",
                "words",
                "--input_exprs",
                'w=["red","?"]',
                "--json",
                "--timing",
            ]
        )
        == 0
    )
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"output_0": [0, -1]}
    assert re.fullmatch(r"Timing: loading [\d.]+ ms, first run [\d.]+ ms, then [\d.]+ ms a run .*\n", captured.err)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "--dir", "nodir"], "OSError: SavedModel file does not exist at: nodir"),
        (
            ["show", "--dir", SIMPLE, "--tag_set", "nope"],
            "RuntimeError: MetaGraphDef associated with tag-set nope could not be found in the SavedModel. Please use "
            "one of the following tag-sets: ['serve']",
        ),
        (
            ["show", "--dir", SIMPLE, "--tag_set", "serve", "--signature_def", "nope"],
            'ValueError: Could not find signature "nope". Please choose from: serving_default',
        ),
        ([*RUN], "AttributeError: At least one of --inputs, --input_exprs or --input_examples must be required"),
        (
            [*RUN[:-1], "nope", "--input_exprs", "features=[[1]]"],
            'ValueError: Could not find signature "nope". Please choose from: serving_default',
        ),
        (
            [*RUN, "--input_exprs", "bogus=[[1]]"],
            'ValueError: "bogus" is not a valid input key. Please choose from "features", or use --show option.',
        ),
        (
            [*RUN, "--input_exprs", "features=[[1,2,3]]"],
            'signature "serving_default": input "features": expected float32 [?, 6], got',
        ),
        ([*RUN, "--input_exprs", "features=exit()"], 'RuntimeError: Expression "exit()" is not a valid python literal'),
        ([*RUN, "--inputs", "features=nofile.npy"], "OSError:"),
        ([*RUN, "--input_exprs", "features=[[1]]", "--worker", "grpc://x"], "NotImplementedError: --worker"),
        (["freeze_model", "--dir", "x"], "python -m tensorkeep.tools.freeze_graph"),
        (["convert", "--dir", "x", "tensorrt"], "TensorRT"),
        (["aot_compile_cpu", "--cpp_class", "x"], "aot_compile_cpu needs the compiler in TensorFlow"),
    ],
)
def test_an_error_is_a_line_in_tensorflows_words(arguments, words, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Too few arguments."),
        (["show"], "flag --dir=None: Flag --dir must have a value other than None."),
        (["run", "--dir", "x", "--tag_set", "y"], "Flag --signature_def must have a value other than None."),
        (["bogus"], "invalid choice"),
        (["show", "--dir", "x", "--bogus"], "unrecognized arguments: --bogus"),
        (["show", "--dir", "x", "--all=perhaps"], "not a boolean"),
    ],
)
def test_wrong_flags_are_status_two(arguments, words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_flags_have_the_forms_of_absl():
    given = ["show", "-dir", "x", "--all", "--noall", "--all=false", "--allow-pickle", "--tag_set=a,b"]
    assert normalized_arguments(given) == [
        "show", "--dir", "x", "--all=true", "--all=false", "--all=false", "--allow_pickle=true", "--tag_set=a,b",
    ]  # fmt: skip


def test_a_pickle_is_refused_unless_it_is_allowed(tmp_path, capsys):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(np.ones((1, 6))))
    assert main([*RUN, "--inputs", f"features={path}"]) == 1
    assert "runs the Python code in it" in capsys.readouterr().err
    assert main([*RUN, "--inputs", f"features={path}", "--allow-pickle"]) == 0


def test_a_model_that_prints_may_not_unless_it_is_allowed(tmp_path, capsys):
    model = model_with("ReadFile")
    info = model.meta_graphs[0].signature_def["serving_default"]
    info.outputs["y"].dtype = 7
    node = model.meta_graphs[0].graph_def.node.add(op="Placeholder", name="x")
    node.attr["dtype"].type = 1
    info.inputs["x"].name = "x:0"
    info.inputs["x"].dtype = 1
    (tmp_path / "saved_model.pb").write_bytes(serialize(model))
    arguments = ["run", "--dir", str(tmp_path), "--tag_set", "serve", "--signature_def", "serving_default"]
    assert main([*arguments, "--input_exprs", "x=1.0"]) == 1
    assert "not in its directory" in capsys.readouterr().err
    assert main([*arguments, "--input_exprs", "x=1.0", "--allow", "reads files"]) == 0
    assert "root" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------------------------- scan


@pytest.mark.parametrize("case", CASES)
def test_a_scan_says_what_tensorflow_says(case, capsys):
    assert main(["scan", "--dir", str(ROOT / case / "model")]) == 0
    captured = capsys.readouterr()
    assert without_order(captured.out) == without_order(expected(case, "scan"))
    assert captured.err == ""


def test_a_list_of_ops_of_ones_own(capsys):
    assert main(["scan", "--dir", SIMPLE, "--tag_set", "serve", "--op_denylist", "MatMul, Nothing"]) == 0
    assert (
        capsys.readouterr().out
        == "MetaGraph with tag set ['serve'] contains the following denylisted ops: {'MatMul'}\n"
    )
    assert main(["scan", "--dir", SIMPLE, "--op_denylist", "Nothing"]) == 0
    assert capsys.readouterr().out.endswith("does not contain the default denylisted ops: {'Nothing'}\n")


@pytest.fixture
def evil(tmp_path: Path) -> str:
    (tmp_path / "saved_model.pb").write_bytes(serialize(model_with("PyFunc")))
    return str(tmp_path)


def test_what_tensorflow_overlooks_is_told_on_standard_error(evil, capsys):
    assert main(["scan", "--dir", evil]) == 0
    captured = capsys.readouterr()
    assert "does not contain the default denylisted ops" in captured.out
    assert "WARNING: the whole scan finds calls-python (1)" in captured.err


def test_a_report_has_a_status_for_programs(evil, capsys):
    assert main(["scan", "--dir", SIMPLE, "--report", "text"]) == 0
    assert main(["scan", "--dir", evil, "--report", "text"]) == 3
    assert "PyFunc calls Python functions" in capsys.readouterr().out
    assert main(["scan", "--dir", evil, "--allow", "calls-python"]) == 0
    assert main(["scan", "--dir", evil, "--allow", "prints"]) == 3
    Path(evil, "saved_model.pb").write_bytes(b"\xff\xff")
    assert main(["scan", "--dir", evil, "--report", "text"]) == 4
    assert main(["scan", "--dir", evil, "--report", "xml"]) == 1


def test_a_report_in_other_forms(evil, capsys):
    assert main(["scan", "--dir", evil, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["counts"] == {"calls-python": 1}
    assert main(["scan", "--dir", evil, "--report=sarif"]) == 3
    assert json.loads(capsys.readouterr().out)["version"] == "2.1.0"


def test_the_only_ops_that_are_allowed_come_from_the_line_or_a_file(evil, tmp_path, capsys):
    assert main(["scan", "--dir", evil, "--allow_ops", "Const"]) == 3
    listed = tmp_path / "ops.txt"
    listed.write_text("Const PyFunc  # these two\n")
    assert main(["scan", "--dir", evil, "--allow_ops", f"@{listed}"]) == 0
    listed.write_text("# none\n")
    assert main(["scan", "--dir", evil, "--allow_ops", f"@{listed}"]) == 3


def test_keras_metadata_is_scanned(evil, capsys):
    Path(evil, "saved_model.pb").write_bytes(serialize(model_with()))
    model = SavedModel.FromString(Path(evil, "saved_model.pb").read_bytes())
    model.meta_graphs[0].object_graph_def.nodes.add().user_object.metadata = LAMBDA_LAYER
    Path(evil, "saved_model.pb").write_bytes(serialize(model))
    assert main(["scan", "--dir", evil, "--report", "text"]) == 3


# ------------------------------------------------------------------------------------------------------------- start-up


def test_showing_a_model_imports_no_kernels():
    code = (
        "import sys; from tensorkeep.tools.saved_model_cli import main; "
        f"main(['show', '--dir', {MODULE!r}, '--all']); main(['scan', '--dir', {MODULE!r}]); "
        "print([name for name in sys.modules if name.startswith(('tensorkeep.ops', 'tensorkeep.runtime.session'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_running_a_model_imports_only_the_families_that_it_needs():
    code = (
        "import sys; from tensorkeep.tools.saved_model_cli import main; "
        f"main({[*RUN, '--input_exprs', 'features=np.ones((1,6))']!r}); "
        "unused = ('tensorkeep.ops.nn.ctc', 'tensorkeep.ops.linear_algebra.decompositions'); "
        "print([name for name in unused if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_it_is_installed_under_a_name_that_tensorflow_does_not_use() -> None:
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text("utf-8")
    scripts = dict(
        re.findall(r'^([\w-]+) = "([\w.]+:\w+)"', text.partition("[project.scripts]")[2].partition("\n[")[0], re.M)
    )
    assert "saved_model_cli" not in scripts
    module, _, function = scripts["tensorkeep-saved-model-cli"].partition(":")
    assert getattr(importlib.import_module(module), function) is main
