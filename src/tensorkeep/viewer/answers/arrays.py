"""Numbers as a page shows them: statistics, samples, maps of two axes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import dtype_of_array
from tensorkeep.embedding.tools.statistics import Histogram
from tensorkeep.inspect.statistics import TensorStatistics, tensor_statistics

BINS: Final = 60
_MOST_SHOWN: Final = 2000  # numbers of an array that are sent as they are
_MOST_LETTERS: Final = 200  # of a text


def statistics_data(found: TensorStatistics) -> dict[str, Any]:
    """What the numbers of a tensor are like."""
    return {
        "count": found.count,
        "minimum": found.minimum,
        "maximum": found.maximum,
        "mean": found.mean,
        "deviation": found.deviation,
        "norm": found.norm,
        "zeros": found.zeros,
        "nans": found.nans,
        "infinities": found.infinities,
        "histogram": histogram_data(found.histogram),
    }


def histogram_data(found: Histogram | None) -> dict[str, Any] | None:
    """A histogram: edges and counts, as many of these or one less."""
    return None if found is None else {"edges": list(found.edges), "counts": list(found.counts)}


class OneArray:
    """An array in memory as tensors by name, of which there is one."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self._info = TensorInfo(dtype_of_array(array.dtype), array.shape)

    def __iter__(self) -> Any:
        return iter(("",))

    def __contains__(self, name: object) -> bool:
        return name == ""

    def __getitem__(self, name: str) -> TensorInfo:
        return self._info

    def source(self, name: str) -> ArraySource:
        """All of it, in one piece."""
        return ArraySource(self._info.dtype, self._info.shape, [self._array])


def array_data(value: object) -> dict[str, Any]:
    """An array that was computed: type, shape, statistics, and its first numbers or texts."""
    array = np.asarray(value)
    told: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape), "statistics": None, "map": None}
    flat = array.reshape(-1)[:_MOST_SHOWN]
    told["is_cut"] = flat.size < array.size
    if array.dtype.kind in "OSUV" and not _is_number(array):
        told["dtype"] = "string"
        told["values"] = [shown_text(item) for item in flat]
        return told
    told["values"] = numbers(flat)
    told["statistics"] = statistics_data(tensor_statistics(OneArray(array), "", bins=BINS))
    if array.ndim >= 2 and array.size:
        plane = array.reshape(-1, array.shape[-1]) if array.ndim == 2 else _last_plane(array)
        told["map"] = plane_data(plane[:128, :128])
    return told


def _is_number(array: Array) -> bool:
    return array.dtype.kind not in "OSU" and not array.dtype.hasobject


def _last_plane(array: Array) -> Array:
    """Two axes of an array with more: of pictures height and width, of others the last two."""
    if array.ndim == 4 and min(array.shape[1:3]) > 1:
        return np.asarray(array[0, :, :, 0])
    return np.asarray(array[(0,) * (array.ndim - 2)])


def shown_text(item: object) -> str:
    """A text or bytes of a tensor, short."""
    text = item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def numbers(array: Array) -> list[Any]:
    """The numbers of a flat array; complex ones are texts, and so are whole ones that a page could not hold."""
    if array.dtype.kind == "b":
        return [bool(item) for item in array]
    if np.iscomplexobj(array):
        return [str(item) for item in array]
    if array.dtype.kind in "iu":
        return [item if abs(item) <= 1 << 53 else str(item) for item in array.tolist()]
    return [float(item) for item in array.astype(np.float64)]


def plane_data(plane: Array) -> dict[str, Any]:
    """Two axes of numbers, row after row."""
    wide = np.abs(plane) if np.iscomplexobj(plane) else plane
    return {"rows": int(plane.shape[0]), "columns": int(plane.shape[1]), "values": numbers(wide.reshape(-1))}


def picks(size: int, most: int) -> list[int]:
    """At most so many places along an axis, evenly spread, the first and the last among them."""
    if size <= most:
        return list(range(size))
    return sorted({round(at * (size - 1) / (most - 1)) for at in range(most)})
