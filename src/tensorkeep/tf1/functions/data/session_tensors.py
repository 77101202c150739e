"""Tensors that a session keeps between runs, for programs: what one run computes is not copied out and fed again.

handle = session.run(tf.get_session_handle(tf.matmul(a, b)))
holder, product = tf.get_session_tensor(handle.handle, tf.float32)
session.run(tf.reduce_sum(product), {holder: handle.handle})
"""

from __future__ import annotations

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, emit, emit_operation
from tensorkeep.graph.building import colocate_with, device
from tensorkeep.graph.devices import canonical_device
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.session_tensors import TensorHandle
from tensorkeep.tf1.functions.arrays.shapes import placeholder


def get_session_handle(data: Tensor, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session; a run gives the handle by which later runs find it."""
    if not isinstance(data, Tensor):
        raise WrongTypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return emit("GetSessionHandle", data, name=name)


def get_session_tensor(
    handle: str | bytes | TensorHandle, dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A placeholder for the text of a handle, and the tensor that a session keeps under it."""
    with device(_device_of(handle)):
        holder = placeholder(STRING)
        return holder, emit("GetSessionTensor", holder, dtype=DType.of(dtype), name=name)


def delete_session_tensor(handle: str | bytes | TensorHandle, name: str | None = None) -> tuple[Tensor, Operation]:
    """A placeholder for the text of a handle, and the operation by which a session forgets its tensor."""
    with device(_device_of(handle)):
        holder = placeholder(STRING)
        return holder, emit_operation("DeleteSessionTensor", holder, name=name)


def _device_of(handle: str | bytes) -> str:
    """The device in the text of a handle."""
    text = handle.decode() if isinstance(handle, bytes) else handle
    name, _, device_name = text.rpartition(";")
    if not name:
        raise InvalidArgumentError(
            f"{handle!r} is no handle of a kept tensor: give the text that a run of get_session_handle gave"
        )
    return canonical_device(device_name)
