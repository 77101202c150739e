"""Loading to devices, whatever the framework: reading, checking and copying in pieces, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.devices.loading import load_into
from tests.devices.invented import InventedFramework, NoMemoryLeftError

RANDOM = np.random.default_rng(5)
TENSORS = {
    "empty": np.zeros((0, 3), np.float32),
    "matrix": RANDOM.normal(size=(40, 30)).astype(np.float32),
    "scalar": np.array(7, np.int64),
    "vector": RANDOM.integers(0, 255, 999).astype(np.uint8),
}
SLICED = tk.PartitionedArray.split(TENSORS["matrix"], 3)


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return tk.save_checkpoint(tmp_path / "model", {**TENSORS, "sliced": SLICED})


@pytest.fixture
def reader(prefix: str) -> Iterator[tk.CheckpointReader]:
    with tk.open_checkpoint(prefix) as opened:
        yield opened


def damage(prefix: str, name: str) -> None:
    """Turns a bit of a tensor over."""
    with tk.open_checkpoint(prefix) as opened:
        ((_, (place, *_)),) = opened.places([name])
    data = Path(f"{prefix}.data-00000-of-00001")
    stored = bytearray(data.read_bytes())
    stored[place.offset + place.size // 2] ^= 4
    data.write_bytes(stored)


def assert_nothing_is_left(framework: InventedFramework) -> None:
    assert all(target.array is None for target in framework.targets)


@pytest.mark.parametrize("piece", [7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_tensors_arrive_whatever_the_size_of_pieces(reader: tk.CheckpointReader, piece: int, threads: int) -> None:
    loaded = load_into(InventedFramework(), reader, None, None, threads=threads, piece=piece)
    expected = {**TENSORS, "sliced": TENSORS["matrix"]}
    assert list(loaded) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(loaded[name][0], array, strict=True)


def test_tensors_of_old_checkpoints_arrive_too(tmp_path: Path) -> None:
    options = tk.SaveOptions(format=tk.CheckpointFormat.V1)
    path = tk.save_checkpoint(tmp_path / "old", {"matrix": TENSORS["matrix"]}, options)
    with tk.open_checkpoint(path) as opened:
        loaded = load_into(InventedFramework(), opened, ["matrix"], None, piece=100)
    np.testing.assert_array_equal(loaded["matrix"][0], TENSORS["matrix"])


def test_buffers_are_few_and_small(reader: tk.CheckpointReader) -> None:
    framework = InventedFramework()
    load_into(framework, reader, ["matrix", "vector"], None, threads=2, piece=240)
    assert framework.puts > 20
    assert max(framework.buffers) <= 240
    assert len(framework.buffers) <= 2 * 2 * 2, "each of four grows once at most"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([np.s_[:20], np.s_[20:]], id="rows"),
        pytest.param([np.s_[:, :10], np.s_[:, 10:]], id="columns"),
        pytest.param([np.s_[:20], np.s_[20:], np.s_[:20]], id="some of them twice"),
        pytest.param([np.s_[8:11, 4:9]], id="one part alone"),
    ],
)
@pytest.mark.parametrize("name", ["matrix", "sliced"])
def test_each_device_is_given_its_part(reader: tk.CheckpointReader, parts: list[Any], name: str) -> None:
    loaded = load_into(InventedFramework(), reader, [name], {name: parts}, piece=64)
    for array, part in zip(loaded[name], parts, strict=True):
        np.testing.assert_array_equal(array, TENSORS["matrix"][part], strict=True)


@pytest.mark.parametrize("parts", [[np.s_[:]], [np.s_[:20], np.s_[20:]], [np.s_[:, :9], np.s_[:, 9:]]])
@pytest.mark.parametrize("name", ["matrix", "sliced"])
def test_damage_is_found_however_a_tensor_is_cut(prefix: str, parts: list[Any], name: str) -> None:
    damage(prefix, name)
    framework = InventedFramework()
    with tk.open_checkpoint(prefix) as opened, pytest.raises(tk.DataLossError, match=name):
        load_into(framework, opened, [name, "vector"], {name: parts}, piece=64)
    assert_nothing_is_left(framework)


def test_damage_is_not_looked_for_if_it_is_not_wanted(prefix: str) -> None:
    damage(prefix, "matrix")
    with tk.open_checkpoint(prefix, tk.ReadOptions(checksums=tk.Checksums.OFF)) as opened:
        loaded = load_into(InventedFramework(), opened, ["matrix"], None)
    assert (loaded["matrix"][0] != TENSORS["matrix"]).sum() == 1


def test_a_part_is_checked_if_the_reader_checks_once(prefix: str) -> None:
    damage(prefix, "matrix")
    part = {"matrix": [np.s_[:2]]}
    with tk.open_checkpoint(prefix) as opened:
        load_into(InventedFramework(), opened, ["matrix"], part)  # as `read` does: that part alone is read
    options = tk.ReadOptions(checksums=tk.Checksums.ONCE)
    with tk.open_checkpoint(prefix, options) as opened, pytest.raises(tk.DataLossError, match="matrix"):
        load_into(InventedFramework(), opened, ["matrix"], part)


@pytest.mark.parametrize("stage", ["fails_at", "wait_fails_at"])
@pytest.mark.parametrize("at", [1, 5])
@pytest.mark.parametrize(
    ("failure", "expected"),
    [(RuntimeError("strike"), tk.UnknownError), (NoMemoryLeftError("full"), tk.ResourceExhaustedError)],
)
def test_an_error_of_the_framework_ends_all_and_names_the_tensor(
    reader: tk.CheckpointReader, stage: str, at: int, failure: Exception, expected: type[Exception]
) -> None:
    framework = InventedFramework()
    framework.failure = failure
    setattr(framework, stage, at)
    with pytest.raises(expected, match='tensor "matrix".*invented.*' + str(failure)):
        load_into(framework, reader, ["matrix"], None, threads=1, piece=600)
    assert framework.targets
    assert_nothing_is_left(framework)


def test_a_device_that_is_too_small_is_told_before_anything_is_allocated(reader: tk.CheckpointReader) -> None:
    framework = InventedFramework()
    framework.room = 100
    with pytest.raises(tk.ResourceExhaustedError, match="too small"):
        load_into(framework, reader, None, None)
    assert not framework.targets


def test_all_types_that_are_not_held_are_named(tmp_path: Path) -> None:
    tensors = {"text": np.array([b"a"], object), "odd": np.zeros(2, np.uint16), "fine": np.zeros(2, np.float32)}
    with tk.open_checkpoint(tk.save_checkpoint(tmp_path / "model", tensors)) as opened:
        with pytest.raises(tk.InvalidArgumentError, match=r'2 of 3.*"odd": it is unlucky; "text": string'):
            load_into(InventedFramework(), opened, None, None)
        assert list(load_into(InventedFramework(), opened, ["fine"], None)) == ["fine"]


def test_names_that_are_not_there_are_listed(reader: tk.CheckpointReader) -> None:
    with pytest.raises(tk.NotFoundError, match=r"this.*that"):
        load_into(InventedFramework(), reader, ["this", "matrix", "that"], None)
    with pytest.raises(tk.InvalidArgumentError, match=r"other.*not loaded"):
        load_into(InventedFramework(), reader, ["matrix"], {"other": None})


def test_numpy_is_a_library_too(prefix: str) -> None:
    loaded = tk.load_arrays(prefix, ["vector"], to="numpy")
    np.testing.assert_array_equal(loaded["vector"], TENSORS["vector"], strict=True)
    with pytest.raises(tk.InvalidArgumentError, match='"cpu" alone'):
        tk.load_arrays(prefix, to="numpy", device="cuda:0")


def test_what_cannot_be_is_refused(prefix: str) -> None:
    with pytest.raises(tk.InvalidArgumentError, match=r'"cupy", "jax", "torch", "numpy".*keras'):
        tk.load_arrays(prefix, to="keras")
    with pytest.raises(tk.InvalidArgumentError, match=r'write \["vector"\]'):
        tk.load_arrays(prefix, "vector", to="numpy")


def test_a_library_that_is_not_installed_says_how_to_get_it(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.devices.frameworks.find_spec", lambda name: None)
    for name, remedy in {"jax": r"tensorkeep\[jax\]", "torch": "install torch", "cupy": "install cupy"}.items():
        with pytest.raises(tk.UnimplementedError, match=remedy):
            tk.load_arrays(prefix, to=name)
