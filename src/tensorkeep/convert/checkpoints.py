"""TensorFlow's checkpoints, in either format, as one format among others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.file_names import index_path, prefix_of_file
from tensorkeep.checkpoint.finding.files import checkpoint_or_parts_exist, checkpoints_in
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.layouts.table import layout_of
from tensorkeep.checkpoint.objects.variable_names import VariableNames, variable_names
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo
from tensorkeep.checkpoint.saving import CheckpointFormat, Piece, SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.slices.slice_files import SliceFileWriter
from tensorkeep.checkpoint.slices.tensor_slice import Part
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.stretches import in_order
from tensorkeep.convert.arrays import rotating_memory
from tensorkeep.convert.hub import SinkOptions, Tensors, TensorSink, TensorSource, listed_names
from tensorkeep.errors import NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem, prepare_directory
from tensorkeep.proto.identification import FileKind, is_file_of_kind
from tensorkeep.saved_model.files.layout import contains_saved_model

_ONCE: Final = ReadOptions(checksums=Checksums.ONCE)


class CheckpointTensors(Mapping[str, TensorInfo]):
    """An open checkpoint as a source: what lies whole in a data file is read from there in large steps.

    `names` has the keys of the tensors by the names that these shall have; without it, all have their own.
    """

    def __init__(self, reader: CheckpointReader, names: VariableNames | None = None) -> None:
        self.reader = reader
        self.path = reader.path
        self.format = reader.format
        self.names = names
        self._keys = None if names is None else names.keys

    def by_name(self) -> CheckpointTensors:
        """The variables of an object-based checkpoint by their names, each once; any other as it is."""
        names = variable_names(self.reader)
        return self if names is None else CheckpointTensors(self.reader, names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.reader if self._keys is None else self._keys)

    def __len__(self) -> int:
        return len(self.reader if self._keys is None else self._keys)

    def __getitem__(self, name: str) -> TensorInfo:
        return self.reader[self._key(name)]

    def read(self, name: str, part: Part | None = None) -> Array:
        return self.reader.read(self._key(name), part)

    def source(self, name: str) -> ArraySource:
        key = self._key(name)
        stored = self.reader.stored_bytes(key)
        if stored is None:
            return self.reader.source(key)
        chunks = in_order(stored, rotating_memory(stored.size))
        return ArraySource(stored.dtype, stored.shape, (data.view(stored.dtype.array_dtype) for data in chunks))

    def _key(self, name: str) -> str:
        if self._keys is None:
            return name
        if name not in self._keys:
            raise NotFoundError(f'"{self.path}" holds no variable "{name}"; it holds {listed_names(self._keys)}')
        return self._keys[name]

    def close(self) -> None:
        self.reader.close()

    def __enter__(self) -> CheckpointTensors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BundleFormat:
    """V2 checkpoints: tensor bundles."""

    name = "checkpoint"
    endings = (".ckpt", ".index")

    def holds(self, path: str, fs: FileSystem) -> bool:
        if any(fs.exists(index_path(prefix)) for prefix in (path, prefix_of_file(path)) if prefix):
            return True
        if fs.is_directory(path):
            is_checkpoint = layout_of(path, fs) is not None or bool(checkpoints_in(path, fs))
            return is_checkpoint and not contains_saved_model(path, fs)
        return not fs.exists(path) and checkpoint_or_parts_exist(path, fs=fs)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        return CheckpointTensors(open_checkpoint(_prefix(path, fs), _ONCE, fs=fs))

    def problems(self, tensors: Tensors) -> list[str]:
        return [
            f'"{name}" is {tensor.dtype}, and no checkpoint can hold that'
            for name, tensor in tensors.items()
            if not tensor.dtype.is_storable
        ]

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        return [index_path(path.removesuffix(".index"))]

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        return _BundleSink(path.removesuffix(".index"), tensors, options, fs)


class SliceFileFormat:
    """V1 checkpoints. No ending tells them: they are written if they are asked for by name."""

    name = "checkpoint-v1"
    endings = ()

    def holds(self, path: str, fs: FileSystem) -> bool:
        return is_file_of_kind(path, FileKind.CHECKPOINT_TABLE, fs)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        return CheckpointTensors(open_checkpoint(path, _ONCE, fs=fs))

    def problems(self, tensors: Tensors) -> list[str]:
        writer = SliceFileWriter("unwritten")  # it writes nothing before it is told to commit
        problems: list[str] = []
        for name, tensor in tensors.items():
            try:
                writer.add(name, ArraySource(tensor.dtype, tensor.shape, ()))
            except TensorKeepError as error:
                problems.append(error.message)
        return problems

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        return [path, index_path(path)]  # a V2 checkpoint of that name would be removed

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        return _SliceFileSink(path, tensors, options, fs)


class _BundleSink:
    def __init__(self, prefix: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> None:
        self.order = tuple(sorted(tensors))
        pieces = [Piece(name, None, tensors[name].nbytes) for name in self.order]
        limit = options.shard_bytes
        numbers = [0] * len(pieces) if limit is None else ShardBySize(limit).assign(pieces)
        self._shards = dict(zip(self.order, numbers, strict=True))
        prepare_directory(fs, prefix.rpartition("/")[0], options.durability)
        self._writer = BundleWriter(prefix, durability=options.durability, fs=fs)

    def write(self, name: str, source: ArraySource) -> None:
        self._writer.add(name, source, shard=self._shards[name])

    def commit(self) -> None:
        self._writer.commit()

    def abort(self) -> None:
        self._writer.abort()


class _SliceFileSink:
    """Sources are kept, and read one after the other, when the file is written at last."""

    def __init__(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> None:
        self.order = tuple(sorted(tensors))
        self._path = path
        self._options = SaveOptions(CheckpointFormat.V1, durability=options.durability)
        self._fs = fs
        self._sources: dict[str, ArraySource] = {}

    def write(self, name: str, source: ArraySource) -> None:
        self._sources[name] = source

    def commit(self) -> None:
        save_checkpoint(self._path, self._sources, self._options, fs=self._fs)

    def abort(self) -> None:
        self._sources.clear()


def _prefix(path: str, fs: FileSystem) -> str:
    prefix = prefix_of_file(path)
    return prefix if prefix is not None and fs.exists(path) and fs.exists(index_path(prefix)) else path


BUNDLE: Final = BundleFormat()
SLICE_FILE: Final = SliceFileFormat()
