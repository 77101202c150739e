"""Summary writers: event files that the operations of a session share, and events put into them by a graph."""

from __future__ import annotations

import time
from itertools import count
from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.files.filesystem import Durability, FileSystem, prepare_directory
from tensorkeep.io.machine.resources import process_number
from tensorkeep.ops.files.event_files import EventFile
from tensorkeep.ops.files.summaries import (
    message_of_tensor,
    summary_of_images,
    summary_of_sounds,
    summary_of_values,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars
from tensorkeep.proto.messages import Event, Summary, SummaryMetadata, parse
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape


class SummaryWriter:
    """An event file, once it is created; closed, it can be created anew."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._file: EventFile | None = None
        self._numbers = count(1)
        self._lock = Lock()

    def create(self, directory: str, suffix: str, fs: FileSystem) -> None:
        """Begins a file in a folder, unless there is one."""
        with self._lock:
            if self._file is None:
                prepare_directory(fs, directory, Durability.CACHE)
                ending = f".{process_number()}.{next(self._numbers)}{suffix}"
                self._file = EventFile(directory, ending, time.time, fs)
                self._file.open()

    @property
    def file(self) -> EventFile:
        if self._file is None:
            raise NotFoundError(f'summary writer "{self.name}" has no file: it was not created, or it is closed')
        return self._file

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _text(value: Any, what: str) -> bytes:
    array = np.asarray(value)
    if array.ndim:
        raise InvalidArgumentError(f"{what} must be a scalar, but had shape: {list(array.shape)}")
    text: bytes = array.item()
    return text


def _no_outputs(writer: Tensor, *inputs: Tensor) -> tuple[()]:
    check_scalars(writer, *inputs)
    return ()


def _first_scalars(writer: Tensor, step: Tensor, *_: Tensor) -> tuple[()]:
    check_scalars(writer, step)
    return ()


summary_writer = op(
    "SummaryWriter() -> writer: resource", "shared_name: string = ''", "container: string = ''", "stateful"
)


@summary_writer.shape
def summary_writer_shape() -> Shape:
    return SCALAR


@summary_writer.stateful_kernel
def summary_writer_kernel(ctx: KernelContext, *, shared_name: bytes, container: bytes) -> SummaryWriter:
    return ctx.shared(container, shared_name, SummaryWriter, SummaryWriter)


create_summary_file_writer = op(
    "CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
    "filename_suffix: string)",
    "stateful",
)
create_summary_file_writer.shape(_no_outputs)


@create_summary_file_writer.stateful_kernel
def create_summary_file_writer_kernel(
    ctx: KernelContext,
    writer: SummaryWriter,
    logdir: Array,
    max_queue: Array,
    flush_millis: Array,
    filename_suffix: Array,
) -> tuple[()]:
    """Begins an event file. No event is held back, so `max_queue` and `flush_millis` change nothing."""
    suffix = _text(filename_suffix, "filename_suffix").decode()
    writer.create(_text(logdir, "logdir").decode(), suffix, ctx.filesystem)
    return ()


import_event = op("ImportEvent(writer: resource, event: string)", "stateful")
import_event.shape(_no_outputs)


@import_event.stateful_kernel
def import_event_kernel(ctx: KernelContext, writer: SummaryWriter, event: Array) -> tuple[()]:
    writer.file.add(parse(Event, _text(event, "event"), "event"))
    return ()


def _write(writer: SummaryWriter, step: Array, summary: Summary) -> tuple[()]:
    """Adds a summary to the file, at a step of training."""
    writer.file.add(Event(wall_time=time.time(), step=int(np.asarray(step)), summary=summary))
    return ()


write_scalar_summary = op(
    "WriteScalarSummary(writer: resource, step: int64, tag: string, value: T)", "T: realnumbertype", "stateful"
)
write_scalar_summary.shape(_no_outputs)


@write_scalar_summary.stateful_kernel
def write_scalar_summary_kernel(
    ctx: KernelContext, writer: SummaryWriter, step: Array, tag: Array, value: Array
) -> tuple[()]:
    summary = Summary()
    summary.value.add(tag=_text(tag, "tag").decode(errors="replace"), simple_value=float(np.asarray(value)))
    return _write(writer, step, summary)


write_histogram_summary = op(
    "WriteHistogramSummary(writer: resource, step: int64, tag: string, values: T)",
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = float",
    "stateful",
)
write_histogram_summary.shape(_first_scalars)


@write_histogram_summary.stateful_kernel
def write_histogram_summary_kernel(
    ctx: KernelContext, writer: SummaryWriter, step: Array, tag: Array, values: Array
) -> tuple[()]:
    name = _text(tag, "tag").decode(errors="replace")
    return _write(writer, step, summary_of_values(name, values, name))


write_image_summary = op(
    "WriteImageSummary(writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8)",
    "max_images: int >= 1 = 3",
    "T: {uint8, double, float, half} = float",
    "stateful",
)
write_image_summary.shape(_first_scalars)


@write_image_summary.stateful_kernel
def write_image_summary_kernel(
    ctx: KernelContext,
    writer: SummaryWriter,
    step: Array,
    tag: Array,
    tensor: Array,
    bad_color: Array,
    *,
    max_images: int,
) -> tuple[()]:
    name = _text(tag, "tag").decode(errors="replace")
    return _write(writer, step, summary_of_images(name, tensor, max_images, np.asarray(bad_color)))


write_audio_summary = op(
    "WriteAudioSummary(writer: resource, step: int64, tag: string, tensor: float, sample_rate: float)",
    "max_outputs: int >= 1 = 3",
    "stateful",
)
write_audio_summary.shape(_first_scalars)


@write_audio_summary.stateful_kernel
def write_audio_summary_kernel(
    ctx: KernelContext,
    writer: SummaryWriter,
    step: Array,
    tag: Array,
    tensor: Array,
    sample_rate: Array,
    *,
    max_outputs: int,
) -> tuple[()]:
    name = _text(tag, "tag").decode(errors="replace")
    return _write(writer, step, summary_of_sounds(name, tensor, float(np.asarray(sample_rate)), max_outputs))


write_summary = op(
    "WriteSummary(writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string)",
    "T: type",
    "stateful",
)
write_summary.shape(_first_scalars)


@write_summary.stateful_kernel
def write_summary_kernel(
    ctx: KernelContext,
    writer: SummaryWriter,
    step: Array,
    tensor: Array,
    tag: Array,
    summary_metadata: Array,
    *,
    T: DType,  # noqa: N803
) -> tuple[()]:
    summary = Summary()
    value = summary.value.add(tag=_text(tag, "tag").decode(errors="replace"), tensor=message_of_tensor(tensor, T))
    metadata = _text(summary_metadata, "summary_metadata")
    if metadata:
        value.metadata.CopyFrom(parse(SummaryMetadata, metadata, "summary_metadata"))
    return _write(writer, step, summary)


flush_summary_writer = op("FlushSummaryWriter(writer: resource)", "stateful")
flush_summary_writer.shape(_no_outputs)


@flush_summary_writer.stateful_kernel
def flush_summary_writer_kernel(ctx: KernelContext, writer: SummaryWriter) -> tuple[()]:
    """Only refuses a writer that has no file: events are in the file as soon as they are added."""
    assert writer.file is not None
    return ()


close_summary_writer = op("CloseSummaryWriter(writer: resource)", "stateful")
close_summary_writer.shape(_no_outputs)


@close_summary_writer.stateful_kernel
def close_summary_writer_kernel(ctx: KernelContext, writer: SummaryWriter) -> tuple[()]:
    writer.close()
    return ()


not_differentiable(create_summary_file_writer, import_event, flush_summary_writer, close_summary_writer)
not_differentiable(summary_writer, write_scalar_summary, write_histogram_summary, write_image_summary)
not_differentiable(write_audio_summary, write_summary)

WRITERS: Final = "_SUMMARY_WRITER_V2"  # the collection of the operations that create writers
