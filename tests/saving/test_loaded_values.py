"""What loading a graph sets variables and tables to is known without running anything of it, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.rewriting.freezing import variables_of
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import MetaGraphDef, SaverDef
from tensorkeep.saving.freezing import FreezeOptions, freeze_with_saver
from tensorkeep.saving.loaded_values import LoadedValues

Build = Callable[[], Any]


def saved(build: Build, **options: Any) -> tuple[MetaGraphDef, MemoryFileSystem, Any]:
    """A graph whose variables were saved, and what the function gave of it."""
    fs = MemoryFileSystem()
    fs.make_directory("d")
    with tf.Graph().as_default(), tf.Session(filesystem=fs) as session:
        made = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        saver = tf.train.Saver(**options)
        saver.save(session, "d/m", write_meta_graph=False)
        return saver.export_meta_graph(), fs, made


def loaded(build: Build, *inits: str, **options: Any) -> dict[str, Any]:
    """The values of all variables, in a graph that was saved, restored and then initialized."""
    meta_graph, fs, _ = saved(build, **options)
    values = LoadedValues(meta_graph.graph_def)
    with open_checkpoint("d/m", fs=fs) as reader:
        values.restore(meta_graph.saver_def, reader)
        values.initialize(inits)
        return values.values(variables_of(meta_graph.graph_def))


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("options", [{}, {"sharded": True}, {"reshape": True}, {"write_version": SaverDef.V1}])
def test_restored_variables_have_the_values_of_the_checkpoint(use_resource: bool, options: dict[str, Any]) -> None:
    def build() -> None:
        tf.get_variable("a", initializer=np.float32([1, 2, 3]), use_resource=use_resource)
        tf.get_variable("b", initializer=np.int64(7), use_resource=use_resource)

    values = loaded(build, **options)
    assert values["a"].tolist() == [1, 2, 3]
    assert values["b"] == 7


def test_parts_take_their_slices() -> None:
    def build() -> None:
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
            tf.get_variable("w", [3, 2])

    meta_graph, fs, _ = saved(build)
    save_checkpoint("d/other", {"s/w": np.arange(6, dtype=np.float32).reshape(3, 2)}, fs=fs)
    values = LoadedValues(meta_graph.graph_def)
    with open_checkpoint("d/other", fs=fs) as reader:
        values.restore(meta_graph.saver_def, reader)
        found = values.values(variables_of(meta_graph.graph_def))
    assert [found[f"s/w/part_{i}"].tolist() for i in (0, 1)] == [[[0, 1], [2, 3]], [[4, 5]]]


def test_what_initialization_sets_from_constants_is_known() -> None:
    def build() -> None:
        tf.get_variable("a", initializer=np.float32(1))
        local = tf.get_local_variable("b", initializer=tf.zeros([2, 2]))
        tf.group(local.initializer, name="start")

    assert loaded(build, "start")["b"].tolist() == [[0, 0], [0, 0]]


def test_a_variable_that_takes_the_value_of_another_has_it() -> None:
    def build() -> None:
        a = tf.get_variable("a", initializer=np.float32(5))
        tf.assign(tf.get_variable("b", initializer=np.float32(1)), a, name="start")

    assert loaded(build, "start") == {"a": 5, "b": 5}


def random() -> None:
    a = tf.get_variable("a", initializer=np.float32(1))
    tf.assign(a, tf.random_uniform([]), name="start")


def counted() -> None:
    tf.assign_add(tf.get_variable("a", initializer=np.float32(1)), 1.0, name="start")


def conditional() -> None:
    a = tf.get_variable("a", initializer=np.float32(1))
    with tf.control_dependencies([tf.cond(tf.greater(a, 0.0), lambda: tf.assign(a, 2.0), lambda: tf.assign(a, 3.0))]):
        tf.no_op("start")


def from_another_file() -> None:
    a = tf.get_variable("a", initializer=np.float32(1))
    tf.assign(a, tf.raw_ops.RestoreV2(prefix="x", tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])[0],
              name="start")  # fmt: skip


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (random, r'"a" by "random_uniform'),
        (counted, r'"a" by "start" \(AssignAdd\)'),
        (conditional, r'"a" by "cond/.*Switch"'),
        (from_another_file, r'"a" by "RestoreV2" \(RestoreV2\) reads a file that the graph names'),
    ],
)
def test_what_only_running_could_tell_is_refused_by_name(build: Build, said: str) -> None:
    with pytest.raises(FailedPreconditionError, match=said) as caught:
        loaded(build, "start")
    assert "--run-initializers" in str(caught.value)


def test_a_variable_that_nothing_sets_is_named() -> None:
    def build() -> None:
        tf.get_variable("a", initializer=np.float32(1))
        tf.get_local_variable("b", initializer=np.float32(1))

    with pytest.raises(FailedPreconditionError, match="uninitialized value b"):
        loaded(build)


def test_another_shape_than_the_checkpoint_has_is_an_error() -> None:
    meta_graph, fs, _ = saved(lambda: tf.get_variable("a", initializer=np.float32([1, 2])))
    other, _, _ = saved(lambda: tf.get_variable("a", initializer=np.float32([1, 2, 3])))
    with pytest.raises(InvalidArgumentError, match=r'"a" has the shape .*3.*\[2\]'):
        freeze_with_saver(other.graph_def, meta_graph.saver_def, "d/m", ["a/read"], fs=fs)


def test_a_tensor_that_the_checkpoint_lacks_is_an_error() -> None:
    meta_graph, _, _ = saved(lambda: tf.get_variable("a", initializer=np.float32([1, 2])))
    _, fs, _ = saved(lambda: tf.get_variable("b", initializer=np.float32([1, 2])))
    with pytest.raises(NotFoundError, match="Key a not found"):
        freeze_with_saver(meta_graph.graph_def, meta_graph.saver_def, "d/m", ["a/read"], fs=fs)


def test_operations_that_are_named_run_but_only_compute() -> None:
    def build() -> None:
        a = tf.get_variable("a", initializer=np.float32(1))
        tf.assign_add(a, 1.0, name="more")
        with tf.control_dependencies([tf.raw_ops.WriteFile(filename="d/stolen", contents="x")]):
            tf.no_op("evil")

    meta_graph, fs, _ = saved(build)
    graph, saver = meta_graph.graph_def, meta_graph.saver_def
    frozen = freeze_with_saver(graph, saver, "d/m", ["a/read"], FreezeOptions(initializers=["more"]), fs=fs)
    assert next(node for node in frozen.node if node.name == "a").attr["value"].tensor.float_val[:] == [2.0]
    with pytest.raises(PermissionError, match="writes files"):
        freeze_with_saver(graph, saver, "d/m", ["a/read"], FreezeOptions(initializers=["evil"]), fs=fs)
    assert not fs.exists("d/stolen")


def test_a_table_holds_what_the_checkpoint_has_of_it() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    with tf.Graph().as_default(), tf.Session(filesystem=fs) as session:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="t")
        session.run(table.insert(tf.constant(["x", "y"]), tf.constant([1, 2], tf.int64)))
        saver = tf.train.Saver([table])
        saver.save(session, "d/m", write_meta_graph=False)
        meta_graph = saver.export_meta_graph()
    values = LoadedValues(meta_graph.graph_def)
    with open_checkpoint("d/m", fs=fs) as reader:
        values.restore(meta_graph.saver_def, reader)
        node = next(node for node in meta_graph.graph_def.node if node.op.startswith("MutableHashTable"))
        keys, numbers = values.table(node.name)
    assert dict(zip(keys.tolist(), numbers.tolist(), strict=True)) == {b"x": 1, b"y": 2}
