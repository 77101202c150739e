"""The handwritten digits of MNIST, read from their files: `tensorflow.examples.tutorials.mnist.input_data`.

A file has, big-endian, and compressed by gzip if its name says so:

    magic:int32 (2051 images, 2049 labels) count:int32 [rows:int32 columns:int32] values:uint8…

Nothing is fetched. What batches consist of: `DataSet.next_batch` in TensorFlow's
contrib/learn/python/learn/datasets/mnist.py, the same pictures in the same order for a seed.
"""

from __future__ import annotations

import gzip
import zlib
from typing import IO, Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32, UINT8, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.io.coding.text_and_bytes import as_bytes
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.tf1.functions.random.numbers import get_seed

_FILES: Final = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_IMAGES, _LABELS = 2051, 2049
_PIXELS: Final = 784
_CLASSES: Final = 10
_PLACES: Final = "https://ossci-datasets.s3.amazonaws.com/mnist/"


class Datasets(NamedTuple):
    """The pictures to train with, to validate with, and to test with."""

    train: DataSet
    validation: DataSet
    test: DataSet


class DataSet:
    """Pictures and their labels, which can be had in batches."""

    def __init__(
        self,
        images: Array | None,
        labels: Array | None,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: DTypeLike = FLOAT32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        kind = DType.of(dtype).base_dtype
        if kind not in (UINT8, FLOAT32):
            raise WrongTypeError(f"Invalid image dtype {kind!r}, expected uint8 or float32")
        first, second = get_seed(seed)
        np.random.seed(first if seed is None else second)
        self._is_fake, self.one_hot = fake_data, one_hot
        self.epochs_completed = self._at = 0
        if fake_data or images is None or labels is None:
            self.num_examples = 10000
            return
        if len(images) != len(labels):
            raise InvalidArgumentError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
        self.images = _prepared_images(images, kind is FLOAT32, reshape)
        self.labels = labels
        self.num_examples = len(images)

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next pictures and labels; behind the last ones it goes on with the first, in a new order."""
        if fake_data or self._is_fake:
            label: Any = [1] + [0] * (_CLASSES - 1) if self.one_hot else 0
            return [[1] * _PIXELS] * batch_size, [label] * batch_size
        if self.epochs_completed == 0 and self._at == 0 and shuffle:
            self._reorder()
        start, end = self._at, self._at + batch_size
        if end <= self.num_examples:
            self._at = end
            return self.images[start:end], self.labels[start:end]
        rest = self.images[start:], self.labels[start:]
        self.epochs_completed += 1
        if shuffle:
            self._reorder()
        self._at = batch_size - len(rest[0])
        return tuple(
            np.concatenate(pair) for pair in zip(rest, (self.images[: self._at], self.labels[: self._at]), strict=True)
        )  # type: ignore[return-value]

    def _reorder(self) -> None:
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self.images, self.labels = self.images[order], self.labels[order]


def _prepared_images(images: Array, as_floats: bool, reshape: bool) -> Array:
    if reshape:
        if images.ndim != 4 or images.shape[3] != 1:
            raise InvalidArgumentError(f"pictures are expected with one channel, got the shape {images.shape}")
        images = images.reshape(len(images), images.shape[1] * images.shape[2])
    return np.multiply(images.astype(np.float32), 1.0 / 255.0) if as_floats else images


def _read(path: str, magic: int) -> tuple[bytes, int]:
    """What a file holds, and where its sizes begin."""
    with GFile(path, "rb") as file:
        data = as_bytes(file.read())
    try:
        data = gzip.decompress(data) if path.endswith(".gz") else data
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(f'"{path}" is not compressed by gzip, or is cut: {error}') from error
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise DataLossError(f'"{path}" begins with {found}, expected {magic}: it is no file of MNIST\'s')
    return data, 4


def extract_images(f: GFile | IO[bytes] | str) -> Array:
    """The pictures of a file, [count, rows, columns, 1]."""
    path: Any = getattr(f, "name", f)
    data, at = _read(path, _IMAGES)
    sizes = [int.from_bytes(data[at + 4 * i : at + 4 * i + 4], "big") for i in range(3)]
    values = np.frombuffer(data, np.uint8, offset=min(16, len(data)))
    if values.size != sizes[0] * sizes[1] * sizes[2]:
        raise DataLossError(
            f'"{path}" has {values.size} pixels, expected {sizes[0]} pictures of {sizes[1]} by {sizes[2]}'
        )
    return values.reshape(*sizes, 1)


def extract_labels(f: GFile | IO[bytes] | str, one_hot: bool = False, num_classes: int = _CLASSES) -> Array:
    """The labels of a file: numbers, or rows with a one in the place of the number."""
    path: Any = getattr(f, "name", f)
    data, at = _read(path, _LABELS)
    values, count = np.frombuffer(data, np.uint8, offset=min(8, len(data))), int.from_bytes(data[at : at + 4], "big")
    if values.size != count:
        raise DataLossError(f'"{path}" has {values.size} labels, expected {count}')
    return dense_to_one_hot(values, num_classes) if one_hot else values


def dense_to_one_hot(labels_dense: Array, num_classes: int) -> Array:
    """For each label a row of zeros, with a one in the place of the label."""
    return np.eye(num_classes)[labels_dense]


def _path(folder: str, name: str) -> str:
    candidates = [str(gfile.join(folder, f"{name}{ending}")) for ending in (".gz", "")]
    for candidate in candidates:
        if gfile.exists(candidate):
            return candidate
    raise NotFoundError(
        f'there is neither "{candidates[0]}" nor "{candidates[1]}", and nothing is fetched: the files of MNIST are '
        f"at {_PLACES}"
    )


def maybe_download(filename: str, work_directory: PathLike, source_url: str) -> str:
    """The path of a file in a folder; NotFoundError if it is not there, since nothing is fetched."""
    return _path(path_text(work_directory), filename.removesuffix(".gz"))


def read_data_sets(
    train_dir: PathLike,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: DTypeLike = FLOAT32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = "",
) -> Datasets:
    """The digits in the files of a folder; the first `validation_size` of those to train with are to validate."""
    if fake_data:
        return Datasets(*(DataSet(None, None, True, one_hot, dtype, reshape, seed) for _ in range(3)))
    paths = [_path(path_text(train_dir), name) for name in _FILES]
    images, test_images = extract_images(paths[0]), extract_images(paths[2])
    labels, test_labels = (extract_labels(path, one_hot) for path in (paths[1], paths[3]))
    if not 0 <= validation_size <= len(images):
        raise InvalidArgumentError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    options = {"dtype": dtype, "reshape": reshape, "seed": seed, "one_hot": one_hot}
    parts = [
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        (test_images, test_labels),
    ]
    return Datasets(*(DataSet(*part, **options) for part in parts))  # type: ignore[arg-type]
