"""Object-based checkpoints (TensorFlow 2): the same bundle, seen through the objects it was saved from.

Such a checkpoint has one more tensor, a string that holds a TrackableObjectGraph: the objects, their children by
name, the attributes each saved, with the key of the tensor that holds it, and which variables are an optimizer's
slots for which others. Plain keys are paths through this graph, escaped, plus ".ATTRIBUTES/" and the attribute.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.stitched_reading import Rows
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.storage import Place, StoredBytes
from tensorkeep.checkpoint.views import ReaderView
from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.proto.messages import TrackableObjectGraph, parse

VARIABLE_VALUE: Final = "VARIABLE_VALUE"
SLOTS: Final = ".OPTIMIZER_SLOT"

# A chain of objects has paths whose lengths add up to the square of its own, so a hostile graph could fill the memory.
_PATHS: Final = 1 << 20
_PATHS_EXPANSION: Final = 16


@dataclass(frozen=True, slots=True)
class SavedAttribute:
    """One saved value of an object."""

    path: str
    """Where the object was: names of children, each "/" in one written ".S" and "." written "..", joined by "/"."""
    attribute: str
    """What of it was saved: VARIABLE_VALUE for a variable."""
    full_name: str
    """The variable's name in a graph, if it had one."""
    key: str
    """The tensor that holds it. A few objects, such as hash tables, save several whose names begin with this."""

    @property
    def label(self) -> str:
        """The path for a variable's value; for anything else, the path and the attribute."""
        return self.path if self.attribute == VARIABLE_VALUE else f"{self.path}.{self.attribute}"


@dataclass(frozen=True, slots=True)
class SlotVariable:
    """A variable that an optimizer keeps for another one, such as its momentum."""

    optimizer: str
    slot: str
    variable: str
    path: str
    """Where the slot variable itself is; paths are those of `SavedAttribute`."""


def stored_objects(reader: CheckpointReader) -> tuple[bytes, str]:
    """The graph of objects that a checkpoint holds, serialized, and what it is called in messages."""
    value = reader.read(OBJECT_GRAPH_KEY)
    what = f'"{reader.path}": object graph'
    if value.ndim or not isinstance(value.item(), bytes):
        raise DataLossError(f"{what}: expected one string, got {reader[OBJECT_GRAPH_KEY]}")
    return value.item(), what


@dataclass(frozen=True)
class ObjectGraph:
    """The objects of a checkpoint."""

    attributes: tuple[SavedAttribute, ...]
    slots: tuple[SlotVariable, ...]
    children: tuple[Mapping[str, int], ...]
    """For each object, its children by name; object 0 is the root."""
    keys: tuple[Mapping[str, str], ...] = ()
    """For each object, the keys of the tensors that hold its saved attributes, by attribute."""

    @classmethod
    def read(cls, reader: CheckpointReader) -> ObjectGraph:
        """The objects of an open checkpoint; NotFoundError if it was not saved from objects."""
        if OBJECT_GRAPH_KEY not in reader:
            raise NotFoundError(f'"{reader.path}" is not an object-based checkpoint: it has no {OBJECT_GRAPH_KEY}')
        return cls.parse(*stored_objects(reader))

    @classmethod
    def parse(cls, data: bytes, what: str = "object graph") -> ObjectGraph:
        """The objects that a serialized TrackableObjectGraph describes."""
        message = parse(TrackableObjectGraph, data, what)
        nodes = message.nodes
        children = tuple({child.local_name: child.node_id for child in node.children} for node in nodes)
        for node in nodes:
            named = [child.node_id for child in node.children]
            for slot in node.slot_variables:
                named += (slot.original_variable_node_id, slot.slot_variable_node_id)
            if any(not 0 <= number < len(nodes) for number in named):
                raise DataLossError(f"{what}: objects {named} are referred to, there are {len(nodes)}")
        paths = _paths(message, _PATHS + _PATHS_EXPANSION * len(data), what)
        attributes = tuple(
            SavedAttribute(paths[at], item.name, item.full_name, item.checkpoint_key)
            for at, node in enumerate(nodes)
            for item in node.attributes
        )
        slots = tuple(
            SlotVariable(
                paths[at], slot.slot_name, paths[slot.original_variable_node_id], paths[slot.slot_variable_node_id]
            )
            for at, node in enumerate(nodes)
            for slot in node.slot_variables
        )
        keys = tuple({item.name: item.checkpoint_key for item in node.attributes} for node in nodes)
        return cls(attributes, slots, children, keys)

    def keys_by_path(self) -> dict[str, str]:
        """The tensors by the paths of their objects: "model/dense/kernel" for a variable's value."""
        return {item.label: item.key for item in self.attributes}

    def keys_by_full_name(self) -> dict[str, str]:
        """The tensors by the names their variables had in a graph, such as "dense/kernel".

        Where several variables had one name, the last one counts, as in TensorFlow.
        """
        return {item.full_name: item.key for item in self.attributes}

    def key_of(self, path: str, attribute: str = VARIABLE_VALUE) -> str:
        """The key of the tensor that holds an attribute of the object at a path: any path, not only the shortest."""
        for item in self.attributes:  # slot variables are nobody's children, but have a path here
            if (item.path, item.attribute) == (path, attribute):
                return item.key
        saved = self.keys[self.find(path)]
        if attribute not in saved:
            known = ", ".join(sorted(saved)) or "nothing"
            raise NotFoundError(f'object "{path}" saved no {attribute}; it saved {known}')
        return saved[attribute]

    def find(self, path: str) -> int:
        """The object at a path from the root; not only the shortest path to an object will do."""
        at = 0
        for step in path.split("/") if path else []:
            child = self.children[at].get(unescape_name(step)) if at < len(self.children) else None
            if child is None:
                known = ", ".join(sorted(map(escape_name, self.children[at]))) if at < len(self.children) else ""
                raise NotFoundError(f'no object "{path}": there is no "{step}"; children there: {known or "none"}')
            at = child
        return at


def escape_name(name: str) -> str:
    """A child's name as a step of a path."""
    return name.replace(".", "..").replace("/", ".S")


def unescape_name(step: str) -> str:
    return re.sub(r"\.([.S])", lambda found: "." if found[1] == "." else "/", step)


def _paths(message: TrackableObjectGraph, most: int, what: str) -> list[str]:
    """A shortest path from the root to each object, as TensorFlow names them: breadth first, children in order."""
    paths: dict[int, str] = {0: ""}
    total = 0

    def remember(number: int, path: str) -> None:
        nonlocal total
        total += len(path)
        if total > most:
            raise DataLossError(f"{what}: the paths of its objects take more than {most} characters")
        paths[number] = path

    queue = deque([0] if message.nodes else [])
    while queue:
        at = queue.popleft()
        for child in message.nodes[at].children:
            if child.node_id not in paths:
                step = escape_name(child.local_name)
                remember(child.node_id, f"{paths[at]}/{step}" if paths[at] else step)
                queue.append(child.node_id)
    for at, node in enumerate(message.nodes):
        for slot in node.slot_variables:  # which are nobody's children
            variable, optimizer = paths.get(slot.original_variable_node_id), paths.get(at)
            if variable is not None and optimizer is not None and slot.slot_variable_node_id not in paths:
                path = f"{variable}/{SLOTS}/{optimizer}/{escape_name(slot.slot_name)}"
                remember(slot.slot_variable_node_id, path)
    return [paths.get(at, f"(object {at})") for at in range(len(message.nodes))]


class RenamedReader(ReaderView):
    """A checkpoint seen under other names: a mapping from each new name to the name it has in the file."""

    def __init__(self, reader: CheckpointReader, names: Mapping[str, str]) -> None:
        self._names = dict(sorted(names.items()))
        super().__init__(reader, self._names)
        if missing := sorted({key for key in self._names.values() if key not in reader}):
            raise NotFoundError(f'"{reader.path}" holds no tensors {missing[:5]}, which new names refer to')

    def _reopening(self) -> tuple[object, ...]:
        return (self._reader, self._names)  # which is pickled by itself

    @property
    def stored(self) -> CheckpointReader:
        """The checkpoint under the names that it has in its files."""
        return self._reader

    @classmethod
    def by_path(cls, reader: CheckpointReader) -> RenamedReader:
        """An object-based checkpoint by the paths of its objects."""
        return cls._of_objects(reader, ObjectGraph.read(reader).keys_by_path())

    @classmethod
    def by_full_name(cls, reader: CheckpointReader) -> RenamedReader:
        """An object-based checkpoint by the names its variables had."""
        names = ObjectGraph.read(reader).keys_by_full_name()
        return cls._of_objects(reader, {name: key for name, key in names.items() if name})

    @classmethod
    def _of_objects(cls, reader: CheckpointReader, names: Mapping[str, str]) -> RenamedReader:
        found = {}
        for name, key in names.items():
            if key in reader:
                found[name] = key
                continue
            # A table saves its keys and values as two tensors whose names continue the one in the object graph.
            found.update({name + other[len(key) :]: other for other in reader if other.startswith(f"{key}-")})
        return cls(reader, found)

    def __getitem__(self, name: str) -> TensorInfo:
        return self._reader[self._key(name)]

    def source(self, name: str) -> ArraySource:
        return self._reader.source(self._key(name))

    def places(self, names: Iterable[str] | None = None) -> Iterator[tuple[str, tuple[Place, ...]]]:
        wanted = list(self if names is None else names)
        found = self._reader.places(map(self._key, wanted))
        return ((name, places) for name, (_, places) in zip(wanted, found, strict=True))

    def stored_bytes(self, name: str) -> StoredBytes | None:
        return self._reader.stored_bytes(self._key(name))

    def verify(self, name: str) -> None:
        self._reader.verify(self._key(name))

    def verify_many(self, names: Iterable[str], *, threads: int | None = None) -> None:
        self._reader.verify_many({self._key(name) for name in names}, threads=threads)

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        return self._reader.read(self._key(name), copy=copy)

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        return self._reader.read(self._key(name), part, copy=copy)

    def _read_into(self, name: str, info: TensorInfo, array: Array) -> None:
        self._reader.read_into(self._key(name), array)

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        return self._reader.read_rows(self._key(name), rows)

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        found = self._reader.read_many([self._key(name) for name in names], threads=threads, copy=copy)
        return {name: found[self._key(name)] for name in names}

    def _key(self, name: str) -> str:
        key = self._names.get(name)
        if key is None:
            raise self._not_found(name)
        return key
