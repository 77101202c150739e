"""`tf.train.Saver` beyond what is compared with TensorFlow: mistakes, the doctor, keeping, the background."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.checkpoint.restore.wanted_tensors import Adapt
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import (
    AbortedError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    StorageError,
    WrongTypeError,
)
from tensorkeep.io.files.local import LocalFileSystem
from tensorkeep.saving.retention import KeepBest, KeepLatest


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def variables(**values: Any) -> dict[str, Any]:
    return {name: tf.get_variable(name, initializer=np.asarray(value)) for name, value in values.items()}


def initialized() -> tf.Session:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def saved(folder: Path, **values: Any) -> str:
    """A checkpoint with those values, saved from a graph of its own."""
    return tk.save_checkpoint(folder / "model", {name: np.asarray(value) for name, value in values.items()})


class TestMaking:
    def test_a_graph_without_variables_has_nothing_to_save(self):
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver()
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver([])

    def test_mistakes_in_the_list_are_named(self):
        a, b = variables(a=[1.0], b=[2.0]).values()
        with pytest.raises(ValueError, match="At least two variables have the same name: a"):
            tf.train.Saver([a, a])
        with pytest.raises(ValueError, match="The same saveable will be restored with two names: y"):
            tf.train.Saver({"x": a, "y": a})
        with pytest.raises(TypeError, match="Variable to save is not a Variable: Tensor"):
            tf.train.Saver([a + b])
        with pytest.raises(TypeError, match="Not a variable: Tensor"):
            tf.train.Saver({"x": a + b})
        with pytest.raises(TypeError, match=r"Variables to save should be passed in a dict or a list\. Got abc"):
            tf.train.Saver("abc")
        with pytest.raises(TypeError, match="Name is not a string: 1"):
            tf.train.Saver({1: a})
        with pytest.raises(ValueError, match="build cannot be deferred"):
            tf.train.Saver([a], defer_build=True)

    def test_slices_and_wholes_of_one_name_do_not_mix(self):
        with tf.variable_scope("s"):
            whole = tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        with pytest.raises(ValueError, match="Mixing slices and non-slices with the same name: s/w"):
            tf.train.Saver([whole, *whole])

    def test_a_saver_that_is_not_built_says_so(self):
        saver = tf.train.Saver(defer_build=True)
        with pytest.raises(RuntimeError, match="`build\\(\\)` should be called before save"):
            saver.save(None, "m")

    def test_checkpoints_that_are_known_before_it_is_built_are_kept(self, tmp_path):
        path = saved(tmp_path, a=[1.0])
        saver = tf.train.Saver(defer_build=True, max_to_keep=1)
        saver.recover_last_checkpoints([path, str(tmp_path / "nothing")])
        assert saver.last_checkpoints == [path]
        variables(a=[1.0])
        saver.build()
        with initialized() as session:
            saver.save(session, tmp_path / "m")
        assert saver.last_checkpoints == [str(tmp_path / "m")]
        assert not tf.train.checkpoint_exists(path)

    def test_an_empty_saver_saves_the_graph_alone(self, tmp_path):
        tf.constant(1.0, name="c")
        saver = tf.train.Saver(allow_empty=True)
        with tf.Session() as session:
            assert saver.save(session, tmp_path / "m") is None
            assert saver.restore(session, tmp_path / "m") is None
        assert os.listdir(tmp_path) == ["m.meta"]
        assert saver.saver_def is None

    def test_a_saver_def_must_name_what_it_runs(self):
        with pytest.raises(ValueError, match="save_tensor_name"):
            tf.train.Saver(saver_def=tf.train.SaverDef(restore_op_name="x"))


class TestSaving:
    def test_the_session_must_be_one(self, tmp_path):
        variables(a=[1.0])
        with pytest.raises(TypeError, match="'sess' must be a Session"):
            tf.train.Saver().save("session", tmp_path / "m")

    def test_a_monitored_session_will_do(self, tmp_path):
        path = saved(tmp_path, a=[7.0])
        made = variables(a=[1.0])
        saver = tf.train.Saver()
        with tf.train.MonitoredSession() as session:
            assert saver.restore(session, path).is_complete
            assert session.run(made["a"]) == [7.0]
            assert saver.save(session, tmp_path / "m") == str(tmp_path / "m")

    def test_the_session_must_be_one_of_the_saver_s_graph(self, tmp_path):
        path = saved(tmp_path, a=[1.0])
        variables(a=[1.0])
        saver = tf.train.Saver()
        with tf.Graph().as_default(), tf.Session() as session:
            with pytest.raises(TypeError, match="must be a Session of the graph that the saver was made for"):
                saver.save(session, tmp_path / "m")
            with pytest.raises(TypeError, match="must be a Session of the graph that the saver was made for"):
                saver.restore(session, path)

    def test_a_path_may_be_bytes(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver()
        with initialized() as session:
            assert saver.save(session, os.fsencode(tmp_path / "m"), 1) == str(tmp_path / "m-1")
            assert saver.restore(session, os.fsencode(tmp_path / "m-1")).is_complete
            with pytest.raises(TypeError, match="a path is text"):
                saver.save(session, None)

    def test_names_that_collide_with_the_state_file_are_refused(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver()
        with initialized() as session:
            with pytest.raises(ValueError, match="collides with 'save_path'"):
                saver.save(session, tmp_path / "checkpoint")
            with pytest.raises(ValueError, match="must not contain path components"):
                saver.save(session, tmp_path / "m", latest_filename="a/b")
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(("step", "name"), [(7, "m-7"), (-5, "m--5"), (np.int64(3), "m-3")])
    def test_the_step_is_part_of_the_name(self, tmp_path, step, name):
        variables(a=[1.0])
        with initialized() as session:
            assert tf.train.Saver().save(session, tmp_path / "m", global_step=step) == str(tmp_path / name)

    def test_the_step_can_be_padded(self, tmp_path):
        variables(a=[1.0])
        with initialized() as session:
            path = tf.train.Saver(pad_step_number=True).save(session, tmp_path / "m", global_step=7)
        assert path == str(tmp_path / "m-00000007")

    def test_a_variable_without_a_value_is_named_and_nothing_is_written(self, tmp_path):
        variables(a=[1.0])
        with tf.Session() as session, pytest.raises(FailedPreconditionError, match="uninitialized value a"):
            tf.train.Saver().save(session, tmp_path / "m")
        assert os.listdir(tmp_path) == []

    def test_relative_paths_survive_a_move_of_the_folder(self, tmp_path, monkeypatch):
        variables(a=[1.0])
        with initialized() as session:
            tf.train.Saver(save_relative_paths=True).save(session, tmp_path / "old" / "m")
        (tmp_path / "old").rename(tmp_path / "new")
        assert tf.train.latest_checkpoint(str(tmp_path / "new")) == str(tmp_path / "new" / "m")

    def test_saving_into_the_current_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        variables(a=[1.0])
        with initialized() as session:
            assert tf.train.Saver().save(session, "m") == "m"
        assert (tmp_path / "checkpoint").read_text() == 'model_checkpoint_path: "m"\nall_model_checkpoint_paths: "m"\n'

    def test_the_graph_beside_a_checkpoint_is_the_one_of_the_moment(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver()
        found = []

        def save() -> None:
            saver.save(session, tmp_path / "m")
            found.append((tmp_path / "m.meta").read_bytes())

        with initialized() as session:
            save()
            save()
            x = tf.placeholder(tf.float32, name="x")
            save()
            tf.add_to_collection("mine", x)
            save()
            x.set_shape([2, 3])
            save()
            tf.get_collection_ref("mine")[0] = x + 1.0
            save()
        assert found[0] == found[1]
        assert len(set(found)) == 5
        assert saver.export_meta_graph().SerializeToString(deterministic=True) == found[-1]

    def test_every_type_survives(self, tmp_path):
        values = {
            "f": np.array([1.5, np.nan], np.float32),
            "d": np.array(2.5),
            "i": np.array([[1, -2]], np.int64),
            "b": np.array([True, False]),
            "c": np.array([1 + 2j], np.complex64),
            "h": np.array([1.5], np.float16),
            "u": np.array([255], np.uint8),
        }
        made = variables(**values)
        made["s"] = tf.get_variable("s", initializer=tf.constant(["x", "yy"]))
        saver = tf.train.Saver()
        with initialized() as session:
            path = saver.save(session, tmp_path / "m")
        with tf.Session() as session:
            saver.restore(session, path)
            found = session.run(made)
        for name, value in values.items():
            np.testing.assert_array_equal(found[name], value)
        assert found["s"].tolist() == [b"x", b"yy"]


class TestTheDoctor:
    def test_a_restore_that_cannot_succeed_changes_nothing_and_says_everything(self, tmp_path):
        made = variables(a=[1.0, 2.0], b=[3.0], c=[4.0], d=np.float32([5.0]))
        path = saved(tmp_path, a=[9.0, 9.0, 9.0], b=[9.0], **{"model/c": [9.0]}, d=[9.0])
        with initialized() as session:
            with pytest.raises(NotFoundError) as caught:
                tf.train.Saver().restore(session, path)
            assert session.run(made["b"]).tolist() == [3.0]
        text = str(caught.value)
        assert "Key c not found in checkpoint" in text
        assert "model/c" in text
        assert "a" in text
        assert "[3]" in text
        assert "float64" in text

    def test_a_graph_that_was_built_twice_is_told_with_what_to_do(self, tmp_path):
        def build() -> list[Any]:
            with tf.variable_scope("net"):
                inner = tf.Variable([1.0], name="w")
            return [tf.Variable([2.0], name="v1"), inner]

        build()
        with initialized() as session:
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
        again = build()
        assert [variable.op.name for variable in again] == ["v1_1", "net_1/w"]
        with tf.Session() as session:
            with pytest.raises(NotFoundError, match=r"call tf\.reset_default_graph\(\) before you build it again"):
                tf.train.Saver().restore(session, path)
            tf.train.Saver().restore(session, path, mapping={"v1_1": "v1", "net_1/w": "net/w"})
            assert session.run(again) == [[2.0], [1.0]]

    def test_a_resource_variable_never_takes_a_wrong_shape_silently(self, tmp_path):
        tf.get_variable("a", [2], use_resource=True)
        path = saved(tmp_path, a=np.zeros(3, np.float32))
        with tf.Session() as session, pytest.raises(InvalidArgumentError, match=r"\[3\]"):
            tf.train.Saver().restore(session, path)

    def test_a_mapping_renames(self, tmp_path):
        made = variables(a=[1.0], b=[2.0])
        path = saved(tmp_path, **{"old/a": [5.0], "b": [6.0]})
        with tf.Session() as session:
            outcome = tf.train.Saver().restore(session, path, mapping={"a": "old/a"})
            assert session.run([made["a"], made["b"]]) == [[5.0], [6.0]]
        assert outcome is not None
        assert outcome.is_complete or [item.name for item in outcome.not_restored] == []

    def test_report_restores_what_fits(self, tmp_path, caplog):
        made = variables(a=[1.0], b=[2.0, 2.0], c=[3.0])
        path = saved(tmp_path, b=[7.0], c=[8.0])
        with initialized() as session:
            outcome = tf.train.Saver().restore(session, path, on_mismatch="report")
            found = session.run(made)
        assert {name: value.tolist() for name, value in found.items()} == {"a": [1.0], "b": [2.0, 2.0], "c": [8.0]}
        assert outcome is not None
        assert [item.wanted.key for item in outcome.not_restored] == ["a", "b"]
        assert "a" in caplog.text

    def test_what_is_too_short_grows_from_the_initial_value(self, tmp_path):
        made = variables(a=[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], b=[1.0])
        path = saved(tmp_path, a=[[9.0, 9.0]], b=[5.0, 6.0])
        adapt = Adapt(shape=("crop", "grow"))
        saver = tf.train.Saver()
        with tf.Session() as session:
            outcome = saver.restore(session, path, on_mismatch=adapt)
            assert session.run(made["a"]).tolist() == [[9.0, 9.0], [2.0, 2.0], [3.0, 3.0]]
            assert session.run(made["b"]).tolist() == [5.0]
        assert outcome is not None
        assert [item.wanted.key for item in outcome.adapted] == ["a", "b"]

    def test_what_is_too_short_grows_from_the_value_if_there_is_one(self, tmp_path):
        made = tf.get_variable("a", initializer=np.zeros(3), use_resource=True)
        path = saved(tmp_path, a=[9.0])
        with initialized() as session:
            made.load(np.array([4.0, 5.0, 6.0]), session)
            tf.train.Saver().restore(session, path, on_mismatch=Adapt(shape="grow"))
            assert session.run(made).tolist() == [9.0, 5.0, 6.0]

    def test_a_partitioned_variable_grows_too(self, tmp_path):
        def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            start = partition_info.var_offset[0]
            return tf.reshape(tf.range(float(start), float(start + shape[0])), [-1, 1])

        made = tf.get_variable("a", [5, 1], initializer=rows, partitioner=tf.fixed_size_partitioner(2))
        path = saved(tmp_path, a=np.full((4, 1), 9, np.float32))
        whole = tf.convert_to_tensor(made)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path, on_mismatch=Adapt(shape="grow"))
            assert session.run(whole).reshape(-1).tolist() == [9.0, 9.0, 9.0, 9.0, 4.0]

    def test_damage_is_found_before_anything_is_assigned(self, tmp_path):
        big = np.ones(1 << 20, np.float32)
        made = variables(a=np.zeros_like(big), b=np.zeros_like(big))
        path = saved(tmp_path, a=big, b=big)
        data = tmp_path / "model.data-00000-of-00001"
        content = bytearray(data.read_bytes())
        content[-1] ^= 1
        data.write_bytes(content)
        saver = tf.train.Saver()
        with initialized() as session:
            with pytest.raises(DataLossError, match='tensor "b"'):
                saver.restore(session, path)
            assert not session.run(made["a"]).any()

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_damage_in_any_part_is_found_before_anything_is_assigned(self, tmp_path, number):
        made = []
        for at, name in enumerate("abc"):
            with tf.device(f"/job:localhost/replica:0/task:0/cpu:{at}"):
                made.append(tf.get_variable(name, initializer=np.ones(3), use_resource=bool(at % 2)))
        saver = tf.train.Saver(sharded=True)
        assign = [item.assign(np.zeros(3)) for item in made]
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, str(tmp_path / "model"))
            session.run(assign)
            data = tmp_path / f"model.data-{number:05}-of-00003"
            content = bytearray(data.read_bytes())
            content[-1] ^= 1
            data.write_bytes(content)
            with pytest.raises(DataLossError, match=f'tensor "{"abc"[number]}"'):
                saver.restore(session, path)
            assert not np.any(session.run(made))

    def test_damage_is_found_before_a_table_is_filled(self, tmp_path):
        """In a new session too: what is no variable cannot be taken back."""
        table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1, name="table")
        with tf.device("/job:localhost/replica:0/task:0/cpu:1"):
            variables(a=np.ones(3))
        saver = tf.train.Saver(sharded=True)
        fill, size = table.insert([1], [2]), table.size()
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            session.run([tf.global_variables_initializer(), fill])
            path = saver.save(session, str(tmp_path / "model"))
        data = tmp_path / "model.data-00001-of-00002"
        content = bytearray(data.read_bytes())
        content[-1] ^= 1
        data.write_bytes(content)
        with tf.Session(config=config) as session:
            with pytest.raises(DataLossError, match='tensor "a"'):
                saver.restore(session, path)
            assert session.run(size) == 0

    def test_damage_leaves_a_new_session_as_new_as_it_was(self, tmp_path):
        big = np.ones(1 << 20, np.float32)
        variables(a=np.zeros_like(big), b=np.zeros_like(big))
        path = saved(tmp_path, a=big, b=big)
        data = tmp_path / "model.data-00000-of-00001"
        content = bytearray(data.read_bytes())
        content[-1] ^= 1
        data.write_bytes(content)
        saver = tf.train.Saver()
        unset = tf.report_uninitialized_variables()
        with tf.Session() as session:
            with pytest.raises(DataLossError, match='tensor "b"'):
                saver.restore(session, path)
            assert session.run(unset).tolist() == [b"a", b"b"]

    def test_what_is_no_policy_is_refused_even_if_all_fits(self, tmp_path):
        path = saved(tmp_path, a=[1.0])
        variables(a=[0.0])
        with initialized() as session, pytest.raises(ValueError, match="on_mismatch: expected"):
            tf.train.Saver().restore(session, path, on_mismatch="lenient")

    def test_no_path_and_no_checkpoint(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver()
        with tf.Session() as session:
            with pytest.raises(ValueError, match="Can't load save_path when it is None"):
                saver.restore(session, None)
            with pytest.raises(ValueError, match=r"The passed save_path is not a valid checkpoint: .*; it is a folder"):
                saver.restore(session, tmp_path)
            with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint: "):
                saver.restore(session, tmp_path / "nothing")

    def test_large_values_go_into_the_place_of_the_old_ones(self, tmp_path):
        made = variables(a=np.zeros(1 << 20))
        path = saved(tmp_path, a=np.arange(1 << 20, dtype=np.float64))
        saver = tf.train.Saver()
        with initialized() as session:
            before = session.run(made["a"])
            saver.restore(session, path)
            assert not before.any()
            assert session.run(made["a"])[-1] == (1 << 20) - 1


class TestKeeping:
    def test_a_policy_as_a_value(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver(retention=KeepLatest(1) | KeepBest("loss", 1, mode="min"))
        with initialized() as session:
            for step, loss in enumerate([0.5, 0.2, 0.9, 0.8]):
                saver.save(session, tmp_path / "m", step, metrics={"loss": loss})
        assert [os.path.basename(path) for path in saver.last_checkpoints] == ["m-1", "m-3"]
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m-3")
        assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".index")) == ["m-1.index", "m-3.index"]

    @pytest.mark.parametrize("metrics", [0.5, {"loss": "low"}])
    def test_wrong_metrics_are_refused_before_anything_is_written(self, tmp_path, metrics):
        variables(a=[1.0])
        saver = tf.train.Saver(retention=KeepBest("loss", 1))
        with initialized() as session, pytest.raises(TypeError, match="metrics: "):
            saver.save(session, tmp_path / "m", metrics=metrics)
        assert os.listdir(tmp_path) == []

    def test_metrics_that_nothing_looks_at_are_refused(self, tmp_path):
        variables(a=[1.0])
        with initialized() as session, pytest.raises(ValueError, match="metrics have no effect"):
            tf.train.Saver().save(session, tmp_path / "m", metrics={"loss": 0.5})

    def test_times_of_checkpoints_that_are_set_count(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver(max_to_keep=1)
        with initialized() as session:
            old = saver.save(session, tmp_path / "old")
            saver.set_last_checkpoints([old])
            saver.save(session, tmp_path / "new")
        assert saver.last_checkpoints == [str(tmp_path / "new")]
        assert (tmp_path / "old.index").exists()
        with pytest.raises(TypeError, match="expected a list"):
            saver.set_last_checkpoints("old")  # type: ignore[arg-type]


class SlowFileSystem(LocalFileSystem):
    """Lets nothing be created before it is told to, or only fails then."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go = threading.Event()
        self.fails = False

    def create(self, path: str) -> Any:
        assert self.may_go.wait(60)
        if self.fails:
            raise StorageError(f'"{path}": the disk is full')
        return super().create(path)


class TestTheBackground:
    def test_values_are_those_of_the_moment(self, tmp_path):
        made = variables(a=np.zeros(1000))["a"]
        more = tf.assign_add(made, np.ones(1000))
        saver = tf.train.Saver()
        fs = SlowFileSystem()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            handle = saver.save(session, tmp_path / "m", wait=False)
            for _ in range(3):
                session.run(more)
            assert not handle.done()
            assert tf.train.latest_checkpoint(str(tmp_path)) is None
            fs.may_go.set()
            assert handle.result(60) == str(tmp_path / "m")
            assert session.run(made)[0] == 3
        assert not tk.load_tensor(tmp_path / "m", "a").any()
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m")

    @pytest.mark.parametrize("wait", [True, False], ids=["waiting", "in the background"])
    def test_threads_that_share_a_saver_take_turns(self, tmp_path, wait):
        step = tf.train.get_or_create_global_step()
        more = tf.assign_add(step, 1)
        saver = tf.train.Saver(max_to_keep=3)
        fs = SlowFileSystem()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            failures = []

            def save() -> None:
                try:
                    for _ in range(5):
                        session.run(more)
                        saver.save(session, tmp_path / "m", step, wait=wait)
                except Exception as error:
                    failures.append(error)

            threads = [threading.Thread(target=save) for _ in range(3)]
            for thread in threads:
                thread.start()
            fs.may_go.set()
            for thread in threads:
                thread.join(60)
            saver.wait()
        assert not failures
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m-15")
        kept = sorted(saver.last_checkpoints)
        assert sorted(str(path).removesuffix(".index") for path in tmp_path.glob("*.index")) == kept

    def test_the_next_save_waits_and_tells_of_a_failure(self, tmp_path):
        variables(a=[1.0])
        saver = tf.train.Saver()
        fs = SlowFileSystem()
        fs.fails = True
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            handle = saver.save(session, tmp_path / "m", 1, wait=False)
            fs.may_go.set()
            with pytest.raises(AbortedError, match="the disk is full"):
                saver.save(session, tmp_path / "m", 2)
            with pytest.raises(StorageError, match="the disk is full"):
                handle.result()
            fs.fails = False
            assert saver.save(session, tmp_path / "m", 3) == str(tmp_path / "m-3")
        assert saver.last_checkpoints == [str(tmp_path / "m-3")]

    def test_a_failure_that_nobody_asks_about_is_in_the_log(self, tmp_path, caplog):
        variables(a=[1.0])
        fs = SlowFileSystem()
        fs.fails = True
        fs.may_go.set()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            assert tf.train.Saver().save(session, tmp_path / "m", 1, wait=False).exception(60) is not None
        assert "in the background failed: " in caplog.text
        assert "the disk is full" in caplog.text

    @pytest.mark.parametrize("ask", ["wait", "result"])
    def test_a_failure_that_was_told_is_told_once(self, tmp_path, ask):
        variables(a=[1.0])
        saver = tf.train.Saver()
        fs = SlowFileSystem()
        fs.fails = True
        fs.may_go.set()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            handle = saver.save(session, tmp_path / "m", 1, wait=False)
            with pytest.raises(StorageError, match="the disk is full"):
                getattr(handle, ask)(60)
            saver.wait()

    def test_waiting_for_a_save_that_failed_raises_what_went_wrong_every_time(self, tmp_path):
        variables(a=[1.0])
        fs = SlowFileSystem()
        fs.fails = True
        fs.may_go.set()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            handle = tf.train.Saver().save(session, tmp_path / "m", 1, wait=False)
            for _ in range(2):
                with pytest.raises(StorageError, match="the disk is full"):
                    handle.wait()

    def test_waiting_for_a_save_gives_nothing_and_ends_in_time(self, tmp_path):
        variables(a=[1.0])
        fs = SlowFileSystem()
        with tf.Session(filesystem=fs) as session:
            session.run(tf.global_variables_initializer())
            handle = tf.train.Saver().save(session, tmp_path / "m", 1, wait=False)
            with pytest.raises(TimeoutError, match="still being written"):
                handle.wait(0.01)
            fs.may_go.set()
            assert handle.wait() is None
            assert handle.done()

    def test_many_saves_in_a_row_keep_their_order(self, tmp_path):
        made = variables(a=[0.0])["a"]
        more = tf.assign_add(made, [1.0])
        saver = tf.train.Saver(max_to_keep=2)
        with initialized() as session:
            handles = [
                saver.save(session, tmp_path / "m", session.run(more)[0] and step, wait=False) for step in (1, 2, 3, 4)
            ]
            assert [os.path.basename(handle.result(60)) for handle in handles] == ["m-1", "m-2", "m-3", "m-4"]
        assert [os.path.basename(path) for path in saver.last_checkpoints] == ["m-3", "m-4"]
        assert tk.load_tensor(tmp_path / "m-3", "a").tolist() == [3.0]
        assert not (tmp_path / "m-2.index").exists()


class TestSaveables:
    def test_an_object_of_ones_own(self, tmp_path):
        from tensorkeep.graph.saveable import SaveableObject, SaveSpec

        class Doubled(SaveableObject):
            def __init__(self, variable: Any, name: str) -> None:
                super().__init__(variable, [SaveSpec(variable * 2.0, "", f"{name}/twice")], name)

            def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
                return tf.assign(self.op, restored_tensors[0] / 2.0)

        made = variables(a=[1.5])["a"]
        saver = tf.train.Saver([Doubled(made, "d")])
        with initialized() as session:
            path = saver.save(session, tmp_path / "m")
            session.run(tf.assign(made, [0.0]))
            saver.restore(session, path)
            assert session.run(made).tolist() == [1.5]
        assert tk.load_tensor(path, "d/twice").tolist() == [3.0]

    @pytest.mark.parametrize("use_resource", [False, True])
    def test_tables_packed_in_one_variable_save_under_their_own_names(self, tmp_path, use_resource):
        from tensorkeep.tf1.variables.saveable import CoalescedVariable

        table = np.arange(10.0).reshape(5, 2)
        made = tf.get_variable("packed", initializer=table, use_resource=use_resource)
        saver = tf.train.Saver([CoalescedVariable(made, {"user": 2, "item": 3})])
        with initialized() as session:
            path = saver.save(session, tmp_path / "m")
            assert {name: info.shape for name, info in tk.list_tensors(path).items()} == {
                "item": (3, 2),
                "user": (2, 2),
            }
            made.load(np.zeros((5, 2)), session)
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(made), table)
        with pytest.raises(InvalidArgumentError, match="its rows cannot be"):
            CoalescedVariable(made, {"user": 2, "item": 4})

    @pytest.mark.parametrize("given", ["collection", "list", "dict"])
    def test_a_mutable_table(self, tmp_path, given):
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="words")
        insert = table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
        forget = table.remove(tf.constant(["a", "b"]))
        found = table.lookup(tf.constant(["a", "b", "c"]))
        chosen = {"collection": None, "list": [table], "dict": {"other": table}}[given]
        saver = tf.train.Saver(chosen)
        with tf.Session() as session:
            session.run(insert)
            path = saver.save(session, tmp_path / "m")
            session.run(forget)
            saver.restore(session, path)
            assert session.run(found).tolist() == [1, 2, -1]


def test_a_session_for_strangers_does_not_save(tmp_path):
    variables(a=[1.0])
    saver = tf.train.Saver()
    with tf.Session(allow_io=False) as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(StorageError, match="writes files"):
            saver.save(session, tmp_path / "m")


def test_the_type_of_a_step_is_checked(tmp_path):
    variables(a=[1.0])
    with initialized() as session, pytest.raises((WrongTypeError, InvalidArgumentError)):
        tf.train.Saver().save(session, tmp_path / "m", global_step=[1, 2])


def test_a_checkpoint_below_a_file_is_refused_in_tensorflow_s_words(tmp_path):
    (tmp_path / "file").write_text("in the way")
    variables(a=[1.0])
    saver, session = tf.train.Saver(), initialized()
    for path in ("file/model", "file/deeper/model"):
        with pytest.raises(ValueError, match=f"Parent directory of .*{path} doesn't exist, can't save"):
            saver.save(session, str(tmp_path / path))


def test_a_sharded_checkpoint_may_have_the_name_of_the_state_file(tmp_path):
    a = variables(a=[1.0])["a"]
    saver, session = tf.train.Saver(sharded=True), initialized()
    path = saver.save(session, str(tmp_path / "checkpoint"))
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    session.run(a.assign([2.0]))
    saver.restore(session, path)
    assert session.run(a).tolist() == [1.0]


class TestPatterns:
    """A V1 checkpoint in several files goes by two patterns."""

    @pytest.fixture
    def path(self, tmp_path):
        tk.save_checkpoint(tmp_path / "m", {"a": np.ones(2)}, tk.SaveOptions(format=tk.CheckpointFormat.V1))
        (tmp_path / "m").rename(tmp_path / "m-00000-of-00001")
        return str(tmp_path / "m-?????-of-")

    @pytest.mark.parametrize("count", ["00001", "?????"])
    def test_either_is_restored_read_and_found(self, path, count):
        a = tf.get_variable("a", initializer=np.zeros(2))
        session = initialized()
        tf.train.Saver().restore(session, path + count)
        assert session.run(a).tolist() == [1.0, 1.0]
        assert tf.train.checkpoint_exists(path + count)
        assert len(tf.train.get_checkpoint_mtimes([path + count])) == 1
        assert tf.train.list_variables(path + count) == [("a", [2])]

    def test_either_is_removed(self, path, tmp_path):
        tf.train.remove_checkpoint(path + "?????", tf.train.SaverDef.V1)
        assert list(tmp_path.iterdir()) == []

    def test_a_number_left_open_that_could_be_several_is_asked_for(self, path, tmp_path):
        (tmp_path / "m-00000-of-00002").write_bytes((tmp_path / "m-00000-of-00001").read_bytes())
        assert tf.train.checkpoint_exists(path + "?????")
        with pytest.raises(NotFoundError, match=r"could mean any of .*00001.*00002.*; say which"):
            tk.open_checkpoint(path + "?????")
        with pytest.raises(NotFoundError, match="could mean any of"):
            tf.train.remove_checkpoint(path + "?????", tf.train.SaverDef.V1)
        assert len(list(tmp_path.iterdir())) == 2

    def test_what_is_not_there_is_not_found(self, tmp_path):
        assert not tf.train.checkpoint_exists(str(tmp_path / "x-?????-of-?????"))


def test_a_checkpoint_that_makes_room_takes_the_records_of_its_tables_along(tmp_path):
    table = ArraySnapshot.of([1, 5], {"": np.ones((2, 3), np.float32)})
    for step in (1, 2):
        save_embeddings(str(tmp_path / f"m-{step}"), {"e": table}, records={"e": [5]})
    variables(a=[1.0])
    saver = tf.train.Saver(max_to_keep=2)
    saver.set_last_checkpoints_with_time([(str(tmp_path / f"m-{step}"), float(step)) for step in (1, 2)])
    with initialized() as session:
        saver.save(session, str(tmp_path / "m"), global_step=3)
    assert [path.name for path in tmp_path.glob("m-1*")] == []
    assert (tmp_path / "m-2-e-emb_files" / "0.emb").exists()
    tf.train.remove_checkpoint(str(tmp_path / "m-2"))
    assert [path.name for path in tmp_path.glob("m-2*")] == []
