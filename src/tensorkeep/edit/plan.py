"""What an edited checkpoint shall hold, and how it is written.

A plan says for every name of the new checkpoint where its tensor comes from: from a checkpoint, as it is stored there,
or from a computation. What is stored already is not written again unless that is wanted: the new index speaks of the
old data files, which are linked under the new name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.casting import CastLoss
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, Sharding, save_checkpoint
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, box_shape
from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray
from tensorkeep.checkpoint.storage import Linkable
from tensorkeep.dtypes import DType
from tensorkeep.edit.records import records_to_carry
from tensorkeep.embedding.stored.record_files import link_records
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress, Told
from tensorkeep.shapes import element_count


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor of an open checkpoint, as it is stored there."""

    reader: CheckpointReader
    name: str
    links: bool = True
    """Whether it may stay where it is, its data file being linked."""

    @property
    def dtype(self) -> DType:
        return self.reader[self.name].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.reader[self.name].shape

    @property
    def nbytes(self) -> int:
        return self.reader[self.name].nbytes


@dataclass(frozen=True, slots=True)
class Made:
    """A tensor that is worked out when it is written, some chunks at a time."""

    dtype: DType
    shape: tuple[int, ...]
    chunks: Callable[[], Iterator[Array]]
    slices: tuple[TensorSlice, ...] = ()
    """Slices of whole rows that it is stored in, in their order, if it takes the place of a hash table's tensor."""

    @property
    def nbytes(self) -> int:
        return element_count(self.shape) * self.dtype.itemsize


Origin: TypeAlias = Stored | Made
Plan: TypeAlias = Mapping[str, Origin]


@dataclass(frozen=True)
class EditOptions:
    """How an edited checkpoint is written."""

    compact: bool = False
    """Whether all data is written anew, so that nothing lies in the files that the new index does not speak of."""
    overwrite: bool = False
    """Whether a checkpoint that is there already may be replaced; be it the very one that is edited."""
    dry_run: bool = False
    """Whether only to find out what would be done. What can be wrong with the names is found out too."""
    durability: Durability = Durability.DISK
    progress: Progress | None = field(default=None, compare=False)
    only: frozenset[str] | None = None
    """The tensors of the new checkpoint that are written, where several processes write it together; all, if None."""

    def wants(self, name: str) -> bool:
        """Whether a tensor of the new checkpoint is to be written here."""
        return self.only is None or name in self.only


@dataclass(frozen=True)
class Written:
    """What an edit has written, or would have."""

    path: str
    """What `open_checkpoint` and TensorFlow open."""
    tensors: int
    linked_bytes: int
    """Of tensors that stayed where they were."""
    written_bytes: int
    is_dry_run: bool = False
    losses: Mapping[str, CastLoss] = field(default_factory=dict)
    """What other types did to the numbers of tensors that were cast: how many were lost, how many rounded."""

    def __str__(self) -> str:
        verb = "would hold" if self.is_dry_run else "holds"
        return (
            f'"{self.path}" {verb} {self.tensors:,} tensors: {self.linked_bytes:,} bytes linked, '
            f"{self.written_bytes:,} written"
        )


_DEFAULT = EditOptions()


def write_plan(
    target: PathLike,
    plan: Plan,
    options: EditOptions = _DEFAULT,
    *,
    sharding: Sharding | None = None,
    form: CheckpointFormat = CheckpointFormat.V2,
    fs: FileSystem = FILES,
) -> Written:
    """Writes the checkpoint that a plan describes: whole, or not at all."""
    path = path_text(target)
    plan = {name: origin for name, origin in plan.items() if options.wants(name)}
    if not plan:
        raise InvalidArgumentError(f'nothing would be left in "{path}": an edit has to leave at least one tensor')
    if not options.overwrite:
        require_free(path, fs)
    links = {name: link for name, origin in plan.items() if (link := _Link.of(origin)) is not None}
    if options.compact or sharding is not None or form is not CheckpointFormat.V2 or not _is_one_order(links, plan):
        links = {}
    stored = {name: origin for name, origin in plan.items() if isinstance(origin, Stored)}
    carried = records_to_carry(stored, path, fs)
    linked = sum(plan[name].nbytes for name in links)
    written = sum(origin.nbytes for name, origin in plan.items() if name not in links)
    if not options.dry_run:
        progress = Told(options.progress, written)
        values = {name: _value(plan[name], progress) for name in sorted(plan) if name not in links}
        for source, stem in carried:  # first: once the checkpoint is there, nothing may be missing
            link_records(fs, source, path, stem)
        if links:
            _write_linked(path, links, values, options, fs)
        else:
            save = SaveOptions(form, durability=options.durability)
            save = SaveOptions(form, sharding, durability=options.durability) if sharding is not None else save
            path = save_checkpoint(path, values, save, fs=fs)
    return Written(path, len(plan), linked, written, options.dry_run)


class TargetExistsError(AlreadyExistsError):
    """There is a checkpoint already where one shall be written."""

    def __init__(self, path: str) -> None:
        super().__init__(f'"{path}" exists already; say so if it shall be replaced, or choose another name')
        self.path = path


def require_free(path: str, fs: FileSystem) -> None:
    """AlreadyExistsError if there is a checkpoint of that name, in either format."""
    if fs.exists(index_path(path)) or (fs.exists(path) and not fs.is_directory(path)):
        raise TargetExistsError(path)


class _Link(NamedTuple):
    """A stored tensor that stays where it is."""

    checkpoint: Linkable
    name: str

    @classmethod
    def of(cls, origin: Origin) -> _Link | None:
        """The same tensor as a link; None if it has to be written."""
        checkpoint = origin.reader.linkable() if isinstance(origin, Stored) and origin.links else None
        return None if checkpoint is None or isinstance(origin, Made) else cls(checkpoint, origin.name)


def _is_one_order(links: Mapping[str, _Link], plan: Plan) -> bool:
    """Whether data files can be shared: those that are written here are little-endian."""
    orders = {link.checkpoint.header.byte_order for link in links.values()}
    return orders <= {"<"} or (len(orders) == 1 and len(links) == len(plan))


def _write_linked(
    path: str, links: Mapping[str, _Link], values: Mapping[str, Any], options: EditOptions, fs: FileSystem
) -> None:
    groups: dict[int, tuple[Linkable, dict[str, list[str]]]] = {}
    for name, link in links.items():
        _, names = groups.setdefault(id(link.checkpoint), (link.checkpoint, {}))
        names.setdefault(link.name, []).append(name)
    with BundleWriter(path, durability=options.durability, fs=fs) as writer:
        for name, value in values.items():
            if isinstance(value, PartitionedArray):
                for part, source in value.sources():
                    writer.add_slice(name, value.shape, part, source)
            else:
                writer.add(name, value)
        for checkpoint, names in groups.values():
            for turn in range(max(map(len, names.values()))):  # a tensor may be wanted under several names
                writer.link(checkpoint, {stored: new[turn] for stored, new in names.items() if turn < len(new)})


def _value(origin: Origin, progress: Told) -> Any:
    """A planned tensor in the form that is saved: computed ones are computed while they are written, stored ones keep
    their slices.
    """
    if isinstance(origin, Made):
        made = ArraySource(origin.dtype, origin.shape, progress.counted(origin.chunks()))
        return _in_slices(made, origin.slices) if origin.slices else made
    parts = origin.reader.slice_sources(origin.name)
    if not parts:
        return _counted_source(origin.reader.source(origin.name), progress)
    return PartitionedArray(origin.shape, [(part, _counted_source(source, progress)) for part, source in parts])


def _counted_source(source: ArraySource, progress: Told) -> ArraySource:
    return ArraySource(source.dtype, source.shape, progress.counted(map(np.asarray, source.chunks)))


def _in_slices(source: ArraySource, slices: Sequence[TensorSlice]) -> PartitionedArray:
    """A tensor cut into slices of whole rows. They are gone through in their order, for its elements come once."""
    elements = _Elements(source.chunks)
    shapes = [box_shape(part.box(source.shape)) for part in slices]
    return PartitionedArray(
        source.shape,
        [
            (part, ArraySource(source.dtype, shape, elements.take(element_count(shape))))
            for part, shape in zip(slices, shapes, strict=True)
        ],
    )


class _Elements:
    """The elements of chunks, so many at a time."""

    def __init__(self, chunks: Iterable[npt.ArrayLike]) -> None:
        self._chunks = iter(chunks)
        self._rest: Array | None = None

    def take(self, count: int) -> Iterator[Array]:
        """The next elements; fewer if there are no more."""
        while count:
            if self._rest is None or not self._rest.size:
                chunk = next(self._chunks, None)
                if chunk is None:
                    return
                self._rest = np.asarray(chunk).reshape(-1)
            taken, self._rest = self._rest[:count], self._rest[count:]
            count -= taken.size
            yield taken
