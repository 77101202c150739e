"""From objects to the graph of them that a checkpoint holds, and from that graph back to objects.

Objects are numbered breadth first from the root, children in their order, each once however many ways lead to it; then
come the variables that optimizers keep for others. What an object saves goes by the way to it:

    key       = path "/.ATTRIBUTES/" attribute
    path      = step ("/" step)*                                    a shortest one; "" for the root
    slot path = path of the variable "/.OPTIMIZER_SLOT/" path of the optimizer "/" step

where a step is a name with "." doubled and "/" written ".S". What kinds of objects there are, this module does not
know: an `ObjectView` tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tensorkeep.checkpoint.objects.reader import SLOTS, escape_name
from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.proto.messages import TrackableObjectGraph, parse

ATTRIBUTES: Final = ".ATTRIBUTES"


class ObjectView(Protocol):
    """What objects consist of."""

    def children(self, item: Any) -> Mapping[str, Any]:
        """The objects that an object refers to, by name, in order."""
        ...

    def attributes(self, item: Any) -> Sequence[str]:
        """The names of what the object itself saves."""
        ...

    def full_name(self, item: Any) -> str:
        """The name that it has in a graph; "" if it has none."""
        ...

    def slot_names(self, item: Any) -> Sequence[str]:
        """The names of the slots that it keeps for variables; none, unless it is an optimizer."""
        ...

    def slot(self, optimizer: Any, variable: Any, name: str) -> Any | None:
        """The slot of an object; None if there is none."""
        ...


@dataclass(frozen=True)
class Attribute:
    """Something that an object saves, and the key of it."""

    item: Any
    name: str
    key: str


@dataclass(frozen=True)
class DescribedObjects:
    """All objects that can be reached from one, and what a checkpoint says of them."""

    objects: tuple[Any, ...]
    attributes: tuple[Attribute, ...]
    """What they save, in the order of the objects."""
    graph: TrackableObjectGraph


def reachable_objects(root: Any, view: ObjectView) -> tuple[list[Any], dict[int, str]]:
    """The objects that can be reached, breadth first, and the path to each, by its identity."""
    paths = {id(root): ""}
    found = [root]
    queue = deque([root])
    while queue:
        current = queue.popleft()
        above = paths[id(current)]
        for name, child in view.children(current).items():
            if id(child) not in paths:
                step = escape_name(name)
                paths[id(child)] = f"{above}/{step}" if above else step
                found.append(child)
                queue.append(child)
    return found, paths


@dataclass(frozen=True)
class _Slot:
    name: str
    variable: int
    slot: int


def _add_slots(objects: list[Any], paths: dict[int, str], view: ObjectView) -> dict[int, list[_Slot]]:
    """Appends the slots of all optimizers to the objects; says which belong to the optimizer of that number."""
    numbers = {id(item): at for at, item in enumerate(objects)}
    plain = tuple(objects)
    found: dict[int, list[_Slot]] = {}
    for at, optimizer in enumerate(plain):
        for name in view.slot_names(optimizer):
            for number, variable in enumerate(plain):
                slot = view.slot(optimizer, variable, name)
                if slot is None:
                    continue
                if id(slot) in numbers:
                    raise UnimplementedError(
                        f"A slot variable was re-used as a dependency of a Trackable object: {slot}. This is not "
                        "currently allowed."
                    )
                paths[id(slot)] = f"{paths[id(variable)]}/{SLOTS}/{paths[id(optimizer)]}/{escape_name(name)}"
                numbers[id(slot)] = len(objects)
                found.setdefault(at, []).append(_Slot(name, number, len(objects)))
                objects.append(slot)
    return found


def describe_objects(root: Any, view: ObjectView) -> DescribedObjects:
    """What TensorFlow would write of the same objects."""
    objects, paths = reachable_objects(root, view)
    slots = _add_slots(objects, paths, view)
    numbers = {id(item): at for at, item in enumerate(objects)}
    graph = TrackableObjectGraph()
    attributes: list[Attribute] = []
    for at, item in enumerate(objects):
        node = graph.nodes.add()
        for name, child in view.children(item).items():
            node.children.add(node_id=numbers[id(child)], local_name=name)
        for slot in slots.get(at, ()):
            node.slot_variables.add(
                original_variable_node_id=slot.variable, slot_name=slot.name, slot_variable_node_id=slot.slot
            )
        for attribute in view.attributes(item):
            key = f"{paths[id(item)]}/{ATTRIBUTES}/{escape_name(attribute)}"
            attributes.append(Attribute(item, attribute, key))
            node.attributes.add(name=attribute, checkpoint_key=key, full_name=view.full_name(item))
    _mark_values(graph)
    return DescribedObjects(tuple(objects), tuple(attributes), graph)


def _mark_values(graph: TrackableObjectGraph) -> None:
    """Says of each object whether it or anything below it saves something."""
    parents: dict[int, list[int]] = {}
    for at, node in enumerate(graph.nodes):
        for child in node.children:
            parents.setdefault(child.node_id, []).append(at)
    pending = [at for at, node in enumerate(graph.nodes) if node.attributes or node.slot_variables]
    found = set(pending)
    while pending:
        for parent in parents.get(pending.pop(), ()):
            if parent not in found:
                found.add(parent)
                pending.append(parent)
    for at, node in enumerate(graph.nodes):
        node.has_checkpoint_values.value = at in found


def parse_object_graph(data: bytes, what: str) -> TrackableObjectGraph:
    """A stored graph of objects, all of whose references lead somewhere."""
    graph = parse(TrackableObjectGraph, data, what)
    for node in graph.nodes:
        named = [child.node_id for child in node.children]
        for slot in node.slot_variables:
            named += (slot.original_variable_node_id, slot.slot_variable_node_id)
        if any(not 0 <= number < len(graph.nodes) for number in named):
            raise DataLossError(f"{what}: objects {named} are referred to, there are {len(graph.nodes)}")
    if not graph.nodes:
        raise DataLossError(f"{what}: it has no objects, not even a root")
    return graph


def node_names(graph: TrackableObjectGraph, wanted: Iterable[int]) -> list[str]:
    """Names for people of stored objects: "(root).model.kernel", "(root).opt's state 'm' for (root).model.kernel"."""
    above: dict[int, tuple[int, str]] = {}
    queue = deque([0])
    while queue:
        at = queue.popleft()
        for child in graph.nodes[at].children:
            if child.node_id and child.node_id not in above:
                above[child.node_id] = (at, child.local_name)
                queue.append(child.node_id)

    def name(number: int) -> str:
        steps: list[str] = []
        while number in above:
            number, step = above[number]
            steps.append(step)
        return ".".join(["(root)" if number == 0 else f"(object {number})", *reversed(steps)])

    slots = {
        slot.slot_variable_node_id: (at, slot.slot_name, slot.original_variable_node_id)
        for at, node in enumerate(graph.nodes)
        for slot in node.slot_variables
    }
    found: list[str] = []
    for number in wanted:
        if number in slots:
            optimizer, slot_name, variable = slots[number]
            found.append(f"{name(optimizer)}'s state '{slot_name}' for {name(variable)}")
        else:
            found.append(name(number))
    return found


@dataclass
class Binding:
    """Which stored object is which of ours. It grows: objects may be made after it was begun."""

    graph: TrackableObjectGraph
    objects: dict[int, Any] = field(default_factory=dict)
    """Our objects by the numbers of the stored ones."""

    def extend(self, root: Any, view: ObjectView) -> Iterator[list[tuple[int, Any]]]:
        """Finds what corresponds now and did not before; gives it in the groups in which TensorFlow restores.

        Each slot is a group of its own. All other new correspondences are one group, the last.
        """
        slots = self._slots_by_variable()
        waiting: dict[int, list[tuple[Any, str, int]]] = {}
        fresh: list[tuple[int, Any]] = []
        seen = {0}
        self._bind(0, root, fresh)
        queue = deque([0])
        while queue:
            at = queue.popleft()
            item = self.objects[at]
            children = view.children(item)
            for child in self.graph.nodes[at].children:
                if child.node_id in seen:
                    continue
                found = self.objects.get(child.node_id)
                if found is None:
                    found = children.get(child.local_name)
                    if found is None:
                        continue
                    self._bind(child.node_id, found, fresh)
                seen.add(child.node_id)
                queue.append(child.node_id)
            for variable, name, number in waiting.pop(at, ()):
                yield from self._bind_slot(view.slot(item, variable, name), number)
            for optimizer, name, number in slots.get(at, ()):
                keeper = self.objects.get(optimizer)
                if keeper is None:
                    waiting.setdefault(optimizer, []).append((item, name, number))
                else:
                    yield from self._bind_slot(view.slot(keeper, item, name), number)
        yield fresh

    def _bind(self, number: int, item: Any, fresh: list[tuple[int, Any]]) -> None:
        if number not in self.objects:
            self.objects[number] = item
            fresh.append((number, item))

    def _bind_slot(self, slot: Any | None, number: int) -> Iterator[list[tuple[int, Any]]]:
        if slot is not None and number not in self.objects:
            self.objects[number] = slot
            yield [(number, slot)]

    def _slots_by_variable(self) -> dict[int, list[tuple[int, str, int]]]:
        found: dict[int, list[tuple[int, str, int]]] = {}
        for at, node in enumerate(self.graph.nodes):
            for slot in node.slot_variables:
                entry = (at, slot.slot_name, slot.slot_variable_node_id)
                found.setdefault(slot.original_variable_node_id, []).append(entry)
        return found
