"""`tf.saved_model.save`: the same program for TensorFlow 2 and for us. TensorFlow loads and uses what is saved here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.fingerprint_pb2 import FingerprintDef
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tests.interop.programs import tensorflow_1
from tests.support.golden import golden

v1 = tf.compat.v1
X = np.array([[1, 2, 3], [-1, 0.5, 2]], np.float32)


def module(tf: Any) -> Any:
    """A network of modules in modules, with functions of several kinds. Variables are resources in both."""

    class Dense(tf.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            values = np.linspace(-1, 1, inputs * outputs, dtype=np.float32).reshape(inputs, outputs)
            self.w = tf.Variable(values, name="w", **resource)
            self.b = tf.Variable(np.zeros(outputs, np.float32), name="b", **resource)

        def __call__(self, x: Any) -> Any:
            return tf.matmul(x, self.w) + self.b

    class Net(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Dense(3, 4), Dense(4, 2)]
            self.extra = {"scale": tf.Variable(np.float32(2), name="scale", trainable=False, **resource)}
            self.pair = (tf.Variable(np.int64(5), name="step", trainable=False, **resource), 7)
            self.offset = tf.constant([0.5, -0.5])

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="rows")])  # type: ignore[untyped-decorator]
        def __call__(self, rows: Any) -> Any:
            hidden = tf.nn.relu(self.layers[0](rows))
            scores = self.layers[1](hidden) * self.extra["scale"] + self.offset
            return {"scores": scores, "best": tf.argmax(scores, axis=1)}

        @tf.function  # type: ignore[untyped-decorator]
        def scaled(self, x: Any, by: Any, squared: bool = False) -> Any:
            y = self(x)["scores"] * by
            return (tf.square(y), [by]) if squared else (y, by)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])  # type: ignore[untyped-decorator]
        def advance(self, steps: Any) -> Any:
            before = self.pair[0].read_value()
            self.pair[0].assign_add(steps)
            return before, self.pair[0].read_value()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])  # type: ignore[untyped-decorator]
        def choose(self, x: Any) -> Any:
            return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * self.extra["scale"], lambda: -x)

    resource = {"use_resource": True} if tf is ours else {}
    net = Net()
    rows = tf.TensorSpec([None, 3], tf.float32, name="x")
    net.scaled.get_concrete_function(rows, tf.TensorSpec([], tf.float32, name="by"))
    net.scaled.get_concrete_function(rows, 3.0, squared=True)
    signatures = {
        "serving_default": net.__call__,
        "advance": net.advance,
        "scaled": net.scaled.get_concrete_function(rows, tf.TensorSpec([], tf.float32, name="by")),
    }
    return net, signatures


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The model as saved by us, and by TensorFlow."""
    place = tmp_path_factory.mktemp("objects")
    with ours.Graph().as_default(), ours.Session() as session:
        net, signatures = module(ours)
        session.run(ours.global_variables_initializer())
        ours.saved_model.save(net, str(place / "ours"), signatures)
    net, signatures = module(tf)
    tf.saved_model.save(net, str(place / "theirs"), signatures)
    return place / "ours", place / "theirs"


def meta_graph_of(folder: Path) -> Any:
    (meta_graph,) = SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs
    return meta_graph


def test_the_same_objects_are_there_under_the_same_names(saved: tuple[Path, Path]) -> None:
    found = []
    for folder in saved:
        objects = SavedObjects(meta_graph_of(folder).object_graph_def)
        paths = {path: objects.kind(number) for number, path in objects.paths.items()}
        found.append({path: kind for path, kind in paths.items() if not path.startswith("signatures/")})
    assert found[0] == found[1]


def test_variables_and_functions_are_described_alike(saved: tuple[Path, Path]) -> None:
    described: list[dict[str, Any]] = []
    for folder in saved:
        objects = SavedObjects(meta_graph_of(folder).object_graph_def)
        texts: dict[str, Any] = {}
        for number, path in objects.paths.items():
            node = objects[number]
            if objects.kind(number) == "variable":
                texts[path] = (node.variable.dtype, str(node.variable.shape), node.variable.trainable)
            elif objects.kind(number) == "function":
                saved_kinds = [objects.concrete_functions[name] for name in node.function.concrete_functions]
                texts[path] = (
                    str(node.function.function_spec.fullargspec),
                    sorted(str(item.canonicalized_input_signature) for item in saved_kinds),
                )
        described.append(texts)
    assert described[0] == described[1]


def test_signatures_take_and_give_the_same(saved: tuple[Path, Path]) -> None:
    found = []
    for folder in saved:
        signatures = meta_graph_of(folder).signature_def
        found.append(
            {
                (key, side, name): (info.dtype, str(info.tensor_shape))
                for key in signatures
                for side in ("inputs", "outputs")
                for name, info in getattr(signatures[key], side).items()
            }
        )
    assert found[0] == found[1]


def test_checkpoints_have_the_same_values_under_the_same_keys(saved: tuple[Path, Path]) -> None:
    mine, their = (tk.load_tensors(folder / "variables" / "variables") for folder in saved)
    assert mine.keys() == their.keys()
    for key in mine.keys() - {"_CHECKPOINTABLE_OBJECT_GRAPH"}:
        np.testing.assert_array_equal(mine[key], their[key])


FEEDS: dict[str, dict[str, Any]] = {
    "serving_default": {"rows": X},
    "advance": {"steps": np.int64(2)},
    "scaled": {"x": X, "by": np.float32(3)},
}


def test_the_fingerprint_is_what_tensorflow_makes_of_the_model(saved: tuple[Path, Path]) -> None:
    mine, _ = saved
    expected = FingerprintDef.FromString(fingerprinting.CreateFingerprintDef(str(mine)))
    written = FingerprintDef.FromString((mine / "fingerprint.pb").read_bytes())
    assert written.uuid.isdecimal()
    expected.uuid = written.uuid
    assert written == expected
    read = tf.saved_model.experimental.read_fingerprint(str(mine))
    assert read.singleprint() == tf.saved_model.experimental.Fingerprint.from_proto(expected).singleprint()


def results(folder: Path, key: str) -> list[dict[str, Any]]:
    """What a signature gives by the objects, by the graph, and here."""
    feeds = FEEDS[key]
    loaded = tf.saved_model.load(str(folder))
    by_objects = loaded.signatures[key](**{name: tf.constant(value) for name, value in feeds.items()})
    with tensorflow_1(), v1.Session(graph=v1.Graph()) as session:
        signature = v1.saved_model.load(session, ["serve"], str(folder)).signature_def[key]
        given = {signature.inputs[name].name: value for name, value in feeds.items()}
        by_graph = session.run({name: info.name for name, info in signature.outputs.items()}, given)
    with tk.load_saved_model(folder) as model:
        here = model.signatures[key](**feeds)
    return [{name: value.numpy() for name, value in by_objects.items()}, by_graph, here]


@pytest.mark.parametrize("key", FEEDS)
def test_signatures_give_the_same_by_all_loaders_whoever_saved_the_model(key: str, saved: tuple[Path, Path]) -> None:
    mine, their = (results(folder, key) for folder in saved)
    for found in (*mine, *their):
        assert found.keys() == their[0].keys()
        for name, value in their[0].items():
            np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_functions_are_called_as_in_the_program(saved: tuple[Path, Path]) -> None:
    mine, their = (tf.saved_model.load(str(folder)) for folder in saved)
    x = tf.constant(X)
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda net: net(x)["scores"],
        lambda net: net.scaled(x, tf.constant(2.0))[0],
        lambda net: net.scaled(x, 3.0, squared=True)[0],
        lambda net: net.choose(tf.constant([1.0, 2.0])),
        lambda net: net.choose(tf.constant([-1.0, -2.0])),
        lambda net: net.advance(tf.constant(4, tf.int64)),
        lambda net: net.pair[0],
    )
    for call in calls:
        np.testing.assert_allclose(call(mine), call(their), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        mine.scaled(x, 5.0, squared=True)


def test_what_is_loaded_can_be_trained_and_saved_again_by_tensorflow(saved: tuple[Path, Path], tmp_path: Path) -> None:
    mine, their = (tf.saved_model.load(str(folder)) for folder in saved)
    gradients = []
    for net in (mine, their):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(net(tf.constant(X))["scores"]))
        gradients.append(tape.gradient(loss, [net.layers[0].w, net.layers[1].b]))
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    mine.layers[1].b.assign([100.0, 0.0])
    tf.saved_model.save(mine, str(tmp_path / "again"), signatures=mine.signatures)
    assert tf.saved_model.load(str(tmp_path / "again")).signatures["serving_default"](rows=tf.constant(X))[
        "best"
    ].numpy().tolist() == [0, 0]


def words_module(tf: Any, folder: Path) -> Any:
    """Tables of keys and values, and of files, two of which have the same name and other contents."""

    class Words(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.known = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([10, 20], tf.int64)), -5
            )
            self.tables = [
                tf.lookup.StaticHashTable(
                    tf.lookup.TextFileInitializer(
                        str(folder / name / "words.txt"),
                        tf.string,
                        tf.lookup.TextFileIndex.WHOLE_LINE,
                        tf.int64,
                        tf.lookup.TextFileIndex.LINE_NUMBER,
                    ),
                    -1,
                )
                for name in ("a", "b")
            ]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])  # type: ignore[untyped-decorator]
        def look(self, words: Any) -> Any:
            found = [table.lookup(words) for table in self.tables]
            return {"a": found[0], "b": found[1], "known": self.known.lookup(words)}

    return Words()


def test_tables_and_their_files_are_loaded_by_tensorflow(tmp_path: Path) -> None:
    for name, text in (("a", "x\ny\n"), ("b", "y\nz\nx\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "words.txt").write_text(text)
    with ours.Graph().as_default(), ours.Session():
        ours.saved_model.save(words_module(ours, tmp_path), str(tmp_path / "ours"))
    tf.saved_model.save(words_module(tf, tmp_path), str(tmp_path / "theirs"))
    for name in ("a", "b"):
        (tmp_path / name / "words.txt").unlink()
    assert sorted(path.name for path in (tmp_path / "ours" / "assets").iterdir()) == ["words.txt", "words.txt_1"]
    words = np.array([b"x", b"y", b"z"], object)
    wanted = {"a": [0, 1, -1], "b": [2, 0, 1], "known": [10, 20, -5]}
    for folder in (tmp_path / "ours", tmp_path / "theirs"):
        loaded = tf.saved_model.load(str(folder))
        assert {key: value.numpy().tolist() for key, value in loaded.look(tf.constant(words)).items()} == wanted
        by_signature = loaded.signatures["serving_default"](words=tf.constant(words))
        assert {key: value.numpy().tolist() for key, value in by_signature.items()} == wanted
        with tensorflow_1(), v1.Session(graph=v1.Graph()) as session:
            signature = v1.saved_model.load(session, ["serve"], str(folder)).signature_def["serving_default"]
            outputs = {key: info.name for key, info in signature.outputs.items()}
            by_graph = session.run(outputs, {signature.inputs["words"].name: words})
        assert {key: value.tolist() for key, value in by_graph.items()} == wanted
        with tk.load_saved_model(folder) as model:
            here = model.signatures["serving_default"](words=words)
        assert {key: value.tolist() for key, value in here.items()} == wanted


def file_module(tf: Any, path: Path) -> Any:
    """A file as an attribute, which a function reads."""

    class Reader(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.file = tf.saved_model.Asset(str(path))
            self.unused = tf.saved_model.Asset(str(path))

        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])  # type: ignore[untyped-decorator]
        def read(self, prefix: Any) -> Any:
            return tf.strings.join([prefix, tf.io.read_file(self.file.asset_path)])

    return Reader()


def test_a_file_goes_with_the_object_that_has_it(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("contents")
    with ours.Graph().as_default(), ours.Session():
        ours.saved_model.save(file_module(ours, path), str(tmp_path / "ours"))
    tf.saved_model.save(file_module(tf, path), str(tmp_path / "theirs"))
    path.unlink()
    for folder in (tmp_path / "ours", tmp_path / "theirs"):
        loaded = tf.saved_model.load(str(folder))
        assert loaded.file.asset_path.numpy().decode() == str(folder / "assets" / "text.txt")
        assert loaded.read(tf.constant("the ")).numpy() == b"the contents"
        with tensorflow_1(), v1.Session(graph=v1.Graph()) as session:
            signature = v1.saved_model.load(session, ["serve"], str(folder)).signature_def["serving_default"]
            fetched = session.run(signature.outputs["output_0"].name, {signature.inputs["prefix"].name: "a "})
        assert fetched == b"a contents"
        with tk.load_saved_model(folder) as model:
            assert model.signatures["serving_default"](prefix="b ")["output_0"] == b"b contents"
        with ours.Graph().as_default(), ours.Session() as session:
            again = ours.saved_model.load_v2(str(folder))
            assert session.run(again.read(ours.constant("c "))) == b"c contents"


# ----------------------------------------------------------------------------------------------------------- loading


def by_load_v2(library: Any, folder: Path) -> list[Any]:
    """What objects give in a graph, after initialization as programs of TensorFlow 1 do it."""
    with library.Graph().as_default(), library.Session() as session:
        net = library.saved_model.load_v2(str(folder))
        x = library.constant(X)
        outputs = [
            net.signatures["serving_default"](rows=x),
            net(x)["scores"],
            net.scaled(x, library.constant(2.0))[0],
            net.scaled(x, 3.0, squared=True)[0],
            net.choose(library.constant([-1.0, -2.0])),
            net.layers[1].w,
            net.extra["scale"],
        ]
        gradient = library.gradients(outputs[1], [net.layers[0].w])[0]
        session.run([net.layers[i].w.initializer for i in (0, 1)] + [net.layers[i].b.initializer for i in (0, 1)])
        session.run([net.extra["scale"].initializer, net.pair[0].initializer])
        return list(session.run([*outputs, gradient]))


def test_objects_are_loaded_into_a_graph_as_by_tensorflow(saved: tuple[Path, Path]) -> None:
    wanted = by_load_v2(v1, saved[1])
    for folder in saved:
        found = by_load_v2(ours, folder)
        np.testing.assert_allclose(found[0]["scores"], wanted[0]["scores"], rtol=1e-5, atol=1e-6)
        for one, other in zip(found[1:], wanted[1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_what_was_loaded_is_saved_again_with_other_values(saved: tuple[Path, Path], tmp_path: Path) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        net = ours.saved_model.load_v2(str(saved[1]))
        session.run(ours.global_variables_initializer())
        session.run(net.layers[1].b.assign([100.0, 0.0]))
        ours.saved_model.save(net, str(tmp_path / "again"), net.signatures)
    loaded = tf.saved_model.load(str(tmp_path / "again"))
    assert loaded.signatures["serving_default"](rows=tf.constant(X))["best"].numpy().tolist() == [0, 0]
    assert loaded.scaled(tf.constant(X), 3.0, squared=True)[1][0].numpy() == 3.0
    assert loaded.pair[0].numpy() == 5


@pytest.mark.parametrize("name", ["g28_tf2_module", "g29_keras_dense", "g31_keras_lstm", "g32_keras_strings"])
def test_models_of_keras_and_of_modules_are_loaded_into_a_graph(name: str) -> None:
    folder = golden(name) / "model"
    with tk.load_saved_model(folder) as model:
        key, signature = next(iter(model.signatures.items()))
        values = {argument: _sample(spec) for argument, spec in signature._spec.inputs.items()}
        wanted = signature(**values)
    with ours.Graph().as_default(), ours.Session() as session:
        loaded = ours.saved_model.load_v2(str(folder))
        outputs = loaded.signatures[key](**{argument: ours.constant(value) for argument, value in values.items()})
        session.run([ours.global_variables_initializer(), ours.tables_initializer()])
        found = session.run(outputs)
    for output, value in wanted.items():
        np.testing.assert_allclose(found[output], value, rtol=1e-5)


def _sample(spec: Any) -> Any:
    shape = [2 if size is None else size for size in spec.shape.dims]
    if spec.dtype.name == "string":
        return np.full(shape, b"red", object)
    return np.ones(shape, spec.dtype.array_dtype)


def test_a_model_without_objects_says_how_to_load_it() -> None:
    with ours.Graph().as_default(), pytest.raises(tk.UnimplementedError, match=r"tf.saved_model.load\(session"):
        ours.saved_model.load_v2(str(golden("g26_tf1_simple_save") / "model"))


def test_the_names_have_the_parameters_of_tensorflow() -> None:
    for mine, their in (
        (ours.saved_model.save, v1.saved_model.save),
        (ours.saved_model.SaveOptions, v1.saved_model.SaveOptions),
        (ours.saved_model.load_v2, v1.saved_model.load_v2),
        (ours.saved_model.Asset, v1.saved_model.Asset),
        (ours.function, v1.function),
    ):
        found = [list(inspect.signature(item).parameters) for item in (mine, their)]
        assert found[0] == found[1]


def test_a_function_is_called_in_a_graph_as_in_tensorflow() -> None:
    found = []
    for library in (ours, v1):
        with tensorflow_1(), library.Graph().as_default(), library.Session() as session:
            v = library.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=True)

            @library.function  # type: ignore[untyped-decorator]
            def step(x: Any, by: Any = 2.0) -> Any:
                v.assign_add(x * by)  # noqa: B023
                return {"sum": library.reduce_sum(v), "last": x}  # noqa: B023

            outputs = step(library.constant([1.0, 1.0]))
            gradient = library.gradients(step(library.constant([3.0, 4.0]))["last"], [v])
            session.run(library.global_variables_initializer())
            found.append(([session.run(outputs)["sum"] for _ in range(2)], gradient))
    assert found[0][0] == found[1][0]
