"""Stored tensors as a program wants them: under its names, cut, filled up or converted as a plan says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.restore.items import Action, RestoreItem
from tensorkeep.checkpoint.restore.wanted_tensors import Remedy, Wanted
from tensorkeep.checkpoint.slices.stitched_reading import Rows
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, box_shape, whole_box
from tensorkeep.checkpoint.slices.tiling import intersection
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.views import ReaderView
from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError

Initial = Callable[[Wanted], Array]


def adapt_array(stored: Array, shape: Sequence[int], initial: Array | None = None) -> Array:
    """The leading part of `stored` that fits `shape`; where it is shorter, the rest is that of `initial`.

    That is `out = initial.copy(); out[fits] = stored[fits]`, where `fits` runs to the smaller size along each axis.
    """
    if stored.ndim != len(shape):
        raise InvalidArgumentError(f"an array of shape {list(stored.shape)} cannot be fitted into {list(shape)}")
    fits = tuple(slice(0, min(have, want)) for have, want in zip(stored.shape, shape, strict=True))
    leading = stored[fits]
    if leading.shape == tuple(shape):
        return leading
    if initial is None:
        raise InvalidArgumentError(f"{list(stored.shape)} grows to {list(shape)}, and nothing is given for the rest")
    if initial.shape != tuple(shape) or initial.dtype != stored.dtype:
        raise InvalidArgumentError(
            f"initial values: expected {stored.dtype} {list(shape)}, got {initial.dtype} {list(initial.shape)}"
        )
    grown = np.array(initial)
    grown[fits] = leading
    return grown


def cast_array(stored: Array, dtype: DType) -> Array:
    """The array in another type of numbers; InvalidArgumentError if one of them is too large for it."""
    if stored.dtype == dtype.array_dtype:
        return stored
    with np.errstate(over="ignore", invalid="ignore"):
        found: Array = stored.astype(dtype.array_dtype)
    kept = found == stored if dtype.is_integer else np.isfinite(found) >= np.isfinite(stored)
    if not kept.all():
        number = stored.reshape(-1)[int(np.argmin(kept.reshape(-1)))]
        raise InvalidArgumentError(f"cannot convert {stored.dtype} to {dtype}: {number} is too large for it")
    return found


def read_item(
    reader: CheckpointReader, item: RestoreItem, initial: Initial | None, *, copy: bool | None = None
) -> Array:
    """The tensor, or the part of one, that an item of a plan wants, from the checkpoint that was planned with."""
    assert item.key is not None
    assert item.stored is not None
    if item.action is Action.RESTORE:
        return reader.read(item.key, item.wanted.part, copy=copy)
    return _read_adapted(reader, item, item.wanted.part, initial)


def _read_adapted(
    reader: CheckpointReader, item: RestoreItem, part: TensorSlice | None, initial: Initial | None
) -> Array:
    assert item.key is not None
    assert item.stored is not None
    stored, wanted = item.stored, item.wanted
    target = wanted.target_shape(stored.shape)
    dtype = wanted.dtype or stored.dtype
    if Remedy.RESHAPE in item.remedies:
        whole = cast_array(reader.read(item.key).reshape(target), dtype)
        return whole if part is None else whole[tuple(slice(*extent) for extent in part.box(target))]
    box = whole_box(target) if part is None else part.box(target)
    shared = intersection(box, whole_box(stored.shape))
    shape = box_shape(box)
    if 0 in shape:
        return np.empty(shape, dtype.array_dtype)
    if shared is None:
        found = np.empty((0,) * len(shape), dtype.array_dtype)
    else:
        extents = TensorSlice(tuple((start, stop - start) for start, stop in shared))
        found = cast_array(reader.read(item.key, None if extents.is_whole(stored.shape) else extents), dtype)
    if found.shape == shape:
        return found
    return adapt_array(found, shape, _initial(item, part, initial, shape))


def _initial(item: RestoreItem, part: TensorSlice | None, initial: Initial | None, shape: Sequence[int]) -> Array:
    """The initial values of what is wanted, or of a part of it."""
    if initial is None:
        raise InvalidArgumentError(
            f'"{item.name}" grows to {list(shape)}, and no initial values are given for the rest'
        )
    if item.wanted.part not in (None, part):
        raise InvalidArgumentError(f'"{item.name}": initial values are known of that part only, not of {part or "all"}')
    values = np.asarray(initial(item.wanted))
    if part is not None and item.wanted.part is None and item.stored is not None:
        box = part.box(item.wanted.target_shape(item.stored.shape))
        values = values[tuple(slice(*extent) for extent in box)]
    return values


class AdaptedReader(ReaderView):
    """A checkpoint as a plan wants it: its names are the wanted ones, its tensors have the wanted types and shapes.

    Names that the plan skips are not there, unless `placeholders` are asked for: zeros, for those who read everything
    and use what they need. Closing it closes the reader within.
    """

    def __init__(
        self,
        reader: CheckpointReader,
        items: Sequence[RestoreItem],
        initial: Initial | None = None,
        *,
        placeholders: bool = False,
    ) -> None:
        self._initial = initial
        self._items: dict[str, list[RestoreItem]] = {}
        self._skipped: dict[str, RestoreItem] = {}
        for item in items:
            if item.key is None or item.action is Action.SKIP:
                self._skipped[item.wanted.key] = item
            else:
                self._items.setdefault(item.wanted.key, []).append(item)
        names = {name: found[0].key for name, found in sorted(self._items.items()) if found[0].key is not None}
        self._plain = RenamedReader(reader, names)
        placed = self._skipped if placeholders else {}
        self._placeholders: Mapping[str, TensorInfo] = {
            name: _placeholder(item) for name, item in placed.items() if name not in self._items
        }
        super().__init__(reader, dict.fromkeys(sorted({*names, *self._placeholders})))

    def __getitem__(self, name: str) -> TensorInfo:
        if name in self._placeholders:
            return self._placeholders[name]
        item = self._item(name)
        if item.action is Action.RESTORE or item.stored is None:
            return self._plain[name]
        return TensorInfo(item.wanted.dtype or item.stored.dtype, item.wanted.target_shape(item.stored.shape))

    def source(self, name: str) -> ArraySource:
        if self._is_plain(name):
            return self._plain.source(name)
        return ArraySource.of(self.read(name), self[name].dtype)

    def verify(self, name: str) -> None:
        if name in self._placeholders:
            return
        if Remedy.CAST in self._item(name).remedies:
            self.read(name)  # only the numbers tell whether they can be converted
        self._plain.verify(name)

    def verify_many(self, names: Iterable[str], *, threads: int | None = None) -> None:
        wanted = list(names)
        plain = {name for name in wanted if self._is_plain(name)}
        self._plain.verify_many(plain, threads=threads)
        super().verify_many([name for name in wanted if name not in plain], threads=threads)

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        return self._read(name, info, None, copy)

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        return self._read(name, info, part, copy)

    def _read(self, name: str, info: TensorInfo, part: TensorSlice | None, copy: bool) -> Array:
        if self._is_plain(name):
            return self._plain.read(name, part, copy=copy)
        if name in self._placeholders:
            return _zeros(info.dtype, info.shape if part is None else box_shape(part.box(info.shape)))
        return _read_adapted(self._reader, self._item(name, part), part, self._initial)

    def _read_into(self, name: str, info: TensorInfo, array: Array) -> None:
        if self._is_plain(name):
            self._plain.read_into(name, array)
        else:
            super()._read_into(name, info, array)

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        if self._is_plain(name):
            return self._plain.read_rows(name, rows)
        return self._read(name, info, None, True)[rows]

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        plain = self._plain.read_many([name for name in names if self._is_plain(name)], threads=threads, copy=copy)
        return {name: plain[name] if name in plain else self._read(name, self[name], None, copy) for name in names}

    def _is_plain(self, name: str) -> bool:
        return name not in self._placeholders and self._item(name).action is Action.RESTORE

    def _item(self, name: str, part: TensorSlice | None = None) -> RestoreItem:
        """The item of a name; if there are several, for parts of a tensor, that of the part, or of the whole."""
        items = self._items.get(name)
        if items is None:
            if name in self._skipped:
                raise NotFoundError(f'"{name}" is not restored: it is {self._skipped[name].difference}')
            raise self._not_found(name)
        exact = [item for item in items if item.wanted.part == part]
        whole = [item for item in items if item.wanted.part is None]
        return (exact or whole or items)[0]


def _placeholder(item: RestoreItem) -> TensorInfo:
    """What a skipped tensor is given out as: as it is wanted, else as it is stored."""
    wanted, stored = item.wanted, item.stored
    sizes = (
        tuple(size or 0 for size in wanted.shape or ()) if wanted.shape is not None or stored is None else stored.shape
    )
    return TensorInfo(wanted.dtype or (stored.dtype if stored is not None else FLOAT32), sizes)


def _zeros(dtype: DType, shape: Sequence[int]) -> Array:
    zero = np.full((), b"", object) if dtype.is_object else np.zeros((), dtype.array_dtype)
    return np.broadcast_to(zero, tuple(shape))
