"""Datasets of arrays: digits, clothes and small pictures with the numbers of their classes, and prices of houses."""

from __future__ import annotations

import gzip
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.keras.backend.settings import image_data_format
from tensorkeep.tf1.keras.datasets.kept_files import load_archive, tell_of_file, unpickle
from tensorkeep.tf1.keras.utils.downloads import get_file, read_bytes

_PLACE: Final = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_CIFAR: Final = "https://www.cs.toronto.edu/~kriz/"
_FASHION: Final = (
    "train-labels-idx1-ubyte.gz",
    "train-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
)
Pairs = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Pictures and labels, or numbers and prices, to train with, and to test with."""


def load_digits(path: PathLike = "mnist.npz") -> Pairs:
    """`mnist.load_data`: 28 x 28 grey pictures of handwritten digits."""
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = load_archive(path, f"{_PLACE}mnist.npz", names)
    return (x_train, y_train), (x_test, y_test)


def load_clothes() -> Pairs:
    """`fashion_mnist.load_data`: 28 x 28 grey pictures of ten kinds of clothes."""
    paths = [get_file(name, origin=_PLACE + name, cache_subdir="datasets/fashion-mnist") for name in _FASHION]
    y_train, x_train, y_test, x_test = (_read_gzip(path, at % 2 == 0) for at, path in enumerate(paths))
    return (x_train, y_train), (x_test, y_test)


def _read_gzip(path: str, is_labels: bool) -> Array:
    data = read_bytes(path)
    with tell_of_file(path):
        found = np.frombuffer(gzip.decompress(data), np.uint8, offset=8 if is_labels else 16)
        return found if is_labels else found.reshape(-1, 28, 28)


def _batch(path: str, label_key: str = "labels") -> tuple[Array, Array]:
    told: dict[Any, Any] = unpickle(read_bytes(path), path, encoding="bytes")
    with tell_of_file(path):
        found = {key.decode() if isinstance(key, bytes) else key: value for key, value in told.items()}
        return found["data"].reshape(-1, 3, 32, 32), np.asarray(found[label_key])


def _arranged_pictures(pictures: Array) -> Array:
    return pictures.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else pictures


def load_ten_things() -> Pairs:
    """`cifar10.load_data`: 32 x 32 pictures in colour of ten kinds of things."""
    folder = get_file("cifar-10-batches-py", origin=f"{_CIFAR}cifar-10-python.tar.gz", untar=True)
    parts = [_batch(f"{folder}/data_batch_{number}") for number in range(1, 6)]
    pictures, labels = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
    tested, wanted = _batch(f"{folder}/test_batch")
    train = (_arranged_pictures(pictures), labels.reshape(-1, 1).astype(np.uint8))
    return train, (_arranged_pictures(tested), wanted.reshape(-1, 1))


def load_hundred_things(label_mode: str = "fine") -> Pairs:
    """`cifar100.load_data`: the same of a hundred kinds ("fine"), or of twenty ("coarse")."""
    if label_mode not in ("fine", "coarse"):
        raise InvalidArgumentError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = get_file("cifar-100-python", origin=f"{_CIFAR}cifar-100-python.tar.gz", untar=True)
    (pictures, labels), (tested, wanted) = (
        _batch(f"{folder}/{part}", f"{label_mode}_labels") for part in ("train", "test")
    )
    return (_arranged_pictures(pictures), labels.reshape(-1, 1)), (_arranged_pictures(tested), wanted.reshape(-1, 1))


def load_houses(path: PathLike = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Pairs:
    """`boston_housing.load_data`: in an order drawn by the seed; the last part is to test with."""
    if not 0 <= test_split < 1:
        raise InvalidArgumentError(f"test_split is from 0 to 1, got {test_split}")
    x, y = load_archive(path, f"{_PLACE}boston_housing.npz", ("x", "y"))
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    count = int(len(x) * (1 - test_split))
    return (np.array(x[:count]), np.array(y[:count])), (np.array(x[count:]), np.array(y[count:]))
