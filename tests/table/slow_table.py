"""A table writer that follows the rules of the format step by step, to compare the real one with."""

from __future__ import annotations

from collections.abc import Iterable

from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.io.coding.varint import encode_varint
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.table.table import Table
from tensorkeep.table.table_writer import TableOptions, TableWriter

Entries = Iterable[tuple[bytes, bytes]]


def written(entries: Entries, options: TableOptions = TableOptions()) -> bytes:
    """The file that the real writer makes."""
    sink = Sink()
    writer = TableWriter(sink, options)
    for key, value in entries:
        writer.add(key, value)
    writer.finish()
    return bytes(sink.data)


def opened(data: bytes) -> Table:
    fs = MemoryFileSystem()
    file = fs.create("table")
    file.write(data)
    file.close()
    return Table(fs.open("table"))


class Sink:
    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += data


class SlowBlock:
    def __init__(self, restart_interval: int) -> None:
        self.restart_interval = restart_interval
        self.entries = b""
        self.restarts = [0]
        self.count = 0
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count % self.restart_interval:
            while shared < min(len(self.last), len(key)) and self.last[shared] == key[shared]:
                shared += 1
        elif self.count:
            self.restarts.append(len(self.entries))
        lengths = (shared, len(key) - shared, len(value))
        self.entries += b"".join(map(encode_varint, lengths)) + key[shared:] + value
        self.last = key
        self.count += 1

    def contents(self) -> bytes:
        numbers = (*self.restarts, len(self.restarts))
        return self.entries + b"".join(number.to_bytes(4, "little") for number in numbers)


class SlowTable:
    def __init__(self, options: TableOptions) -> None:
        self.options = options
        self.file = b""
        self.block = SlowBlock(options.restart_interval)
        self.index = SlowBlock(1)
        self.last: bytes | None = None
        self.pending: bytes | None = None

    def add(self, key: bytes, value: bytes) -> None:
        if self.last is not None and len(key) + len(value) >= 2 * self.options.block_size:
            self.flush()
        if self.pending is not None:
            assert self.last is not None
            self.index.add(slow_separator(self.last, key), self.pending)
            self.pending = None
        self.block.add(key, value)
        self.last = key
        if len(self.block.contents()) >= self.options.block_size:
            self.flush()

    def flush(self) -> None:
        if self.block.count:
            self.pending = self.write(self.block.contents())
            self.block = SlowBlock(self.options.restart_interval)

    def write(self, contents: bytes) -> bytes:
        handle = encode_varint(len(self.file)) + encode_varint(len(contents))
        self.file += contents + b"\0" + masked_crc32c(contents + b"\0").to_bytes(4, "little")
        return handle

    def finish(self) -> bytes:
        self.flush()
        handles = self.write(SlowBlock(1).contents())
        if self.pending is not None:
            assert self.last is not None
            self.index.add(slow_successor(self.last), self.pending)
        handles += self.write(self.index.contents())
        return self.file + handles.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


def slow_separator(start: bytes, limit: bytes) -> bytes:
    shared = 0
    while shared < min(len(start), len(limit)) and start[shared] == limit[shared]:
        shared += 1
    if shared == min(len(start), len(limit)):
        return start
    if start[shared] < 0xFF and start[shared] + 1 < limit[shared]:
        return start[:shared] + bytes((start[shared] + 1,))
    return start


def slow_successor(key: bytes) -> bytes:
    for at, byte in enumerate(key):
        if byte != 0xFF:
            return key[:at] + bytes((byte + 1,))
    return key


def slow_table(entries: Entries, options: TableOptions = TableOptions()) -> bytes:
    """The file that the rules ask for."""
    table = SlowTable(options)
    for key, value in entries:
        table.add(key, value)
    return table.finish()
