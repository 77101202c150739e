"""Trees of arrays as object-based checkpoints: those that `tf.train.Checkpoint` reads and writes.

    tensorkeep.save_objects("run/ckpt-1", {"model": {"kernel": w, "bias": b}, "step": 7})
    tensorkeep.load_objects("run/ckpt-1")["model"]["kernel"]

TensorFlow restores the first into `tf.train.Checkpoint(model=..., step=...)` whose `model` has variables of these
names, be it a dictionary or an object with attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.graph import ATTRIBUTES, describe_objects, parse_object_graph
from tensorkeep.checkpoint.objects.reader import SLOTS, VARIABLE_VALUE, stored_objects
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.messages import TrackableObjectGraph, serialize


class _Leaf:
    """Something that is stored as one tensor."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _TreeView:
    """Nested dictionaries, lists and tuples; everything else in them is a leaf."""

    def __init__(self) -> None:
        self._nodes: dict[int, tuple[Any, Any]] = {}

    def node(self, value: Any) -> Any:
        """The object that stands for a part of the tree; the same one for the same part, wherever it occurs."""
        if isinstance(value, Mapping) or _is_sequence(value):
            return value
        return self._nodes.setdefault(id(value), (_Leaf(value), value))[0]

    def children(self, item: Any) -> Mapping[str, Any]:
        if isinstance(item, _Leaf):
            return {}
        if isinstance(item, Mapping):
            if wrong := [key for key in item if not isinstance(key, str)]:
                raise InvalidArgumentError(f"names of objects are text, got {wrong[0]!r}; among {list(item)[:5]}")
            return {key: self.node(value) for key, value in item.items()}
        return {str(at): self.node(value) for at, value in enumerate(item)}

    def attributes(self, item: Any) -> Sequence[str]:
        return (VARIABLE_VALUE,) if isinstance(item, _Leaf) else ()

    def full_name(self, item: Any) -> str:
        return ""

    def slot_names(self, item: Any) -> Sequence[str]:
        return ()

    def slot(self, optimizer: Any, variable: Any, name: str) -> None:
        return None


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) and not isinstance(value, ArraySource | PartitionedArray)


def save_objects(
    prefix: PathLike,
    tree: Mapping[str, Any],
    options: SaveOptions = SaveOptions(),
    *,
    fs: FileSystem = FILES,
) -> str:
    """Saves nested dictionaries, lists and tuples of arrays, and returns the prefix.

    An array that occurs twice is stored once. Anything that `save_checkpoint` takes will do as a leaf. A list of
    numbers is a list of scalars, each a tensor of its own: make an array of it to store it as one.
    """
    if not isinstance(tree, Mapping):
        raise InvalidArgumentError(f"expected a dictionary of objects by name, got {type(tree).__name__}")
    described = describe_objects(tree, _TreeView())
    if not described.attributes:
        raise InvalidArgumentError(f'no arrays to save to "{path_text(prefix)}": the tree has no leaves')
    tensors = {attribute.key: attribute.item.value for attribute in described.attributes}
    tensors[OBJECT_GRAPH_KEY] = serialize(described.graph)
    return save_checkpoint(prefix, tensors, options, fs=fs)


def load_objects(path: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = FILES) -> dict[str, Any]:
    """The arrays of an object-based checkpoint as nested dictionaries.

    Children that are named "0", "1", "2" and so on come as a list. What leads back to an object above is left out. Of
    an object that saves more than a variable's value, that is under ".ATTRIBUTES"; the slots of an optimizer are
    under ".OPTIMIZER_SLOT", by name and then by the key of the variable.
    """
    with open_checkpoint(path, options, fs=fs) as reader:
        if OBJECT_GRAPH_KEY not in reader:
            raise NotFoundError(
                f'"{reader.path}" is not an object-based checkpoint: it has no {OBJECT_GRAPH_KEY}; read it with '
                "load_tensors"
            )
        graph = parse_object_graph(*stored_objects(reader))
        found = _Loader(graph, reader).load()
    return found if isinstance(found, dict) else {"": found}


class _Loader:
    """Makes dictionaries of stored objects, from the leaves up, without recursion: paths can be long."""

    def __init__(self, graph: TrackableObjectGraph, reader: CheckpointReader) -> None:
        self._graph = graph
        keys = {item.checkpoint_key for node in graph.nodes for item in node.attributes}
        named = {key: [key] if key in reader else [] for key in keys}
        for name in reader:
            base, dash, _ = name.rpartition("-")  # a table has two tensors, whose names continue the one that is stored
            if dash and base in named and name not in named:
                named[base].append(name)
        missing = sorted(key for key, names in named.items() if not names)
        if missing:
            raise DataLossError(f'"{reader.path}": its objects refer to tensors that it does not hold: {missing[:5]}')
        self._named = named
        self._arrays = reader.read_many(sorted({name for names in named.values() for name in names}))
        self._made: dict[int, Any] = {}

    def load(self) -> Any:
        open_nodes = {0}
        stack = [(0, iter(self._graph.nodes[0].children))]
        kept: dict[int, list[tuple[str, int]]] = {0: []}
        while stack:
            at, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                open_nodes.discard(at)
                self._made[at] = self._object(at, kept.pop(at))
            elif child.node_id not in open_nodes:
                kept[at].append((child.local_name, child.node_id))
                if child.node_id not in self._made:
                    open_nodes.add(child.node_id)
                    kept[child.node_id] = []
                    stack.append((child.node_id, iter(self._graph.nodes[child.node_id].children)))
        return self._made[0]

    def _object(self, at: int, children: Sequence[tuple[str, int]]) -> Any:
        node = self._graph.nodes[at]
        values = {
            item.name + name[len(item.checkpoint_key) :]: self._arrays[name]
            for item in node.attributes
            for name in self._named[item.checkpoint_key]
        }
        if not children and not node.slot_variables and values.keys() == {VARIABLE_VALUE}:
            return values[VARIABLE_VALUE]
        found: dict[str, Any] = {name: self._made[number] for name, number in children}
        if values:
            found[ATTRIBUTES] = values
        if node.slot_variables:
            found[SLOTS] = self._slots(at)
        if found and at and list(found) == [str(number) for number in range(len(found))]:
            return list(found.values())
        return found

    def _slots(self, at: int) -> dict[str, dict[str, Array]]:
        found: dict[str, dict[str, Array]] = {}
        for slot in self._graph.nodes[at].slot_variables:
            variable = self._key(slot.original_variable_node_id)
            stored = self._key(slot.slot_variable_node_id)
            if variable is not None and stored is not None:
                found.setdefault(slot.slot_name, {})[variable] = self._arrays[self._named[stored][0]]
        return found

    def _key(self, at: int) -> str | None:
        attributes = self._graph.nodes[at].attributes
        return attributes[0].checkpoint_key if attributes else None
