"""Files read and written, and readers of those whose names come from a queue, under the names of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import RESOURCE
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.data import readers
from tensorkeep.ops.files import whole_files as file_ops
from tensorkeep.tf1.functions.data.queues import QueueBase


class ReaderBase:
    """Gives records, a key and a value each, of the files that a queue names."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The op that is the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether its state can be saved."""
        return self._supports_serialize

    def _versioned(self, op: str) -> str:
        """The op for this kind of handle: a resource, or a reference as in older graphs."""
        return f"{op}V2" if self._reader_ref.dtype == RESOURCE else op

    def _queue(self, queue: Tensor | QueueBase) -> Tensor:
        handle: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype == RESOURCE:
            return handle
        return emit(readers.fake_queue, handle)

    def read(self, queue: Tensor | QueueBase, name: str | None = None) -> Sequence[Tensor]:
        """The next record; files are taken from the queue as they are needed."""
        return emit_tensors(self._versioned("ReaderRead"), self._reader_ref, self._queue(queue), name=name)

    def read_up_to(
        self, queue: Tensor | QueueBase, num_records: TensorLike, name: str | None = None
    ) -> Sequence[Tensor]:
        """The next records, at most `num_records` of them and all of one file."""
        return emit_tensors(
            self._versioned("ReaderReadUpTo"), self._reader_ref, self._queue(queue), num_records, name=name
        )

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records it has given."""
        return emit(self._versioned("ReaderNumRecordsProduced"), self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files it is done with."""
        return emit(self._versioned("ReaderNumWorkUnitsCompleted"), self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Its state, as a string."""
        return emit(self._versioned("ReaderSerializeState"), self._reader_ref, name=name)

    def restore_state(self, state: TensorLike, name: str | None = None) -> Operation:
        """Goes on from a state."""
        return emit_operation(self._versioned("ReaderRestoreState"), self._reader_ref, state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """The operation that puts the reader back to its beginning."""
        return emit_operation(self._versioned("ReaderReset"), self._reader_ref, name=name)


class WholeFileReader(ReaderBase):
    """Gives whole files, by their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(readers.whole_file_reader_v2(name=name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Gives each string of the queue as key and as value, and opens no file."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(readers.identity_reader_v2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives the lines of files, by file and number."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(readers.text_line_reader_v2(skip_header_lines=skip_header_lines, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Gives parts of one size, by file and number."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        reader = readers.fixed_length_record_reader_v2(
            record_bytes=record_bytes,
            header_bytes=header_bytes,
            footer_bytes=footer_bytes,
            hop_bytes=hop_bytes,
            encoding=encoding,
            name=name,
        )
        super().__init__(reader)


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The contents of a file."""
    return emit(file_ops.read_file, filename, name=name)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Operation:
    """An operation that writes a file, and the folders it lies in."""
    return emit_operation(file_ops.write_file, filename, contents, name=name)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match one of the patterns."""
    return emit(file_ops.matching_files, pattern, name=name)
