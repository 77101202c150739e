"""Buffers of records, DeepRec's: what some threads compute ahead of those who use it (`tf.staged`).

Every op names the buffer, which is made when the first of them runs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InternalError
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.data._buffer_values import TensorBuffer
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_SHARING: Final = ("container: string = ''", "shared_name: string = ''", "shared_capacity: int >= 1 = 1", "stateful")


def _buffer(ctx: KernelContext, container: bytes, shared_name: bytes, capacity: int) -> TensorBuffer:
    return ctx.shared(container, shared_name, TensorBuffer, lambda name: TensorBuffer(name, max(capacity, 1)))


def fail_buffer(resources: ResourceManager, container: str, name: str, error: Exception) -> None:
    """Whoever takes from the buffer of that name finds the error after the last record, if there is such a buffer."""
    found = resources.find(container, name)
    if isinstance(found, TensorBuffer):
        found.fail(error)


def _without_outputs(signature: str, *clauses: str) -> OpSpec:
    made = op(signature, *clauses, *_SHARING)
    made.shape(lambda *_: ())
    return made


tensor_buffer_put = _without_outputs(
    "TensorBufferPut(record: dtypes)", "dtypes: list(type)", "timeout_millis: int >= 1 = 1000"
)


@tensor_buffer_put.stateful_kernel
def tensor_buffer_put_kernel(
    ctx: KernelContext,
    record: list[Array],
    *,
    container: bytes,
    shared_name: bytes,
    shared_capacity: int,
    timeout_millis: int,
) -> tuple[()]:
    copied = tuple(map(np.array, record))  # what is fed may be changed by its owner after the run
    _buffer(ctx, container, shared_name, shared_capacity).put(copied, timeout_millis / 1000)
    return ()


tensor_buffer_take = op(
    "TensorBufferTake() -> record: dtypes", "dtypes: list(type)", "shared_threads: int >= 1 = 1", *_SHARING
)


@tensor_buffer_take.shape
def tensor_buffer_take_shape(*, dtypes: tuple[DType, ...]) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(dtypes)


@tensor_buffer_take.stateful_kernel
def tensor_buffer_take_kernel(
    ctx: KernelContext, *, dtypes: tuple[DType, ...], container: bytes, shared_name: bytes, shared_capacity: int
) -> list[Array]:
    record = _buffer(ctx, container, shared_name, shared_capacity).take()
    found = [value.dtype for value in record]
    if found != [dtype.array_dtype for dtype in dtypes]:
        raise InternalError(
            f"{len(dtypes)} tensors required ({', '.join(map(str, dtypes))}), but {len(record)} tensors were taken "
            f"({', '.join(map(str, found))})."
        )
    return list(record)


tensor_buffer_cancel = _without_outputs("TensorBufferCancel()", "is_cancelled: bool = true")


@tensor_buffer_cancel.stateful_kernel
def tensor_buffer_cancel_kernel(
    ctx: KernelContext, *, is_cancelled: bool, container: bytes, shared_name: bytes, shared_capacity: int
) -> tuple[()]:
    buffer = _buffer(ctx, container, shared_name, shared_capacity)
    if is_cancelled:
        buffer.cancel()
    else:
        buffer.resume()
    return ()


tensor_buffer_close = _without_outputs("TensorBufferClose()")


@tensor_buffer_close.stateful_kernel
def tensor_buffer_close_kernel(
    ctx: KernelContext, *, container: bytes, shared_name: bytes, shared_capacity: int
) -> tuple[()]:
    _buffer(ctx, container, shared_name, shared_capacity).close()
    return ()


tensor_buffer_size = op("TensorBufferSize() -> size: int32", *_SHARING)
tensor_buffer_size.shape(lambda: SCALAR)


@tensor_buffer_size.stateful_kernel
def tensor_buffer_size_kernel(
    ctx: KernelContext, *, container: bytes, shared_name: bytes, shared_capacity: int
) -> np.int32:
    return np.int32(len(_buffer(ctx, container, shared_name, shared_capacity)))


not_differentiable(tensor_buffer_put, tensor_buffer_take, tensor_buffer_cancel)
