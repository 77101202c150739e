"""Record files: `tf.python_io`, and the reader of them, `tf.TFRecordReader`."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import ClassVar, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.record_files import RecordCompression, RecordFileWriter, read_record_file
from tensorkeep.ops.data.readers import tf_record_reader_v2
from tensorkeep.tf1.functions.data.readers import ReaderBase

Compression: TypeAlias = str | int | None
"""TensorFlow's word for a way to compress, or its number in `TFRecordCompressionType`."""


class TFRecordCompressionType:
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a record file is written. All but the compression type, the level and zlib's own parameters is ignored."""

    compression_type_map: ClassVar[dict[Compression, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Compression = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: TFRecordOptions | Compression) -> str:
        """The compression type that options, a number or a string mean."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        kinds: dict[Compression, str] = {None: "", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP", **cls.compression_type_map}
        if options not in kinds:
            raise InvalidArgumentError(f'Not a valid compression_type: "{options}"')
        return kinds[options]


def _compression(options: TFRecordOptions | Compression) -> RecordCompression:
    given = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
    parameters = {
        "level": given.compression_level,
        "window_bits": given.window_bits,
        "memory_level": given.mem_level,
        "strategy": given.compression_strategy,
    }
    kind = TFRecordOptions.get_compression_type_string(given)
    return RecordCompression(kind, **{name: value for name, value in parameters.items() if value is not None})


class TFRecordWriter:
    """Writes records to a file, from its beginning."""

    def __init__(self, path: PathLike, options: TFRecordOptions | Compression = None) -> None:
        self._writer = RecordFileWriter(FILES, path_text(path), _compression(options))

    def write(self, record: bytes) -> None:
        """Adds a record."""
        self._writer.write(record)

    def flush(self) -> None:
        """Hands what was written to the file system."""
        self._writer.flush()

    def close(self) -> None:
        """Completes the file."""
        self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tf_record_iterator(path: PathLike, options: TFRecordOptions | Compression = None) -> Iterator[bytes]:
    """The records of a file, one after the other."""
    return read_record_file(FILES, path_text(path), _compression(options))


class TFRecordReader(ReaderBase):
    """Gives the records of record files, by file and place."""

    def __init__(self, name: str | None = None, options: TFRecordOptions | Compression = None) -> None:
        compression_type = TFRecordOptions.get_compression_type_string(options)
        super().__init__(tf_record_reader_v2(name=name, compression_type=compression_type))
