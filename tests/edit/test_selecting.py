"""Renaming and leaving out, where names mean something: slots, averages, objects."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.objects.array_trees import load_objects, save_objects
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.edit import Selection, drop, keep, optimizer_state, rename, strip_optimizer, swap_averages
from tensorkeep.edit.names import RenamePattern
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.memory import MemoryFileSystem


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def test_what_optimizers_keep_is_known_by_its_name_and_by_the_variable_beside_it() -> None:
    model = ["w", "w/ExponentialMovingAverage", "tower/linear", "global_step", "tower/Adam", "loss/accum"]
    state = ["w/Adam", "w/Adam_1", "w/Momentum", "beta1_power", "tower/beta2_power_1", "w/Ftrl_1"]
    assert sorted(optimizer_state(model + state)) == sorted(state)


def test_so_are_the_slots_of_objects() -> None:
    value = "/.ATTRIBUTES/VARIABLE_VALUE"
    model = [f"model/w{value}", f"optimizer/iter{value}", f"optimizer/_iterations{value}", f"save_counter{value}"]
    state = [
        f"model/w/.OPTIMIZER_SLOT/optimizer/m{value}",
        f"optimizer/learning_rate{value}",
        f"optimizer/_variables/2{value}",
        f"optimizer/beta_1{value}",
    ]
    assert sorted(optimizer_state(model + state)) == sorted(state)


def test_stripping_shrinks_the_files(fs: MemoryFileSystem) -> None:
    big = np.ones(1000, np.float32)
    save_checkpoint("m", {"w": big, "w/Adam": big, "w/Adam_1": big, "global_step": np.int64(7)}, fs=fs)
    done = strip_optimizer("m", "n", fs=fs)
    assert sorted(done.dropped) == ["w/Adam", "w/Adam_1"]
    assert len(fs.contents()["n.data-00000-of-00001"]) == 4008
    assert sorted(load_tensors("n", fs=fs)) == ["global_step", "w"]


def test_without_an_optimizer_there_is_nothing_to_strip(fs: MemoryFileSystem) -> None:
    save_checkpoint("m", {"w": 1.0}, fs=fs)
    with pytest.raises(NotFoundError, match="nothing to strip"):
        strip_optimizer("m", "n", fs=fs)


def test_averages_change_names_with_their_variables_and_back(fs: MemoryFileSystem) -> None:
    values = {"w": 1.0, "w/ExponentialMovingAverage": 2.0, "step": np.int64(3)}
    save_checkpoint("m", values, fs=fs)
    swap_averages("m", "n", fs=fs)
    assert load_tensors("n", fs=fs) == {"w": 2.0, "w/ExponentialMovingAverage": 1.0, "step": 3}
    swap_averages("n", "o", fs=fs)
    assert fs.contents()["o.index"] == fs.contents()["m.index"]


def test_averages_of_another_shape_are_not_swapped(fs: MemoryFileSystem) -> None:
    save_checkpoint("m", {"w": 1.0, "w/ExponentialMovingAverage": [2.0]}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="they cannot be swapped"):
        swap_averages("m", "n", fs=fs)
    save_checkpoint("p", {"w": 1.0}, fs=fs)
    with pytest.raises(NotFoundError, match="no moving averages"):
        swap_averages("p", "q", fs=fs)


def test_the_objects_of_a_checkpoint_follow_the_keys(fs: MemoryFileSystem) -> None:
    tree = {"model": {"kernel": np.arange(3.0), "bias": np.float32(1)}, "step": np.int64(4)}
    save_objects("m", tree, fs=fs)
    rename("m", "n", [RenamePattern("^model/", "net/")], fs=fs)
    assert sorted(load_tensors("n", fs=fs)) == [
        OBJECT_GRAPH_KEY,
        "net/bias/.ATTRIBUTES/VARIABLE_VALUE",
        "net/kernel/.ATTRIBUTES/VARIABLE_VALUE",
        "step/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    found = load_objects("n", fs=fs)
    np.testing.assert_array_equal(found["model"]["kernel"], np.arange(3.0))


def test_an_object_whose_tensor_is_dropped_is_there_without_it(fs: MemoryFileSystem) -> None:
    save_objects("m", {"model": {"kernel": np.arange(3.0), "bias": np.float32(1)}}, fs=fs)
    done = drop("m", "n", Selection(["*bias*"]), fs=fs)
    assert done.dropped == ["model/bias/.ATTRIBUTES/VARIABLE_VALUE"]
    found = load_objects("n", fs=fs)
    np.testing.assert_array_equal(found["model"]["kernel"], np.arange(3.0))


def test_an_object_graph_that_needs_no_change_is_not_written_again(fs: MemoryFileSystem) -> None:
    save_objects("m", {"a": np.float32(1), "b": np.float32(2)}, fs=fs)
    done = keep("m", "n", Selection(), fs=fs)
    assert done.written.written_bytes == 0
    assert fs.contents()["n.index"] == fs.contents()["m.index"]
