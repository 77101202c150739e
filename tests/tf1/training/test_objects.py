"""Object-based checkpoints of variables and arrays."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from tensorkeep import (
    MemoryFileSystem,
    latest_checkpoint,
    list_tensors,
    load_objects,
    load_tensor,
    save_checkpoint,
    save_objects,
)
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    UnimplementedError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.runtime.session import Session
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.tf1.training.objects.load_status import (
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    UnmatchedObjectsError,
)
from tensorkeep.tf1.training.objects.module import Module
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint, CheckpointOptions
from tensorkeep.tf1.training.objects.trackable import AutoTrackable, NoDependency
from tensorkeep.tf1.training.optimizers.standard import AdamOptimizer
from tensorkeep.tf1.variables.variable import Variable
from tests.ops.walking import import_all_ops
from tests.support.golden import golden

import_all_ops()
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"

Pair = namedtuple("Pair", "left right")


def keys(path: str, fs: MemoryFileSystem) -> list[str]:
    found = [name.removesuffix(VALUE) for name in list_tensors(path, fs=fs)]
    return [name for name in found if name not in ("_CHECKPOINTABLE_OBJECT_GRAPH", "save_counter")]


def damage_tensor(fs: MemoryFileSystem, prefix: str, name: str) -> MemoryFileSystem:
    """The same files, but for a bit of a tensor."""
    content = fs.contents()
    with BundleReader(prefix, fs=fs) as reader:
        entry = reader.entry(name)
    path = f"{prefix}.data-00000-of-00001"
    data = bytearray(content[path])
    data[entry.offset + entry.size - 1] ^= 1
    return MemoryFileSystem({**content, path: bytes(data)})


class World:
    """A graph that is being built, a session of it, and files."""

    def __init__(self) -> None:
        self.fs = MemoryFileSystem()
        self.graph = Graph()
        self.session = Session(self.graph, filesystem=self.fs)

    def variable(self, value: Any, name: str, **options: Any) -> Any:
        made = Variable(np.asarray(value, np.float32), name=name, **options)
        self.session.run(made.initializer)
        return made

    def value(self, variable: Any) -> Any:
        return self.session.run(variable).tolist()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    with building(made.graph):
        yield made


class TestArrays:
    fs: MemoryFileSystem

    @pytest.fixture(autouse=True)
    def files(self):
        self.fs = MemoryFileSystem()

    def test_are_saved_and_filled_without_any_session(self):
        weights, bias = np.ones((2, 2), np.float32), np.zeros(2)
        checkpoint = Checkpoint(model={"w": weights, "b": [bias]})
        path = checkpoint.save("run/c", fs=self.fs)
        assert path == "run/c-1"
        weights[...] = bias[...] = 5
        checkpoint.restore(path, fs=self.fs).assert_consumed()
        assert weights.tolist() == [[1, 1], [1, 1]]
        assert bias.tolist() == [0, 0]

    def test_the_counter_goes_on_after_a_restore(self):
        first = Checkpoint(v=np.ones(1))
        for _ in range(3):
            path = first.save("run/c", fs=self.fs)
        again = Checkpoint(v=np.zeros(1))
        again.restore(path, fs=self.fs)
        assert again.save("run/c", fs=self.fs) == "run/c-4"
        assert latest_checkpoint("run", fs=self.fs) == "run/c-4"

    def test_written_ones_are_neither_numbered_nor_the_latest(self):
        checkpoint = Checkpoint(v=np.ones(1))
        assert checkpoint.write("run/c", fs=self.fs) == "run/c"
        assert not self.fs.exists("run/checkpoint")
        checkpoint.read("run/c", fs=self.fs).assert_consumed()

    def test_an_array_made_later_is_filled_when_it_comes(self):
        save_objects("c", {"a": np.full(2, 3), "b": {"c": np.full(1, 4)}}, fs=self.fs)
        checkpoint = Checkpoint(a=np.zeros(2, np.int64))
        status = checkpoint.read("c", fs=self.fs)
        with pytest.raises(UnmatchedObjectsError, match=r"Unresolved object in checkpoint \(root\).b.c"):
            status.assert_consumed()
        checkpoint.b = {"c": np.zeros(1, np.int64)}
        status.assert_consumed()
        assert checkpoint.b["c"] == 4

    def test_all_wrong_shapes_and_types_are_reported_and_nothing_is_filled(self):
        save_objects("c", {"a": np.ones(2), "b": np.ones(3), "c": np.ones(1, np.int32)}, fs=self.fs)
        ours = {"a": np.zeros(2), "b": np.zeros(4), "c": np.zeros(1)}
        with pytest.raises(InvalidArgumentError) as caught:
            Checkpoint(**ours).read("c", fs=self.fs)
        assert "shape (3,)" in str(caught.value)
        assert "expected dtype double" in str(caught.value)
        assert not ours["a"].any()

    @pytest.mark.parametrize("name", ["a", "b", "c"])
    def test_damage_anywhere_is_found_before_the_first_is_filled(self, name):
        save_objects("c", {"a": np.ones(2), "b": np.full(300_000, 2.0), "c": [b"text"]}, fs=self.fs)
        damaged = damage_tensor(self.fs, "c", f"{'c/0' if name == 'c' else name}{VALUE}")
        ours = {"a": np.zeros(2), "b": np.zeros(300_000), "c": [np.array(b"", object)]}
        with pytest.raises(DataLossError):
            Checkpoint(**ours).read("c", fs=damaged)
        assert not ours["a"].any()
        assert not ours["b"].any()
        assert ours["c"][0].item() == b""

    def test_a_read_only_array_is_reported_and_nothing_is_filled(self, tmp_path):
        path = Checkpoint(a=np.ones(2), b=np.ones(2)).save(tmp_path / "m")
        fixed, other = np.zeros(2), np.zeros(2)
        fixed.flags.writeable = False
        with pytest.raises(InvalidArgumentError, match=r"The array for b/.* is read-only"):
            Checkpoint(a=other, b=fixed).restore(path)
        assert not other.any()

    def test_an_array_without_a_stored_value_is_reported(self):
        save_objects("c", {"a": np.ones(2)}, fs=self.fs)
        status = Checkpoint(a=np.zeros(2), more=np.zeros(1)).read("c", fs=self.fs)
        with pytest.raises(UnmatchedObjectsError, match="Found 1 Python objects that were not bound"):
            status.assert_existing_objects_matched()

    def test_a_crash_at_any_moment_leaves_a_latest_that_is_whole(self):
        crashes = 0
        while True:
            fs = MemoryFileSystem()
            array = np.zeros(3)
            checkpoint = Checkpoint(v=array)
            checkpoint.save("run/c", fs=fs)
            dying = CrashingFileSystem(fs, crashes)
            try:
                array += 1
                checkpoint.save("run/c", fs=dying)
            except SimulatedCrash:
                pass
            latest = latest_checkpoint("run", fs=fs)
            assert latest is not None
            found = load_objects(latest, fs=fs)
            assert found["v"].tolist() == [found["save_counter"] - 1] * 3
            if not dying.has_crashed:
                break
            crashes += 1
        assert crashes > 5


class TestVariables:
    def test_of_both_kinds_are_saved_and_restored(self, world):
        plain, resource = world.variable([1, 2], "a"), world.variable([3], "b", use_resource=True)
        checkpoint = Checkpoint(x=plain, y=[resource])
        path = checkpoint.save("run/c", world.session)
        assert keys(path, world.fs) == ["x", "y/0"]
        world.session.run([plain.assign([0, 0]), resource.assign([0])])
        checkpoint.restore(path, fs=world.fs).assert_consumed().run_restore_ops(world.session)
        assert (world.value(plain), world.value(resource)) == ([1, 2], [3])
        assert checkpoint.save("run/c", world.session) == "run/c-2"

    def test_what_a_killed_save_to_the_same_prefix_left_goes(self, world):
        weight = world.variable([1.0], "w")
        world.session.run(weight.initializer)
        world.fs.make_directory("c_temp")
        atomic_write(world.fs, "c_temp/part-00002-of-00003.index", b"x")
        path = Checkpoint(model=weight).write("c", world.session)
        assert not world.fs.exists("c_temp")
        assert keys(path, world.fs) == ["model"]

    def test_are_saved_beside_arrays(self, world):
        variable, array = world.variable([1], "a"), np.full(2, 7)
        checkpoint = Checkpoint(v=variable, n=array)
        path = checkpoint.save("run/c", world.session)
        array[...] = 0
        world.session.run(variable.assign([0]))
        checkpoint.restore(path, fs=world.fs).assert_consumed().run_restore_ops(world.session)
        assert array.tolist() == [7, 7]
        assert world.value(variable) == [1]
        array[...] = 9
        assert load_objects(checkpoint.save("run/c", world.session), fs=world.fs)["n"].tolist() == [9, 9]

    def test_a_resource_variable_never_takes_a_wrong_shape(self, world):
        save_objects("c", {"v": np.ones(2, np.float32), "w": np.ones(5, np.float32)}, fs=world.fs)
        good, bad = world.variable([0, 0], "v"), world.variable([0, 0, 0], "w", use_resource=True)
        status = Checkpoint(v=good, w=bad).read("c", fs=world.fs)
        with pytest.raises(InvalidArgumentError, match=r"shape \(5,\).*shape \(3,\) and name w"):
            status.run_restore_ops(world.session)
        assert world.value(good) == [0, 0]

    def test_of_an_optimizer_are_found_through_it(self, world):
        weight = world.variable([1, 2], "w", use_resource=True)
        optimizer = AdamOptimizer(0.1)
        train = optimizer.minimize(weight.read_value()[0])
        for made in optimizer.variables():
            world.session.run(made.initializer)
        checkpoint = Checkpoint(model=weight, optimizer=optimizer)
        world.session.run(train)
        path = checkpoint.save("run/c", world.session)
        slot = optimizer.get_slot(weight, "m")
        before = world.value(slot)
        assert keys(path, world.fs) == [
            *("model", "model/.OPTIMIZER_SLOT/optimizer/m", "model/.OPTIMIZER_SLOT/optimizer/v"),
            *("optimizer/beta1_power", "optimizer/beta2_power"),
        ]
        world.session.run(train)
        assert world.value(slot) != before
        checkpoint.restore(path, fs=world.fs).assert_consumed().run_restore_ops(world.session)
        assert world.value(slot) == before
        inference = Checkpoint(model=weight)
        inference.restore(path, fs=world.fs).assert_existing_objects_matched().run_restore_ops(world.session)

    @pytest.mark.parametrize(
        "name", ["a", "b", "b/.OPTIMIZER_SLOT/optimizer/m", "b/.OPTIMIZER_SLOT/optimizer/v", "array"]
    )
    def test_damage_anywhere_is_found_before_the_first_is_set(self, world, name):
        variables = {"a": world.variable([1, 2], "a"), "b": world.variable([1, 2], "b", use_resource=True)}
        optimizer = AdamOptimizer(0.1)
        train = optimizer.minimize(variables["b"].read_value()[0] + variables["a"][0])
        for made in optimizer.variables():
            world.session.run(made.initializer)
        array = np.ones(2)
        checkpoint = Checkpoint(**variables, optimizer=optimizer, array=array)
        path = checkpoint.save("run/c", world.session)
        world.session.run(train)
        array[...] = 7
        everything = [*variables.values(), *optimizer.variables()]
        before = world.session.run(everything)
        content = damage_tensor(world.fs, path, name + VALUE).contents()
        for file in content:
            atomic_write(world.fs, file, content[file])
        with pytest.raises(DataLossError):
            checkpoint.restore(path, fs=world.fs).run_restore_ops(world.session)
        for old, new in zip(before, world.session.run(everything), strict=True):
            assert old.tolist() == new.tolist()
        assert array.tolist() == [7, 7]

    def test_slots_can_be_left_out(self, world):
        weight = world.variable([1, 2], "w")
        optimizer = AdamOptimizer(0.1)
        optimizer.minimize(weight.read_value()[0])
        for made in optimizer.variables():
            world.session.run(made.initializer)
        path = Checkpoint(model=weight, optimizer=optimizer).write("c", world.session)
        other = Checkpoint(model=weight, optimizer=AdamOptimizer(0.1))
        options = CheckpointOptions(experimental_skip_slot_variables=True)
        with pytest.raises(UnmatchedObjectsError, match="state 'm' for"):
            other.read(path, fs=world.fs).assert_consumed()
        with pytest.raises(
            UnmatchedObjectsError, match=r"\(root\).optimizer.beta1_power, \(root\).optimizer.beta2_power$"
        ):
            other.read(path, options, fs=world.fs).assert_consumed()

    def test_those_that_are_not_in_the_checkpoint_are_initialized(self, world):
        save_objects("c", {"v": np.ones(2, np.float32)}, fs=world.fs)
        old = Variable([0.0, 0.0], name="v")
        new = Variable([5.0], name="new", use_resource=True)
        Checkpoint(v=old, new=new).restore("c", fs=world.fs).initialize_or_restore(world.session)
        assert (world.value(old), world.value(new)) == ([1, 1], [5])

    def test_without_a_checkpoint_all_are_initialized(self, world):
        made = Variable([5.0], name="v")
        status = Checkpoint(v=made).restore(None)
        assert isinstance(status, InitializationOnlyStatus)
        for refused in (status.assert_consumed, status.assert_existing_objects_matched, status.run_restore_ops):
            with pytest.raises(AssertionError, match="No checkpoint specified"):
                refused()
        status.initialize_or_restore(world.session)
        assert world.value(made) == [5]

    def test_what_a_saver_wrote_is_restored_by_name(self, world):
        a, b = world.variable([1, 2], "scope/a"), world.variable([3], "b", use_resource=True)
        stored = {"scope/a": np.float32([1, 2]), "b": np.float32([3]), "more": np.ones(1)}
        path = save_checkpoint("run/m-1", stored, fs=world.fs)
        world.session.run([a.assign([0, 0]), b.assign([0])])
        checkpoint = Checkpoint(tree={"one": a, "two": (b,)})
        status = checkpoint.restore(path, fs=world.fs)
        assert isinstance(status, NameBasedSaverStatus)
        status.assert_consumed().run_restore_ops(world.session)
        assert (world.value(a), world.value(b)) == ([1, 2], [3])
        c = world.variable([0], "c")
        with pytest.raises(UnmatchedObjectsError, match="not restored"):
            Checkpoint(c=c).restore(path, fs=world.fs).assert_consumed()

    def test_a_crash_at_any_moment_leaves_a_latest_that_is_whole(self):
        crashes = 0
        while True:
            fs = MemoryFileSystem()
            resume_and_save(fs)
            dying = CrashingFileSystem(fs, crashes)
            with suppress(SimulatedCrash):
                resume_and_save(dying)
            latest = latest_checkpoint("run", fs=fs)
            assert latest is not None
            found = load_objects(latest, fs=fs)
            assert found["v"].tolist() == [found["save_counter"]]
            assert resume_and_save(fs) == f"run/c-{found['save_counter'] + 1}"
            if not dying.has_crashed:
                break
            crashes += 1
        assert crashes > 10

    def test_objects_may_come_go_and_move_between_saves(self, world):
        a, b, c = (world.variable([0], name, use_resource=name == "b") for name in "abc")
        checkpoint = Checkpoint(x=a, y=[b, c])
        trees: list[dict[str, Any]] = [{"y": [b]}, {"x": c, "y": {"z": a}}, {"x": [a, b, c]}, {"x": a, "y": [b, c]}]
        for number, tree in enumerate(trees):
            for name, value in tree.items():
                setattr(checkpoint, name, value)
            world.session.run([item.assign([number]) for item in (a, b, c)])
            path = checkpoint.save("run/c", world.session)
            world.session.run([item.assign([9]) for item in (a, b, c)])
            status = checkpoint.restore(path, fs=world.fs).assert_consumed()
            status.run_restore_ops(world.session)
            saved = [item for item in (a, b, c) if world.value(item) == [number]]
            assert len(saved) == len(keys(path, world.fs))

    def test_need_a_session(self, world):
        checkpoint = Checkpoint(v=world.variable([1], "v"))
        with pytest.raises(FailedPreconditionError, match="without a session"):
            checkpoint.save("run/c")

    def test_the_graph_grows_only_when_there_are_other_objects(self, world):
        checkpoint = Checkpoint(v=world.variable([1], "v"))
        path = checkpoint.save("run/c", world.session)
        checkpoint.restore(path, fs=world.fs).run_restore_ops(world.session)
        count = len(world.graph.operations)
        for _ in range(3):
            path = checkpoint.save("run/c", world.session)
            checkpoint.restore(path, fs=world.fs).run_restore_ops(world.session)
        assert len(world.graph.operations) == count
        checkpoint.w = world.variable([1], "w")
        assert keys(checkpoint.save("run/c", world.session), world.fs) == ["v", "w"]


def resume_and_save(fs: Any) -> str:
    """A run that goes on where the last one stopped, counts in its variable, and saves."""
    graph = Graph()
    with building(graph):
        variable = Variable(np.zeros(1, np.float32), name="v", use_resource=True)
        checkpoint = Checkpoint(v=variable)
        session = Session(graph, filesystem=fs)
        latest = latest_checkpoint("run", fs=fs)
        checkpoint.restore(latest, fs=fs).initialize_or_restore(session)
        session.run(variable.assign_add([1.0]))
        return checkpoint.save("run/c", session)


class TestTracking:
    def saved(self, checkpoint: Checkpoint) -> list[str]:
        fs = MemoryFileSystem()
        return keys(checkpoint.write("c", fs=fs), fs)

    def test_containers_of_every_kind(self):
        one, two = np.ones(1), np.ones(2)
        made = Checkpoint(
            pair=Pair(one, [two]), nested={"a.b": {"c/d": (one, {"e": two})}}, checkpoint=Checkpoint(x=np.ones(3))
        )
        assert self.saved(made) == ["checkpoint/x", "pair/left", "pair/right/0"]
        assert made.pair == Pair(one, [two])
        assert isinstance(made.nested, dict)

    def test_attributes_of_modules_by_their_names(self):
        class Dense(Module):
            def __init__(self) -> None:
                super().__init__()
                self.kernel = np.ones(1)
                self.unsaved = NoDependency(np.ones(2))
                self.number = 3

        model = Module("model")
        model.layers = [Dense(), Dense()]
        assert model.layers[0].unsaved.tolist() == [1, 1]
        assert self.saved(Checkpoint(model=model)) == ["model/layers/0/kernel", "model/layers/1/kernel"]
        del model.layers[0].kernel
        assert self.saved(Checkpoint(model=model)) == ["model/layers/1/kernel"]

    def test_a_root_has_its_children_at_the_top(self):
        model = AutoTrackable()
        model.w = np.ones(1)
        checkpoint = Checkpoint(model, step=np.zeros((), np.int64))
        assert self.saved(checkpoint) == ["step", "w"]
        with pytest.raises(InvalidArgumentError, match=r"root.w already exists"):
            Checkpoint(model, w=np.ones(1))
        fs = MemoryFileSystem()
        path = checkpoint.save("run/c", fs=fs)
        model.w[...] = 0
        checkpoint.restore(path, fs=fs).assert_consumed()
        assert model.w == 1
        assert checkpoint.save("run/c", fs=fs) == "run/c-2"

    def test_what_is_no_object_is_refused(self):
        with pytest.raises(InvalidArgumentError, match=r"expecting a trackable object.*'q'"):
            Checkpoint(q=1)

    def test_a_list_changed_behind_the_back_is_refused(self):
        given, named = [np.ones(1)], {"a": np.ones(1)}
        checkpoint = Checkpoint(given=given, named=named)
        given.append(np.ones(2))
        with pytest.raises(InvalidArgumentError, match="modified outside the wrapper"):
            self.saved(checkpoint)
        given.pop()
        named["b"] = np.ones(1)
        with pytest.raises(InvalidArgumentError, match="modified outside the wrapper"):
            self.saved(checkpoint)

    def test_lists_and_dictionaries_may_be_changed_where_they_are(self):
        checkpoint = Checkpoint(given=[np.ones(1)], named={})
        checkpoint.given.append([np.ones(2)])
        checkpoint.given += [np.ones(1)]
        checkpoint.given[0] = {"x": np.ones(1)}
        checkpoint.given.insert(0, np.ones(4))
        checkpoint.named["k"] = [np.ones(1)]
        checkpoint.named.setdefault("l", np.ones(1))
        checkpoint.named.update(m=np.ones(1))
        assert self.saved(checkpoint) == [
            *("given/0", "given/1/x", "given/2/0", "given/3", "named/k/0", "named/l", "named/m"),
        ]

    def test_keys_that_are_no_text_are_refused_if_they_lead_to_something(self):
        assert self.saved(Checkpoint(d={1: "unsaved", "a": np.ones(1)})) == ["d/a"]
        with pytest.raises(InvalidArgumentError, match="non-string key"):
            self.saved(Checkpoint(d={1: np.ones(1)}))

    def test_modules_list_their_variables(self, world):
        outer, inner = Module("outer"), Module()
        outer.b = world.variable([1], "b")
        outer.a = [world.variable([2], "a", trainable=False), inner]
        inner.c = world.variable([3], "c")
        assert [item.op.name for item in outer.variables] == ["a", "b", "c"]
        assert [item.op.name for item in outer.trainable_variables] == ["b", "c"]
        assert [item.op.name for item in outer.non_trainable_variables] == ["a"]
        assert outer.submodules == (inner,)
        assert (outer.name, inner.name) == ("outer", "module")
        with outer.name_scope as scope:
            assert scope == "outer/"
        with pytest.raises(InvalidArgumentError, match="not a valid module name"):
            Module("no name")


class TestOptions:
    def test_callbacks_are_told_the_path(self):
        fs, told = MemoryFileSystem(), []
        options = CheckpointOptions(experimental_write_callbacks=[told.append, lambda: told.append("none")])
        Checkpoint(v=np.ones(1)).save("run/c", options=options, fs=fs)
        assert told == ["run/c-1", "none"]
        options = CheckpointOptions(experimental_write_callbacks=[lambda a, b: None])
        with pytest.raises(UnimplementedError, match="multiple arguments"):
            Checkpoint(v=np.ones(1)).save("run/c", options=options, fs=fs)

    def test_a_sharding_callback_is_not_taken_silently(self):
        with pytest.raises(UnimplementedError):
            CheckpointOptions(experimental_sharding_callback=lambda tensors: tensors)


class TestForeign:
    def test_the_golden_checkpoint_of_a_manager(self):
        v = np.zeros(2, np.float32)
        checkpoint = Checkpoint(v=v)
        checkpoint.restore(golden("g20_checkpoint_manager") / "mgr/ckpt-7").assert_consumed()
        assert checkpoint.save_counter == 7
        assert v.tolist() == load_tensor(golden("g20_checkpoint_manager") / "mgr/ckpt-7", f"v{VALUE}").tolist()

    def test_the_variables_of_a_saved_model_by_its_folder(self):
        model = AutoTrackable()
        stored = load_objects(golden("g28_tf2_module") / "model/variables/variables")
        model.subs = [{"w": np.zeros_like(stored["subs"][0]["w"])}]
        Checkpoint(model).restore(golden("g28_tf2_module") / "model").expect_partial()
        np.testing.assert_array_equal(model.subs[0]["w"], stored["subs"][0]["w"])

    def test_a_path_that_leads_nowhere(self):
        with pytest.raises(MissingFileError, match="You may be missing the checkpoint suffix"):
            Checkpoint(v=np.ones(1)).restore("run/c", fs=MemoryFileSystem())

    def test_a_damaged_graph_of_objects(self):
        fs = MemoryFileSystem()
        save_checkpoint("bad", {"_CHECKPOINTABLE_OBJECT_GRAPH": b"\xff"}, fs=fs)
        with pytest.raises(DataLossError, match="object graph"):
            Checkpoint(v=np.ones(1)).read("bad", fs=fs)
