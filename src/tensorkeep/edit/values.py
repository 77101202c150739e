"""Edits that change values: other types, other numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.edit.names import Selection
from tensorkeep.edit.plan import Array, EditOptions, Made, Origin, Stored, Written, write_plan
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.filesystem import FileSystem, PathLike
from tensorkeep.io.local import LOCAL
from tensorkeep.shapes import element_count

_DEFAULT: Final = EditOptions()


def cast(
    source: PathLike,
    target: PathLike,
    dtype: DType | npt.DTypeLike,
    selection: Selection | None = None,
    options: EditOptions = _DEFAULT,
    *,
    fs: FileSystem = LOCAL,
) -> Written:
    """A checkpoint whose tensors have another type: those selected, or all that hold floating-point numbers.

    A number that the new type cannot hold, and that would become infinite or wrap around, is an error, and nothing is
    written. Numbers are rounded to the nearest.
    """
    wanted = DType.of(dtype)
    if wanted.is_object:
        raise InvalidArgumentError(f"cannot cast to {wanted}: expected a type of numbers")
    with open_checkpoint(source, fs=fs) as reader:
        plan: dict[str, Origin] = {name: Stored(reader, name) for name in reader}
        floating = [name for name in plan if reader[name].dtype.is_floating]
        chosen = floating if selection is None else selection.of(plan)
        if strings := [name for name in chosen if reader[name].dtype.is_object]:
            raise InvalidArgumentError(f'cannot cast "{strings[0]}" to {wanted}: it holds {reader[strings[0]].dtype}')
        for name in chosen:
            info = reader[name]
            if info.dtype is not wanted:
                plan[name] = Made(wanted, info.shape, partial(_cast_chunks, reader, name, wanted))
        return write_plan(target, plan, options, fs=fs)


def _cast_chunks(reader: CheckpointReader, name: str, wanted: DType) -> Iterator[Array]:
    for chunk in reader.source(name).chunks:
        before = np.asarray(chunk)
        after = _converted(before, wanted)
        if bad := _first_lost(before, after):
            raise InvalidArgumentError(
                f'cannot cast "{name}" from {reader[name].dtype} to {wanted}: it holds {bad}, which {wanted} cannot'
            )
        yield after


def _converted(array: Array, wanted: DType) -> Array:
    """The numbers in another type; what is lost on the way is for others to judge."""
    whole = array.real if np.iscomplexobj(array) and not wanted.is_complex else array
    with np.errstate(all="ignore"):
        return whole.astype(wanted.array_dtype)


def _first_lost(before: Array, after: Array) -> str:
    """A number that did not survive, in words; "" if all did."""
    if np.iscomplexobj(before) and not np.iscomplexobj(after):
        lost = before.imag != 0
    elif not _has_fractions(after):
        with np.errstate(all="ignore"):
            back = after.astype(before.dtype)
            apart = np.abs(back - before) >= 1 if _has_fractions(before) else back != before
        lost = apart | ~np.isfinite(before) if _has_fractions(before) else apart
    elif _has_fractions(before):
        lost = ~np.isfinite(after) & np.isfinite(before)
    else:
        lost = ~np.isfinite(after)
    found = np.flatnonzero(lost)
    return str(before.reshape(-1)[found[0]]) if found.size else ""


def _has_fractions(array: Array) -> bool:
    dtype = dtype_of_array(array.dtype)
    return dtype.is_floating or dtype.is_complex


def set_tensors(
    source: PathLike,
    target: PathLike,
    values: Mapping[str, Any],
    options: EditOptions = _DEFAULT,
    *,
    create: bool = False,
    fs: FileSystem = LOCAL,
) -> Written:
    """A checkpoint in which some tensors have other values.

    A value takes the type that its tensor has, if that loses nothing, and must have its shape. A name that is not there
    is an error, unless `create` allows it to be added.
    """
    with open_checkpoint(source, fs=fs) as reader:
        plan: dict[str, Origin] = {name: Stored(reader, name) for name in reader}
        problems: list[str] = []
        for name, value in values.items():
            try:
                plan[name] = _new_value(reader, name, value, create)
            except TensorKeepError as error:
                problems.append(f'"{name}": {error}')
        if problems:
            raise InvalidArgumentError(f'cannot set in "{reader.path}": {"; ".join(problems)}')
        return write_plan(target, plan, options, fs=fs)


def _new_value(reader: CheckpointReader, name: str, value: Any, create: bool) -> Made:
    given = ArraySource.of(value)
    array = np.asarray(value) if given.dtype.is_object else given.gather().reshape(given.shape)
    if name not in reader:
        if not create:
            raise NotFoundError("there is no such tensor; it is added if you say so (create)")
        return _made(given.dtype, given.shape, array)
    info = reader[name]
    if given.shape != info.shape:
        raise InvalidArgumentError(f"has shape {list(info.shape)}, got {list(given.shape)}")
    if given.dtype is info.dtype:
        return _made(info.dtype, info.shape, array)
    if info.dtype.is_object or given.dtype.is_object:
        raise InvalidArgumentError(f"is {info.dtype}, got {given.dtype}")
    converted = _converted(array, info.dtype)
    lost = _first_lost(array, converted)
    if not lost and _has_fractions(array) and not _has_fractions(converted):
        apart = converted.astype(array.dtype) != array
        lost = str(array[apart].reshape(-1)[0]) if apart.any() else ""
    if lost:
        raise InvalidArgumentError(f"is {info.dtype}, which cannot hold {lost}")
    return _made(info.dtype, info.shape, converted)


def _made(dtype: DType, shape: tuple[int, ...], array: Array) -> Made:
    return Made(dtype, shape, lambda: iter((array.reshape(-1) if element_count(shape) else array,)))
