"""Messages in chunks: a Riegeli file of which the last record says how the others are joined (`.cpb`)."""

from __future__ import annotations

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.riegeli import RiegeliReader
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.chunked import ChunkMetadata, join_chunks
from tensorkeep.proto.messages import MessageType, parse


def read_chunked(message_type: type[MessageType], path: str, fs: FileSystem) -> MessageType:
    """The message in a file of chunks. DataLossError says what is wrong with the file."""
    file = fs.open(path)
    try:
        records = RiegeliReader(file)
        metadata = parse(ChunkMetadata, records.last(), path)

        def read(index: int) -> bytes:
            if index >= len(metadata.chunks):
                raise DataLossError(f'"{path}" has {len(metadata.chunks)} chunks, but number {index} is wanted')
            info = metadata.chunks[index]
            data = records.at(info.offset)
            if len(data) != info.size:
                raise DataLossError(f'"{path}": chunk {index} has {len(data)} bytes, expected {info.size}')
            return data

        return join_chunks(message_type, metadata, read)
    finally:
        file.close()
