"""Builders of savers that programs derive: their methods are called as TensorFlow's are, and what they add is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow
from tensorflow.python.training import saver as their_saver

import tensorkeep.v1 as ours
from tensorkeep.tf1.training.savers import saver_graph as our_saver
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1
HOOKS = (
    "save_op",
    "restore_op",
    "bulk_restore",
    "sharded_filename",
    "_AddSaveOps",
    "_AddRestoreOps",
    "_AddShardedSaveOps",
    "_AddShardedSaveOpsForV2",
    "_AddShardedRestoreOps",
    "_GroupByDevices",
    "_build_internal",
    "build",
)


@pytest.fixture(autouse=True)
def first_version() -> Iterator[None]:
    with tensorflow_1():
        yield


def described(value: Any) -> Any:
    """An argument as both sides can say it: tensors and saveables by name."""
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return getattr(value, "name", value)


def recording(base: type, log: list[Any]) -> type:
    """A class all of whose methods tell by which arguments they are called, and what they return."""

    def told(name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **keywords: Any) -> Any:
            log.append((name, described(args), described(keywords)))
            result = getattr(base, name)(self, *args, **keywords)
            log.append(
                (name, "returns", described(result) if name not in ("_build_internal", "build") else str(result))
            )
            return result

        return method

    return type("Recording", (base,), {name: told(name) for name in HOOKS})


def calls(tf: Any, module: Any, base: str, **options: Any) -> tuple[list[Any], Any]:
    log: list[Any] = []
    version = options.pop("version", 2)
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            a = tf.get_variable("a", [2, 3], use_resource=False)
        with tf.device("/cpu:1"):
            b = tf.get_variable("b", [3], use_resource=True)
        builder = recording(getattr(module, base), log)(write_version=version)
        tf.train.Saver([a, b], builder=builder, **options)
    return log, graph


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("base", ["BaseSaverBuilder", "BulkSaverBuilder"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sharded": True},
        {"sharded": True, "version": 1},
        {"reshape": True, "restore_sequentially": True, "name": "mine", "filename": "file", "max_to_keep": 3},
        {"name": ""},
    ],
    ids=str,
)
def test_every_hook_is_called_as_by_tensorflow(base: str, options: dict[str, Any]) -> None:
    mine, my_graph = calls(ours, our_saver, base, **options)
    other, their_graph = calls(theirs, their_saver, base, **options)
    assert mine == other
    assert [name for name, *_ in mine].count("_build_internal") == 2
    assert_same_nodes(our_nodes(my_graph), their_nodes(their_graph))


def doubling(base: type, tf: Any, io: Any) -> type:
    """A builder that stores twice of every value under another name, and halves what it reads."""

    class Doubling(base):  # type: ignore[misc, valid-type]
        def save_op(self, filename_tensor: Any, saveables: Any) -> Any:
            specs = [spec for saveable in saveables for spec in saveable.specs]
            names, slices = [f"twice/{spec.name}" for spec in specs], [spec.slice_spec for spec in specs]
            return io(tf, "SaveV2", filename_tensor, names, slices, [2.0 * spec.tensor for spec in specs])

        def restore_op(self, filename_tensor: Any, saveable: Any, preferred_shard: int) -> list[Any]:
            names = [f"twice/{spec.name}" for spec in saveable.specs]
            return [
                io(tf, "RestoreV2", filename_tensor, [name], [spec.slice_spec], [tf.float32])[0] / 2.0
                for name, spec in zip(names, saveable.specs, strict=True)
            ]

    return Doubling


def raw(tf: Any, op: str, prefix: Any, names: Any, slices: Any, last: Any) -> Any:
    inputs = {"prefix": prefix, "tensor_names": names, "shape_and_slices": slices}
    rest = {"tensors": last} if op == "SaveV2" else {"dtypes": last}
    return getattr(tf.raw_ops, op)(**inputs, **rest)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_an_overridden_hook_adds_saves_and_restores(tmp_path: Path, sharded: bool, use_resource: bool) -> None:
    def program(tf: Any, module: Any, write: Path | None, read: Path) -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", [2], initializer=tf.constant_initializer(3.0), use_resource=use_resource)
            saver = tf.train.Saver([v], builder=doubling(module.BaseSaverBuilder, tf, raw)(), sharded=sharded)
            if write is not None:
                session.run(tf.global_variables_initializer())
                saver.save(session, str(write))
            saver.restore(session, str(read))
            return session.run(v)

    mine, other = tmp_path / "mine", tmp_path / "other"
    assert program(ours, our_saver, mine, mine).tolist() == [3.0, 3.0]
    assert program(theirs, their_saver, other, other).tolist() == [3.0, 3.0]
    for path in (mine, other):
        assert np.array_equal(theirs.train.load_variable(str(path), "twice/v"), [6.0, 6.0])
        assert ours.train.list_variables(str(path)) == [("twice/v", [2])]
    assert program(ours, our_saver, None, other).tolist() == [3.0, 3.0]
    assert program(theirs, their_saver, None, mine).tolist() == [3.0, 3.0]
