"""State files: the very bytes that TensorFlow writes, and the same answers from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.checkpoint.checkpoint_management import update_checkpoint_state_internal

import tensorkeep
from tensorkeep import CheckpointState, Durability, InvalidArgumentError
from tests.interop.samples import Samples

NAMES = [
    *("model-1", "model.ckpt-100", 'a"b', "a'b", "a\\b", "a\nb", "a\tb", "a b", "ünï → 漢 😀", "\x01\x7f", "a[1]"),
    "m-?????-of-00003",
]
FOLDERS = ["run", "run/deep/er", ".", "./run", "run/../other", "../run"]
TIMES = [1794725063.960991, 0.1, 5.0, 1e-7, 0.0, 1794725062.9256759, 1e16, 1e300]


def arguments(samples: Samples, root: Path) -> dict[str, Any]:
    """Any arguments, in our words."""
    folder = str(samples.choice(FOLDERS))
    if samples.chance(0.5):
        folder = os.path.normpath(root / folder) if samples.chance(0.5) else f"{root}/{folder}"

    def path(name: str) -> str:
        places = [folder, folder, os.path.abspath(folder), f"{os.path.abspath(folder)}/x/..", "/elsewhere", ".."]
        return str(samples.choice([name, *(f"{place}/{name}" for place in places)]))

    names = [str(samples.choice(NAMES)) for _ in range(samples.below(5))]
    paths = [path(name) for name in names]
    latest = paths[-1] if paths and samples.chance(0.4) else path(str(samples.choice(["sub/model", *names[-1:]])))
    count = len(paths) + (not paths or paths[-1] != latest)
    times = [float(samples.rng.choice(TIMES)) for _ in range(count)] if samples.chance(0.5) else []
    return {
        "directory": folder,
        "latest": latest,
        "all_paths": paths,
        "timestamps": times,
        "last_preserved": float(samples.rng.choice(TIMES)) if samples.chance(0.3) else None,
        "relative": samples.chance(0.5),
    }


def write_theirs(given: dict[str, Any]) -> None:
    update_checkpoint_state_internal(
        given["directory"],
        given["latest"],
        list(given["all_paths"]),  # which it changes
        "theirs",
        given["relative"],
        given["timestamps"] or None,
        given["last_preserved"],
    )


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with those that relative paths lead to."""
    inside = tmp_path / "work"
    for folder in FOLDERS:
        (inside / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(inside)
    return inside


class TestStateFiles:
    @pytest.mark.parametrize("seed", range(20))
    def test_have_the_same_bytes_and_are_read_alike(self, root, seed):
        samples = Samples(seed)
        for _ in range(20):
            given = arguments(samples, root)
            folder = Path(given["directory"])
            try:
                write_theirs(given)
            except ValueError:  # too many times or too few, depending on whether the latest is the last of the others
                with pytest.raises(InvalidArgumentError, match="timestamps"):
                    tensorkeep.write_checkpoint_state(**given)
                continue
            tensorkeep.write_checkpoint_state(**given, filename="ours", durability=Durability.CACHE)
            ours, theirs = (folder / "ours").read_text("utf-8"), (folder / "theirs").read_text("utf-8")
            assert ours == theirs, given
            self.expect_read_alike(folder, given)

    def expect_read_alike(self, folder: Path, given: dict[str, Any]) -> None:
        theirs = tf.train.get_checkpoint_state(given["directory"], "theirs")
        ours = tensorkeep.read_checkpoint_state(given["directory"], "theirs")
        assert ours == CheckpointState(
            theirs.model_checkpoint_path,
            tuple(theirs.all_model_checkpoint_paths),
            tuple(theirs.all_model_checkpoint_timestamps),
            theirs.last_preserved_timestamp,
        ), given

    def test_the_public_function_writes_the_same(self, tmp_path):
        paths = [str(tmp_path / name) for name in NAMES]
        tf.compat.v1.train.update_checkpoint_state(str(tmp_path), paths[-1], paths, "theirs")
        tensorkeep.write_checkpoint_state(tmp_path, paths[-1], paths, filename="ours")
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()

    def test_times_that_are_not_as_many_as_checkpoints_are_refused(self, tmp_path):
        given = {"all_model_checkpoint_timestamps": [1.0, 2.0]}
        with pytest.raises(ValueError, match="must match"):
            tf.compat.v1.train.update_checkpoint_state(str(tmp_path), "a", ["a"], **given)
        with pytest.raises(InvalidArgumentError, match="timestamps"):
            tensorkeep.write_checkpoint_state(tmp_path, "a", ["a"], timestamps=[1.0, 2.0])

    def test_a_checkpoint_of_the_name_of_the_state_file_is_refused(self, tmp_path):
        path = str(tmp_path / "checkpoint")
        with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
            tf.compat.v1.train.update_checkpoint_state(str(tmp_path), path)
        with pytest.raises(InvalidArgumentError, match="state file"):
            tensorkeep.write_checkpoint_state(tmp_path, path)


class TestLatestCheckpoint:
    @pytest.mark.parametrize("directory", ["{root}", ".", "run", "{root}/run", "run/deep/er"])
    def test_is_the_same_checkpoint(self, root, directory):
        folder = directory.format(root=root)
        for step in range(4):
            tensorkeep.save_checkpoint(f"{folder}/model-{step}", {"step": np.int64(step)})
        for latest in (f"{folder}/model-2", f"{folder}/model-1", f"{folder}/missing"):
            tf.compat.v1.train.update_checkpoint_state(folder, latest)
            theirs = tf.train.latest_checkpoint(folder)
            ours = tensorkeep.latest_checkpoint(folder)
            assert ours == theirs, f"{latest} in {folder}"

    def test_of_a_checkpoint_manager(self, tmp_path):
        counter = tf.Variable(0, dtype=tf.int64)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(counter=counter), str(tmp_path), max_to_keep=3)
        for _ in range(5):
            counter.assign_add(1)
            manager.save()
            assert tensorkeep.latest_checkpoint(tmp_path) == manager.latest_checkpoint
            state = tensorkeep.read_checkpoint_state(tmp_path)
            assert state is not None
            assert list(state.all_paths) == manager.checkpoints
            assert len(state.timestamps) == len(manager.checkpoints)
            key = "counter/.ATTRIBUTES/VARIABLE_VALUE"
            assert tensorkeep.load_tensor(tmp_path, key) == counter.numpy()
