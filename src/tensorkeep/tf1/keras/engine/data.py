"""Arrays as models take them: in order, of the right rank and type, with weights; and cut into batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.surroundings import settings


@dataclass(frozen=True)
class Batch:
    """What one step is fed: arrays for inputs, for targets, and weights of items."""

    inputs: list[Any]
    targets: list[Any]
    weights: list[Any]

    @property
    def size(self) -> int | None:
        """How many items there are; None if nothing is fed."""
        for array in [*self.inputs, *self.targets]:
            if array is not None and hasattr(array, "shape") and len(array.shape):
                return int(array.shape[0])
        return None

    def part(self, places: slice | Array) -> Batch:
        """Some of the items."""
        return Batch(_parts(self.inputs, places), _parts(self.targets, places), _parts(self.weights, places))


def _parts(arrays: list[Any], places: Any) -> list[Any]:
    return [None if array is None else array[places] for array in arrays]


def as_arrays(data: Any) -> Any:
    """Lists of numbers and data frames as arrays, in lists and dictionaries of them."""
    if data is None or isinstance(data, Tensor):
        return data
    if isinstance(data, Mapping):
        return {key: as_arrays(value) for key, value in data.items()}
    if hasattr(data, "iloc") and hasattr(data, "values"):  # pandas
        return data.values
    return data


def in_order(data: object, names: Sequence[str], shapes: Sequence[Any], what: str) -> list[Any]:
    """Given data as a list of arrays, one for each name, in the order of the names.

    Given are an array, a list of arrays, or a dictionary by name; shapes are those asked for, None where any will do.
    """
    given = as_arrays(data)
    if not names:
        if given is not None and not (isinstance(given, list | tuple | dict) and not len(given)):
            raise InvalidArgumentError(f"Error when checking model {what}: expected no data, but got: {given!r}")
        return []
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        if missing:
            raise InvalidArgumentError(
                f'No data provided for "{missing[0]}". Need data for each of {list(names)}; given are {list(given)}'
            )
        found = [given[name] for name in names]
    elif isinstance(given, list | tuple) and len(names) == len(given) and _holds_arrays(given):
        found = list(given)
    elif isinstance(given, list | tuple) and _holds_arrays(given):
        raise InvalidArgumentError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to your model is not the "
            f"size the model expected. Expected to see {len(names)} array(s), but instead got {len(given)}."
        )
    else:
        if len(names) > 1:
            raise InvalidArgumentError(
                f"The model expects {len(names)} {what} arrays, but only received one array. Found: array with shape "
                f"{np.shape(given)}"
            )
        found = [given]
    arrays = [_array(item) for item in found]
    return [_fitted_array(array, name, shape, what) for array, name, shape in zip(arrays, names, shapes, strict=True)]


def _holds_arrays(given: Any) -> bool:
    return all(item is None or hasattr(item, "shape") or isinstance(item, list | tuple) for item in given)


def _array(item: Any) -> Any:
    if item is None or isinstance(item, Tensor) or hasattr(item, "tocoo"):
        return item
    if hasattr(item, "iloc") and hasattr(item, "values"):
        item = item.values
    array = item if hasattr(item, "dense_shape") else np.asarray(item)
    if getattr(array, "ndim", 0) == 1:  # a row of numbers is a column
        array = np.expand_dims(array, 1)
    return array


def _fitted_array(array: Any, name: str, shape: Any, what: str) -> Any:
    if array is None or shape is None or not isinstance(array, np.ndarray):
        return array
    wanted = list(shape)
    if array.ndim == 2 and len(wanted) == 1:  # items that are single numbers
        array = array[:, 0]
    if array.ndim != len(wanted):
        raise InvalidArgumentError(
            f"Error when checking {what}: expected {name} to have {len(wanted)} dimensions, but got array with shape "
            f"{array.shape}"
        )
    for found, size in zip(array.shape[1:], wanted[1:], strict=True):
        if size is not None and found != size:
            raise InvalidArgumentError(
                f"Error when checking {what}: expected {name} to have shape {tuple(wanted[1:])} but got array with "
                f"shape {array.shape[1:]}"
            )
    return array


def check_lengths(batch: Batch) -> None:
    """Raises unless inputs, targets and weights have as many items."""
    sizes = {
        what: {array.shape[0] for array in arrays if isinstance(array, np.ndarray) and array.ndim}
        for what, arrays in (("input", batch.inputs), ("target", batch.targets), ("weight", batch.weights))
    }
    for what, found in sizes.items():
        if len(found) > 1:
            raise InvalidArgumentError(
                f"All {what} arrays should have the same number of samples. Got numbers of samples: {sorted(found)}"
            )
    known = sorted(set().union(*sizes.values()))
    if len(known) > 1:
        raise InvalidArgumentError(
            "Input arrays should have the same number of samples as target arrays and sample weights. Found "
            + ", ".join(f"{next(iter(found))} {what} samples" for what, found in sizes.items() if found)
        )


# ---------------------------------------------------------------------------------------------------- Weights


def weights_by_output(given: object, names: Sequence[str], what: str) -> list[Any]:
    """One entry for each output, from what a program gave: one for the only output, a list, or a dictionary."""
    if given is None or (hasattr(given, "__len__") and not len(given)):
        return [None] * len(names)
    if isinstance(given, Mapping) and any(name in given for name in names):
        return [given.get(name) for name in names]
    if len(names) == 1:
        return [given[0] if isinstance(given, list | tuple) and len(given) == 1 else given]
    if isinstance(given, list | tuple):
        if len(given) != len(names):
            raise InvalidArgumentError(
                f"Provided `{what}` was a list of {len(given)} elements, but the model has {len(names)} outputs. You "
                f"should provide one `{what}` array per model output."
            )
        return list(given)
    if isinstance(given, Mapping):
        return [given.get(name) for name in names]
    raise InvalidArgumentError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided: {given!r}"
    )


def item_weights(
    target: Array | None,
    sample_weight: npt.ArrayLike | None,
    class_weight: Mapping[int, float] | None,
    mode: str | None,
) -> Array | None:
    """The weights of the items of a target, by themselves and by their classes; None if all count the same."""
    weights = None if sample_weight is None else np.asarray(sample_weight)
    if weights is not None:
        most = 2 if mode == "temporal" else 1
        if mode == "temporal" and weights.ndim != 2:
            raise InvalidArgumentError(
                f"Found a sample_weight array with shape {weights.shape}. In order to use timestep-wise sample "
                "weighting, you should pass a 2D sample_weight array."
            )
        if weights.ndim > most:
            raise InvalidArgumentError(
                f"Found a sample_weight with shape {weights.shape}. sample_weight arrays should be 1D; to use weights "
                'of steps, say sample_weight_mode="temporal" in compile()'
            )
        if target is not None and weights.shape != target.shape[: weights.ndim]:
            raise InvalidArgumentError(
                f"Found a sample_weight array with shape {weights.shape} for an input with shape {target.shape}. "
                "sample_weight cannot be broadcast."
            )
    by_class = None if not isinstance(class_weight, Mapping) else _class_weights(target, class_weight)
    if weights is None:
        return None if by_class is None else by_class.astype(settings().floatx)
    both = weights if by_class is None else weights * by_class
    return both.astype(settings().floatx)


def _class_weights(target: Any, by_class: Mapping[Any, float]) -> Array:
    if target.ndim > 2:
        raise InvalidArgumentError("`class_weight` not supported for 3+ dimensional targets.")
    classes = np.argmax(target, axis=1) if target.ndim == 2 and target.shape[1] > 1 else target.reshape(-1)
    missing = sorted({item for item in classes.tolist() if item not in by_class})
    if missing:
        raise InvalidArgumentError(
            f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data but not in "
            "`class_weight`."
        )
    return np.asarray([by_class[item] for item in classes.tolist()])


# ---------------------------------------------------------------------------------------------------- Batches


def split_for_validation(batch: Batch, share: float) -> tuple[Batch, Batch]:
    """The first items, and the last ones for validation."""
    size = batch.size or 0
    at = int(size * (1.0 - share))
    if not 0 < at < size:
        raise InvalidArgumentError(
            f"Training data contains {size} samples, which is not sufficient to split it into a validation and "
            f"training set as specified by `validation_split={share}`."
        )
    return batch.part(slice(0, at)), batch.part(slice(at, None))


def batches_of(size: int, batch_size: int) -> Iterator[tuple[int, int]]:
    """The first place of each batch, and the one behind its last, for so many items."""
    for begin in range(0, size, batch_size):
        yield begin, min(size, begin + batch_size)


def shuffled_places(size: int, batch_size: int, shuffle: bool | str) -> Array:
    """The order of items in an epoch: shuffled, or by whole batches."""
    places = np.arange(size)
    if shuffle == "batch":
        whole = size // batch_size * batch_size
        rows = places[:whole].reshape(-1, batch_size)
        np.random.shuffle(rows)
        return np.append(rows.reshape(-1), places[whole:])
    np.random.shuffle(places)
    return places
