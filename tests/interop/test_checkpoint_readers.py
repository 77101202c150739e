"""`tf.train`'s functions over checkpoints that are there, beside TensorFlow's own, on the same files."""

from __future__ import annotations

import inspect
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep
from tensorkeep import CheckpointFormat, SaveOptions, ShardByName
from tensorkeep.v1.stored import checkpoints as ours
from tests.interop.samples import Samples
from tests.support.golden import ROOT, expected

theirs = tf.compat.v1.train

GOLDEN = [
    "g01_v2_single_ref/model.ckpt-100",
    "g02_v2_single_resource/res",
    "g03_v2_sharded3/sharded.ckpt-3",
    "g03_v2_sharded3/three.ckpt",
    "g04_v2_partitioned/part.ckpt",
    "g05_v2_partitioned_sharded/ps.ckpt-1",
    "g06_v2_dtypes/all",
    "g07_v2_many_keys/many",
    "g08_v2_variant/var",
    "g09_v2_mergecheckpoints/three",
    "g10_v1_single/v1.ckpt-12",
    "g11_v1_sharded3/v1s-9-?????-of-00003",
    "g12_v1_partitioned/one",
    "g12_v1_partitioned/many-?????-of-00003",
    "g13_v1_dtypes/all.v1",
    "g14_v1_multiblock/mb",
    "g34_tf2_checkpoint/written",
    "g35_corrupt_v2/good",
    "g36_corrupt_v1/good",
]
V1 = SaveOptions(format=CheckpointFormat.V1)
V1_SHARDED = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(lambda name: ord(name[0]) % 3))
DEFINED = (name for name, item in vars(ours).items() if getattr(item, "__module__", None) == ours.__name__)
PUBLIC = sorted({"VocabInfo", *DEFINED} - {"CheckpointReader"})


@pytest.mark.parametrize("name", PUBLIC)
def test_signatures_are_tensorflow_s(name):
    def described(function: Any) -> list[tuple[str, Any]]:
        parameters = inspect.signature(function).parameters.values()
        more = {"verify", "reset_version"}  # by keyword only
        return [(item.name, item.default) for item in parameters if item.name not in more]

    assert described(getattr(ours, name)) == described(getattr(theirs, name))


def outcome(read: Any) -> Any:
    """A value with its exact kind; of an error, the name of its class and what it says."""
    try:
        value = read()
    except Exception as error:
        return type(error).__name__, str(error)
    if isinstance(value, np.ndarray):
        raw = value.tolist() if value.dtype == object else value.tobytes()
        return "array", value.dtype, value.shape, raw
    return type(value), getattr(value, "dtype", None), value.tobytes() if isinstance(value, np.generic) else value


class TestReader:
    @pytest.mark.parametrize("path", GOLDEN)
    def test_says_the_same_of_every_golden_checkpoint(self, path):
        our, their = ours.NewCheckpointReader(f"{ROOT}/{path}"), theirs.NewCheckpointReader(f"{ROOT}/{path}")
        assert our.debug_string() == their.debug_string()
        shapes, types = their.get_variable_to_shape_map(), their.get_variable_to_dtype_map()
        assert list(our.get_variable_to_shape_map().items()) == list(shapes.items())
        found = our.get_variable_to_dtype_map()
        assert list(found) == list(types)
        assert [(item.number, item.name) for item in found.values()] == [
            (item.as_datatype_enum, item.name) for item in types.values()
        ]
        assert ours.list_variables(f"{ROOT}/{path}") == theirs.list_variables(f"{ROOT}/{path}")

    @pytest.mark.parametrize("path", GOLDEN)
    def test_gives_the_same_values(self, path):
        our, their = ours.NewCheckpointReader(f"{ROOT}/{path}"), theirs.NewCheckpointReader(f"{ROOT}/{path}")
        compared = 0
        for name in list(their.get_variable_to_shape_map())[:200]:
            assert our.has_tensor(name) is their.has_tensor(name) is True
            wanted = outcome(lambda name=name: their.get_tensor(name))
            if wanted[0] == "UnimplementedError":  # slices, and some types, of V1 checkpoints: those we can read
                assert isinstance(our.get_tensor(name), np.ndarray)
                continue
            assert outcome(lambda name=name: our.get_tensor(name)) == wanted, name
            compared += 1
        assert compared

    @pytest.mark.parametrize("path", ["g04_v2_partitioned/part.ckpt", "g10_v1_single/v1.ckpt-12"])
    @pytest.mark.parametrize("name", ["nope", "", b"nope", "emb/w/part_0", 3, None])
    def test_asked_for_what_is_not_there(self, path, name):
        our, their = ours.NewCheckpointReader(f"{ROOT}/{path}"), theirs.NewCheckpointReader(f"{ROOT}/{path}")
        assert outcome_class(lambda: our.has_tensor(name)) == outcome_class(lambda: their.has_tensor(name))
        if name:
            mine, other = outcome(lambda: our.get_tensor(name)), outcome(lambda: their.get_tensor(name))
            assert mine[1] == other[1]
            assert mine[0] in (other[0], "WrongTypeError")

    def test_stored_slices_are_keys_too(self):
        path = f"{ROOT}/g04_v2_partitioned/part.ckpt"
        our, their = ours.NewCheckpointReader(path), theirs.NewCheckpointReader(path)
        keys = [line.rpartition(b" (")[0] for line in our.debug_string().split(b"\n") if line.startswith(b"\0")]
        assert keys
        assert all(our.has_tensor(key) and their.has_tensor(key) for key in keys)

    def test_bytes_name_a_checkpoint_too(self):
        path = f"{ROOT}/g01_v2_single_ref/model.ckpt-100".encode()
        assert ours.NewCheckpointReader(path).debug_string() == theirs.NewCheckpointReader(path).debug_string()

    @pytest.mark.parametrize("name", ["nope/x", "nope", "x-?????-of-00003"])
    def test_of_what_is_not_there_raises_in_tensorflow_s_words_and_ours(self, name, tmp_path):
        with pytest.raises(tf.errors.NotFoundError) as their_error:
            theirs.NewCheckpointReader(str(tmp_path / name))
        with pytest.raises(tensorkeep.NotFoundError) as our_error:
            ours.NewCheckpointReader(str(tmp_path / name))
        assert str(our_error.value).startswith(f"{their_error.value} (")

    def test_orders_many_names_alike(self, tmp_path):
        samples = Samples(5)
        for count in (1, 12, 13, 14, 30, 300, 3000):
            names = {f"{samples.choice(['a', 'layer', 'x/y/z'])}_{samples.below(10**6)}" for _ in range(count)}
            prefix = str(tmp_path / f"m{count}")
            tensorkeep.save_checkpoint(prefix, dict.fromkeys(names, np.zeros(1, np.int32)))
            wanted = list(theirs.NewCheckpointReader(prefix).get_variable_to_shape_map())
            assert list(ours.NewCheckpointReader(prefix).get_variable_to_shape_map()) == wanted

    def test_orders_the_names_of_v1_checkpoints_alike(self, tmp_path):
        names = [f"{letter}/{number}" for letter in "abcdefg" for number in range(40)]
        for options in (V1, V1_SHARDED):
            path = tensorkeep.save_checkpoint(tmp_path / "v1", dict.fromkeys(names, np.zeros(2, np.float32)), options)
            our, their = ours.NewCheckpointReader(path), theirs.NewCheckpointReader(path)
            assert our.debug_string() == their.debug_string()
            assert list(our.get_variable_to_shape_map()) == list(their.get_variable_to_shape_map())


def outcome_class(read: Any) -> Any:
    try:
        return read()
    except TypeError as error:
        return TypeError, str(error)


class TestDamage:
    """Whatever TensorFlow cannot read raises here too: an OpError, if TensorFlow has one."""

    @pytest.mark.parametrize("case", ["g35_corrupt_v2", "g36_corrupt_v1"])
    def test_raises_an_op_error_where_tensorflow_fails(self, case):
        for name, probe in expected(case)["probes"].items():
            path = f"{ROOT}/{case}/{name}"
            if not probe.get("open", {"ok": False})["ok"]:  # or the process dies
                with pytest.raises(tensorkeep.TensorKeepError):
                    ours.NewCheckpointReader(path).get_variable_to_shape_map()
                continue
            reader = ours.NewCheckpointReader(path) if name != "no_header" else None
            for tensor, result in probe["reader_get_tensor"].items():
                if reader is None:  # TensorFlow takes the first tensor's entry for the header
                    break
                if result["ok"]:
                    assert reader.get_tensor(tensor) is not None
                else:
                    with pytest.raises(tensorkeep.TensorKeepError):
                        reader.get_tensor(tensor)


def save_both_ways(folder: Path, *, absolute: bool, v1: bool = False) -> list[str]:
    paths = []
    for step in (1, 2, 3):
        prefix = folder / f"m-{step}"
        options = V1_SHARDED if v1 else SaveOptions()
        paths.append(tensorkeep.save_checkpoint(prefix, {"a": np.zeros(1), "b": np.array(step)}, options))
    stored = paths if absolute else [path.removeprefix(f"{folder}/") for path in paths]
    tensorkeep.write_checkpoint_state(folder, stored[-1], stored)
    for file in folder.glob("m-*"):  # all files of a checkpoint alike, as any may count
        os.utime(file, (1.75, 1000.75 + int(file.name[2])))
    return paths


class TestState:
    @pytest.mark.parametrize("absolute", [True, False])
    @pytest.mark.parametrize("v1", [True, False])
    @pytest.mark.parametrize("directory", ["{root}", ".", "./", "{root}/"])
    def test_is_read_alike(self, tmp_path, monkeypatch, absolute, v1, directory):
        monkeypatch.chdir(tmp_path)
        paths = save_both_ways(tmp_path, absolute=absolute, v1=v1)
        folder = directory.format(root=tmp_path)
        our, their = ours.get_checkpoint_state(folder), theirs.get_checkpoint_state(folder)
        assert our.SerializeToString() == their.SerializeToString()
        assert str(our) == str(their)
        assert ours.latest_checkpoint(folder) == theirs.latest_checkpoint(folder) is not None
        assert ours.get_checkpoint_mtimes(paths) == theirs.get_checkpoint_mtimes(paths)
        assert [ours.checkpoint_exists(path) for path in paths] == [theirs.checkpoint_exists(path) for path in paths]
        assert ours.load_variable(folder, "b:0") == 3
        assert ours.list_variables(Path(folder)) == theirs.list_variables(Path(folder))

    def test_none_is_none(self, tmp_path):
        tensorkeep.save_checkpoint(tmp_path / "m-1", {"a": np.zeros(1)})
        for module in (ours, theirs):
            assert module.get_checkpoint_state(str(tmp_path)) is None
            assert module.latest_checkpoint(str(tmp_path)) is None
            assert module.latest_checkpoint(str(tmp_path / "nowhere")) is None
            with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
                module.load_checkpoint(str(tmp_path))

    def test_a_checkpoint_that_no_state_file_names_is_pointed_out(self, tmp_path):
        tensorkeep.save_checkpoint(tmp_path / "m-1", {"a": np.zeros(1)})
        with pytest.raises(ValueError, match=r'it holds ".*/m-1", which no state file names'):
            ours.load_checkpoint(tmp_path)

    @pytest.mark.parametrize(
        "text",
        [
            b"model_checkpoint_path: ",
            b"nonsense",
            b'unknown_field: "x"',
            b'model_checkpoint_path: "x"\nall_model_checkpoint_paths: 3',
        ],
    )
    def test_one_that_cannot_be_understood_is_none_with_a_warning(self, tmp_path, caplog, text):
        (tmp_path / "checkpoint").write_bytes(text)
        assert theirs.get_checkpoint_state(str(tmp_path)) is None
        with caplog.at_level(logging.WARNING, "tensorkeep"):
            assert ours.get_checkpoint_state(str(tmp_path)) is None
        assert "Checkpoint ignored" in caplog.text
        assert ours.latest_checkpoint(str(tmp_path)) is None

    def test_one_that_is_a_folder_is_none(self, tmp_path):
        (tmp_path / "checkpoint").mkdir()
        for module in (ours, theirs):
            assert module.get_checkpoint_state(str(tmp_path)) is None

    @pytest.mark.parametrize("text", [b"", b'model_checkpoint_path: ""', b'all_model_checkpoint_paths: "m-1"'])
    def test_one_without_a_latest_is_a_value_error(self, tmp_path, text):
        (tmp_path / "checkpoint").write_bytes(text)
        messages = []
        for module in (ours, theirs):
            with pytest.raises(ValueError, match="Invalid checkpoint state loaded from") as caught:
                module.get_checkpoint_state(str(tmp_path))
            messages.append(str(caught.value))
        assert messages[0] == messages[1]

    def test_one_that_is_not_utf_8_is_none_here(self, tmp_path, caplog):
        (tmp_path / "checkpoint").write_bytes(b'model_checkpoint_path: "m\xff-1"')
        with pytest.raises(UnicodeDecodeError):
            theirs.get_checkpoint_state(str(tmp_path))
        assert ours.get_checkpoint_state(str(tmp_path)) is None
        assert "Checkpoint ignored" in caplog.text

    def test_a_missing_latest_is_none_and_logged(self, tmp_path, caplog):
        save_both_ways(tmp_path, absolute=True)
        ours.remove_checkpoint(str(tmp_path / "m-3"))
        assert ours.latest_checkpoint(tmp_path) is theirs.latest_checkpoint(tmp_path) is None
        assert "Couldn't match files for checkpoint" in caplog.text

    def test_a_moved_folder_is_found_here_and_not_there(self, tmp_path, caplog):
        old, new = tmp_path / "old", tmp_path / "new"
        old.mkdir()
        save_both_ways(old, absolute=True)
        old.rename(new)
        assert theirs.latest_checkpoint(str(new)) is None
        assert ours.latest_checkpoint(str(new)) == f"{new}/m-3"
        assert "which does not exist; taking" in caplog.text
        state = ours.get_checkpoint_state(str(new))
        assert list(state.all_model_checkpoint_paths) == [f"{new}/m-{step}" for step in (1, 2, 3)]
        assert ours.load_variable(str(new), "b") == 3

    def test_a_name_with_glob_characters_is_found_here_and_not_there(self, tmp_path):
        prefix = tensorkeep.save_checkpoint(tmp_path / "a[1]", {"a": np.zeros(1)})
        ours.update_checkpoint_state(str(tmp_path), prefix)
        assert theirs.latest_checkpoint(str(tmp_path)) is None
        assert ours.latest_checkpoint(str(tmp_path)) == prefix
        assert (theirs.checkpoint_exists(prefix), ours.checkpoint_exists(prefix)) == (False, True)
        assert len(ours.get_checkpoint_mtimes([prefix])) == 1

    def test_a_pattern_is_no_name_here(self, tmp_path):
        tensorkeep.save_checkpoint(tmp_path / "m-1", {"a": np.zeros(1)})
        assert theirs.checkpoint_exists(str(tmp_path / "m-*"))
        assert not ours.checkpoint_exists(str(tmp_path / "m-*"))

    def test_a_folder_is_no_checkpoint_here_but_stands_for_its_latest(self, tmp_path):
        paths = save_both_ways(tmp_path, absolute=True)
        assert theirs.checkpoint_exists(str(tmp_path))
        assert not ours.checkpoint_exists(str(tmp_path))
        with pytest.raises(tf.errors.DataLossError, match="Is a directory"):
            theirs.NewCheckpointReader(str(tmp_path))
        assert ours.NewCheckpointReader(str(tmp_path)).get_tensor("b") == len(paths)


class TestUpdating:
    @pytest.mark.parametrize("seed", range(5))
    def test_writes_and_generates_the_same(self, tmp_path, monkeypatch, seed):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "run").mkdir()
        samples = Samples(seed)
        for _ in range(20):
            folder = str(samples.choice(["run", str(tmp_path / "run"), "."]))
            paths = [f"{samples.choice(['', 'run/', f'{tmp_path}/run/'])}m-{step}" for step in range(samples.below(4))]
            latest = str(samples.choice([*paths, "run/m-9"]))
            count = len(paths) + (not paths or paths[-1] != latest)
            times = [float(step) for step in range(count)] if samples.chance(0.5) else None
            mine = ours.generate_checkpoint_state_proto(folder, latest, list(paths), times, 4.5)
            other = theirs.generate_checkpoint_state_proto(folder, latest, list(paths), times, 4.5)
            assert mine.SerializeToString() == other.SerializeToString()
            ours.update_checkpoint_state(folder, latest, list(paths), "ours", times, None)
            theirs.update_checkpoint_state(folder, latest, list(paths), "theirs", times, None)
            assert (Path(folder) / "ours").read_bytes() == (Path(folder) / "theirs").read_bytes()

    def test_refuses_what_tensorflow_refuses_with_the_same_classes(self, tmp_path):
        for module in (ours, theirs):
            with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
                module.update_checkpoint_state(str(tmp_path), f"{tmp_path}/checkpoint")
            with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match checkpoint paths"):
                module.update_checkpoint_state(str(tmp_path), "a", ["a"], None, [1.0, 2.0])


class TestRemoving:
    @pytest.mark.parametrize("version", [1, 2])
    @pytest.mark.parametrize("suffix", ["meta", "graph"])
    def test_leaves_the_same_files(self, tmp_path, version, suffix):
        folders = [tmp_path / name for name in ("ours", "theirs")]
        left = []
        for folder, module in zip(folders, (ours, theirs), strict=True):
            folder.mkdir()
            for name in ("m-1", "m-10"):
                tensorkeep.save_checkpoint(folder / name, {"a": np.zeros(1)})
                (folder / f"{name}.meta").write_bytes(b"graph")
                (folder / f"{name}.graph").write_bytes(b"graph")
            tensorkeep.save_checkpoint(folder / "v1", {"a": np.zeros(1), "b": np.zeros(1)}, V1_SHARDED)
            tensorkeep.save_checkpoint(folder / "single", {"a": np.zeros(1)}, V1)
            (folder / "v1.meta").write_bytes(b"graph")
            tensorkeep.write_checkpoint_state(folder, "m-10", ["m-1", "m-10"])
            for name in ("m-1", "v1-?????-of-00003", "single", "absent"):
                module.remove_checkpoint(str(folder / name), version, suffix)
            left.append(sorted(path.name for path in folder.iterdir()))
        assert left[0] == left[1]
        assert len(left[0]) < 15

    def test_takes_names_literally(self, tmp_path):
        for name in ("a1", "a[1]"):
            tensorkeep.save_checkpoint(tmp_path / name, {"a": np.zeros(1)})
        ours.remove_checkpoint(str(tmp_path / "a[1]"))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a1.data-00000-of-00001", "a1.index"]


class TestGoldenStates:
    @pytest.mark.parametrize("folder", ["abs", "none", "rel", "relpaths", "v1s"])
    def test_are_read_alike_where_their_checkpoints_are_where_they_say(self, tmp_path, folder):
        copied = tmp_path / folder
        shutil.copytree(ROOT / "g19_state_files" / folder, copied)
        mine, other = ours.get_checkpoint_state(str(copied)), theirs.get_checkpoint_state(str(copied))
        found = theirs.latest_checkpoint(str(copied))
        if found is not None:
            assert mine.SerializeToString() == other.SerializeToString()
            assert ours.latest_checkpoint(str(copied)) == found
        else:  # they name the folder that they were made in
            assert not Path(other.model_checkpoint_path).is_relative_to(copied)
            assert ours.latest_checkpoint(str(copied)) == str(copied / Path(other.model_checkpoint_path).name)
