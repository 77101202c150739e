"""Saves and restores whatever can be reached from an object, by operations of a graph.

The operations are TensorFlow's, with its names and in its order:

    Const, Const_1                       the graph of objects and the prefix, which a run feeds
    StringJoin, SaveV2 ...               write one part per task, MergeV2Checkpoints joins them
    Const_2                              the prefix of a checkpoint to restore
    RestoreV2, Assign ...                one reading operation for each slot, and one for all else

They are added when they are first needed, and again when there are other objects. Arrays have no operations: they are
fed when they are saved, and filled when they are restored.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.objects.graph import (
    Attribute,
    Binding,
    DescribedObjects,
    ObjectView,
    describe_objects,
    parse_object_graph,
)
from tensorkeep.checkpoint.objects.reader import stored_objects
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.dtypes import DType
from tensorkeep.embedding.stored.leftovers import remove_parts_of
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building, control_dependencies, current_graph, device, init_scope, is_building
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.saveable import Saveable, SaveSpec
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.ops.files.checkpoints import (
    merge_v2_checkpoints,
    restore_v2,
    save_v2,
    sharded_filename,
)
from tensorkeep.proto.messages import TrackableObjectGraph, serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saving.save_order import do_alone
from tensorkeep.tf1.functions.arrays.shapes import where
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.parsing.strings import regex_full_match, string_join
from tensorkeep.tf1.training.savers.saver_graph import on_processor
from tensorkeep.tf1.variables.resource import ResourceVariable
from tensorkeep.tf1.variables.saveable import ReferenceVariableSaveable, ResourceVariableSaveable, base_dtype
from tensorkeep.tf1.variables.variable import Variable


@contextmanager
def in_graph(graph: Graph) -> Iterator[None]:
    """Operations go to a graph; if it is the one being built, with the scopes in force."""
    if is_building() and current_graph() is graph:
        yield
    else:
        with building(graph):
            yield


def saveables_of(attribute: Attribute) -> Sequence[Saveable]:
    """How something of a graph is saved under its key."""
    item = attribute.item
    if isinstance(item, ResourceVariable):
        return [ResourceVariableSaveable(item, "", attribute.key)]
    if isinstance(item, Variable):
        return [ReferenceVariableSaveable(item, "", attribute.key)]
    saveables = list(item._saveables(attribute.key))
    for saveable in saveables:
        saveable.name = item.name  # by which the operations that restore a table are called
    return saveables


class ObjectSaver:
    """Saves and restores the objects that a view shows from a root."""

    def __init__(self) -> None:
        self._feeds: tuple[Tensor, Tensor] | None = None
        self._saved_graph: TrackableObjectGraph | None = None
        self._save: Tensor | None = None
        self._array_feeds: dict[int, tuple[Tensor, Any]] = {}
        self._prefix: Tensor | None = None
        self._restored: dict[tuple[str, int], _Restored] = {}

    # ------------------------------------------------------------------------------------------------ save

    def save(self, session: Session, root: object, view: ObjectView, prefix: str, place: str | None = None) -> str:
        """Writes a checkpoint, and returns its prefix. `place` is the device that writes, if not each its own."""
        fs = session.surroundings.filesystem
        with in_graph(session.graph):
            if self._feeds is None:
                with device("/cpu:0"):
                    self._feeds = (constant("", "string"), constant("", "string"))
            _make_folder(fs, prefix)
            described = describe_objects(root, view)
            if self._save is None or self._saved_graph != described.graph:
                self._save = self._build_save(described, place)
                self._saved_graph = described.graph
        feeds: dict[Any, Any] = dict(zip(self._feeds, (serialize(described.graph), prefix), strict=True))
        for tensor, array in self._array_feeds.values():
            feeds[tensor] = array
        jobs: list[Callable[[], None]] = []
        access = CheckpointAccess(submit=jobs.append)
        written: bytes = session.run(self._save, feeds, checkpoints=access)
        do_alone([partial(remove_parts_of, prefix, fs), *jobs], fs, prefix, access.durability)
        return written.decode()

    def _build_save(self, described: DescribedObjects, writer: str | None) -> Tensor:
        assert self._feeds is not None
        object_graph, prefix = self._feeds
        self._array_feeds = {}
        pieces: dict[str, list[SaveSpec]] = {}
        for attribute in described.attributes:
            for spec in self._specs(attribute):
                pieces.setdefault(on_processor(spec.device), []).append(spec)
        own = SaveSpec(object_graph, "", OBJECT_GRAPH_KEY)
        pieces.setdefault(on_processor(own.device), []).append(own)
        with device("CPU"):
            is_remote = regex_full_match(prefix, "^s3://.*")
            suffix = where(is_remote, constant(".part"), constant("_temp/part"))
            temporary = string_join([prefix, suffix])
        merged = _save_shards(prefix, temporary, {task: _read(specs) for task, specs in pieces.items()}, writer)
        with device("/cpu:0"), control_dependencies([merged]):
            saved: Tensor = identity(prefix)
            return saved

    def _specs(self, attribute: Attribute) -> Sequence[Any]:
        array = attribute.item
        if not isinstance(array, np.ndarray):
            return [spec for saveable in saveables_of(attribute) for spec in saveable.specs]
        fed: Tensor = placeholder(dtype=array.dtype, shape=array.shape)
        self._array_feeds[id(array)] = (fed, array)
        return [SaveSpec(fed, "", attribute.key)]

    # ------------------------------------------------------------------------------------------------ restore

    def prefix_feed(self) -> Tensor:
        """What a run feeds with the prefix of the checkpoint to restore."""
        if self._prefix is None:
            with device("/cpu:0"):
                self._prefix = constant("model")
        return self._prefix

    def restore_operations(self, attributes: Sequence[Attribute], stored: Container[str]) -> list[Operation]:
        """Operations that restore what was stored under these keys; those that there are already are used again.

        Not, though, one that reads together with others what is not among those `stored` now.
        """
        known = [self._restored.get((item.key, id(item.item))) for item in attributes]
        usable = [made is not None and all(key in stored for key in made.read_with) for made in known]
        found = [made.operation for made, is_usable in zip(known, usable, strict=True) if made and is_usable]
        new = [item for item, is_usable in zip(attributes, usable, strict=True) if not is_usable]
        return found + self._build_restore(sorted(new, key=lambda item: item.key))

    def names_read(self, attributes: Sequence[Attribute]) -> set[str]:
        """The tensors that the operations read which restore these, those of others among them."""
        found = [self._restored.get((item.key, id(item.item))) for item in attributes]
        return {name for made in found if made is not None for name in made.read_with}

    def _build_restore(self, attributes: Sequence[Attribute]) -> list[Operation]:
        tasks: dict[str, list[tuple[Attribute, Saveable]]] = {}
        for attribute in attributes:
            for saveable in saveables_of(attribute):
                tasks.setdefault(on_processor(saveable.specs[0].device), []).append((attribute, saveable))
        made: list[Operation] = []
        for task, pairs in tasks.items():
            specs = [spec for _, saveable in pairs for spec in saveable.specs]
            names = tuple(spec.name for spec in specs)
            with init_scope(), device(task):
                with device("cpu:0"):
                    slices, dtypes = [spec.slice_spec for spec in specs], list(map(base_dtype, specs))
                    tensors = iter(restore_v2(self.prefix_feed(), list(names), slices, dtypes=dtypes))
                for attribute, saveable in pairs:
                    restored = saveable.restore([next(tensors) for _ in saveable.specs], None)
                    operation: Operation = restored.op if isinstance(restored, Tensor) else restored
                    key = (attribute.key, id(attribute.item))
                    self._restored[key] = _Restored(operation, attribute.item, names)
                    made.append(operation)
        return made


class _Restored(NamedTuple):
    """An operation that restores something."""

    operation: Operation
    item: Any
    """What it restores: it must outlive its identity."""
    read_with: tuple[str, ...]
    """The names of all tensors that are read along."""


def _read(specs: Sequence[SaveSpec]) -> list[tuple[str, str, Tensor]]:
    """Names, slices and tensors; what reads the tensors is added now."""
    found: list[tuple[str, str, Tensor]] = []
    for spec in specs:
        with device(spec.device):
            found.append((spec.name, spec.slice_spec, spec.tensor))
    return found


def _save_shards(
    prefix: Tensor, temporary: Tensor, shards: Mapping[str, Sequence[tuple[str, str, Any]]], writer: str | None
) -> Operation:
    """An operation that has written all shards and joined them."""
    count = constant(len(shards), name="num_shards")
    prefixes: list[Tensor] = []
    saves: list[Operation] = []
    for number, (task, pieces) in enumerate(shards.items()):
        keys, slice_specs, tensors = (list(column) for column in zip(*pieces, strict=True))
        with device(task):
            prefixes.append(sharded_filename(temporary, number, count))
        with device(writer or task):
            saves.append(save_v2(prefixes[-1], keys, slice_specs, tensors))
    with control_dependencies(saves), device(writer or list(shards)[-1]):
        merged: Operation = merge_v2_checkpoints(prefixes, prefix, delete_old_dirs=True)
        return merged


def _make_folder(fs: FileSystem, prefix: str) -> None:
    folder = prefix.rpartition("/")[0]
    if folder:
        fs.make_directory(folder)


def save_arrays(root: object, view: ObjectView, prefix: str, fs: FileSystem) -> str:
    """Writes a checkpoint of objects none of which is of a graph."""
    described = describe_objects(root, view)
    tensors: dict[str, Any] = {attribute.key: attribute.item for attribute in described.attributes}
    tensors[OBJECT_GRAPH_KEY] = serialize(described.graph)
    return save_checkpoint(prefix, tensors, fs=fs)


class Restoration:
    """The restoring of one checkpoint into objects, which may be made after it was begun."""

    def __init__(
        self, saver: ObjectSaver, root: object, view: ObjectView, reader: CheckpointReader, fs: FileSystem
    ) -> None:
        self.binding = Binding(parse_object_graph(*stored_objects(reader)))
        self.path = reader.path
        self.root = root
        self.view = view
        self.unused: dict[int, list[str]] = {}
        """Attributes that are stored of an object that has no such, by the number of the object."""
        self._saver = saver
        self._fs = fs
        self._infos = dict(reader)
        self._operations: list[Operation] = []
        self._found: list[Attribute] = []

    @property
    def needs_session(self) -> bool:
        """Whether variables are to be restored, and not arrays only."""
        return bool(self._operations)

    def extend(self) -> None:
        """Looks for objects that have been made since: arrays are filled, for variables operations are added."""
        arrays: list[Attribute] = []
        for group in self.binding.extend(self.root, self.view):
            attributes = [item for number, found in group for item in self._attributes(number, found)]
            arrays += [item for item in attributes if isinstance(item.item, np.ndarray)]
            of_graph = [item for item in attributes if not isinstance(item.item, np.ndarray)]
            if of_graph:
                with in_graph(_graph_of(of_graph)):
                    self._operations += self._saver.restore_operations(of_graph, self._infos)
            self._found += of_graph
        if arrays:  # all that is found so far is looked at before the first of them is filled
            self._check([*arrays, *self._found])
            with open_prefix(self.path, ReadOptions(Checksums.ONCE), self._fs) as reader:
                reader.verify_many({item.key for item in arrays} | self._saver.names_read(self._found))
                for item in arrays:
                    item.item[...] = reader.read(item.key)

    def run(self, session: Session) -> None:
        """Restores the variables; an error names all whose type or shape is another one, and then none is set.

        Nor is any if the checkpoint is damaged.
        """
        self._check(self._found)
        reader = open_prefix(self.path, ReadOptions(Checksums.ONCE), session.surroundings.filesystem)
        # One reader for all operations: there is one for each slot.
        checkpoint = SurveyedCheckpoint(reader)
        access = CheckpointAccess(open=lambda prefix: checkpoint, checks_first=False)
        with reader:
            reader.verify_many(self._saver.names_read(self._found))
            session.run(self._operations, {self._saver.prefix_feed(): self.path}, checkpoints=access)

    def _attributes(self, number: int, item: Any) -> Iterator[Attribute]:
        known = self.view.attributes(item)
        for attribute in self.binding.graph.nodes[number].attributes:
            if attribute.name in known:
                yield Attribute(item, attribute.name, attribute.checkpoint_key)
            else:
                self.unused.setdefault(number, []).append(attribute.name)

    def _check(self, attributes: Sequence[Attribute]) -> None:
        wrong = [problem for item in attributes if (problem := self._problem(item)) is not None]
        if wrong:
            raise InvalidArgumentError(f'"{self.path}" cannot be restored into these objects:\n' + "\n".join(wrong))

    def _problem(self, attribute: Attribute) -> str | None:
        item = attribute.item
        if not isinstance(item, Variable | np.ndarray):
            return None  # a table checks for itself
        stored = self._infos.get(attribute.key)
        if stored is None:
            raise NotFoundError(f"Key {attribute.key} not found in checkpoint")
        if not _fits(_shape_of(item), stored.shape):
            return (
                f"Received incompatible tensor with shape {tuple(stored.shape)} when attempting to restore variable "
                f"with shape {_shape_of(item)} and name {attribute.key}."
            )
        wanted = DType.of(item.dtype).base_dtype
        if stored.dtype is not wanted:
            return (
                f"tensor_name = {attribute.key}; expected dtype {wanted.label} does not equal original dtype "
                f"{stored.dtype.label}"
            )
        if isinstance(item, np.ndarray) and not item.flags.writeable:
            return f"The array for {attribute.key} is read-only."
        return None


def _shape_of(item: Any) -> tuple[int | None, ...] | None:
    if isinstance(item, np.ndarray):
        return tuple(item.shape)
    return None if item.shape.ndims is None else tuple(item.shape.as_list())


def _fits(wanted: Sequence[int | None] | None, found: Sequence[int]) -> bool:
    if wanted is None:
        return True
    pairs = zip(wanted, found, strict=False)
    return len(wanted) == len(found) and all(size is None or size == other for size, other in pairs)


def _graph_of(attributes: Sequence[Attribute]) -> Graph:
    item = attributes[0].item
    graph: Graph = item.graph if isinstance(item, Variable) else current_graph()
    return graph
