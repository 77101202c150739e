"""Summary writers: event files that the operations of a session share, and events put into them by a graph."""

from __future__ import annotations

import time
from itertools import count
from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.files.filesystem import Durability, FileSystem, prepare_directory
from tensorkeep.io.machine.resources import process_number
from tensorkeep.ops.files.event_files import EventFile
from tensorkeep.ops.random.sampling import check_scalars
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.proto.messages import Event, parse
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


summary_writer = op(
    "SummaryWriter() -> writer: resource", "shared_name: string = ''", "container: string = ''", "stateful"
)


@summary_writer.shape
def summary_writer_shape() -> Shape:
    return SCALAR


@summary_writer.stateful_kernel
def summary_writer_kernel(ctx: KernelContext, *, shared_name: bytes, container: bytes) -> SummaryWriter:
    name = shared_name.decode() or ctx.name
    return ctx.resources.get_or_create(container.decode(), name, SummaryWriter, lambda: SummaryWriter(name))


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
    """No event is held back, so it does not matter how many might be, and for how long."""
    suffix = _text(filename_suffix, "filename_suffix").decode()
    writer.create(_text(logdir, "logdir").decode(), suffix, ctx.filesystem)
    return ()


import_event = op("ImportEvent(writer: resource, event: string)", "stateful")
import_event.shape(_no_outputs)


@import_event.stateful_kernel
def import_event_kernel(ctx: KernelContext, writer: SummaryWriter, event: Array) -> tuple[()]:
    writer.file.add(parse(Event, _text(event, "event"), "event"))
    return ()


flush_summary_writer = op("FlushSummaryWriter(writer: resource)", "stateful")
flush_summary_writer.shape(_no_outputs)


@flush_summary_writer.stateful_kernel
def flush_summary_writer_kernel(ctx: KernelContext, writer: SummaryWriter) -> tuple[()]:
    """Events are in the file already; what is left to say is that there is none."""
    assert writer.file is not None
    return ()


close_summary_writer = op("CloseSummaryWriter(writer: resource)", "stateful")
close_summary_writer.shape(_no_outputs)


@close_summary_writer.stateful_kernel
def close_summary_writer_kernel(ctx: KernelContext, writer: SummaryWriter) -> tuple[()]:
    writer.close()
    return ()


not_differentiable(create_summary_file_writer, import_event, flush_summary_writer, close_summary_writer)
not_differentiable(summary_writer)

WRITERS: Final = "_SUMMARY_WRITER_V2"  # the collection of the operations that create writers
