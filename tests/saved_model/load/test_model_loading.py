"""Loaded models: signatures, functions, variables and assets of what TensorFlow 1 and 2 exported."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    PermissionDeniedError,
    TensorKeepError,
    WrongTypeError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.runtime import session as session_module
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.runtime.limits import Limits
from tensorkeep.saved_model.edit.message_edits import (
    drop_signature,
    rename_signature,
    replace_tags,
    strip_default_attrs,
    strip_devices,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signatures
from tensorkeep.saved_model.export.graph_exporting import from_function
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY
from tensorkeep.saved_model.files.fingerprint import write_fingerprint
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.testing.filesystems import FileSystemWrapper
from tests.saved_model.handmade import graph_model, object_meta_graph, object_model, placeholder
from tests.saved_model.models import build_model, store
from tests.support.golden import decode, expected, golden

CASES = [
    "g26_tf1_simple_save",
    "g27_tf1_multi",
    "g28_tf2_module",
    "g29_keras_dense",
    "g30_keras_conv_bn",
    "g31_keras_lstm",
    "g32_keras_strings",
    "g33_tf2_composite",
]
RUNS = [(case, run["run"]) for case in CASES for run in expected(case)["runs"]]


def flat(outputs: Any) -> dict[str, Any]:
    """Outputs as the golden files name them: parts of sparse tensors behind a dot, a single result "0"."""
    found: dict[str, Any] = {}
    for name, value in (outputs if isinstance(outputs, dict) else {"0": outputs}).items():
        if hasattr(value, "_asdict"):
            found.update({f"{name}.{part}": array for part, array in value._asdict().items()})
        else:
            found[name] = value
    return found


@pytest.mark.parametrize(("case", "name"), RUNS)
def test_a_golden_model_gives_what_it_gave_in_tensorflow(case: str, name: str) -> None:
    run = next(item for item in expected(case)["runs"] if item["run"] == name)
    given = {key: decode(case, item, "inputs") for key, item in run["inputs"].items()}
    with tk.load_saved_model(golden(case) / expected(case)["dir"], run.get("tags")) as model:
        function: Any = model.signatures[run["signature"]] if "signature" in run else model.functions[run["function"]]
        found = flat(function(**given))
    assert found.keys() == run["outputs"].keys()
    for key, item in run["outputs"].items():
        wanted = decode(case, item, "outputs")
        if wanted.dtype == object:
            np.testing.assert_array_equal(found[key], wanted)
        else:
            assert found[key].dtype == wanted.dtype
            np.testing.assert_allclose(found[key], wanted, rtol=1e-5, atol=1e-6)


def test_importing_the_package_leaves_graphs_and_models_for_later() -> None:
    script = "import sys, tensorkeep; print([m for m in sys.modules if m.startswith('tensorkeep.saved_model')])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---------------------------------------------------------------------------------------------------- signatures


def test_values_that_a_signature_does_not_take_are_all_named_with_what_it_takes() -> None:
    with (
        tk.load_saved_model(golden("g29_keras_dense") / "model") as model,
        pytest.raises(InvalidArgumentError) as error,
    ):
        model.signatures["serving_default"](a=np.ones((2, 3)), c=1)
    text = str(error.value)
    assert 'there is no input "c"' in text
    assert 'input "b" is missing' in text
    assert 'input "a": expected float32 [?, 4], got float32 [2, 3]' in text
    assert "It takes a: float32 [?, 4], b: float32 [?, 2]" in text


def test_a_model_and_its_signatures_say_why_they_cannot_be_pickled() -> None:
    with tk.load_saved_model(golden("g29_keras_dense") / "model") as model:
        with pytest.raises(WrongTypeError, match="cannot be pickled, as it has files and threads of this process"):
            pickle.dumps(model)
        with pytest.raises(WrongTypeError, match='the signature "serving_default" cannot be pickled'):
            pickle.dumps(model.signatures["serving_default"])


def test_a_missing_signature_is_an_error_that_lists_those_there_are() -> None:
    with (
        tk.load_saved_model(golden("g28_tf2_module") / "model") as model,
        pytest.raises(NotFoundError, match='no signature "nope"; it has "loop", "words"'),
    ):
        model.signatures["nope"]


def test_inputs_without_names_are_told_what_they_are_called() -> None:
    with (
        tk.load_saved_model(golden("g28_tf2_module") / "model") as model,
        pytest.raises(WrongTypeError, match=r"a signature takes its inputs by their names, \w+=\.\.\."),
    ):
        model.signatures["words"](np.array(["a"]))


@pytest.mark.parametrize("value", [np.array([1.5]), "text", 1 << 40, None])
def test_numbers_that_would_change_are_refused(value: Any) -> None:
    with (
        tk.load_saved_model(golden("g28_tf2_module") / "model") as model,
        pytest.raises(InvalidArgumentError, match='input "n"'),
    ):
        model.signatures["loop"](n=value, x=np.ones((1, 3)))


def test_lists_and_wider_numbers_are_taken_for_arrays() -> None:
    with tk.load_saved_model(golden("g28_tf2_module") / "model") as model:
        found = model.signatures["loop"](n=1, x=[[1, 2, 3]])
    assert found["y"].dtype == np.float32


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_of_numpy_is_a_plain_array() -> None:
    fs = MemoryFileSystem()
    from_function(lambda x: {"y": x * x}, {"x": ("float64", [2, 2])}, "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        found = model.signatures["serving_default"](x=np.asmatrix([[1.0, 2.0], [3.0, 4.0]]))
    assert found["y"].tolist() == [[1, 4], [9, 16]]


# ----------------------------------------------------------------------------------------------------- functions


def test_a_function_is_chosen_by_its_python_arguments() -> None:
    x = np.ones((2, 3), np.float32)
    with tk.load_saved_model(golden("g28_tf2_module") / "model") as model:
        poly = model.functions["poly"]
        np.testing.assert_array_equal(poly(x), poly(x, training=False))
        assert not np.array_equal(poly(x), poly(x, True))
        with pytest.raises(InvalidArgumentError, match=r"not saved for these arguments.*\(float32 \[2, 3\], False\)"):
            poly(x, training=1)
        with pytest.raises(InvalidArgumentError, match='the argument "x" is missing'):
            poly()


def test_composite_arguments_and_results_are_tuples_of_arrays() -> None:
    with tk.load_saved_model(golden("g33_tf2_composite") / "model") as model:
        values, splits = np.array([1, 2, 3], np.float32), np.array([0, 1, 3])
        by_function = model.functions["ragged"](RaggedTensorValue(values, splits))
        by_signature = model.signatures["ragged"](r=values, r_1=splits)
    assert by_signature["doubled"].to_list() == [[2.0], [4.0, 6.0]]
    assert by_function["doubled"].to_list() == by_signature["doubled"].to_list()


def test_functions_share_the_variables_that_they_change() -> None:
    with tk.load_saved_model(golden("g28_tf2_module") / "model") as model:
        before = model.variables["count"]
        model.signatures["loop"](n=1, x=np.ones((1, 3)))
        model.functions["loop"](np.ones((1, 3), np.float32), 1)
        assert model.variables["count"] == before + 2


# ----------------------------------------------------------------------------------------------- objects by hand


def test_a_model_of_objects_is_read_when_it_is_called() -> None:
    fs = MemoryFileSystem()
    with tk.load_saved_model(object_model(fs), fs=fs) as model:
        assert list(model.variables) == ["w"]
        assert model.functions["scale"]([1, 2]).tolist() == [2, 4]
        assert model.variables["w"].tolist() == [2]


def test_variables_that_differ_from_what_is_stored_are_damage() -> None:
    fs = MemoryFileSystem()
    with (
        tk.load_saved_model(object_model(fs, [1.0, 2.0]), fs=fs) as model,
        pytest.raises(DataLossError, match=r'"w" is float32 \[1\], stored is float32 \[2\]'),
    ):
        model.functions["scale"]([1.0])


@pytest.mark.parametrize("captured", [-1, 0, 2, 3, 99])
def test_a_function_that_captures_what_it_cannot_is_an_error(captured: int) -> None:
    """Number 3 is a resource that is needed to make itself."""
    fs = MemoryFileSystem()
    meta_graph = object_meta_graph()
    objects = meta_graph.object_graph_def
    resource = objects.nodes.add()
    resource.resource.SetInParent()
    resource.children.add(node_id=2, local_name="_create_resource")
    objects.concrete_functions["scale_1"].bound_inputs[0] = captured
    with tk.load_saved_model(object_model(fs, meta_graph=meta_graph), fs=fs) as model, pytest.raises(TensorKeepError):
        model.functions["scale"]([1.0])


def meta_graph_with_constant(captured: str) -> MetaGraphDef:
    """`scale` multiplies by a constant, by this name, in place of the variable; two constants of the graph are "c"."""
    meta_graph = object_meta_graph()
    with building(Graph()) as graph:
        x, factor = placeholder("x", None), placeholder("factor", 1)
        function = function_def("scale_1", graph, [x, factor], [get_op("Mul")(x, factor)])
    meta_graph.graph_def.library.function[0].CopyFrom(function)
    for value in (3.0, 4.0):
        node = meta_graph.graph_def.node.add(name="c", op="Const")
        node.attr["dtype"].type = FLOAT32.number
        node.attr["value"].tensor.CopyFrom(tensor_of_array(np.array([value], np.float32), FLOAT32))
    objects = meta_graph.object_graph_def
    objects.concrete_functions["scale_1"].bound_inputs[0] = len(objects.nodes)
    objects.nodes.add().constant.operation = captured
    return meta_graph


def test_a_captured_constant_is_the_first_of_the_graph_with_its_name() -> None:
    fs = MemoryFileSystem()
    with tk.load_saved_model(object_model(fs, meta_graph=meta_graph_with_constant("c")), fs=fs) as model:
        assert model.functions["scale"]([1, 2]).tolist() == [3, 6]


def test_a_captured_constant_that_the_graph_does_not_have_is_damage() -> None:
    fs = MemoryFileSystem()
    with (
        tk.load_saved_model(object_model(fs, meta_graph=meta_graph_with_constant("d")), fs=fs) as model,
        pytest.raises(DataLossError, match='captures the constant "d", which the graph does not have'),
    ):
        model.functions["scale"]([1.0])


def test_a_closed_model_does_nothing_any_more() -> None:
    fs = MemoryFileSystem()
    model = tk.load_saved_model(object_model(fs), fs=fs)
    scale = model.functions["scale"]
    scale([1.0])
    model.close()
    model.close()
    with pytest.raises(FailedPreconditionError):
        scale([1.0])
    with pytest.raises(FailedPreconditionError, match="Load it again"):
        model.variables["w"]


@pytest.mark.parametrize("case", ["g26_tf1_simple_save", "g28_tf2_module"])
def test_a_signature_of_a_closed_model_is_an_error(case: str) -> None:
    model = tk.load_saved_model(golden(case) / "model")
    signature = next(iter(model.signatures.values()))
    given = {
        name: np.zeros([size or 1 for size in spec.shape], spec.dtype.array_dtype)
        for name, spec in signature.inputs.items()
        if spec.dtype is not None
    }
    model.close()
    with pytest.raises(FailedPreconditionError):
        signature(**given)


# ------------------------------------------------------------------------------------------- tags, files, safety


def test_of_several_meta_graphs_the_one_for_serving_is_meant() -> None:
    with tk.load_saved_model(golden("g27_tf1_multi") / "model") as model:
        assert model.tags == {"serve"}
        assert set(model.tag_sets) == {frozenset({"serve"}), frozenset({"serve", "gpu"})}
        assert list(model.assets) == ["vocab.txt", "vocab.txt_1", "vocab.txt_2"]
    with pytest.raises(NotFoundError, match=r"\[.*serve.*\]"):
        tk.load_saved_model(golden("g27_tf1_multi") / "model", "nope")


def test_a_folder_without_a_model_is_an_error() -> None:
    with pytest.raises(MissingFileError, match="SavedModel file does not exist"):
        tk.load_saved_model("nowhere", fs=MemoryFileSystem())


def test_variables_of_a_graph_are_there_by_name() -> None:
    with tk.load_saved_model(golden("g26_tf1_simple_save") / "model") as model:
        assert model.variables["dense0/kernel"].shape == (6, 8)
        assert model.variable_specs["dense0/bias"].shape.dims == (8,)


@pytest.mark.parametrize(("op", "dtype", "attrs"), [("PrintV2", "string", {}), ("MatchingFiles", "string", {})])
def test_a_model_reads_and_prints_nothing_unless_it_is_allowed(op: str, dtype: str, attrs: dict[str, Any]) -> None:
    fs = MemoryFileSystem()
    fs.make_directory("secret")
    atomic_write(fs, "secret/key", b"1")
    directory = graph_model(fs, op, dtype, **attrs)
    with (
        tk.load_saved_model(directory, fs=fs) as model,
        pytest.raises(PermissionDeniedError, match=r"[iI]f you trust it"),
    ):
        model.signatures["serving_default"](x="secret/key")
    with tk.load_saved_model(directory, allow=[op], fs=fs) as model:
        assert model.signatures["serving_default"](x="secret/key")["y"] == b"secret/key"


def test_a_description_has_signatures_functions_variables_and_assets() -> None:
    with tk.load_saved_model(golden("g28_tf2_module") / "model") as model:
        text = model.describe()
    assert "Signature loop (tensorflow/serving/predict)\n  takes  n  int32 []\n         x  float32 [?, 3]" in text
    assert "poly(float32 [2, 3], True) -> float32 [2, 3]" in text
    assert "subs/0/w  float32 [3, 3]" in text
    assert "Assets\n  _words.txt" in text


def with_start_signature(fs: MemoryFileSystem) -> None:
    """Names what runs first by a signature, as TensorFlow 1.15 does, not by a collection."""
    build_model(fs)
    model = read_saved_model("m", fs)
    for meta_graph in model.meta_graphs:
        if "saved_model_main_op" in meta_graph.collection_def:
            (name,) = meta_graph.collection_def["saved_model_main_op"].node_list.value
            del meta_graph.collection_def["saved_model_main_op"]
            meta_graph.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY].name = name
    atomic_write(fs, "m/saved_model.pb", model.SerializeToString())


def test_the_signature_that_names_what_runs_first_is_run_and_not_offered() -> None:
    with_start_signature(fs := store())
    with tk.load_saved_model("m", "serve", fs=fs) as model:
        assert sorted(model.signatures) == ["serving_default", "word"]
        assert model.signatures["word"](word=[b"green", b"?"])["place"].tolist() == [1.0, -1.0]
        assert INIT_OP_SIGNATURE_KEY not in model.describe()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: rename_signature(model, "word", "place", ["serve"]),
        lambda model: drop_signature(model, "word", ["serve"]),
        lambda model: replace_tags(model, ["serve"], ["serve"]),
        strip_devices,
        strip_default_attrs,
        lambda model: prune_to_signatures(model, ["word"], ["serve"]),
    ],
)
def test_an_edited_model_keeps_the_signature_that_names_what_runs_first(change: Any) -> None:
    with_start_signature(fs := store())
    before = meta_graph_with_tags(read_saved_model("m", fs), ["serve"])
    after = meta_graph_with_tags(change(read_saved_model("m", fs)), ["serve"])
    assert after.signature_def[INIT_OP_SIGNATURE_KEY] == before.signature_def[INIT_OP_SIGNATURE_KEY]
    assert after.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY].name in {
        node.name for node in after.graph_def.node
    }


class OpenedFiles(FileSystemWrapper):
    """Notes the path of every file that is opened to be read."""

    def __init__(self, inner: MemoryFileSystem) -> None:
        super().__init__(inner)
        self.paths: list[str] = []

    def _look(self, action: str, path: str, act: Callable[[], Any]) -> Any:
        if action == "open":
            self.paths.append(path)
        return super()._look(action, path, act)


@pytest.mark.parametrize("on_fingerprint", [tk.OnFingerprint.WARN, tk.OnFingerprint.RAISE])
def test_the_index_of_the_variables_is_opened_once(on_fingerprint: tk.OnFingerprint) -> None:
    memory = store()
    build_model(memory)
    write_fingerprint(read_saved_model("m", memory), "m", fs=memory)
    files = OpenedFiles(memory)
    with tk.load_saved_model("m", "serve", on_fingerprint=on_fingerprint, fs=files) as model:
        np.testing.assert_array_equal(model.signatures["serving_default"](x=[[1, 1]], scale=1)["y"], [[5, 7, 9]])
        np.testing.assert_array_equal(model.variables["w"], [[1, 2, 3], [4, 5, 6]])
    assert files.paths.count("m/variables/variables.index") == 1
    assert files.paths.count("m/variables/variables.data-00000-of-00001") == 1


@pytest.mark.parametrize("limits", [Limits(), Limits(bytes=1 << 30, steps=1000)])
def test_texts_and_bytes_are_the_same_to_a_model(limits: Limits) -> None:
    """Of texts that are only looked up, the model is given one piece of bytes; a zero in one of them is kept."""
    colors = ["red", "green", "none of them", "", "re\0d", "blue"] * 7
    with tk.load_saved_model(golden("g32_keras_strings") / "model", limits=limits) as model:
        signature = model.signatures["serving_default"]
        for some in (colors, colors[:3], colors[1:4] * 20):
            given = {"text": [["A b"]] * len(some), "num": np.ones((len(some), 2), np.float32)}
            texts, encoded = (np.array([[to(color)] for color in some], object) for to in (str, str.encode))
            found, wanted = (
                signature(color=value, text=np.array(given["text"], object), num=given["num"])["output_0"]
                for value in (texts, encoded)
            )
            np.testing.assert_array_equal(found, wanted)
            assert len(found) == len(some)


def test_an_input_that_its_signature_checked_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = store()
    build_model(memory)
    looks: list[str] = []
    feed_value = session_module._feed_value
    monkeypatch.setattr(
        session_module, "_feed_value", lambda tensor, *rest: looks.append(tensor.name) or feed_value(tensor, *rest)
    )
    with tk.load_saved_model("m", "serve", fs=memory) as model:
        signature = model.signatures["serving_default"]
        signature(x=[[1, 1]], scale=1)
        looks.clear()
        signature(x=[[1, 1]], scale=1)
        model.signatures["word"](word=["red"])
    assert looks == []


def test_an_input_is_checked_by_the_graph_where_that_asks_for_more_than_the_signature() -> None:
    memory = store()
    build_model(memory)
    stored = read_saved_model("m", memory)
    for meta_graph in stored.meta_graphs:
        for key in meta_graph.signature_def:
            for info in meta_graph.signature_def[key].inputs.values():
                info.tensor_shape.Clear()
                info.tensor_shape.unknown_rank = True
    atomic_write(memory, "m/saved_model.pb", stored.SerializeToString())
    with (
        tk.load_saved_model("m", "serve", fs=memory) as model,
        pytest.raises(InvalidArgumentError, match=r"Cannot feed value of shape \(1, 3\) for Tensor x:0"),
    ):
        model.signatures["serving_default"](x=[[1, 1, 1]], scale=1)
