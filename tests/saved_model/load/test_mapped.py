"""Models whose variables stay in the file: they answer the same, and what they assign goes to memory of their own."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError
from tensorkeep.runtime.resources import VariableResource
from tests.support.golden import golden

SHAPE = (64, 128)  # large enough to be mapped


@pytest.fixture
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.ops.files.checkpoints._WORTH_MAPPING", 1)


def digests(place: Path) -> dict[str, str]:
    files = (path for path in place.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def resources(model: tk.LoadedModel) -> list[VariableResource]:
    """All variables of a model that have been restored."""
    objects = list(model._functions.objects._variables.values())
    session = model._graph._session
    items = session.resources.items() if session is not None else []
    return objects + [item for _, item in items if isinstance(item, VariableResource)]


def is_mapped(variable: VariableResource) -> bool:
    array = variable.read()
    return not array.flags.writeable and not array.flags.owndata


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    """A model of TensorFlow 1 that changes its variables whenever it is asked: two by references, two by handles."""
    with tf.Graph().as_default(), tf.Session() as session:
        by = tf.placeholder(tf.float32, [], name="by")
        names = ("added", "assigned", "scattered")
        made = {
            (name, kind): tf.get_variable(f"{name}_{kind}", initializer=np.ones(SHAPE, np.float32), use_resource=kind)
            for name in names
            for kind in (False, True)
        }
        rows = np.full((1, SHAPE[1]), 5, np.float32)
        outputs = {}
        for (name, kind), variable in made.items():
            if name == "added":
                changed = tf.assign_add(variable, tf.fill(SHAPE, by))
            elif name == "assigned":
                changed = tf.assign(variable, tf.fill(SHAPE, by))
            else:
                changed = tf.scatter_update(variable, [3], rows)
            with tf.control_dependencies([changed]):
                outputs[f"{name}_{kind}"] = tf.identity(variable.read_value() if kind else variable)
        session.run(tf.global_variables_initializer())
        plain = tf.get_variable("plain", initializer=np.full(SHAPE, 2, np.float32))
        session.run(plain.initializer)
        still = tf.saved_model.predict_signature_def({"by": by}, {"y": plain * by})
        signature = tf.saved_model.predict_signature_def({"by": by}, outputs)
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature, "still": still})
        builder.save()
    return tmp_path / "model"


def test_what_a_model_assigns_goes_to_memory_of_its_own(counting: Path) -> None:
    before = digests(counting)
    with tk.load_saved_model(counting, mapped=True) as model:
        np.testing.assert_array_equal(model.signatures["still"](by=np.float32(3))["y"], np.full(SHAPE, 6))
        assert len(resources(model)) == 7
        assert all(map(is_mapped, resources(model)))
        for times in (1, 2):
            found = model.signatures["serving_default"](by=np.float32(4))
            for kind in (False, True):
                np.testing.assert_array_equal(found[f"added_{kind}"], np.full(SHAPE, 1 + 4 * times))
                np.testing.assert_array_equal(found[f"assigned_{kind}"], np.full(SHAPE, 4))
                np.testing.assert_array_equal(found[f"scattered_{kind}"][2:5, 0], [1, 5, 1])
        assert [item.name for item in resources(model) if is_mapped(item)] == ["plain"]
    assert digests(counting) == before


def test_copies_are_made_unless_it_is_asked_for(counting: Path) -> None:
    with tk.load_saved_model(counting) as model:
        model.signatures["still"](by=np.float32(3))
        assert not any(map(is_mapped, resources(model)))


def test_values_stay_in_their_file_where_an_engine_has_its_own_copy(counting: Path) -> None:
    for mapped in (None, False):
        with tk.load_saved_model(counting, engine="onnxruntime", mapped=mapped) as model:
            np.testing.assert_array_equal(model.signatures["still"](by=np.float32(3))["y"], np.full(SHAPE, 6))
            assert [is_mapped(item) for item in resources(model)] == [mapped is None] * 7


def test_a_function_of_tensorflow_2_assigns_to_memory_of_its_own(tmp_path: Path, small_ones_too: None) -> None:
    place = Path(shutil.copytree(golden("g28_tf2_module") / "model", tmp_path / "model"))
    before = digests(place)
    given = {"n": 2, "x": np.ones((2, 3), np.float32)}
    with tk.load_saved_model(place, mapped=True) as model, tk.load_saved_model(place) as copied:
        assert int(model.variables["count"]) == int(copied.variables["count"])
        (count,) = resources(model)
        assert is_mapped(count)
        for _ in range(2):
            found, wanted = (each.signatures["loop"](**given) for each in (model, copied))
            for key, array in wanted.items():
                np.testing.assert_array_equal(found[key], array)
        assert int(model.variables["count"]) == int(copied.variables["count"])
        assert int(model.variables["count"]) > int(tk.load_saved_model(place).variables["count"])
        assert not is_mapped(count)
    assert digests(place) == before


def inputs_of(signature: Any) -> dict[str, Any]:
    made = {}
    for name, spec in signature.inputs.items():
        shape = tuple(size if size is not None else 1 for size in spec.shape.dims or ())
        made[name] = np.full(shape, b"a", object) if spec.dtype.is_object else np.ones(shape, spec.dtype.array_dtype)
    return made


@pytest.mark.parametrize(
    "case", ["g26_tf1_simple_save", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm", "g32_keras_strings"]
)
def test_answers_are_the_same(case: str, small_ones_too: None) -> None:
    place = golden(case) / "model"
    with tk.load_saved_model(place, mapped=True) as model, tk.load_saved_model(place) as copied:
        for name, signature in copied.signatures.items():
            given = inputs_of(signature)
            wanted = signature(**given)
            found = model.signatures[name](**given)
            for key, array in wanted.items():
                np.testing.assert_array_equal(found[key], array)
        assert any(map(is_mapped, resources(model)))


def test_damage_is_found_in_mapped_values_too(counting: Path) -> None:
    data = counting / "variables" / "variables.data-00000-of-00001"
    damaged = bytearray(data.read_bytes())
    damaged[-5] ^= 1
    data.write_bytes(damaged)
    with tk.load_saved_model(counting, mapped=True) as model, pytest.raises(DataLossError, match="checksum"):
        model.signatures["still"](by=np.float32(3))


def test_a_file_may_be_replaced_while_a_model_uses_the_old_one(counting: Path) -> None:
    with tk.load_saved_model(counting, mapped=True) as model:
        before = model.signatures["still"](by=np.float32(3))["y"]
        data = counting / "variables" / "variables.data-00000-of-00001"
        new = data.with_name("new")
        new.write_bytes(bytes(data.stat().st_size))
        new.replace(data)
        np.testing.assert_array_equal(model.signatures["still"](by=np.float32(3))["y"], before)


def test_values_that_lie_at_odd_places_are_copied(tmp_path: Path) -> None:
    """Operations would copy them at every use."""
    with tf.Graph().as_default(), tf.Session() as session:
        flag = tf.get_variable("a_flag", initializer=np.array(True))
        weights = tf.get_variable("weights", initializer=np.ones(SHAPE, np.float32))
        x = tf.placeholder(tf.float32, [None, SHAPE[0]], name="x")
        y = tf.matmul(x, weights)
        session.run([flag.initializer, weights.initializer])
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()
    with tk.load_saved_model(tmp_path / "model", mapped=True) as model:
        found = model.signatures["serving_default"](x=np.ones((1, SHAPE[0]), np.float32))
        np.testing.assert_array_equal(found["y"], np.full((1, SHAPE[1]), SHAPE[0]))
        assert all(item.read().flags.aligned for item in resources(model))
        assert not any(map(is_mapped, resources(model)))
