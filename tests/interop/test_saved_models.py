"""SavedModels beside TensorFlow: the same programs give the same files, and each loads what the other has saved."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.proto.messages import SavedModel
from tests.interop.meta_graphs import differences
from tests.interop.programs import tensorflow_1
from tests.interop.saved_model_programs import FEEDS, PROGRAMS, START, with_start_signature
from tests.support.golden import decode, expected, golden

v1 = tf.compat.v1

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Each program's model, as saved by us and by TensorFlow, from the same folder, for paths are part of a graph."""
    found = {}
    for name, program in PROGRAMS.items():
        place = tmp_path_factory.mktemp(name)
        program(ours, place / "ours")
        with tensorflow_1():
            program(v1, place / "theirs")
        found[name] = (place / "ours", place / "theirs")
    return found


def files_of(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_saves_the_files_that_tensorflow_saves(name: str, saved: dict[str, tuple[Path, Path]]) -> None:
    mine, their = (files_of(directory) for directory in saved[name])
    assert sorted(mine) == sorted(their)
    for file in mine:
        if file.startswith(("variables", "assets")):
            assert mine[file] == their[file], file
    assert [path.name for path in saved[name][0].parent.iterdir() if "tensorkeep" in path.name] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_saves_the_model_that_tensorflow_saves(name: str, saved: dict[str, tuple[Path, Path]]) -> None:
    mine, their = (files_of(directory) for directory in saved[name])
    if "saved_model.pb" in mine:
        one, other = SavedModel.FromString(mine["saved_model.pb"]), SavedModel.FromString(their["saved_model.pb"])
        assert len(one.meta_graphs) == len(other.meta_graphs)
        found = [line for pair in zip(one.meta_graphs, other.meta_graphs, strict=True) for line in differences(*pair)]
        assert found == []
        assert mine["saved_model.pb"] == their["saved_model.pb"]
    if "saved_model.pbtxt" in mine:
        assert mine["saved_model.pbtxt"].decode() == their["saved_model.pbtxt"].decode()


def run_signature(library: Any, directory: Path, tags: Any, key: str, feeds: dict[str, Any], scope: str | None) -> Any:
    """The outputs of a signature, loaded as TensorFlow 1 does it."""
    with library.Session(graph=library.Graph()) as session:
        meta_graph = library.saved_model.load(session, list(tags), str(directory), import_scope=scope)
        signature = meta_graph.signature_def[key]
        prefix = f"{scope}/" if scope else ""
        given = {prefix + signature.inputs[name].name: value for name, value in feeds.items()}
        return session.run({name: prefix + info.name for name, info in signature.outputs.items()}, given)


def assert_same(found: Any, wanted: Any) -> None:
    """Equal; numbers with a fraction up to the last bits, which depend on the processor that multiplies matrices."""
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    else:
        np.testing.assert_array_equal(found, wanted)


CASES = [(name, tags, key) for name, runs in FEEDS.items() for tags, key in runs]


@pytest.mark.parametrize("scope", [None, "inner"])
@pytest.mark.parametrize(("name", "tags", "key"), CASES)
def test_either_loads_and_runs_what_the_other_saved(
    name: str, tags: tuple[str, ...], key: str, scope: str | None, saved: dict[str, tuple[Path, Path]]
) -> None:
    feeds = FEEDS[name][tags, key]
    mine, their = saved[name]
    with tensorflow_1():
        wanted = run_signature(v1, their, tags, key, feeds, scope)
        crossed = run_signature(v1, mine, tags, key, feeds, scope)
    for found in (crossed, run_signature(ours, their, tags, key, feeds, scope)):
        assert found.keys() == wanted.keys()
        for output in wanted:
            assert_same(found[output], wanted[output])


@pytest.mark.parametrize(("name", "tags", "key"), [case for case in CASES if case[0] != "own_saver"])
def test_what_we_save_is_loaded_by_tensorflow_2(
    name: str, tags: tuple[str, ...], key: str, saved: dict[str, tuple[Path, Path]]
) -> None:
    loaded = tf.saved_model.load(str(saved[name][0]), tags=list(tags))
    feeds = {
        argument: tf.constant(value.tolist() if value.dtype == object else value)
        for argument, value in FEEDS[name][tags, key].items()
    }
    found = loaded.signatures[key](**feeds)
    wanted = run_signature(ours, saved[name][0], tags, key, FEEDS[name][tags, key], None)
    for output, value in wanted.items():
        assert_same(found[output].numpy(), value)


def test_a_model_with_sparse_values_goes_both_ways(saved: dict[str, tuple[Path, Path]]) -> None:
    value = ([[0, 1], [1, 3]], np.float32([5, 6]), [2, 4])
    results = []
    for library, directory in ((ours, saved["no_variables"][1]), (v1, saved["no_variables"][0])):
        with tensorflow_1(), library.Session(graph=library.Graph()) as session:
            signature = library.saved_model.load(session, ["serve"], str(directory)).signature_def["serving_default"]
            get = library.saved_model.get_tensor_from_tensor_info
            sparse = get(signature.inputs["sparse"])
            fetches = [get(signature.outputs[name]) for name in ("dense", "doubled")]
            dense, doubled = session.run(fetches, {sparse: library.SparseTensorValue(*value)})
            results.append((dense.tolist(), doubled.values.tolist(), doubled.indices.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == [[0, 5, 0, 0], [0, 0, 0, 6]]


# ---------------------------------------------------------------------------------------------------------- signatures


def infos(tf: Any) -> list[Any]:
    with tf.Graph().as_default():
        values = tf.placeholder(tf.float32, [None, 3], name="values")
        indices = tf.placeholder(tf.int64, [None], name="indices")
        shape = tf.constant([5, 3], tf.int64)
        tensors = [
            values,
            tf.placeholder(tf.string, name="any"),
            tf.placeholder(tf.bool, [], name="scalar"),
            tf.get_variable("reference", [2], tf.float64),
            tf.get_variable("resource", [2], tf.int32, use_resource=True),
            tf.IndexedSlices(values, indices),
            tf.IndexedSlices(values, indices, shape),
            tf.sparse_placeholder(tf.float16, [None, 4], name="sparse"),
            tf.sparse_placeholder(tf.int8, name="sparse_of_any_shape"),
            tf.RaggedTensor.from_row_splits(values, indices),
            tf.RaggedTensor.from_nested_row_splits(
                values, [tf.placeholder(tf.int32, [3], name="outer"), tf.placeholder(tf.int32, [None], name="inner")]
            ),
            tf.RaggedTensor.from_uniform_row_length(values, 2),
        ]
        return [tf.saved_model.utils.build_tensor_info(tensor) for tensor in tensors]


def test_tensor_infos_are_tensorflows() -> None:
    mine = infos(ours)
    with tensorflow_1():
        their = infos(v1)
    assert [str(info) for info in mine] == [str(info) for info in their]


def test_a_model_with_ragged_values_goes_both_ways(tmp_path: Path) -> None:
    results = []
    for library, other, name in ((ours, v1, "ours"), (v1, ours, "theirs")):
        with tensorflow_1():
            with library.Graph().as_default(), library.Session() as session:
                values = library.placeholder(library.float32, [None], name="values")
                splits = library.placeholder(library.int64, [None], name="splits")
                ragged = library.RaggedTensor.from_row_splits(values, splits)
                doubled = ragged.with_values(ragged.values * 2.0)
                signature = library.saved_model.predict_signature_def(
                    {"values": values, "splits": splits}, {"y": doubled}
                )
                builder = library.saved_model.Builder(str(tmp_path / name))
                builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
                builder.save()
            with other.Session(graph=other.Graph()) as session:
                meta_graph = other.saved_model.load(session, ["serve"], str(tmp_path / name))
                info = meta_graph.signature_def["serving_default"].outputs["y"]
                found = other.saved_model.get_tensor_from_tensor_info(info)
                value = session.run(found, {"values:0": [1, 2, 3], "splits:0": [0, 2, 2, 3]})
                results.append(value.to_list())
    assert results == [[[2, 4], [], [6]]] * 2
    mine, their = (
        SavedModel.FromString((tmp_path / name / "saved_model.pb").read_bytes()).meta_graphs[0]
        for name in ("ours", "theirs")
    )
    assert differences(mine, their) == []  # TensorFlow lists what is in a branch in no order


def complaint(tf: Any, arguments: str) -> str:
    """What TensorFlow or we say to wrong arguments of a function that makes signatures."""
    with tf.Graph().as_default():
        names = {"text": tf.constant("a"), "number": tf.constant(1.0), "whole": tf.constant(1), "None": None}
        function, _, rest = arguments.partition(" ")
        given = [names[name] for name in rest.split()]
        try:
            getattr(tf.saved_model.signature_def_utils, function)(*given)
        except Exception as error:
            kind = next(item for item in (KeyError, ValueError, TypeError, AssertionError) if isinstance(error, item))
            return f"{kind.__name__} {str(error).replace(type(tf).__name__, '')}"
        return "nothing"


@pytest.mark.parametrize(
    "arguments",
    [
        "predict_signature_def None None",
        "classification_signature_def None text number",
        "classification_signature_def text None None",
        "classification_signature_def number text number",
        "classification_signature_def text number number",
        "classification_signature_def text text whole",
        "classification_signature_def text text number",
        "regression_signature_def None number",
        "regression_signature_def text None",
        "regression_signature_def number number",
        "regression_signature_def text whole",
        "regression_signature_def text number",
    ],
)
def test_wrong_arguments_of_signatures_are_refused_in_the_same_words(arguments: str) -> None:
    with tensorflow_1():
        their = complaint(v1, arguments)
    mine = complaint(ours, arguments)
    assert mine.split(". ")[0].rstrip(".") == their.split(". ")[0].rstrip(".")


# ---------------------------------------------------------------------------------------------------------------- names

DEEPRECS = "save_incr_model"  # an argument that DeepRec adds at the end
LACKING = {
    "": {"experimental"},  # policies for variables that are spread over machines, and fingerprints
}


@pytest.mark.parametrize(
    "module",
    [
        "",
        "builder",
        "constants",
        "loader",
        "main_op",
        "signature_constants",
        "signature_def_utils",
        "tag_constants",
        "utils",
    ],
)
def test_the_modules_have_tensorflows_names_and_arguments(module: str) -> None:
    mine: Any = getattr(ours.saved_model, module) if module else ours.saved_model
    their: Any = getattr(v1.saved_model, module) if module else v1.saved_model
    names = {name for name in dir(their) if not name.startswith("_")}
    public = set(mine.__all__) - ({"simple_save"} if module == "builder" else set())
    assert names - public == LACKING.get(module, set())
    assert public - names == set()
    for name in public:
        one, other = getattr(mine, name), getattr(their, name)
        if isinstance(other, str | int):
            assert one == other
        elif not isinstance(one, ModuleType):
            taken = [item for item in inspect.signature(one).parameters if item != DEEPRECS]
            assert taken == list(inspect.signature(other).parameters), name
            named = [item for item in dir(other) if inspect.isclass(other) and not item.startswith("_")]
            fields = set(getattr(one, "__dataclass_fields__", ()))
            assert [item for item in named if not hasattr(one, item) and item not in fields] == []
            for method in [item for item in named if callable(getattr(other, item))]:
                wanted = inspect.signature(getattr(other, method)).parameters
                assert list(inspect.signature(getattr(one, method)).parameters) == list(wanted), (name, method)


# --------------------------------------------------------------------------------------------------------------- golden


def test_a_golden_model_saved_again_by_us_runs_in_tensorflow(tmp_path: Path) -> None:
    case = "g26_tf1_simple_save"
    what = expected(case)
    (run,) = what["runs"]
    with ours.Session(graph=ours.Graph()) as session:
        meta_graph = ours.saved_model.load(session, run["tags"], str(golden(case) / what["dir"]))
        builder = ours.saved_model.Builder(str(tmp_path / "again"))
        builder.add_meta_graph_and_variables(session, run["tags"], dict(meta_graph.signature_def))
        builder.save()
    feeds = {name: decode(case, entry, "inputs") for name, entry in run["inputs"].items()}
    with tensorflow_1():
        found = run_signature(v1, tmp_path / "again", run["tags"], run["signature"], feeds, None)
    for name, entry in run["outputs"].items():
        np.testing.assert_allclose(found[name], decode(case, entry, "outputs"), rtol=1e-5)


# ------------------------------------------------------------------------------------- What the loader gives back


def save_stripped(directory: Path) -> None:
    """A model whose nodes, of many ops, say nothing that is so by default; a function among them."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 2], tf.float32)])
    def pooled(images: Any) -> Any:
        return tf.nn.max_pool2d(images, 2, 2, "VALID")

    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 4, 4, 2], name="x")
        kernel = v1.get_variable("kernel", [2, 2, 2, 3], use_resource=True)
        old = v1.get_variable("old", [3], use_resource=False)
        y = pooled(tf.pad(x, [[0, 0], [0, 0], [0, 0], [0, 0]]))
        y = tf.reduce_sum(tf.nn.conv2d(y, kernel, 1, "VALID") + old, [1, 2], name="y")
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(directory))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, strip_default_attrs=True
        )
        builder.save()


def test_the_loader_gives_default_attributes_back_as_tensorflow_does_and_changes_no_file(tmp_path: Path) -> None:
    with tensorflow_1():
        save_stripped(tmp_path / "model")
        with v1.Graph().as_default(), v1.Session() as session:
            their = v1.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"))
    before = files_of(tmp_path / "model")
    stored = SavedModel.FromString(before["saved_model.pb"]).meta_graphs[0]
    with ours.Graph().as_default(), ours.Session() as session:
        mine = ours.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"))
    assert mine.SerializeToString(deterministic=True) == their.SerializeToString(deterministic=True)
    assert sum(len(node.attr) for node in mine.graph_def.node) > sum(len(node.attr) for node in stored.graph_def.node)
    assert mine.graph_def.library == stored.graph_def.library
    assert files_of(tmp_path / "model") == before


# ------------------------------------------------------------------------------------- The signature of what runs first


def test_the_signature_of_what_runs_first_is_run_by_both_and_offered_by_tensorflow_2_alone(tmp_path: Path) -> None:
    with tensorflow_1():
        with_start_signature(v1, tmp_path / "model")
    their = tf.saved_model.load(str(tmp_path / "model"))
    assert sorted(their.signatures) == [START, "serving_default"]
    assert their.signatures[START]() == {START: None}  # nothing to be had from it: it has run when the model is loaded
    with tk.load_saved_model(tmp_path / "model") as mine:
        assert list(mine.signatures) == ["serving_default"]
        found = mine.signatures["serving_default"](x=[b"a", b"b"])["y"]
    np.testing.assert_array_equal(found, their.signatures["serving_default"](x=tf.constant(["a", "b"]))["y"])
    for library in (ours, v1):
        with library.Graph().as_default(), library.Session() as session:
            loaded = library.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"))
            assert sorted(loaded.signature_def) == [START, "serving_default"]
            assert session.run("y:0", {"x:0": [b"a", b"b"]}).tolist() == [3.0, -1.0]


def test_models_of_tensorflow_2_hide_the_signature_of_what_runs_first_in_both(tmp_path: Path) -> None:
    module = tf.Module()
    module.score = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=module.score)
    stored = SavedModel.FromString((tmp_path / "model" / "saved_model.pb").read_bytes()).meta_graphs[0]
    assert START in stored.signature_def
    assert list(tf.saved_model.load(str(tmp_path / "model")).signatures) == ["serving_default"]
    with tk.load_saved_model(tmp_path / "model") as mine:
        assert list(mine.signatures) == ["serving_default"]
