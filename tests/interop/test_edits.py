"""Every edit of a checkpoint that TensorFlow wrote is read, and restored, by TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep import edit
from tensorkeep.checkpoint.saving import CheckpointFormat

v1 = tf.compat.v1

KERNEL = np.arange(12, dtype=np.float32).reshape(3, 4)


def _save(folder: Path, factor: float = 1.0, name: str = "m") -> str:
    """A model with an optimizer and moving averages, partitioned in part, as TensorFlow saves it."""
    with v1.Graph().as_default(), v1.Session() as session:
        kernel = v1.get_variable("net/kernel", initializer=KERNEL * np.float32(factor), use_resource=True)
        with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
            v1.get_variable("table", initializer=v1.ones_initializer(), shape=[6, 2], use_resource=True)
        step = v1.train.get_or_create_global_step()
        average = v1.train.ExponentialMovingAverage(0.5)
        train = v1.train.AdamOptimizer(0.0).minimize(v1.reduce_sum(kernel), global_step=step)
        with v1.control_dependencies([train]):
            averaged = average.apply([kernel])
        session.run(v1.global_variables_initializer())
        session.run(averaged)
        return str(v1.train.Saver().save(session, str(folder / name), write_meta_graph=False))


def _read(path: Path) -> dict[str, np.ndarray]:
    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


Edit = Callable[[str, Path], Any]


def _restored(path: Path, names: dict[str, Any]) -> dict[str, np.ndarray]:
    """Values that a Saver of TensorFlow restores into variables of these names, shapes and types."""
    with v1.Graph().as_default(), v1.Session() as session:
        variables = {
            name: v1.get_variable(f"v{at}", value.shape, value.dtype, use_resource=True)
            for at, (name, value) in enumerate(names.items())
        }
        v1.train.Saver(variables).restore(session, str(path))
        return dict(zip(names, session.run(list(variables.values())), strict=True))


def _to_v1_without_slices(source: str, target: Path) -> None:
    whole = f"{target}-whole"
    edit.drop(source, whole, edit.Selection(["parts/*"]))
    edit.convert_format(whole, target, CheckpointFormat.V1)


ONE_TO_ONE: dict[str, tuple[Edit, Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]]] = {
    "rename": (
        lambda m, t: edit.rename(m, t, [edit.AddScope("up")]),
        lambda old: {f"up/{name}": value for name, value in old.items()},
    ),
    "keep": (
        lambda m, t: edit.keep(m, t, edit.Selection(["net/*", "parts/*"])),
        lambda old: {name: value for name, value in old.items() if name.startswith(("net/", "parts/"))},
    ),
    "drop": (
        lambda m, t: edit.drop(m, t, edit.Selection(patterns=["^parts"])),
        lambda old: {name: value for name, value in old.items() if not name.startswith("parts")},
    ),
    "strip_optimizer": (
        edit.strip_optimizer,
        lambda old: {name: value for name, value in old.items() if "Adam" not in name and "_power" not in name},
    ),
    "swap_averages": (
        edit.swap_averages,
        lambda old: (
            old
            | {
                "net/kernel": old["net/kernel/ExponentialMovingAverage"],
                "net/kernel/ExponentialMovingAverage": old["net/kernel"],
            }
        ),
    ),
    "cast": (
        lambda m, t: edit.cast(m, t, "float16"),
        lambda old: {
            name: value.astype(np.float16) if value.dtype == np.float32 else value for name, value in old.items()
        },
    ),
    "set_tensors": (
        lambda m, t: edit.set_tensors(m, t, {"global_step": 99}),
        lambda old: old | {"global_step": np.int64(99)},
    ),
    "split": (lambda m, t: edit.split(m, t, 64), lambda old: old),
    "convert_format": (  # TensorFlow's reader of V1 files does not put slices together
        _to_v1_without_slices,
        lambda old: {name: value for name, value in old.items() if not name.startswith("parts")},
    ),
}


@pytest.mark.parametrize("name", ONE_TO_ONE)
def test_tensorflow_restores_what_was_edited(name: str, tmp_path: Path) -> None:
    change, expect = ONE_TO_ONE[name]
    source = _save(tmp_path)
    change(source, tmp_path / "edited")
    expected = expect(_read(Path(source)))
    found = _read(tmp_path / "edited")
    assert sorted(found) == sorted(expected)
    restored = _restored(tmp_path / "edited", expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value, err_msg=key)
        np.testing.assert_array_equal(restored[key], value, err_msg=key)
        assert found[key].dtype == value.dtype


def test_an_average_is_restored(tmp_path: Path) -> None:
    paths = [_save(tmp_path, factor, f"m{factor}") for factor in (1, 2, 6)]
    edit.average(paths, tmp_path / "edited")
    np.testing.assert_allclose(_read(tmp_path / "edited")["net/kernel"], KERNEL * 3)


def test_what_was_merged_is_restored(tmp_path: Path) -> None:
    source = _save(tmp_path)
    edit.keep(source, tmp_path / "a", edit.Selection(["net/*"]))
    edit.drop(source, tmp_path / "b", edit.Selection(["net/*"]))
    edit.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "edited")
    old, new = _read(Path(source)), _read(tmp_path / "edited")
    assert sorted(old) == sorted(new)
    for name, value in old.items():
        np.testing.assert_array_equal(new[name], value)


def test_deduplicated_checkpoints_are_restored(tmp_path: Path) -> None:
    paths = [_save(tmp_path, factor, f"m{factor}") for factor in (1, 2)]
    before = [_read(Path(path)) for path in paths]
    edit.dedupe(paths, edit.EditOptions(overwrite=True))
    for path, values in zip(paths, before, strict=True):
        found = _read(Path(path))
        for name, value in values.items():
            np.testing.assert_array_equal(found[name], value)


def test_objects_become_names_that_a_saver_restores(tmp_path: Path) -> None:
    module = tf.Module()
    module.kernel = tf.Variable(KERNEL, name="net/kernel")
    path = tf.train.Checkpoint(model=module).save(str(tmp_path / "ckpt"))
    edit.objects_to_names(path, tmp_path / "edited")
    assert "net/kernel" in _read(tmp_path / "edited")
    np.testing.assert_array_equal(_restored(tmp_path / "edited", {"net/kernel": KERNEL})["net/kernel"], KERNEL)


def test_names_become_objects_that_a_checkpoint_restores(tmp_path: Path) -> None:
    source = _save(tmp_path)
    edit.names_to_objects(source, tmp_path / "edited")
    net = tf.Module()
    net.kernel = tf.Variable(tf.zeros_like(KERNEL))
    tf.train.Checkpoint(net=net).read(str(tmp_path / "edited")).assert_existing_objects_matched()
    np.testing.assert_array_equal(net.kernel.numpy(), KERNEL)


def test_objects_whose_keys_were_renamed_are_restored(tmp_path: Path) -> None:
    module = tf.Module()
    module.kernel = tf.Variable(KERNEL)
    path = tf.train.Checkpoint(model=module).save(str(tmp_path / "ckpt"))
    edit.rename(path, tmp_path / "edited", [edit.RenamePattern("^model/", "other/")])
    fresh = tf.Module()
    fresh.kernel = tf.Variable(tf.zeros_like(KERNEL))
    tf.train.Checkpoint(model=fresh).read(str(tmp_path / "edited")).assert_existing_objects_matched()
    np.testing.assert_array_equal(fresh.kernel.numpy(), KERNEL)
