"""Inputs of arrays and of data frames: batches of their rows, in order or shuffled, once or several times.

TensorFlow's read by queues and threads; these are datasets, which give the same batches. Where rows are shuffled, it
is by another order than there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.iterators import make_one_shot_iterator
from tensorkeep.tf1.functions.structures import flatten


class Series(Protocol):
    """A column of pandas."""

    @property
    def index(self) -> npt.ArrayLike: ...

    def to_numpy(self) -> Array: ...

    def __getitem__(self, key: Hashable, /) -> object: ...


class DataFrame(Protocol):
    """A table of pandas."""

    @property
    def index(self) -> npt.ArrayLike: ...

    @property
    def columns(self) -> Iterable[Hashable]: ...

    def __getitem__(self, key: Hashable, /) -> Series: ...

    def __contains__(self, key: object, /) -> bool: ...


def numpy_input_fn(
    x: TensorLike,
    y: TensorLike | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function that gives batches of arrays: features, and labels if `y` is given.

    Arrays are by name, or one. Without end if `num_epochs` is None; then all batches are full.
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        features = _checked_arrays(x, "x")
        labels = None if y is None else _checked_arrays(y, "y")
        if isinstance(features, dict) and isinstance(labels, dict) and (both := sorted(set(features) & set(labels))):
            raise InvalidArgumentError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        return _batches(features, labels, batch_size, num_epochs, bool(shuffle), queue_capacity)

    return input_fn


def _check_shuffle(shuffle: object) -> None:
    if not isinstance(shuffle, bool):
        raise InvalidArgumentError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}"
        )


def _checked_arrays(given: Any, word: str) -> Any:
    if isinstance(given, Mapping):
        if not given:
            raise InvalidArgumentError(
                f"{word} cannot be an empty dict" + (", use None instead." if word == "y" else "")
            )
        return {key: np.asarray(value) for key, value in sorted(given.items())}
    if isinstance(given, np.ndarray):
        if word == "x" and given.size == 0:
            raise InvalidArgumentError("x cannot be an empty array")
        return given
    raise WrongTypeError(f"{word} must be a dict or array; got {type(given).__name__}")


def _batches(
    features: Any, labels: Any, batch_size: int, epochs: int | None, shuffle: bool, capacity: int | None
) -> Any:
    arrays = [*flatten(features), *([] if labels is None else flatten(labels))]
    lengths = {len(array) for array in arrays}
    if len(lengths) != 1:
        raise InvalidArgumentError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
            f"Lengths: {[len(array) for array in arrays]}"
        )
    slices = Dataset.from_tensor_slices(features if labels is None else (features, labels))
    if shuffle:
        slices = slices.shuffle(max(capacity or 0, min(lengths.pop(), 10_000), 1))
    repeated = slices.repeat(epochs)
    # A one-shot iterator lets the function be used for graphs that no estimator makes, as TensorFlow's queues do.
    return make_one_shot_iterator(repeated.batch(batch_size, drop_remainder=epochs is None)).get_next()


def pandas_input_fn(
    x: DataFrame,
    y: DataFrame | Series | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An input function that gives batches of a data frame's columns, and labels of a series or another frame."""
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise WrongTypeError("target_column must be a string type")
    if not hasattr(x, "columns") or not hasattr(x, "index"):
        raise WrongTypeError(f"x must be a pandas.DataFrame; got {type(x).__name__}")
    if y is not None:
        if target_column in x:
            raise InvalidArgumentError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: "
                f"{list(x.columns)}"
            )
        if not np.array_equal(x.index, y.index):
            raise InvalidArgumentError(
                f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
            )

    def input_fn() -> Any:
        features = {str(name): _column(x[name]) for name in x.columns}
        labels: Any = None
        if y is not None:
            labels = {str(name): _column(y[name]) for name in y.columns} if hasattr(y, "columns") else _column(y)
        return _batches(features, labels, batch_size, num_epochs, bool(shuffle), queue_capacity)

    return input_fn


def _column(series: Any) -> Any:
    """A series as an array; text as objects."""
    array = series.to_numpy()
    return array if array.dtype.kind in "biufSU" else np.array([_text(item) for item in array], object)


def _text(item: Any) -> Any:
    return item.encode() if isinstance(item, str) else item
