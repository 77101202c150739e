"""Tensors that a session keeps between runs: kept, found and forgotten by handles, which are text."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op, takes_attributes
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import check_scalars, scalar
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.session_tensors import SessionTensors, TensorHandle
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_NAME: Final = "tensors kept between runs"


def _tensors(ctx: KernelContext) -> SessionTensors:
    return ctx.resources.get_or_create("", _NAME, SessionTensors, SessionTensors)


get_session_handle = op("GetSessionHandle(value: T) -> handle: string", "T: type", "stateful")
get_session_handle.shape(scalar)


@get_session_handle.stateful_kernel
@takes_attributes("T")
def get_session_handle_kernel(ctx: KernelContext, value: Array, *, T: DType) -> Array:  # noqa: N803
    return np.array(_tensors(ctx).keep(ctx.name, value, T), object)


get_session_handle_v2 = op("GetSessionHandleV2(value: T) -> handle: resource", "T: type", "stateful")
get_session_handle_v2.shape(scalar)


@get_session_handle_v2.stateful_kernel
@takes_attributes("T")
def get_session_handle_v2_kernel(ctx: KernelContext, value: Array, *, T: DType) -> TensorHandle:  # noqa: N803
    return _tensors(ctx).keep(ctx.name, value, T)


get_session_tensor = op("GetSessionTensor(handle: string) -> value: dtype", "dtype: type", "stateful")


@get_session_tensor.shape
def get_session_tensor_shape(handle: Tensor, *, dtype: DType) -> Shape:
    check_scalars(handle)
    return UNKNOWN_SHAPE


@get_session_tensor.stateful_kernel
@takes_attributes("dtype")
def get_session_tensor_kernel(ctx: KernelContext, handle: Array, *, dtype: DType) -> object:
    text = _text_of(handle)
    value, kept = _tensors(ctx).find(text)
    if kept is not dtype:
        raise InvalidArgumentError(
            f"the tensor with handle '{text.decode()}' has the type {kept.name}, and is asked for as {dtype.name}"
        )
    return value


delete_session_tensor = op("DeleteSessionTensor(handle: string)", "stateful")


@delete_session_tensor.stateful_kernel
def delete_session_tensor_kernel(ctx: KernelContext, handle: Array) -> tuple[()]:
    _tensors(ctx).delete(_text_of(handle))
    return ()


def _text_of(handle: Array) -> bytes:
    if np.ndim(handle):
        raise InvalidArgumentError(f"a handle of a kept tensor is one string, got shape {np.shape(handle)}")
    return bytes(np.asarray(handle, object)[()])


not_differentiable(get_session_handle, get_session_handle_v2, get_session_tensor, delete_session_tensor)
