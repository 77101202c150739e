"""Single tensors: statistics, slices, filters, values, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.inspect.statistics import tensor_statistics
from tensorkeep.inspect.watching import Watched, bytes_of
from tensorkeep.io.files.numpy_files import npy_header
from tensorkeep.io.showing.progress import Told
from tensorkeep.viewer.answers.arrays import BINS, numbers, picks, plane_data, shown_text, statistics_data
from tensorkeep.viewer.asking import Asked

_MOST_CELLS: Final = 192  # of a map, along each axis
_MOST_READ: Final = 1 << 22  # elements of a plane that are read at once; of a larger one, single rows
_EXTREMES: Final = 8
_MOST_FILTERS: Final = 64
_LARGEST_FILTER: Final = 31
_MOST_TEXTS: Final = 100


def tensor(asked: Asked) -> Mapping[str, Any]:
    """What all numbers of a tensor are like, its largest and its smallest. Reads all of it."""
    source, name = asked.source, asked.text("name")
    info = source.tensors[name]
    told: dict[str, Any] = {"name": name, "dtype": info.dtype.name, "shape": list(info.shape)}
    if info.dtype.is_object:
        return {**told, "texts": _texts(asked, info)}
    watched = Watched(source.tensors, Told(asked.progress, 3 * bytes_of(source.tensors, [name])))
    found = tensor_statistics(watched, name, bins=BINS)
    smallest, largest = _extremes(watched, name, info)
    return {**told, "statistics": statistics_data(found), "smallest": smallest, "largest": largest}


def _texts(asked: Asked, info: TensorInfo) -> list[str]:
    if info.size > 1 << 20:
        raise InvalidArgumentError(f"{info.size:,} texts are too many to look at here: tensorkeep print shows parts")
    array = asked.source.tensors.read(asked.text("name"))
    return [shown_text(item) for item in array.reshape(-1)[:_MOST_TEXTS]]


def _extremes(tensors: Watched, name: str, info: TensorInfo) -> tuple[list[Any], list[Any]]:
    """The smallest and the largest finite numbers, each with where it is."""
    values, places = np.empty(0, np.float64), np.empty(0, np.int64)
    at = 0
    for chunk in tensors.source(name).chunks:
        flat = np.asarray(chunk).reshape(-1)
        wide = np.abs(flat).astype(np.float64) if np.iscomplexobj(flat) else flat.astype(np.float64)
        where = np.flatnonzero(np.isfinite(wide))
        near = _ends(wide[where])
        values = np.concatenate([values, wide[where[near]]])
        places = np.concatenate([places, where[near] + at])
        kept = _ends(values)
        values, places = values[kept], places[kept]
        at += flat.size
    order = np.argsort(values, kind="stable")
    told = [[float(values[item]), [int(part) for part in np.unravel_index(places[item], info.shape or (1,))]]
            for item in order]  # fmt: skip
    return told[:_EXTREMES], told[::-1][:_EXTREMES]


def _ends(values: Array) -> Array:
    """The places of the smallest and the largest of some numbers."""
    if values.size <= 2 * _EXTREMES:
        return np.arange(values.size)
    parted = np.argpartition(values, (_EXTREMES, values.size - _EXTREMES))
    return np.concatenate([parted[:_EXTREMES], parted[-_EXTREMES:]])


# --------------------------------------------------------------------------------------------------------------- slices


def tensor_slice(asked: Asked) -> Mapping[str, Any]:
    """A map of two axes: all of them if they are short, else rows and columns evenly spread, which are told."""
    name = asked.text("name")
    info = asked.source.tensors[name]
    if info.dtype.is_object:
        raise InvalidArgumentError(f'"{name}" holds texts, and a map needs numbers')
    shape = info.shape if len(info.shape) > 1 else (1, info.size)
    axes, index = _axes(asked, len(shape)), _index(asked, shape)
    rows, columns = (picks(shape[axis], _MOST_CELLS) for axis in axes)
    plane = _plane(asked, info, axes, index, rows)[:, columns] if rows and columns else np.zeros((0, 0))
    return {"axes": list(axes), "index": index, "shape": list(shape), "row_places": rows, "column_places": columns,
            **plane_data(plane)}  # fmt: skip


def _axes(asked: Asked, rank: int) -> tuple[int, int]:
    given = asked.integers("axes") or [rank - 2, rank - 1]
    if len(given) != 2 or given[0] == given[1] or not all(0 <= axis < rank for axis in given):
        raise InvalidArgumentError(f"{given} are no two different axes of {rank}")
    return given[0], given[1]


def _index(asked: Asked, shape: Sequence[int]) -> list[int]:
    given = asked.integers("index") or [0] * len(shape)
    if len(given) != len(shape):
        raise InvalidArgumentError(f"an index of {len(shape)} axes has as many numbers, and not {len(given)}")
    return [min(max(place, 0), max(size - 1, 0)) for place, size in zip(given, shape, strict=True)]


def _plane(asked: Asked, info: TensorInfo, axes: tuple[int, int], index: Sequence[int], rows: Sequence[int]) -> Array:
    """Some rows of a plane, each whole. A plane that is small is read in one piece."""
    name, tensors = asked.text("name"), asked.source.tensors
    if len(info.shape) < 2:
        return tensors.read(name).reshape(1, -1)[rows]
    first, second = axes

    def read(start: int, stop: int) -> Array:
        part = [slice(place, place + 1) for place in index]
        part[first], part[second] = slice(start, stop), slice(0, info.shape[second])
        array = tensors.read(name, tuple(part))
        shape = (stop - start, info.shape[second]) if first < second else (info.shape[second], stop - start)
        plane = array.reshape(shape)
        return plane if first < second else plane.T

    if info.shape[first] * info.shape[second] <= _MOST_READ:
        return read(0, info.shape[first])[rows]
    return np.concatenate([read(row, row + 1) for row in rows])


def values(asked: Asked) -> Mapping[str, Any]:
    """Numbers as they are stored: a window of a plane, from a row and a column on."""
    name = asked.text("name")
    info = asked.source.tensors[name]
    shape = info.shape if len(info.shape) > 1 else (1, info.size)
    axes, index = _axes(asked, len(shape)), _index(asked, shape)
    starts = [min(max(asked.integer(key, 0), 0), max(shape[axis] - 1, 0))
              for key, axis in zip(("row", "column"), axes, strict=True)]  # fmt: skip
    rows = list(range(starts[0], min(starts[0] + 16, shape[axes[0]])))
    columns = list(range(starts[1], min(starts[1] + 8, shape[axes[1]])))
    if len(info.shape) < 2:
        whole = asked.source.tensors.read(
            name, (slice(columns[0], columns[-1] + 1),) if info.shape and columns else None
        )
        plane = whole.reshape(1, -1)
    else:
        plane = _plane(asked, info, axes, index, rows)[:, columns] if rows and columns else np.zeros((0, 0))
    told = numbers(plane.reshape(-1))
    return {"row": starts[0], "column": starts[1], "rows": len(rows), "columns": len(columns), "values": told}


# -------------------------------------------------------------------------------------------------------------- filters


def filters(asked: Asked) -> Mapping[str, Any]:
    """The filters of a convolution as pictures: of three channels in colour, of others one channel at a time."""
    name = asked.text("name")
    info = asked.source.tensors[name]
    if not is_filter(info.shape) or info.dtype.is_object:
        raise InvalidArgumentError(f'"{name}" ({info}) is no kernel of a convolution: height, width, inputs, outputs')
    height, width, inputs, outputs = info.shape
    channel = min(max(asked.integer("channel", 0), 0), inputs - 1)
    count = min(outputs, _MOST_FILTERS)
    chosen = slice(0, 3) if inputs == 3 else slice(channel, channel + 1)
    part = (slice(0, height), slice(0, width), chosen, slice(0, count))
    array = asked.source.tensors.read(name, part).astype(np.float64)
    return {
        "height": height,
        "width": width,
        "channels": inputs,
        "channel": channel,
        "outputs": outputs,
        "depth": array.shape[2],
        "count": count,
        "values": numbers(np.moveaxis(array, 3, 0).reshape(-1)),
    }


def is_filter(shape: Sequence[int]) -> bool:
    """Whether a shape is that of the kernel of a convolution over pictures."""
    return len(shape) == 4 and 1 < max(shape[:2]) <= _LARGEST_FILTER and min(shape) > 0


# ---------------------------------------------------------------------------------------------------------------- files


def npy_file(asked: Asked) -> tuple[int, Iterator[bytes]]:
    """A tensor as an .npy file: its size, and its bytes in chunks as they are read."""
    name = asked.text("name")
    found = asked.source.tensors.source(name)
    if found.dtype.is_object:
        raise InvalidArgumentError(f'"{name}" holds texts, and an .npy file has numbers')
    array_dtype = found.dtype.array_dtype
    try:
        header = npy_header(array_dtype, found.shape)
    except ValueError as error:
        raise TensorKeepError(f'"{name}" cannot be an .npy file: {error}') from None
    size = len(header) + int(np.prod(found.shape, dtype=np.int64)) * array_dtype.itemsize

    def chunks() -> Iterator[bytes]:
        yield header
        yield from map(bytes, found.buffers())

    return size, chunks()
