"""The ops that write and read checkpoints, beside TensorFlow's: same files, same values, same errors, both ways."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tests.interop.programs import tensorflow_1

MODULES: dict[str, Any] = {"tensorkeep": tk, "tensorflow": tf.compat.v1}
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)
TEXT = np.array([b"x", b"", b"\xff\x00y"], object)


def run(module: str, build: Callable[[Any], Any]) -> Any:
    """What a program's fetches give; or the class of the error."""
    found = MODULES[module]
    with tensorflow_1(), found.Graph().as_default(), found.Session() as session:
        try:
            return session.run(build(found))
        except found.errors.OpError as error:
            return next(kind.__name__ for kind in type(error).__mro__ if hasattr(tf.errors, kind.__name__))
        except ValueError:
            return "InvalidArgumentError"


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def save_two(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.SaveV2(
        prefix=str(folder / "m"),
        tensor_names=["b", "a", "s", "scalar"],
        shape_and_slices=["", "", "", ""],
        tensors=[MATRIX, np.array([1, 2], np.int64), tf.constant(TEXT), np.float64(2.5)],
    )


def save_slices(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.SaveV2(
        prefix=str(folder / "m"),
        tensor_names=["w", "w", "v"],
        shape_and_slices=["4 3 0,1:-", "4 3 1,3:0,3", "2 0,2"],
        tensors=[MATRIX[:1], MATRIX[1:], np.array([True, False])],
    )


def save_old(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.Save(filename=str(folder / "m"), tensor_names=["b", "a"], data=[MATRIX, np.int32([1])])


def save_old_slices(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.SaveSlices(
        filename=str(folder / "m"),
        tensor_names=["w", "w"],
        shapes_and_slices=["4 3 0,1:-", "4 3 1,3:-"],
        data=[MATRIX[:1], MATRIX[1:]],
    )


def save_and_merge(tf: Any, folder: Path) -> Any:
    parts = []
    for i, name in enumerate("ab"):
        prefix = str(folder / f"m_temp/part-0000{i}-of-00002")
        parts.append(
            tf.raw_ops.SaveV2(
                prefix=prefix, tensor_names=[name], shape_and_slices=[""], tensors=[np.full(3, i, np.float32)]
            )
        )
    with tf.control_dependencies(parts):
        return tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=[str(folder / f"m_temp/part-0000{i}-of-00002") for i in range(2)],
            destination_prefix=str(folder / "m"),
        )


SAVES = [save_two, save_slices, save_old, save_old_slices, save_and_merge]


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_files_are_equal_byte_for_byte(save: Any, tmp_path: Path) -> None:
    for module in MODULES:
        (tmp_path / module).mkdir()
        assert run(module, lambda tf, folder=tmp_path / module: save(tf, folder)) is None
    assert files(tmp_path / "tensorkeep") == files(tmp_path / "tensorflow")


def restore_two(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.RestoreV2(
        prefix=str(folder / "m"),
        tensor_names=["s", "a", "b", "scalar", "b"],
        shape_and_slices=["", "", "", "", "4 3 1,2:0,1"],
        dtypes=[tf.string, tf.int64, tf.float32, tf.float64, tf.float32],
    )


def restore_slices(tf: Any, folder: Path) -> Any:
    return tf.raw_ops.RestoreV2(
        prefix=str(folder / "m"),
        tensor_names=["w", "w", "w"],
        shape_and_slices=["", "4 3 0,2:-", "4 3 3,1:1,2"],
        dtypes=[tf.float32] * 3,
    )


def restore_old(tf: Any, folder: Path) -> Any:
    one = tf.raw_ops.Restore(file_pattern=str(folder / "m"), tensor_name="b", dt=tf.float32)
    part = tf.raw_ops.RestoreSlice(
        file_pattern=str(folder / "m"), tensor_name="b", shape_and_slice="4 3 0,2:-", dt=tf.float32
    )
    both = tf.raw_ops.RestoreV2(
        prefix=str(folder / "m"), tensor_names=["a", "b"], shape_and_slices=["", ""], dtypes=[tf.int32, tf.float32]
    )
    return [one, part, *both]


@pytest.mark.parametrize("saver", MODULES)
@pytest.mark.parametrize(
    ("save", "restore"),
    [
        (save_two, restore_two),
        (save_slices, restore_slices),
        (save_old, restore_old),
        (save_old_slices, restore_slices),
    ],
    ids=lambda part: part.__name__,
)
def test_what_one_writes_the_other_reads(save: Any, restore: Any, saver: str, tmp_path: Path) -> None:
    run(saver, lambda tf: save(tf, tmp_path))
    ours, theirs = (run(module, lambda tf: restore(tf, tmp_path)) for module in MODULES)
    assert len(ours) == len(theirs)
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, their)
        assert np.asarray(mine).dtype == np.asarray(their).dtype


def restoring(name: str, spec: str, dtype: str) -> Callable[[Any, Path], Any]:
    def build(tf: Any, folder: Path) -> Any:
        return tf.raw_ops.RestoreV2(
            prefix=str(folder / "m"), tensor_names=[name], shape_and_slices=[spec], dtypes=[getattr(tf, dtype)]
        )

    return build


MISTAKES = {
    "another name": restoring("c", "", "float32"),
    "another type": restoring("b", "", "float64"),
    "another whole": restoring("b", "5 3 0,2:-", "float32"),
    "beyond the end": restoring("b", "4 3 3,2:-", "float32"),
    "no sizes": restoring("b", "0,2:-", "float32"),
    "no number": restoring("b", "4 x 0,2:-", "float32"),
    "another rank": restoring("b", "4 0,2", "float32"),
    "no checkpoint": lambda tf, folder: restoring("b", "", "float32")(tf, folder / "none"),
    "names and slices": lambda tf, folder: tf.raw_ops.RestoreV2(
        prefix=str(folder / "m"), tensor_names=["b", "a"], shape_and_slices=[""], dtypes=[tf.float32]
    ),
    "a shape that is not the slice's": lambda tf, folder: tf.raw_ops.SaveV2(
        prefix=str(folder / "n"), tensor_names=["w"], shape_and_slices=["4 3 0,2:-"], tensors=[MATRIX]
    ),
    "two tensors of one name": lambda tf, folder: tf.raw_ops.SaveV2(
        prefix=str(folder / "n"), tensor_names=["w", "w"], shape_and_slices=["", ""], tensors=[MATRIX, MATRIX]
    ),
    "nothing to merge": lambda tf, folder: tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(folder / "none")], destination_prefix=str(folder / "n")
    ),
}


# Where TensorFlow's class says little: an input that is missing, and a slice that is not within the tensor.
OTHER_CLASSES = {"nothing to merge": "NotFoundError", "beyond the end": "InvalidArgumentError"}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_errors_of_the_same_kind(mistake: str, tmp_path: Path) -> None:
    run("tensorflow", lambda tf: save_two(tf, tmp_path))
    ours, theirs = (run(module, lambda tf: MISTAKES[mistake](tf, tmp_path)) for module in MODULES)
    assert isinstance(theirs, str)
    assert ours == OTHER_CLASSES.get(mistake, theirs)


@pytest.mark.parametrize(
    "restore", [restoring("b", "", "float32"), restoring("b", "4 3 1,2:-", "float32")], ids=["whole", "slice"]
)
def test_static_shapes_are_tensorflows(restore: Any, tmp_path: Path) -> None:
    shapes = []
    for module in MODULES.values():
        with tensorflow_1(), module.Graph().as_default():
            shapes.append(str(restore(module, tmp_path)[0].shape))
    assert shapes[0] == shapes[1]
