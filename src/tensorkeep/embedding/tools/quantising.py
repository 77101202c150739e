"""Storing the values of embeddings in fewer bits: bfloat16, half, or int8 with a scale for each column of a row.

    int8: value = stored · scale[column]        scale = max |value| of the column / 127, in `<stem>-scales`, float32

Such checkpoints are read like others here: the values come as bfloat16 or half, and as float32 from int8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.casting import CastLoss, cast_array, refuse_losses
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import DType
from tensorkeep.embedding.stored.naming import SCALES, VALUES
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn, in_order
from tensorkeep.embedding.stored.rows import Fields
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress

Precision = Literal["bfloat16", "half", "int8"]

_DTYPES: Final = {"bfloat16": np.dtype(ml_dtypes.bfloat16), "half": np.dtype(np.float16), "int8": np.dtype(np.int8)}
_LARGEST: Final = 127


def quantise_checkpoint(
    source: PathLike,
    target: PathLike,
    precision: Precision,
    *,
    names: Collection[str] | None = None,
    slots: bool = False,
    allow_loss: bool = False,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes a checkpoint whose embeddings (all, unless named) have values of fewer bits; slots too if that is said.

    A half or bfloat16 that would lose values (see `tensorkeep.checkpoint.casting`) is a CastLossError unless
    `allow_loss` is given; `plan_quantising` counts them. That int8 makes steps of the small values is its purpose.
    """
    _require_known(precision)
    if not allow_loss and precision != "int8":
        losses = plan_quantising(source, precision, names=names, slots=slots, fs=fs)
        refuse_losses(f"quantising to {precision}", losses)
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        for entry in work.chosen_embeddings(names):
            work.drop(entry)
            for column in entry.columns:
                stored = entry.open(reader, column, fs=fs)
                for number, stem in entry.stems_of(column).items():
                    part = (number, entry.shard_count)
                    work.put(stem, stored, part)
                    if slots or not column:
                        work.put_tensors(
                            _quantised_column(stem, stored, part, precision, work.added_tensor(stem + VALUES))
                        )
        return work.write(target)


def plan_quantising(
    source: PathLike,
    precision: Precision,
    *,
    names: Collection[str] | None = None,
    slots: bool = False,
    fs: FileSystem = FILES,
) -> dict[str, CastLoss]:
    """What fewer bits would do to the values of each table, or slot: how many would be lost, how many rounded."""
    _require_known(precision)
    losses: dict[str, CastLoss] = {}
    with opened_for_tools(source, fs) as reader:
        for entry in Rewrite.of(reader, fs).chosen_embeddings(names):
            for column in entry.columns if slots else entry.columns[:1]:
                stored = entry.open(reader, column, fs=fs)
                parts = [(number, entry.shard_count) for number in entry.stems_of(column)]
                name = f"{entry.name}/{column}" if column else entry.name
                losses[name] = sum((_counted_loss(name, stored, part, precision) for part in parts), CastLoss())
    return losses


def _counted_loss(stem: str, column: OrderedColumn, part: tuple[int, int], precision: Precision) -> CastLoss:
    scales = _scales(stem, column, part) if precision == "int8" else None
    total = CastLoss()
    for batch in in_order(column, part, Fields(values=True)):
        assert batch.values is not None
        if scales is None:
            total += cast_array(batch.values, DType.of(_DTYPES[precision]))[1]
            continue
        stored = _whole(batch.values, scales)
        zero = int(np.count_nonzero((batch.values != 0) & (stored == 0)))
        apart = int(np.count_nonzero(stored * scales != batch.values.astype(np.float32)))
        total += CastLoss(batch.values.size, zero=zero, rounded=apart - zero)
    return total


def _require_known(precision: str) -> None:
    if precision not in _DTYPES:
        raise InvalidArgumentError(f"precision: expected one of {', '.join(_DTYPES)}, got {precision!r}")


def _whole(values: Array, scales: npt.NDArray[np.float32]) -> Array:
    divisors = np.where(scales > 0, scales, np.float32(1))
    return np.clip(np.rint(values.astype(np.float32) / divisors), -_LARGEST, _LARGEST)


def _quantised_column(
    stem: str, column: OrderedColumn, part: tuple[int, int], precision: Precision, values: ArraySource
) -> dict[str, ArraySource]:
    if precision != "int8":
        narrow = _Narrowed(values, _DTYPES[precision])
        return {stem + VALUES: ArraySource(_DTYPES[precision], values.shape, narrow)}
    scales = _scales(stem, column, part)
    return {
        stem + VALUES: ArraySource(np.int8, values.shape, _Narrowed(values, np.dtype(np.int8), scales)),
        stem + SCALES: ArraySource.of(scales),
    }


def _scales(stem: str, column: OrderedColumn, part: tuple[int, int]) -> npt.NDArray[np.float32]:
    largest = np.zeros(column.dim, np.float64)
    for batch in in_order(column, part, Fields(values=True)):
        assert batch.values is not None
        magnitudes = np.abs(batch.values.astype(np.float64))
        if not np.isfinite(magnitudes).all():
            key = int(batch.keys[~np.isfinite(magnitudes).all(axis=1)][0])
            raise InvalidArgumentError(
                f'"{stem}": the row of key {key} is not finite, and cannot be stored as int8; take bfloat16'
            )
        largest = np.maximum(largest, magnitudes.max(axis=0))
    return (largest / _LARGEST).astype(np.float32)


@dataclass(frozen=True)
class _Narrowed:
    """The chunks of a source in fewer bits."""

    source: ArraySource
    dtype: np.dtype[Any]
    scales: npt.NDArray[np.float32] | None = None

    def __iter__(self) -> Iterator[Array]:
        for chunk in self.source.chunks:
            values = np.asarray(chunk)
            if self.scales is None:
                yield cast_array(values, DType.of(self.dtype))[0]
                continue
            yield _whole(values, self.scales).astype(np.int8)
