"""Models that live TensorFlow and Keras export give here what they give there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.runtime.composite_values import RaggedTensorValue, SparseTensorValue
from tensorkeep.saved_model.edit.directory_edits import freeze_model
from tensorkeep.saved_model.load.model import LoadedModel
from tests.interop.model_zoo import NETWORKS, SERVING, ZOO
from tests.interop.running_models import expect_agreement
from tests.support.depth import thinned

SMALL = [name for name in ZOO if name not in NETWORKS]  # see test_networks.py for those
TEXT, FLOATS = tf.TensorSpec([None], tf.string), tf.TensorSpec([None])


@pytest.mark.parametrize("name", thinned(SMALL, 2))
def test_a_model_of_the_zoo_agrees_with_tensorflow(name: str, tmp_path: Path) -> None:
    expect_agreement(ZOO[name], tmp_path)


@contextmanager
def saved(module: Any, folder: Path, signatures: Any = None, **options: Any) -> Iterator[LoadedModel]:
    tf.saved_model.save(module, str(folder), signatures=signatures)
    with tk.load_saved_model(folder, **options) as model:
        yield model


def module_with(**functions: tuple[Callable[..., Any], Any]) -> Any:
    """A module with functions of given signatures."""
    module = tf.Module()
    for name, (function, takes) in functions.items():
        setattr(module, name, tf.function(function, input_signature=takes))
    return module


def test_composite_values_go_in_and_out(tmp_path: Path) -> None:
    weight = tf.Variable([1.0, 2.0, 3.0])

    def mixed(ragged: Any, sparse: Any) -> Any:
        dense = tf.sparse.to_dense(sparse) * weight
        return {"ragged": ragged * 2.0, "sparse": sparse * 2.0, "nested": (tf.reduce_sum(ragged, 1), [dense])}

    module = module_with(mixed=(mixed, [tf.RaggedTensorSpec([None, None]), tf.SparseTensorSpec([None, 3])]))
    module.weight = weight
    with saved(module, tmp_path) as model:
        ragged = RaggedTensorValue(np.array([1, 2, 3], np.float32), np.array([0, 1, 3]))
        sparse = SparseTensorValue(np.array([[0, 1]]), np.array([4], np.float32), np.array([1, 3]))
        found = model.functions["mixed"](ragged, sparse)
    assert found["ragged"].to_list() == [[2.0], [4.0, 6.0]]
    assert found["sparse"].values.tolist() == [8.0]
    assert found["nested"][0].tolist() == [1.0, 5.0]
    assert found["nested"][1][0].tolist() == [[0.0, 8.0, 0.0]]


def test_a_function_with_several_traces_is_called_as_in_python(tmp_path: Path) -> None:
    def pick(a: Any, flag: bool = True, *, scale: float = 2.0) -> Any:
        return (a["x"] * scale if flag else a["y"][0], None)

    module = tf.Module()
    module.pick = tf.function(pick)
    value = {"x": tf.ones([2]), "y": [tf.zeros([3])]}
    module.pick(value)
    module.pick(value, False, scale=5.0)
    with saved(module, tmp_path) as model:
        function = model.functions["pick"]
        given = {"x": np.full(2, 3, np.float32), "y": [np.ones(3, np.float32)]}
        assert function(given)[0].tolist() == [6, 6]
        assert function(given)[1] is None
        assert function(given, scale=5.0, flag=False)[0].tolist() == [1, 1, 1]
        with pytest.raises(InvalidArgumentError, match=r"not saved for these arguments: .*scale=9\.0"):
            function(given, scale=9.0)


def test_tables_have_what_was_in_them(tmp_path: Path) -> None:
    changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    changing.insert(["a", "b"], [5, 6])
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=0, deleted_key=-1)
    dense.insert([3, 4], [0.5, 0.25])
    (tmp_path / "words.txt").write_text("red\ngreen\n")
    rows = tf.lookup.TextFileInitializer(
        str(tmp_path / "words.txt"),
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    fixed = tf.lookup.StaticVocabularyTable(rows, 1)

    def look(words: Any, numbers: Any) -> Any:
        return changing.lookup(words), dense.lookup(numbers), fixed.lookup(words)

    module = module_with(look=(look, [TEXT, tf.TensorSpec([None], tf.int64)]))
    module.tables = [changing, dense, fixed]
    tf.saved_model.save(module, str(tmp_path / "model"))
    (tmp_path / "words.txt").unlink()  # the model has its own
    shutil.move(tmp_path / "model", tmp_path / "moved")
    with tk.load_saved_model(tmp_path / "moved") as model:
        found = model.functions["look"](["a", "green", "z"], [4, 9])
        assert list(model.assets) == ["words.txt"]
    assert [part.tolist() for part in found] == [[5, -1, -1], [0.25, -1.0], [2, 1, 2]]


def test_signatures_and_functions_share_state(tmp_path: Path) -> None:
    count = tf.Variable(0)
    module = module_with(add=(lambda by: count.assign_add(by), [tf.TensorSpec([], tf.int32, name="by")]))
    module.count = count
    with saved(module, tmp_path, module.add) as model:
        assert model.functions["add"](2) == 2
        assert model.signatures[SERVING](by=3)["output_0"] == 5
        assert model.variables["count"] == 5


def test_a_model_of_a_stranger_touches_nothing(tmp_path: Path) -> None:
    victim = tmp_path / "victim"

    def write(text: Any) -> Any:
        tf.io.write_file(str(victim), text[0])
        return text

    def tell(text: Any) -> Any:
        tf.print(text)
        return text

    module = module_with(
        write=(write, [TEXT]),
        tell=(tell, [TEXT]),
        read=(lambda text: tf.io.read_file(text[0]), [TEXT]),
        python=(lambda x: tf.numpy_function(lambda y: y, [x], tf.float32), [FLOATS]),
        hidden=(lambda x: tf.cond(x[0] > 0, lambda: tf.io.read_file("/etc/passwd"), lambda: "fine"), [FLOATS]),
    )
    with saved(module, tmp_path / "model") as model:
        for name in ("write", "tell", "read"):
            with pytest.raises(PermissionDeniedError):
                model.functions[name]([__file__])
        with pytest.raises(PermissionDeniedError):
            model.functions["python"]([1.0])
        assert model.functions["hidden"]([-1.0]) == b"fine"
        with pytest.raises(PermissionDeniedError, match="/etc/passwd"):
            model.functions["hidden"]([1.0])
    assert not victim.exists()
    with tk.load_saved_model(tmp_path / "model", allow=["ReadFile", "writes files"]) as model:
        assert model.functions["read"]([__file__]) == Path(__file__).read_bytes()
        model.functions["write"](["allowed"])
    assert victim.read_text() == "allowed"


def test_a_graph_of_tensorflow_1_loads_with_its_assets_and_variables(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    (tmp_path / "words.txt").write_text("red\ngreen\n")
    with v1.Graph().as_default(), v1.Session() as session:
        words = v1.placeholder(tf.string, [None], name="words")
        table = v1.lookup.StaticVocabularyTable(
            v1.lookup.TextFileInitializer(str(tmp_path / "words.txt"), tf.string, -2, tf.int64, -1), 1
        )
        weights = v1.get_variable("weights", initializer=[1.0, 10.0, 100.0], use_resource=False)
        found = v1.gather(weights, table.lookup(words))
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        v1.saved_model.simple_save(
            session, str(tmp_path / "model"), {"words": words}, {"found": found}, v1.tables_initializer()
        )
    with tk.load_saved_model(tmp_path / "model") as model:
        assert model.signatures[SERVING](words=["green", "red", "?"])["found"].tolist() == [10.0, 1.0, 100.0]
        assert model.variables["weights"].tolist() == [1.0, 10.0, 100.0]


def test_variables_in_a_checkpoint_of_the_first_version_are_read(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        y = x * v1.get_variable("weights", initializer=[1.0, 10.0, 100.0], use_resource=False)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(tmp_path / "model"))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        saver = v1.train.Saver(write_version=v1.train.SaverDef.V1)
        builder.add_meta_graph_and_variables(session, ["serve"], {SERVING: signature}, saver=saver)
        builder.save()
    freeze_model(tmp_path / "model", tmp_path / "frozen")
    for folder in ("model", "frozen"):
        with tk.load_saved_model(tmp_path / folder) as model:
            assert model.signatures[SERVING](x=[1.0, 2.0, 3.0])["y"].tolist() == [1.0, 20.0, 300.0]


def test_a_trained_keras_model_loads_with_its_optimizer(tmp_path: Path) -> None:
    keras: Any = tf.keras
    keras.utils.set_random_seed(1)
    network = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    network.compile("adam", "mse")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    network.fit(x, np.ones((4, 2)), verbose=0)
    with saved(network, tmp_path) as model:
        signature = model.signatures[SERVING]
        (found,) = signature(**{next(iter(signature.inputs)): x}).values()
        assert all(array is not None for array in model.variables.values())
    np.testing.assert_allclose(found, network(x), rtol=1e-5, atol=1e-5)
