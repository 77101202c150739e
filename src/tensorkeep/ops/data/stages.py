"""Stages: what a run puts in for a later one, so that input is ready before it is wanted.

Every op names the stage, which is made when the first of them runs. An operation that finds it full or empty waits for
another thread's run. What is put in by a run that also takes something out afterwards does not wait for room: it would
for ever, as operations run one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op, takes_attributes
from tensorkeep.ops.data._stage_values import Stage, StageMap, arrays_as_they_are, first_key
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

_BOUNDS: Final = ("capacity: int >= 0 = 0", "memory_limit: int >= 0 = 0")
_SHARING: Final = ("container: string = ''", "shared_name: string = ''", "stateful")
_SOME: Final = (*_BOUNDS, "dtypes: list(type) >= 1", *_SHARING)
_ANY: Final = (*_BOUNDS, "dtypes: list(type)", *_SHARING)
_MAKING: Final = ("capacity", "memory_limit", "container", "shared_name")


class MakingAttributes(TypedDict):
    """What says which staging area is meant, and how much it may hold."""

    capacity: int
    memory_limit: int
    container: bytes
    shared_name: bytes


def _stage(ctx: KernelContext, capacity: int, memory_limit: int, container: bytes, shared_name: bytes) -> Stage:
    name = shared_name.decode() or ctx.name
    return ctx.resources.get_or_create(
        container.decode(), name, Stage, lambda: Stage(f"staging area '{name}'", capacity, memory_limit)
    )


def _is_taken_from_later(ctx: KernelContext, container: bytes, shared_name: bytes) -> bool:
    return any(op.attr("container") == container and op.attr("shared_name") == shared_name for op in ctx.later)


def _array_types(dtypes: tuple[DType, ...]) -> list[Any]:
    return [dtype.array_dtype for dtype in dtypes]


def _unknown_shapes(count: int) -> list[Shape]:
    return [UNKNOWN_SHAPE] * count


# ------------------------------------------------------------------------------------------------------- In order

stage = op("Stage(values: dtypes)", *_SOME)
stage.kernel_looks_for = ("Unstage",)


@stage.stateful_kernel
@takes_attributes(*_MAKING)
def stage_kernel(ctx: KernelContext, values: list[Array], **making: Unpack[MakingAttributes]) -> tuple[()]:
    waits = not _is_taken_from_later(ctx, making["container"], making["shared_name"])
    _stage(ctx, **making).put(arrays_as_they_are(values), waits)
    return ()


unstage = op("Unstage() -> values: dtypes", *_SOME)


@unstage.shape
def unstage_shape(*, dtypes: tuple[DType, ...]) -> list[Shape]:
    return _unknown_shapes(len(dtypes))


@unstage.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def unstage_kernel(ctx: KernelContext, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]) -> list[Array]:
    return list(_stage(ctx, **making).take(_array_types(dtypes)))


stage_peek = op("StagePeek(index: int32) -> values: dtypes", *_SOME)


@stage_peek.shape
def stage_peek_shape(index: Tensor, *, dtypes: tuple[DType, ...]) -> list[Shape]:
    return _unknown_shapes(len(dtypes))


@stage_peek.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def stage_peek_kernel(
    ctx: KernelContext, index: Array, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]
) -> list[Array]:
    return list(_stage(ctx, **making).peek(int(index), _array_types(dtypes)))


stage_size = op("StageSize() -> size: int32", *_ANY)
stage_size.shape(lambda: SCALAR)


@stage_size.stateful_kernel
@takes_attributes(*_MAKING)
def stage_size_kernel(ctx: KernelContext, **making: Unpack[MakingAttributes]) -> np.int32:
    return np.int32(len(_stage(ctx, **making)))


stage_clear = op("StageClear()", *_ANY)


@stage_clear.stateful_kernel
@takes_attributes(*_MAKING)
def stage_clear_kernel(ctx: KernelContext, **making: Unpack[MakingAttributes]) -> tuple[()]:
    _stage(ctx, **making).clear()
    return ()


not_differentiable(stage, unstage, stage_peek, stage_size, stage_clear)


# --------------------------------------------------------------------------------------------------------- By key


def _maps(ctx: KernelContext, capacity: int, memory_limit: int, container: bytes, shared_name: bytes) -> StageMap:
    name = shared_name.decode() or ctx.name
    return ctx.resources.get_or_create(
        container.decode(), name, StageMap, lambda: StageMap(f"staging area '{name}'", capacity, memory_limit)
    )


def _of_both(signature: str, *clauses: str) -> tuple[OpSpec, OpSpec]:
    """The op, and the same of a stage whose keys are ordered."""
    return op(signature, *clauses), op(f"Ordered{signature}", *clauses)


def _key(key: Array) -> int:
    if np.ndim(key):
        raise InvalidArgumentError(f"a key of a staging area is one number, got shape {np.shape(key)}")
    return int(key)


def _numbers(indices: Array, count: int) -> list[int]:
    if np.shape(indices) != (count,):
        raise InvalidArgumentError(
            f"a staging area needs a number for each of {count} components, got indices of shape {np.shape(indices)}"
        )
    return [int(number) for number in indices]


map_stage, ordered_map_stage = _of_both(
    "MapStage(key: int64, indices: int32, values: fake_dtypes)",
    *_BOUNDS,
    "dtypes: list(type)",
    "fake_dtypes: list(type) >= 1",
    *_SHARING,
)
map_stage.kernel_looks_for = ("MapUnstage", "MapUnstageNoKey")
ordered_map_stage.kernel_looks_for = ("OrderedMapUnstage", "OrderedMapUnstageNoKey")


@ordered_map_stage.stateful_kernel
@map_stage.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def map_stage_kernel(
    ctx: KernelContext,
    key: Array,
    indices: Array,
    values: list[Array],
    *,
    dtypes: tuple[DType, ...],
    **making: Unpack[MakingAttributes],
) -> tuple[()]:
    numbers = _numbers(indices, len(values))
    if len(set(numbers)) < len(numbers):
        raise InvalidArgumentError(f"a component of a staging area is put in once, got numbers {numbers}")
    waits = not _is_taken_from_later(ctx, making["container"], making["shared_name"])
    components = dict(zip(numbers, arrays_as_they_are(values), strict=True))
    _maps(ctx, **making).put(_key(key), components, _array_types(dtypes), waits)
    return ()


map_unstage, ordered_map_unstage = _of_both("MapUnstage(key: int64, indices: int32) -> values: dtypes", *_SOME)


@ordered_map_unstage.shape
@map_unstage.shape
def map_unstage_shape(key: Tensor, indices: Tensor, *, dtypes: tuple[DType, ...]) -> list[Shape]:
    return _unknown_shapes(len(dtypes))


@ordered_map_unstage.stateful_kernel
@map_unstage.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def map_unstage_kernel(
    ctx: KernelContext, key: Array, indices: Array, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]
) -> list[Array]:
    return _maps(ctx, **making).take(_key(key), _numbers(indices, len(dtypes)), _array_types(dtypes))


map_unstage_no_key, ordered_map_unstage_no_key = _of_both(
    "MapUnstageNoKey(indices: int32) -> key: int64, values: dtypes", *_SOME
)


@ordered_map_unstage_no_key.shape
@map_unstage_no_key.shape
def map_unstage_no_key_shape(indices: Tensor, *, dtypes: tuple[DType, ...]) -> list[Shape]:
    return _unknown_shapes(1 + len(dtypes))


@map_unstage_no_key.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def map_unstage_no_key_kernel(
    ctx: KernelContext, indices: Array, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]
) -> tuple[Array, list[Array]]:
    key, values = _maps(ctx, **making).take_any(
        _numbers(indices, len(dtypes)), _array_types(dtypes), next_key=first_key
    )
    return np.array(key, np.int64), values


@ordered_map_unstage_no_key.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def ordered_map_unstage_no_key_kernel(
    ctx: KernelContext, indices: Array, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]
) -> tuple[Array, list[Array]]:
    key, values = _maps(ctx, **making).take_any(_numbers(indices, len(dtypes)), _array_types(dtypes), next_key=min)
    return np.array(key, np.int64), values


map_peek, ordered_map_peek = _of_both("MapPeek(key: int64, indices: int32) -> values: dtypes", *_SOME)
map_peek.shape(map_unstage_shape)
ordered_map_peek.shape(map_unstage_shape)


@ordered_map_peek.stateful_kernel
@map_peek.stateful_kernel
@takes_attributes("dtypes", *_MAKING)
def map_peek_kernel(
    ctx: KernelContext, key: Array, indices: Array, *, dtypes: tuple[DType, ...], **making: Unpack[MakingAttributes]
) -> list[Array]:
    return _maps(ctx, **making).peek(_key(key), _numbers(indices, len(dtypes)), _array_types(dtypes))


map_size, ordered_map_size = _of_both("MapSize() -> size: int32", *_ANY)
map_size.shape(lambda: SCALAR)
ordered_map_size.shape(lambda: SCALAR)


@ordered_map_size.stateful_kernel
@map_size.stateful_kernel
@takes_attributes(*_MAKING)
def map_size_kernel(ctx: KernelContext, **making: Unpack[MakingAttributes]) -> np.int32:
    return np.int32(len(_maps(ctx, **making)))


map_incomplete_size, ordered_map_incomplete_size = _of_both("MapIncompleteSize() -> size: int32", *_ANY)
map_incomplete_size.shape(lambda: SCALAR)
ordered_map_incomplete_size.shape(lambda: SCALAR)


@ordered_map_incomplete_size.stateful_kernel
@map_incomplete_size.stateful_kernel
@takes_attributes(*_MAKING)
def map_incomplete_size_kernel(ctx: KernelContext, **making: Unpack[MakingAttributes]) -> np.int32:
    return np.int32(_maps(ctx, **making).incomplete_size)


map_clear, ordered_map_clear = _of_both("MapClear()", *_ANY)


@ordered_map_clear.stateful_kernel
@map_clear.stateful_kernel
@takes_attributes(*_MAKING)
def map_clear_kernel(ctx: KernelContext, **making: Unpack[MakingAttributes]) -> tuple[()]:
    _maps(ctx, **making).clear()
    return ()


not_differentiable(map_stage, map_unstage, map_unstage_no_key, map_peek, map_size, map_incomplete_size, map_clear)
not_differentiable(ordered_map_stage, ordered_map_unstage, ordered_map_unstage_no_key, ordered_map_peek)
not_differentiable(ordered_map_size, ordered_map_incomplete_size, ordered_map_clear)
