"""What a checkpoint of any kind and size, or another file of tensors, holds, told by its reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.variable_names import VariableNames, variable_names
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.storage import Place
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.comparing import OpenedTensors
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, file_size
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.amounts import amount_of, some_of


def list_with_reader(path: PathLike, *, fs: FileSystem = FILES) -> CheckpointListing:
    """What the checkpoint at a path holds, in order of name."""
    with open_checkpoint(path, fs=fs) as reader:
        infos = reader.infos()
        tensors = list(_stored_tensors(infos, reader.places()))
        files = {path: file_size(path, fs) for path in reader.files}
        return CheckpointListing(reader.path, reader.format, files, tuple(tensors), tuple(reader.remarks))


def list_variables(listing: CheckpointListing, *, fs: FileSystem = FILES) -> CheckpointListing:
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
        count = amount_of(len(names.copies), "variable")
        yield f"{count} {verb} stored twice, as Keras exports have them, and listed once"
    for name, paths in names.shared.items():
        yield f'{len(paths)} variables are called "{name}" and go by their paths: {some_of(paths, 4)}'


def list_opened(tensors: OpenedTensors, *, fs: FileSystem = FILES) -> CheckpointListing:
    """What tensors that are open are, of whatever format, in order of name."""
    found = [_without_shards(name, tensors[name]) for name in sorted(tensors)]
    size = None if fs.is_directory(tensors.path) else file_size(tensors.path, fs)
    files = {} if size is None else {tensors.path: size}
    remarks: tuple[str, ...] = getattr(tensors, "remarks", ())  # not all that is open has any
    return CheckpointListing(tensors.path, tensors.format, files, tuple(found), remarks=remarks)


def _stored_tensors(
    infos: Mapping[str, TensorInfo], found: Iterable[tuple[str, Sequence[Place]]]
) -> Iterator[StoredTensor]:
    """Tensors with where they lie. Most lie in one place, and there may be very many."""
    for name, places in found:
        info = infos[name]
        if len(places) == 1:
            shard, _, size, _ = places[0]
            yield StoredTensor(name, info.dtype, info.shape, size, (shard,), len(info.slices))
        elif places:
            shards = tuple(sorted({place.shard for place in places}))
            size = sum(place.size for place in places)
            yield StoredTensor(name, info.dtype, info.shape, size, shards, len(info.slices))
        else:
            yield _without_shards(name, info)


def _without_shards(name: str, info: TensorInfo) -> StoredTensor:
    nbytes = None if info.dtype.is_object else info.size * info.dtype.itemsize
    slices = len(info.slices) if len(info.slices) > 1 else 0
    return StoredTensor(name, info.dtype, info.shape, nbytes, (), slices)
