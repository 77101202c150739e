"""Readers as ops. The first generation, whose handles are references, does the same as the second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.data._queue_values import Queue
from tensorkeep.ops.data._reader_values import Reader, Records, lines, names, pieces, record_files, whole_files
from tensorkeep.ops.shared.kernel_types import Array, Handle, string_array
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

_SHARED: Final = ("container: string = ''", "shared_name: string = ''")
_PAIR: Final = Shape((2,))


def _both(name: str, attrs: tuple[str, ...], deprecation: bool = True) -> tuple[OpSpec, OpSpec]:
    """The op that makes a reader, of the first and of the second generation."""
    last = (f"deprecated 26 'Use {name}V2'",) if deprecation else ()
    first_attrs = tuple(attr for attr in attrs if not attr.startswith("encoding"))
    first = op(f"{name}() -> reader_handle: Ref(string)", *first_attrs, "stateful", *last)
    second = op(f"{name}V2() -> reader_handle: resource", *attrs, "stateful")
    first.shape(_pair_handle)
    second.shape(_scalar_handle)
    return first, second


def _pair_handle() -> Shape:
    return _PAIR


def _scalar_handle() -> Shape:
    return SCALAR


def _shared_reader(
    ctx: KernelContext, kind: str, records: Records, container: bytes, shared_name: bytes, is_whole: bool = False
) -> Reader:
    return ctx.shared(
        container, shared_name, Reader, lambda name: Reader(f"{kind} '{name}'", records, is_whole=is_whole)
    )


whole_file_reader, whole_file_reader_v2 = _both(
    "WholeFileReader",
    _SHARED,
    deprecation=False,
)
text_line_reader, text_line_reader_v2 = _both(
    "TextLineReader",
    ("skip_header_lines: int = 0", *_SHARED),
)
fixed_length_record_reader, fixed_length_record_reader_v2 = _both(
    "FixedLengthRecordReader",
    (
        "header_bytes: int = 0",
        "record_bytes: int",
        "footer_bytes: int = 0",
        "hop_bytes: int = 0",
        *_SHARED,
        "encoding: string = ''",
    ),
)
tf_record_reader, tf_record_reader_v2 = _both(
    "TFRecordReader",
    (*_SHARED, "compression_type: string = ''"),
)
identity_reader, identity_reader_v2 = _both("IdentityReader", _SHARED)


@whole_file_reader.stateful_kernel
@whole_file_reader_v2.stateful_kernel
def whole_file_reader_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> Reader:
    return _shared_reader(ctx, "WholeFileReader", whole_files(ctx.filesystem), container, shared_name, is_whole=True)


@text_line_reader.stateful_kernel
@text_line_reader_v2.stateful_kernel
def text_line_reader_kernel(
    ctx: KernelContext, *, skip_header_lines: int, container: bytes, shared_name: bytes
) -> Reader:
    if skip_header_lines < 0:
        raise InvalidArgumentError(f"skip_header_lines must be >= 0 not {skip_header_lines}")
    return _shared_reader(ctx, "TextLineReader", lines(ctx.filesystem, skip_header_lines), container, shared_name)


def _pieces(
    ctx: Any, sizes: tuple[int, int, int, int], container: bytes, shared_name: bytes, encoding: bytes
) -> Reader:
    for name, size in zip(("header_bytes", "record_bytes", "footer_bytes", "hop_bytes"), sizes, strict=True):
        if size < (1 if name == "record_bytes" else 0):
            wanted = "> 0" if name == "record_bytes" else ">= 0"
            raise InvalidArgumentError(f"{name} must be {wanted} not {size}")
    if encoding not in (b"", b"ZLIB", b"GZIP"):
        raise InvalidArgumentError(f"encoding must be ZLIB, GZIP or empty, not {encoding.decode()!r}")
    records = pieces(ctx.filesystem, *sizes, encoding.decode())
    return _shared_reader(ctx, "FixedLengthRecordReader", records, container, shared_name)


@fixed_length_record_reader.stateful_kernel
def fixed_length_record_reader_kernel(
    ctx: KernelContext,
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    container: bytes,
    shared_name: bytes,
) -> Reader:
    return _pieces(ctx, (header_bytes, record_bytes, footer_bytes, hop_bytes), container, shared_name, b"")


@fixed_length_record_reader_v2.stateful_kernel
def fixed_length_record_reader_v2_kernel(
    ctx: KernelContext,
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    container: bytes,
    shared_name: bytes,
    encoding: bytes,
) -> Reader:
    return _pieces(ctx, (header_bytes, record_bytes, footer_bytes, hop_bytes), container, shared_name, encoding)


@tf_record_reader.stateful_kernel
@tf_record_reader_v2.stateful_kernel
def tf_record_reader_kernel(
    ctx: KernelContext, *, container: bytes, shared_name: bytes, compression_type: bytes
) -> Reader:
    records = record_files(ctx.filesystem, compression_type.decode())
    return _shared_reader(ctx, "TFRecordReader", records, container, shared_name)


@identity_reader.stateful_kernel
@identity_reader_v2.stateful_kernel
def identity_reader_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> Reader:
    return _shared_reader(ctx, "IdentityReader", names, container, shared_name, is_whole=True)


# ---------------------------------------------------------------------------------------------------- Reading

fake_queue = op("FakeQueue(resource: resource) -> handle: Ref(string)", "stateful")


@fake_queue.shape
def fake_queue_shape(resource: Tensor) -> Shape:
    return _PAIR


@fake_queue.kernel
def fake_queue_kernel(resource: Handle) -> Handle:
    return resource


def _using(name: str, inputs: str, outputs: str, kernel: Callable[..., Any], shape: Callable[..., Any]) -> None:
    """An op on a reader, of both generations."""
    for suffix, handle, attrs in (("", "Ref(string)", ()), ("V2", "resource", ("stateful",))):
        given = inputs.format(handle=handle)
        spec = op(f"{name}{suffix}(reader_handle: {handle}{given}){outputs}", *attrs)
        spec.shape(shape)
        spec.kernel(kernel)
        if not suffix:
            not_differentiable(spec)


def _reader(handle: Any) -> Reader:
    found = handle.read() if hasattr(handle, "read") else handle
    if not isinstance(found, Reader):
        raise InvalidArgumentError(f"expected a reader, got a {type(found).__name__}")
    return found


def _queue(handle: Any) -> Queue:
    found = handle.read() if hasattr(handle, "read") else handle
    if not isinstance(found, Queue):
        raise InvalidArgumentError(f"expected a queue, got a {type(found).__name__}")
    return found


def reader_read_kernel(reader_handle: Handle, queue_handle: Handle) -> tuple[Array, Array]:
    key, value = _reader(reader_handle).next_record(_queue(queue_handle))
    return string_array([key], ()), string_array([value], ())


def reader_read_up_to_kernel(reader_handle: Handle, queue_handle: Handle, num_records: Array) -> tuple[Array, Array]:
    records = _reader(reader_handle).next_records(_queue(queue_handle), int(num_records))
    keys, values = zip(*records, strict=True)
    return string_array(list(keys), (len(keys),)), string_array(list(values), (len(values),))


def reader_num_records_produced_kernel(reader_handle: Handle) -> np.int64:
    return np.int64(_reader(reader_handle).produced)


def reader_num_work_units_completed_kernel(reader_handle: Handle) -> np.int64:
    return np.int64(_reader(reader_handle).finished)


def reader_serialize_state_kernel(reader_handle: Handle) -> Array:
    return string_array([_reader(reader_handle).serialized()], ())


def reader_restore_state_kernel(reader_handle: Handle, state: Array) -> tuple[()]:
    if np.ndim(state):
        raise InvalidArgumentError(f"Reader state must be scalar, but had shape: {list(np.shape(state))}")
    _reader(reader_handle).restore(np.asarray(state, object).item())
    return ()


def reader_reset_kernel(reader_handle: Handle) -> tuple[()]:
    _reader(reader_handle).reset()
    return ()


def _two_scalars(*_: Tensor) -> tuple[Shape, Shape]:
    return SCALAR, SCALAR


def _two_vectors(reader_handle: Tensor, queue_handle: Tensor, num_records: Tensor) -> tuple[Shape, Shape]:
    check_scalars(num_records)
    return Shape((None,)), Shape((None,))


def _scalar(*_: Tensor) -> Shape:
    return SCALAR


def _nothing(*inputs: Tensor) -> tuple[()]:
    check_scalars(*inputs[1:])
    return ()


_TO_QUEUE: Final = ", queue_handle: {handle}"
_using("ReaderRead", _TO_QUEUE, " -> key: string, value: string", reader_read_kernel, _two_scalars)
_using(
    "ReaderReadUpTo",
    f"{_TO_QUEUE}, num_records: int64",
    " -> keys: string, values: string",
    reader_read_up_to_kernel,
    _two_vectors,
)
_using("ReaderNumRecordsProduced", "", " -> records_produced: int64", reader_num_records_produced_kernel, _scalar)
_using("ReaderNumWorkUnitsCompleted", "", " -> units_completed: int64", reader_num_work_units_completed_kernel, _scalar)
_using("ReaderSerializeState", "", " -> state: string", reader_serialize_state_kernel, _scalar)
_using("ReaderRestoreState", ", state: string", "", reader_restore_state_kernel, _nothing)
_using("ReaderReset", "", "", reader_reset_kernel, _nothing)
