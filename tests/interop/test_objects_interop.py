"""Object-based checkpoints of TensorFlow 2: the same objects, paths, names and slots that TensorFlow sees in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph
from tensorflow.python.training.saver import object_graph_key_mapping

import tensorkeep
from tensorkeep import CheckpointReader, DType, ObjectGraph, RenamedReader, SlotVariable
from tests.interop.samples import EAGER_VARIABLES, Samples
from tests.interop.tensorflow_oracle import as_array, assert_same

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
NAMES = ["a", "b", "b/c", "d.e", ".S", "/", "..", "kernel", "x/.S.y"]


class RandomObjects:
    """Trees of modules, lists, dictionaries and variables, some of them reached in more than one way."""

    def __init__(self, seed: int) -> None:
        self.samples = Samples(seed)
        self.variables: list[tf.Variable] = []
        self.parts: list[Any] = []

    def variable(self) -> tf.Variable:
        name = str(self.samples.choice(["v", "w", "scope/v", "scope/w"]))
        self.variables.append(tf.Variable(self.samples.tensor(EAGER_VARIABLES).theirs, name=name))
        return self.variables[-1]

    def tree(self, depth: int) -> Any:
        if self.parts and self.samples.chance(0.1):
            return self.samples.choice(self.parts)
        if not depth or self.samples.chance(0.25):
            return self.variable()
        self.parts.append(self._container(depth - 1))
        return self.parts[-1]

    def _container(self, depth: int) -> Any:
        kind = self.samples.below(4)
        if kind == 0:
            return [self.tree(depth) for _ in range(1 + self.samples.below(3))]
        if kind == 1:
            return {str(self.samples.choice(NAMES)): self.tree(depth) for _ in range(3)}
        if kind == 2:
            return (self.tree(depth), self.variable())
        module = tf.Module()
        module.first, module.second = self.tree(depth), self.variable()
        return module


def expect_objects(path: str) -> None:
    """What we make of a checkpoint's objects is what TensorFlow made them from, and what it makes of them."""
    theirs = tf.train.load_checkpoint(path)
    keys = {name for name, _ in tf.train.list_variables(path)} - {OBJECT_GRAPH}
    with tensorkeep.open_checkpoint(path) as reader:
        graph = ObjectGraph.read(reader)
        assert graph.keys_by_full_name() == object_graph_key_mapping(path)
        for item in graph.attributes:
            attribute = item.attribute.replace(".", "..").replace("/", ".S")
            assert item.key == f"{item.path}/.ATTRIBUTES/{attribute}"
        expect_renamed(RenamedReader.by_path(reader), theirs, graph.keys_by_path(), keys)
        names = {name: key for name, key in graph.keys_by_full_name().items() if name}
        expect_renamed(RenamedReader.by_full_name(reader), theirs, names, set(names.values()))
        expect_slots(reader, graph)


def expect_renamed(renamed: CheckpointReader, theirs: Any, keys: dict[str, str], wanted: set[str]) -> None:
    """Each new name reads what TensorFlow reads under the key it stands for, and together they stand for `wanted`."""
    found = renamed.read_many()
    seen: set[str] = set()
    for name, array in found.items():
        key = keys.get(name)
        if key is None:  # a table, which has tensors for its keys and its values
            base, part = name.rsplit("-", 1)
            key = f"{keys[base]}-{part}"
        dtype = DType.of(theirs.get_variable_to_dtype_map()[key].name)
        assert_same(array, as_array(theirs.get_tensor(key), dtype), f"{name}, which is {key}")
        seen.add(key)
    assert seen == wanted


def expect_slots(reader: CheckpointReader, graph: ObjectGraph) -> None:
    message = TrackableObjectGraph.FromString(reader.read(OBJECT_GRAPH).item())
    wanted = set()
    for optimizer in message.nodes:
        for slot in optimizer.slot_variables:
            key = message.nodes[slot.slot_variable_node_id].attributes[0].checkpoint_key
            wanted.add((slot.slot_name, key.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")))
    assert {(slot.slot, slot.path) for slot in graph.slots} == wanted
    by_path = graph.keys_by_path()
    for slot in graph.slots:
        assert {slot.variable, slot.path} <= by_path.keys(), slot


@pytest.mark.parametrize("seed", range(25))
def test_any_tree_of_objects(tmp_path, seed):
    objects = RandomObjects(seed)
    checkpoint = tf.train.Checkpoint(first=objects.tree(3), second=objects.tree(3), last=objects.variable())
    expect_objects(checkpoint.save(str(tmp_path / "model")))


@pytest.mark.parametrize("seed", range(5))
def test_objects_are_found_by_any_path_that_leads_to_them(tmp_path, seed):
    objects = RandomObjects(seed)
    path = tf.train.Checkpoint(first=objects.tree(3), second=objects.tree(3)).write(str(tmp_path / "model"))
    with tensorkeep.open_checkpoint(path) as reader:
        graph = ObjectGraph.read(reader)
    for walk, number in walks(graph):
        assert graph.find(walk) == number, walk


def walks(graph: ObjectGraph, at: int = 0, path: str = "") -> Iterator[tuple[str, int]]:
    for name, child in graph.children[at].items():
        step = name.replace(".", "..").replace("/", ".S")
        walk = f"{path}/{step}" if path else step
        yield walk, child
        yield from walks(graph, child, walk)


def test_a_variable_at_the_root(tmp_path):
    expect_objects(tf.train.Checkpoint(root=tf.Variable(1.0, name="v")).write(str(tmp_path / "model")))


def test_hash_tables_are_read_under_two_names(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    dense = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2, initial_num_buckets=16
    )
    dense.insert(tf.constant([3, 4], tf.int64), tf.constant([1.5, 2.5]))
    path = tf.train.Checkpoint(table=table, inner=[dense], v=tf.Variable(1.0)).write(str(tmp_path / "model"))
    expect_objects(path)
    with RenamedReader.by_path(tensorkeep.open_checkpoint(path)) as reader:
        keys, values = reader.read("table.table-keys"), reader.read("table.table-values")
        assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {b"a": 1, b"b": 2}
        assert {"inner/0.table-keys", "inner/0.table-values", "v"} < set(reader)


OPTIMIZERS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "Adam": (lambda: tf.compat.v1.train.AdamOptimizer(0.1), {"m", "v"}),
    "Momentum": (lambda: tf.compat.v1.train.MomentumOptimizer(0.1, 0.9), {"momentum"}),
    "Adagrad": (lambda: tf.compat.v1.train.AdagradOptimizer(0.1), {"accumulator"}),
    "RMSProp": (lambda: tf.compat.v1.train.RMSPropOptimizer(0.1, centered=True), {"rms", "mg", "momentum"}),
    "Ftrl": (lambda: tf.compat.v1.train.FtrlOptimizer(0.1), {"accum", "linear"}),
    "GradientDescent": (lambda: tf.compat.v1.train.GradientDescentOptimizer(0.1), set()),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots_of_the_optimizers_of_tensorflow_1(tmp_path, name):
    make, slots = OPTIMIZERS[name]
    optimizer = make()
    weights = {"deep": [tf.Variable([[1.0, 2.0]], name="w")], "b/c": tf.Variable(3.0, name="b")}
    variables = [weights["deep"][0], weights["b/c"]]
    optimizer.minimize(lambda: tf.reduce_sum(variables[0] ** 2) + variables[1] ** 2, var_list=variables)
    path = tf.train.Checkpoint(model=weights, training={"opt": optimizer}).write(str(tmp_path / "model"))
    expect_objects(path)
    with tensorkeep.open_checkpoint(path) as reader:
        found = ObjectGraph.read(reader).slots
        assert {slot.slot for slot in found} == slots
        assert {slot.variable for slot in found} == ({"model/deep/0", "model/b.Sc"} if slots else set())
        assert {slot.optimizer for slot in found} <= {"training/opt"}
        by_path = RenamedReader.by_path(reader)
        for slot in found:
            variable = variables[0] if slot.variable == "model/deep/0" else variables[1]
            assert_same(by_path.read(slot.path), optimizer.get_slot(variable, slot.slot).numpy(), slot)


def test_slots_of_an_optimizer_at_the_root(tmp_path):
    variable = tf.Variable(1.0, name="v")
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: variable**2, var_list=[variable])
    path = tf.train.Checkpoint(root=optimizer, v=variable).write(str(tmp_path / "model"))
    expect_objects(path)
    with tensorkeep.open_checkpoint(path) as reader:
        assert SlotVariable("", "m", "v", "v/.OPTIMIZER_SLOT//m") in ObjectGraph.read(reader).slots


def test_a_keras_model_with_its_optimizer(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(tmp_path / "model"))
    expect_objects(path)
    with RenamedReader.by_path(tensorkeep.open_checkpoint(path)) as reader:
        shapes = sorted(info.shape for info in reader.values())
    saved = [variable.shape for variable in (*model.variables, *optimizer.variables)]
    assert shapes == sorted([*map(tuple, saved), ()])  # and the number of saves


def test_saver_falls_back_to_the_names_that_we_find(tmp_path):
    """A graph's Saver restores an object-based checkpoint by the full names that we list too."""
    path = tf.train.Checkpoint(layers=[tf.Variable([1.0, 2.0], name="scope/v"), tf.Variable([3], name="w")]).write(
        str(tmp_path / "model")
    )
    with RenamedReader.by_full_name(tensorkeep.open_checkpoint(path)) as reader:
        ours = {name: array.tolist() for name, array in reader.read_many().items()}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variables = [
            tf.compat.v1.get_variable("scope/v", [2], tf.float32),
            tf.compat.v1.get_variable("w", [1], tf.int32),
        ]
        tf.compat.v1.train.Saver().restore(session, path)
        theirs = {variable.op.name: session.run(variable).tolist() for variable in variables}
    assert ours == theirs == {"scope/v": [1.0, 2.0], "w": [3]}


def test_a_checkpoint_of_names_is_not_one_of_objects(tmp_path):
    tensorkeep.save_checkpoint(tmp_path / "model", {"a": np.zeros(2)})
    with pytest.raises(tf.errors.NotFoundError):
        object_graph_key_mapping(str(tmp_path / "model"))
    with (
        tensorkeep.open_checkpoint(tmp_path / "model") as reader,
        pytest.raises(tensorkeep.NotFoundError, match="is not an object-based checkpoint"),
    ):
        ObjectGraph.read(reader)
