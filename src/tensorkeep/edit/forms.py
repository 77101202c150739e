"""Edits that change how a checkpoint is laid out, not what it says: files, format, names or objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY, index_path
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.graph import describe_objects
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE
from tensorkeep.checkpoint.objects.variable_names import variable_names
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import CheckpointFormat, ShardBySize
from tensorkeep.checkpoint.storage import Place
from tensorkeep.edit.object_keys import object_graph_origin
from tensorkeep.edit.plan import EditOptions, Origin, Stored, Written, write_plan
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of, some_of

_DEFAULT: Final = EditOptions()


def split(
    source: PathLike, target: PathLike, limit: int, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> Written:
    """A checkpoint in data files of at most `limit` bytes each, unless a single tensor is larger."""
    with open_checkpoint(source, fs=fs) as reader:
        return write_plan(target, _all(reader), options, sharding=ShardBySize(limit), fs=fs)


def convert_format(
    source: PathLike,
    target: PathLike,
    form: CheckpointFormat,
    options: EditOptions = _DEFAULT,
    *,
    fs: FileSystem = FILES,
) -> Written:
    """A checkpoint in the other format: V1 for old readers, V2 for all else."""
    with open_checkpoint(source, fs=fs) as reader:
        return write_plan(target, _all(reader), replace(options, compact=True), form=form, fs=fs)


def objects_to_names(
    source: PathLike, target: PathLike, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> Written:
    """An object-based checkpoint by the names that its variables had in a graph, as `tf.train.Saver` stores them.

    Variables that had no such name are stored under the paths of their objects. One that Keras has stored twice is
    stored once; different ones of one name are refused.
    """
    with open_checkpoint(source, fs=fs) as reader:
        names = variable_names(reader)
        if names is None:
            raise NotFoundError(f'"{reader.path}" is not an object-based checkpoint: it has no {OBJECT_GRAPH_KEY}')
        if names.shared:
            name, paths = next(iter(names.shared.items()))
            raise AlreadyExistsError(
                f'several variables go by one name, of {amount_of(len(names.shared), "name")}: "{name}" is those at '
                f"{some_of(paths, 4)}; keep some of them only (`keep`, `drop`), or convert the checkpoint by paths"
            )
        plan: dict[str, Origin] = {name: Stored(reader, key) for name, key in names.keys.items()}
        return write_plan(target, plan, options, fs=fs)


def names_to_objects(
    source: PathLike, target: PathLike, options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES
) -> Written:
    """A checkpoint of names as one of objects: every scope becomes an object, every tensor a variable in it.

    `tf.train.Checkpoint` restores "tower/dense/kernel" into its `tower.dense.kernel`. The names are kept as those of
    the variables, so that `objects_to_names` gives the first checkpoint back.
    """
    with open_checkpoint(source, fs=fs) as reader:
        if OBJECT_GRAPH_KEY in reader:
            raise InvalidArgumentError(f'"{reader.path}" is an object-based checkpoint already')
        described = describe_objects(_tree(reader), _NamedTree())
        plan: dict[str, Origin] = {item.key: Stored(reader, item.item.name) for item in described.attributes}
        plan[OBJECT_GRAPH_KEY] = object_graph_origin(described.graph)
        return write_plan(target, plan, options, fs=fs)


class _Scope(dict[str, "_Scope"]):
    """What a scope holds, and the tensor of that name if there is one."""

    def __init__(self) -> None:
        self.name: str | None = None


def _tree(names: Sequence[str] | CheckpointReader) -> _Scope:
    root = _Scope()
    for name in names:
        scope = root
        for step in name.split("/"):
            scope = scope.setdefault(step, _Scope())
        scope.name = name
    return root


class _NamedTree:
    """Scopes as objects."""

    def node(self, value: _Scope) -> _Scope:
        return value

    def children(self, item: _Scope) -> Mapping[str, _Scope]:
        return item

    def attributes(self, item: _Scope) -> Sequence[str]:
        return () if item.name is None else (VARIABLE_VALUE,)

    def full_name(self, item: _Scope) -> str:
        return item.name or ""

    def slot_names(self, item: _Scope) -> Sequence[str]:
        return ()

    def slot(self, optimizer: _Scope, variable: _Scope, name: str) -> None:
        return None


@dataclass(frozen=True)
class Deduplicated:
    """What was saved by storing equal tensors once."""

    shared: Mapping[str, Sequence[str]]
    """By checkpoint, the tensors that now lie in an earlier one's files, and did not before."""
    saved_bytes: int


def dedupe(sources: Sequence[PathLike], options: EditOptions = _DEFAULT, *, fs: FileSystem = FILES) -> Deduplicated:
    """Stores tensors that are equal in several checkpoints once, in the files of the first that has them.

    The others are replaced, each in one step, by such as have a link to those files beside data of their own; every
    one stays whole by itself, and may be deleted or moved as before. Equal are tensors of one name, type, shape and
    contents; contents are compared, not only their checksums.
    """
    if not options.overwrite:
        raise InvalidArgumentError("checkpoints are rewritten where they are: say that they may be (overwrite)")
    if any(fs.puts(path_text(source)) is not None for source in sources):
        raise UnimplementedError("files in a store have one name each: checkpoints there cannot share any")
    shared: dict[str, list[str]] = {}
    saved = 0
    for at in range(1, len(sources)):
        readers = [open_checkpoint(source, fs=fs) for source in sources[: at + 1]]
        try:
            own = readers[-1]
            twins = _twins(own, readers[:-1])
            new = [name for name, other in twins.items() if not _is_shared(own, other, name)]
            if not new:
                continue
            plan: dict[str, Origin] = {
                name: Stored(twins[name], name) if name in twins else Stored(own, name, links=False) for name in own
            }
            shared[own.path] = new
            saved += sum(own[name].nbytes for name in new)
            written = fs.modified(index_path(own.path))
            write_plan(own.path, plan, options, fs=fs)
            if not options.dry_run:
                fs.set_modified(index_path(own.path), written)  # in a folder the latest stays the latest
        finally:
            for reader in readers:
                reader.close()
    return Deduplicated(shared, saved)


def _twins(own: CheckpointReader, earlier: Sequence[CheckpointReader]) -> dict[str, CheckpointReader]:
    """For each tensor that an earlier checkpoint has too, the first that does."""
    found: dict[str, CheckpointReader] = {}
    if own.linkable() is None:
        raise NotFoundError(f'"{own.path}" is not a V2 checkpoint, whose data files could be shared')
    for name in own:
        for other in earlier:
            if other.linkable() is not None and name in other and _are_equal(own, other, name):
                found[name] = other
                break
    return found


def _is_shared(own: CheckpointReader, other: CheckpointReader, name: str) -> bool:
    """Whether a tensor that is equal in both lies in one place for both already."""
    ours, theirs = own.linkable(), other.linkable()
    if ours is None or theirs is None:
        return False
    (mine,), (its,) = _place(own, name), _place(other, name)
    return mine.offset == its.offset and ours.shard(mine.shard).is_at(theirs.shard(its.shard).path)


def _are_equal(own: CheckpointReader, other: CheckpointReader, name: str) -> bool:
    info = own[name]
    if info != other[name] or info.slices or info.dtype.is_object:
        return False
    (mine,), (its,) = _place(own, name), _place(other, name)
    if mine._replace(shard=0, offset=0) != its._replace(shard=0, offset=0):
        return False
    pairs = zip(own.source(name).buffers(), other.source(name).buffers(), strict=True)
    return all(left == right for left, right in pairs)


def _place(reader: CheckpointReader, name: str) -> tuple[Place, ...]:
    return dict(reader.places([name]))[name]


def _all(reader: CheckpointReader) -> dict[str, Origin]:
    return {name: Stored(reader, name) for name in reader}
