"""Readers of files whose names come from a queue, under the names of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import RESOURCE
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.data import readers


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

    def _apply(self, op: str, *inputs: Any, name: str | None) -> Any:
        suffix = "V2" if self._reader_ref.dtype == RESOURCE else ""
        return get_op(f"{op}{suffix}")(self._reader_ref, *inputs, name=name)

    def _queue(self, queue: Any) -> Tensor:
        handle: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype == RESOURCE:
            return handle
        return emit(readers.fake_queue, handle)

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record; files are taken from the queue as they are needed."""
        return self._apply("ReaderRead", self._queue(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next records of a file, so many at most."""
        return self._apply("ReaderReadUpTo", self._queue(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records it has given."""
        found: Tensor = self._apply("ReaderNumRecordsProduced", name=name)
        return found

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files it is done with."""
        found: Tensor = self._apply("ReaderNumWorkUnitsCompleted", name=name)
        return found

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Its state, as a string."""
        found: Tensor = self._apply("ReaderSerializeState", name=name)
        return found

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Goes on from a state."""
        found: Operation = self._apply("ReaderRestoreState", state, name=name)
        return found

    def reset(self, name: str | None = None) -> Operation:
        """Begins anew."""
        found: Operation = self._apply("ReaderReset", name=name)
        return found


class WholeFileReader(ReaderBase):
    """Gives whole files, by their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(readers.whole_file_reader_v2(name=name), supports_serialize=True)


class IdentityReader(ReaderBase):
    """Gives what the queue has, by itself."""

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


__all__ = ["FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TextLineReader", "WholeFileReader"]
