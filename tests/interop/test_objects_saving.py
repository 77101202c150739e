"""`tf.train.Checkpoint` and `CheckpointManager` beside TensorFlow's: the same nodes, objects, keys and files."""

from __future__ import annotations

import collections
import inspect
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph
from tensorflow.python.checkpoint import checkpoint_management

import tensorkeep
import tensorkeep.v1 as ours
from tensorkeep.saving.retention import KeepActive
from tensorkeep.tf1.training.objects.manager import CheckpointManager, ManagerOptions
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint
from tests.interop import legacy_objects
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1
from tests.interop.tensorflow_oracle import assert_same, assert_same_files
from tests.interop.test_objects_interop import RandomObjects

theirs = tf.compat.v1
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"

Program = Callable[[Any, Any, str], Any]


def run_both(program: Program, root: Path) -> tuple[Any, Any]:
    """Runs a program with both, each in a graph, a session and a folder of its own; the nodes must be the same."""
    with ours.Graph().as_default() as our_graph, ours.Session() as session:
        mine = program(ours, session, str(root / "ours"))
    with tensorflow_1(), tf.Graph().as_default() as their_graph, theirs.Session() as their_session:
        other = program(theirs, their_session, str(root / "theirs"))
    mine_nodes, other_nodes = our_nodes(our_graph), their_nodes(their_graph)
    assert_same_nodes(mine_nodes, other_nodes)
    assert list(mine_nodes) == list(other_nodes)
    return mine, other


def assert_same_folders(root: Path) -> None:
    """Both wrote files of the same names and bytes."""
    names = sorted(path.name for path in (root / "theirs").iterdir())
    assert sorted(path.name for path in (root / "ours").iterdir()) == names
    for name in names:
        if name.endswith(".index"):
            prefix = name.removesuffix(".index")
            expect_same_graph(root, prefix)
            assert_same_files(root / "ours" / prefix, root / "theirs" / prefix, prefix)
    state = "checkpoint"
    if state in names:
        assert (root / "ours" / state).read_text() == (root / "theirs" / state).read_text()


def expect_same_graph(root: Path, prefix: str) -> None:
    graphs = [
        TrackableObjectGraph.FromString(tensorkeep.load_tensor(root / side / prefix, OBJECT_GRAPH).item())
        for side in ("ours", "theirs")
    ]
    assert str(graphs[0]) == str(graphs[1])


def variables(tf: Any) -> SimpleNamespace:
    return SimpleNamespace(
        a=tf.get_variable("a", initializer=[1.0, 2.0]),
        b=tf.get_variable("b", initializer=[[3.0]], use_resource=True),
        c=tf.get_variable("scope/c", initializer=7, use_resource=True),
    )


Pair = collections.namedtuple("Pair", "left right")


def plain(tf: Any, session: Any, folder: str) -> Any:
    v = variables(tf)
    session.run(tf.global_variables_initializer())
    checkpoint = tf.train.Checkpoint(z=v.a, y=v.b, x=v.c)
    return [checkpoint.save(f"{folder}/ck", session=session).rpartition("/")[2] for _ in range(3)]


def containers(tf: Any, session: Any, folder: str) -> Any:
    v = variables(tf)
    session.run(tf.global_variables_initializer())
    tree = {"x.y": v.a, "p/q": [v.b, {"deep": v.c}], "plain": 3, "none": None}
    inner = tf.train.Checkpoint(again=v.b, tree=tree)
    checkpoint = tf.train.Checkpoint(
        inner=inner, pair=Pair(v.a, [v.c]), both=(v.b, (v.b, v.a)), empty=[], same=inner.tree, named={"k": Pair(1, v.a)}
    )
    checkpoint.late = [v.c]
    checkpoint.late.append(v.a)
    checkpoint.inner.tree["more"] = v.a
    return checkpoint.save(f"{folder}/ck", session=session).rpartition("/")[2]


def optimizers(tf: Any, session: Any, folder: str) -> Any:
    v = variables(tf)
    loss = tf.reduce_sum(v.a) * tf.reduce_sum(v.b)
    adam, momentum = tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9)
    steps = [adam.minimize(loss), momentum.minimize(loss), tf.train.GradientDescentOptimizer(0.1).minimize(loss)]
    session.run(tf.global_variables_initializer())
    session.run(steps[0])
    checkpoint = tf.train.Checkpoint(model=[v.a, v.b], adam=adam, momentum=momentum)
    path = checkpoint.save(f"{folder}/ck", session=session)
    session.run(tf.global_variables_initializer())
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
    checkpoint.restore(path).assert_existing_objects_matched().initialize_or_restore(session)
    return session.run([v.a, v.b, adam.get_slot(v.a, "m"), adam.variables(), checkpoint.save_counter])


def restoring_first(tf: Any, session: Any, folder: str) -> Any:
    v = variables(tf)
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(z=v.a, y=[v.b]).save(f"{folder}/ck", session=session)
    session.run([v.a.assign([0.0, 0.0]), v.b.assign([[0.0]])])
    other = tf.train.Checkpoint(z=v.a, y=[v.b], fresh=v.c)
    other.restore(path).expect_partial().initialize_or_restore(session)
    found = session.run([v.a, v.b, v.c, other.save_counter])
    other.save(f"{folder}/ck", session=session)
    other.more = v.c
    other.save(f"{folder}/ck", session=session)
    other.write(f"{folder}/written", session)
    return found


def devices(tf: Any, session: Any, folder: str) -> Any:
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", initializer=[1.0, 2.0])
    with tf.device("/job:localhost/replica:0/task:0/cpu:0"):
        b = tf.get_variable("b", initializer=[3.0], use_resource=True)
    session.run(tf.global_variables_initializer())
    checkpoint = tf.train.Checkpoint(a=a, b=b)
    path = checkpoint.save(f"{folder}/ck", session=session)
    session.run([a.assign([0.0, 0.0]), b.assign([0.0])])
    checkpoint.restore(path).run_restore_ops(session)
    return session.run([a, b])


def tables(tf: Any, session: Any, folder: str) -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="words")
    dense = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2, name="dense"
    )
    a = tf.get_variable("a", initializer=[1.0])
    session.run([tf.global_variables_initializer(), table.insert(["x"], [7]), dense.insert([3], [0.5])])
    checkpoint = tf.train.Checkpoint(table=table, dense=dense, a=a)
    path = checkpoint.save(f"{folder}/ck", session=session)
    session.run([table.insert(["x", "y"], [8, 9]), dense.insert([3], [1.5])])
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
    return session.run([table.lookup(["x", "y"]), dense.lookup([3])])


def modules(tf: Any, session: Any, folder: str) -> Any:
    class Dense(tf.Module):
        def __init__(self, size: int, name: str | None = None) -> None:
            super().__init__(name=name)
            self.b = None
            with self.name_scope:
                self.w = tf.Variable([1.0] * size, name="w")
                self.b = tf.Variable(0.5, name="b", use_resource=True)

        @tf.Module.with_name_scope
        def __call__(self, x: Any) -> Any:
            return x * self.w + self.b

    class MultiLayer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Dense(1), Dense(2, "second")]
            self.named = {"again": self.layers[0]}
            self.layers.append(Dense(3))

    model = MultiLayer()
    outputs = [layer(2.0) for layer in model.layers]
    session.run(tf.global_variables_initializer())
    checkpoint = tf.train.Checkpoint(model=model)
    path = checkpoint.save(f"{folder}/ck", session=session)
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
    names = [variable.name for variable in (*model.variables, *model.trainable_variables)]
    with model.name_scope as scope:
        names.append(scope)
    return [session.run(outputs), names, [module.name for module in model.submodules]]


def managed(tf: Any, session: Any, folder: str) -> Any:
    v = variables(tf)
    session.run(tf.global_variables_initializer())
    checkpoint = tf.train.Checkpoint(a=v.a, b=v.b)
    with session.as_default():
        manager = tf.train.CheckpointManager(checkpoint, folder, 2, checkpoint_name="m")
        saved = [manager.save() for _ in range(4)]
        saved.append(manager.save(checkpoint_number=40))
        saved.append(manager.save(v.c))
        again = tf.train.CheckpointManager(checkpoint, folder, 1, step_counter=v.c, checkpoint_interval=3)
        saved += [again.restore_or_initialize(), again.save(), again.save(check_interval=False)]
        session.run(v.c.assign_add(5))
        saved.append(again.save())
    return [path and path.rpartition("/")[2] for path in saved] + [len(again.checkpoints)]


@pytest.mark.parametrize(
    "program",
    [plain, containers, optimizers, restoring_first, devices, tables, modules],
    ids=lambda item: item.__name__,
)
def test_the_same_program_gives_the_same_graph_files_and_values(tmp_path, program):
    mine, other = run_both(program, tmp_path)
    assert_same_values(mine, other)
    assert_same_folders(tmp_path)


class RandomProgram:
    """Assigns containers, modules and variables to attributes, then saves and restores."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, tf: Any, session: Any, folder: str) -> Any:
        self.rng = random.Random(self._seed)
        self.made = [tf.get_variable(f"v{at}", initializer=[float(at)], use_resource=at % 2 == 0) for at in range(6)]
        session.run(tf.global_variables_initializer())
        self.parts = [tf.Module() for _ in range(3)]
        root = tf.train.Checkpoint(first=self.parts[0])
        for _ in range(8):
            name = self.rng.choice(["a", "b.c", "d/e", "f"])
            setattr(self.rng.choice([root, *self.parts]), name, self.thing(3))
        path = root.save(f"{folder}/ck", session=session)
        session.run([variable.assign_add([10.0]) for variable in self.made])
        root.save(f"{folder}/ck", session=session)
        root.restore(path).assert_consumed().run_restore_ops(session)
        return session.run(self.made)

    def thing(self, depth: int) -> Any:
        kind = self.rng.randrange(7) if depth else self.rng.randrange(2)
        if kind == 0:
            return self.rng.choice([3, None, "text", (1, 2), np.zeros(2)])
        if kind == 1:
            return self.rng.choice(self.made)
        if kind == 2:
            return self.rng.choice(self.parts)
        inner = [self.thing(depth - 1) for _ in range(self.rng.randrange(3))]
        if kind == 3:
            return inner
        if kind == 4:
            return tuple(inner)
        if kind == 5:
            return {str(at): item for at, item in enumerate(inner)}
        return Pair(self.thing(depth - 1), self.thing(depth - 1))


@pytest.mark.parametrize("seed", range(16))
def test_random_programs_give_the_same_graph_files_and_values(tmp_path, seed):
    mine, other = run_both(RandomProgram(seed), tmp_path)
    assert_same_values(mine, other)
    assert_same_folders(tmp_path)


def assert_same_values(mine: Any, other: Any) -> None:
    if isinstance(other, list | tuple):
        assert len(mine) == len(other)
        for one, two in zip(mine, other, strict=True):
            assert_same_values(one, two)
    elif isinstance(other, str | int | None):
        assert mine == other
    else:
        np.testing.assert_array_equal(mine, other)


class Clock:
    """A time that moves on whenever it is asked for."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 1.5
        return self.now


def test_a_manager_does_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_management, "time", SimpleNamespace(time=Clock()))
    clock = Clock()
    plain_options = ManagerOptions.__init__
    monkeypatch.setattr(ManagerOptions, "__init__", lambda self, *args: plain_options(self, *args, clock=clock))
    mine, other = run_both(managed, tmp_path)
    assert mine == other
    assert_same_folders(tmp_path)


# ---------------------------------------------------------------------------------------------------- Errors


def outcome(call: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises((AssertionError, ValueError, KeyError, tf.errors.NotFoundError)) as caught:
        call()
    return type(caught.value), str(getattr(caught.value, "message", caught.value))


def refusals(tf: Any, session: Any, folder: str) -> list[tuple[type, str]]:
    v = variables(tf)
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(x=v.a, y=[v.b]).save(f"{folder}/ck", session=session)
    return [
        outcome(tf.train.Checkpoint(x=v.a, w=v.b).restore(path).assert_consumed),
        outcome(tf.train.Checkpoint(x=v.a, w=v.b).restore(path).assert_existing_objects_matched),
        outcome(tf.train.Checkpoint(x=v.a).restore(None).assert_consumed),
        outcome(tf.train.Checkpoint(x=v.a).restore(None).run_restore_ops),
        outcome(tf.train.Checkpoint().restore(f"{folder}/ck-1").assert_consumed),
        outcome(lambda: tf.train.Checkpoint(q=1)),
        outcome(lambda: tf.train.CheckpointManager(tf.train.Checkpoint(x=v.a), folder, 0)),
        outcome(lambda: tf.train.CheckpointManager(tf.train.Checkpoint(x=v.a), folder, 1, checkpoint_interval=2)),
    ]


def test_the_same_mistakes_give_the_same_errors(tmp_path):
    mine, other = run_both(refusals, tmp_path)
    for (our_type, our_text), (their_type, their_text) in zip(mine, other, strict=True):
        assert issubclass(our_type, their_type)
        begin = their_text.partition(": attributes {")[0].partition(" If you believe")[0]
        assert our_text.startswith(begin), (our_text, their_text)


def test_layers_and_cells_are_followed_alike(tmp_path):
    (tmp_path / "theirs").mkdir()
    subprocess.run(
        [sys.executable, "-m", "tests.interop.legacy_objects", str(tmp_path / "theirs")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    legacy_objects.program(ours, str(tmp_path / "ours"))
    expect_same_graph(tmp_path, "ck-1")
    mine, other = (tensorkeep.list_tensors(tmp_path / side / "ck-1") for side in ("ours", "theirs"))
    assert mine == other


def test_signatures_are_tensorflows():
    for name in ("Checkpoint", "CheckpointManager", "CheckpointOptions"):
        mine, other = getattr(ours.train, name), getattr(theirs.train, name)
        assert parameters(mine) == parameters(other)
        for method in ("save", "write", "restore", "restore_or_initialize", "sync"):
            if hasattr(other, method):
                assert parameters(getattr(mine, method)) == parameters(getattr(other, method)), f"{name}.{method}"


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(item.name, item.kind, item.default) for item in inspect.signature(function).parameters.values()]


# ---------------------------------------------------------------------------------------------------- Eager TensorFlow


class TestEager:
    def test_restores_what_we_save_of_arrays(self, tmp_path):
        tree = {"model": {"kernel": np.ones((2, 3), np.float32), "bias": np.zeros(3)}, "steps": [np.int64(7)]}
        path = tensorkeep.save_objects(tmp_path / "c", tree)
        model = tf.Module()
        model.kernel, model.bias = tf.Variable(tf.zeros([2, 3])), tf.Variable(np.full(3, 5.0))
        steps = [tf.Variable(0, dtype=tf.int64)]
        tf.train.Checkpoint(model=model, steps=steps).read(path).assert_consumed()
        assert steps[0].numpy() == 7
        assert model.bias.numpy().tolist() == [0, 0, 0]

    def test_restores_what_we_save_of_a_graph_and_goes_on_counting(self, tmp_path):
        with ours.Graph().as_default(), ours.Session() as session:
            v = variables(ours)
            session.run(ours.global_variables_initializer())
            checkpoint = ours.train.Checkpoint(a=v.a, rest={"b": v.b, "c": v.c})
            for _ in range(2):
                path = checkpoint.save(str(tmp_path / "ck"), session=session)
        a, b, c = tf.Variable([0.0, 0.0]), tf.Variable([[0.0]]), tf.Variable(0)
        again = tf.train.Checkpoint(a=a, rest={"b": b, "c": c})
        again.restore(path).assert_consumed()
        assert (a.numpy().tolist(), b.numpy().tolist(), c.numpy()) == ([1, 2], [[3]], 7)
        assert again.save(str(tmp_path / "ck")).endswith("ck-3")

    @pytest.mark.parametrize("seed", range(10))
    def test_saves_what_we_restore(self, tmp_path, seed):
        objects = RandomObjects(seed)
        tree = {"first": objects.tree(3), "second": objects.tree(3), "last": objects.variable()}
        path = tf.train.Checkpoint(**tree).save(str(tmp_path / "model"))
        stored = tensorkeep.load_objects(path)
        stored.pop("save_counter")
        arrays: dict[int, tuple[Any, Any]] = {}
        Checkpoint(**emptied(stored, arrays)).restore(path).assert_consumed()
        for array, restored in arrays.values():
            assert_same(restored, array, "a restored array")
        assert len(arrays) == len(tf.train.load_checkpoint(path).get_variable_to_shape_map()) - 2

    @pytest.mark.parametrize("seed", range(10))
    def test_writes_the_same_files_for_the_same_tree(self, tmp_path, seed):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, 3)
        path = tensorkeep.save_objects(tmp_path / "ours", tree)
        their_path = tf.train.Checkpoint(**as_variables(tree)).write(str(tmp_path / "theirs"))
        mine, other = tensorkeep.load_tensors(path), tensorkeep.load_tensors(their_path)
        assert list(mine) == list(other)
        for graph in (mine, other):
            for node in (message := TrackableObjectGraph.FromString(graph[OBJECT_GRAPH].item())).nodes:
                for attribute in node.attributes:
                    attribute.full_name = ""
            graph[OBJECT_GRAPH] = np.asarray(str(message))
        for key in mine:
            np.testing.assert_array_equal(mine[key], other[key])

    def test_managers_take_over_from_each_other(self, tmp_path):
        array, variable = np.zeros(1, np.float32), tf.Variable([0.0])
        for turn in range(6):
            if turn % 2:
                checkpoint = tf.train.Checkpoint(v=variable)
                manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
                manager.restore_or_initialize()
                variable.assign_add([1.0])
            else:
                mine = Checkpoint(v=array)
                manager = CheckpointManager(mine, tmp_path, KeepActive(2))
                manager.restore_or_initialize()
                array += 1
            assert manager.save().endswith(f"ckpt-{turn + 1}")
        assert array == 5
        assert variable.numpy() == 6
        assert len(list(tmp_path.glob("*.index"))) == 2

    def test_the_ledger_is_no_bother(self, tmp_path):
        folder = tensorkeep.CheckpointFolder(tmp_path, tensorkeep.KeepLatest(2))
        for number in range(1, 4):
            folder.add(tensorkeep.save_objects(tmp_path / f"ckpt-{number}", {"v": np.ones(1), "save_counter": number}))
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable([0.0])), str(tmp_path), 2)
        assert [Path(path).name for path in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "ckpt-3")


def emptied(value: Any, arrays: dict[int, tuple[Any, Any]]) -> Any:
    """The same tree of other arrays, of which there is one for each of the first."""
    if isinstance(value, dict):
        return {name: emptied(item, arrays) for name, item in value.items()}
    if isinstance(value, list):
        return [emptied(item, arrays) for item in value]
    return arrays.setdefault(id(value), (value, np.empty_like(value)))[1]


def random_tree(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    def part(depth: int) -> Any:
        kind = rng.integers(0, 3) if depth else 2
        if kind == 2:
            return rng.normal(size=rng.integers(0, 3, size=rng.integers(0, 3))).astype(np.float32)
        items = [part(depth - 1) for _ in range(rng.integers(1, 4))]
        return items if kind else {f"{at}.x/y": item for at, item in enumerate(items)}

    return {name: part(depth) for name in ("alpha", "beta", "gamma")}


def as_variables(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: as_variables(item) for name, item in tree.items()}
    return [as_variables(item) for item in tree] if isinstance(tree, list) else tf.Variable(tree)
