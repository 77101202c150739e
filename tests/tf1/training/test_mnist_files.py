"""The digits of MNIST from their files: what batches consist of, and what is wrong with files."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.training.inputs.mnist_files import read_data_sets

NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


@pytest.fixture(autouse=True)
def _building():
    with building(Graph()):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve pictures to train with, four to test with, of 2 by 3 pixels; the picture numbered i is all i."""
    for (images, labels), count in zip((NAMES[:2], NAMES[2:]), (12, 4), strict=True):
        pixels = np.repeat(np.arange(count, dtype=np.uint8), 6).tobytes()
        (tmp_path / f"{images}.gz").write_bytes(gzip.compress(struct.pack(">iiii", 2051, count, 2, 3) + pixels))
        numbers = bytes(number % 10 for number in range(count))
        (tmp_path / labels).write_bytes(struct.pack(">ii", 2049, count) + numbers)
    return tmp_path


def test_pictures_are_scaled_and_parted(folder: Path) -> None:
    found = read_data_sets(str(folder), one_hot=True, validation_size=2)
    assert [part.num_examples for part in found] == [10, 2, 4]
    assert found.test.images.shape == (4, 6)
    assert np.allclose(found.test.images[:, 0], np.arange(4) / 255)
    assert found.validation.labels.argmax(1).tolist() == [0, 1]
    whole = read_data_sets(str(folder), dtype="uint8", reshape=False, validation_size=0)
    assert (whole.train.images.shape, whole.train.images.dtype) == ((12, 2, 3, 1), np.uint8)


def test_batches_go_through_all_pictures_and_then_on_in_another_order(folder: Path) -> None:
    train = read_data_sets(str(folder), dtype="uint8", validation_size=0, seed=1).train
    batches = [train.next_batch(5) for _ in range(3)]
    seen = np.concatenate([images[:, 0] for images, _ in batches])
    assert sorted(seen[:12].tolist()) == list(range(12))
    assert train.epochs_completed == 1
    for images, labels in batches:
        assert (images[:, 0] % 10).tolist() == labels.tolist()
    again = read_data_sets(str(folder), dtype="uint8", validation_size=0, seed=1).train
    assert np.array_equal(again.next_batch(5)[0], batches[0][0])


def test_made_up_data_needs_no_files() -> None:
    images, labels = read_data_sets("nowhere", fake_data=True, one_hot=True).train.next_batch(2)
    assert (np.shape(images), np.shape(labels)) == ((2, 784), (2, 10))


def test_what_is_wrong_with_files_is_told(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="nothing is fetched"):
        read_data_sets(str(folder / "missing"))
    with pytest.raises(InvalidArgumentError, match="between 0 and 12"):
        read_data_sets(str(folder), validation_size=13)
    (folder / NAMES[1]).write_bytes(b"\0\0\x08\x01\0\0\0\x0c12")
    with pytest.raises(DataLossError, match="has 2 labels, expected 12"):
        read_data_sets(str(folder))
    whole = (folder / f"{NAMES[0]}.gz").read_bytes()
    for bad in (whole[:20], b"no gzip", gzip.compress(b"\0\0\0\0"), gzip.compress(b""), gzip.compress(b"\0\0\x08\x03")):
        (folder / f"{NAMES[0]}.gz").write_bytes(bad)
        with pytest.raises(DataLossError):
            read_data_sets(str(folder))
