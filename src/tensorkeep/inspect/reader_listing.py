"""What a checkpoint of any kind and size, or another file of tensors, holds, told by its reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tensorkeep.checkpoint.bundle.entry_columns import decode_entries
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.variable_names import VariableNames, variable_names
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.comparing import OpenedTensors
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, bundle_files, file_size
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.showing.amounts import counted, some_of


def list_with_reader(path: PathLike, *, fs: FileSystem = LOCAL) -> CheckpointListing:
    """What the checkpoint at a path holds, in order of name."""
    with open_checkpoint(path, fs=fs) as reader:
        if isinstance(reader, BundleReader):
            files = bundle_files(reader.path, reader.shard_count, fs)
            tensors = _stored_in(reader)
        else:
            files = {file: file_size(file, fs) for file in _slice_files(reader)}
            tensors = [_without_shards(name, info) for name, info in reader.items()]
        return CheckpointListing(reader.path, reader.format, files, tuple(tensors))


def list_variables(listing: CheckpointListing, *, fs: FileSystem = LOCAL) -> CheckpointListing:
    """The listing of a checkpoint by the names that its variables were given, each variable once.

    Where these cannot be told, the keys stay, and a remark says why. A checkpoint of names is listed as it is.
    """
    try:
        with open_checkpoint(listing.path, fs=fs) as reader:
            names = variable_names(reader)
    except TensorKeepError as error:
        return replace(listing, remarks=(f"the names of variables cannot be read, and keys are listed: {error}",))
    return listing if names is None else _by_name(listing, names)


def _by_name(listing: CheckpointListing, names: VariableNames) -> CheckpointListing:
    stored = {tensor.name: tensor for tensor in listing.tensors}
    tensors = [replace(stored[key], name=name, key=key) for name, key in names.keys.items() if key in stored]
    return replace(listing, tensors=tuple(tensors), remarks=tuple(_remarks(names)))


def _remarks(names: VariableNames) -> Iterator[str]:
    if names.copies:
        verb = "is" if len(names.copies) == 1 else "are"
        count = counted(len(names.copies), "variable")
        yield f"{count} {verb} stored twice, as Keras exports have them, and listed once"
    for name, paths in names.shared.items():
        yield f'{len(paths)} variables are called "{name}" and go by their paths: {some_of(paths, 4)}'


def list_opened(tensors: OpenedTensors, *, fs: FileSystem = LOCAL) -> CheckpointListing:
    """What tensors that are open are, of whatever format, in order of name."""
    found = [_without_shards(name, tensors[name]) for name in sorted(tensors)]
    size = None if fs.is_directory(tensors.path) else file_size(tensors.path, fs)
    files = {} if size is None else {tensors.path: size}
    remarks: tuple[str, ...] = getattr(tensors, "remarks", ())  # not all that is open has any
    return CheckpointListing(tensors.path, tensors.format, files, tuple(found), remarks=remarks)


def _stored_in(reader: BundleReader) -> list[StoredTensor]:
    """The tensors of a V2 checkpoint. Entries of the usual form are taken apart together, the others one by one."""
    infos = dict(reader.items())
    columns = decode_entries([reader.encoded_entry(name) for name in infos])
    found = []
    for (name, info), is_usual, shard, size in zip(
        infos.items(), columns.usual.tolist(), columns.shards.tolist(), columns.sizes.tolist(), strict=True
    ):
        if is_usual:
            found.append(StoredTensor(name, info.dtype, info.shape, size, (shard,)))
        else:
            found.append(_stored(name, info, reader))
    return found


def _stored(name: str, info: TensorInfo, reader: BundleReader) -> StoredTensor:
    parts = [reader.entry(name, part) for part in info.slices] if info.slices else [reader.entry(name)]
    shards = tuple(sorted({part.shard for part in parts}))
    return StoredTensor(name, info.dtype, info.shape, sum(part.size for part in parts), shards, len(info.slices))


def _slice_files(reader: CheckpointReader) -> list[str]:
    return list(reader.files) if isinstance(reader, SliceFileReader) else [reader.path]


def _without_shards(name: str, info: TensorInfo) -> StoredTensor:
    nbytes = None if info.dtype.is_object else info.size * info.dtype.itemsize
    slices = len(info.slices) if len(info.slices) > 1 else 0
    return StoredTensor(name, info.dtype, info.shape, nbytes, (), slices)


__all__ = ["list_opened", "list_variables", "list_with_reader"]
