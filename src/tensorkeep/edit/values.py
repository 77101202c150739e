"""Edits that change values: other types, other numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.hash_tables import hash_slices
from tensorkeep.checkpoint.casting import CastLoss, cast_array, cast_chunks, counted_losses, refuse_losses
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import DType
from tensorkeep.edit.names import Selection
from tensorkeep.edit.object_keys import chosen_keys
from tensorkeep.edit.plan import EditOptions, Made, Origin, Stored, Written, write_plan
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.shapes import element_count

_DEFAULT: Final = EditOptions()


def cast(
    source: PathLike,
    target: PathLike,
    dtype: DType | npt.DTypeLike,
    selection: Selection | None = None,
    options: EditOptions = _DEFAULT,
    *,
    allow_loss: bool = False,
    fs: FileSystem = FILES,
) -> Written:
    """A checkpoint whose tensors have another type: those selected, or all that hold floating-point numbers.

    All numbers are looked at first. If some would be lost (see `tensorkeep.checkpoint.casting`: to zero, to infinity,
    out of range, ...), that is a CastLossError with their count for every tensor, and nothing is written, unless
    `allow_loss` is given. What was lost and rounded is in the `losses` of the result, also of a dry run.
    """
    wanted = DType.of(dtype)
    if wanted.is_object:
        raise InvalidArgumentError(f"cannot cast to {wanted}: expected a type of numbers")
    with open_checkpoint(source, fs=fs) as reader:
        plan: dict[str, Origin] = {name: Stored(reader, name) for name in reader}
        floating = [name for name in plan if reader[name].dtype.is_floating]
        chosen = floating if selection is None else chosen_keys(reader, selection)
        if strings := [name for name in chosen if reader[name].dtype.is_object]:
            raise InvalidArgumentError(f'cannot cast "{strings[0]}" to {wanted}: it holds {reader[strings[0]].dtype}')
        for name in chosen:
            info = reader[name]
            if info.dtype is not wanted:
                chunks = partial(_cast_chunks, reader, name, wanted)
                plan[name] = Made(wanted, info.shape, chunks, hash_slices(info.slices))
        counted = [name for name in chosen if name in _made_names(plan) and options.wants(name)]
        losses = {name: counted_losses(reader.source(name).chunks, wanted) for name in counted}
        if not allow_loss:
            refuse_losses(f'casting "{reader.path}" to {wanted}', losses)
        return replace(write_plan(target, plan, options, fs=fs), losses=losses)


def _made_names(plan: Mapping[str, Origin]) -> set[str]:
    return {name for name, origin in plan.items() if isinstance(origin, Made)}


def _cast_chunks(reader: CheckpointReader, name: str, wanted: DType) -> Iterator[Array]:
    return cast_chunks(reader.source(name).chunks, wanted)


def set_tensors(
    source: PathLike,
    target: PathLike,
    values: Mapping[str, Any],
    options: EditOptions = _DEFAULT,
    *,
    create: bool = False,
    allow_loss: bool = False,
    fs: FileSystem = FILES,
) -> Written:
    """A checkpoint in which some tensors have other values.

    A value takes the type that its tensor has, if that loses nothing or `allow_loss` is given, and must have its shape;
    a fraction for a whole number counts as lost here. A name that is not there is an error, unless `create` allows it
    to be added.
    """
    with open_checkpoint(source, fs=fs) as reader:
        plan: dict[str, Origin] = {name: Stored(reader, name) for name in reader}
        problems: list[str] = []
        losses: dict[str, CastLoss] = {}
        for name, value in values.items():
            try:
                plan[name], losses[name] = _new_value(reader, name, value, create, allow_loss)
            except TensorKeepError as error:
                problems.append(f'"{name}": {error}')
        if problems:
            raise InvalidArgumentError(f'cannot set in "{reader.path}": {"; ".join(problems)}')
        losses = {name: loss for name, loss in losses.items() if loss != CastLoss(loss.elements)}
        return replace(write_plan(target, plan, options, fs=fs), losses=losses)


def _new_value(
    reader: CheckpointReader, name: str, value: Any, create: bool, allow_loss: bool
) -> tuple[Made, CastLoss]:
    given = ArraySource.of(value)
    array = np.asarray(value) if given.dtype.is_object else given.gather().reshape(given.shape)
    if name not in reader:
        if not create:
            raise NotFoundError("there is no such tensor; it is added if you say so (create)")
        return _held_array(given.dtype, given.shape, array), CastLoss()
    info = reader[name]
    if given.shape != info.shape:
        raise InvalidArgumentError(f"has shape {list(info.shape)}, got {list(given.shape)}")
    if given.dtype is info.dtype:
        return _held_array(info.dtype, info.shape, array, info.slices), CastLoss()
    if info.dtype.is_object or given.dtype.is_object:
        raise InvalidArgumentError(f"is {info.dtype}, got {given.dtype}")
    converted, loss = cast_array(array, info.dtype)
    if loss.rounded and not (info.dtype.is_floating or info.dtype.is_complex):  # a fraction that is given is meant
        cut_off = array.reshape(-1)[np.flatnonzero(converted.astype(array.dtype) != array)]
        loss = replace(loss, inexact=loss.inexact + loss.rounded, rounded=0, example=loss.example or str(cut_off[0]))
    if loss.lost and not allow_loss:
        raise InvalidArgumentError(
            f"is {info.dtype}, which cannot hold {loss.example}: {loss}; give other values, or allow it (allow_loss)"
        )
    return _held_array(info.dtype, info.shape, converted, info.slices), loss


def _held_array(dtype: DType, shape: tuple[int, ...], array: Array, slices: Sequence[TensorSlice] = ()) -> Made:
    flat = array.reshape(-1) if element_count(shape) else array
    return Made(dtype, shape, lambda: iter((flat,)), hash_slices(slices))
