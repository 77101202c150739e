"""The objects of a TensorFlow 2 model: what they are, how they are called, and where their values are stored.

A SavedObjectGraph has the objects that the model was saved from, as numbered nodes: variables, functions, tables,
assets, constants, and plain objects that have others as children. Object 0 is the root. Messages are from strangers:
whatever they refer to is looked up here, once, so that all else can rely on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

from tensorkeep.checkpoint.objects.reader import ObjectGraph, escape_name, unescape_name
from tensorkeep.errors import DataLossError, NotFoundError
from tensorkeep.proto.messages import SavedConcreteFunction, SavedObject, SavedObjectGraph

_LONGEST_PATHS: Final = 1 << 24  # characters, of all objects together; a chain of objects has long ones
_OF_RESOURCES: Final = ("_create_resource", "_initialize", "_destroy_resource")


class SavedObjects:
    """The object graph of a model, checked."""

    def __init__(self, proto: SavedObjectGraph, what: str = "object graph") -> None:
        self._what = what
        self.nodes = proto.nodes
        self.concrete_functions: Mapping[str, SavedConcreteFunction] = proto.concrete_functions
        self.children: list[dict[str, int]] = [
            {child.local_name: self._checked_number(child.node_id) for child in node.children} for node in self.nodes
        ]
        self._paths: dict[int, str] | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, number: int) -> SavedObject:
        return self.nodes[self._checked_number(number)]

    def _checked_number(self, number: int) -> int:
        if not 0 <= number < len(self.nodes):
            raise DataLossError(f"{self._what}: object {number} is referred to, there are {len(self.nodes)}")
        return number

    def kind(self, number: int) -> str:
        """What an object is, as the message calls it; empty if it does not say."""
        return self[number].WhichOneof("kind") or ""

    # ---------------------------------------------------------------------------------------------------- paths

    @property
    def paths(self) -> Mapping[int, str]:
        """The shortest path from the root to each object that can be reached, nearest objects first."""
        if self._paths is None:
            self._paths = dict(self._walk_paths())
        return self._paths

    def _walk_paths(self) -> Iterator[tuple[int, str]]:
        if not self.nodes:
            return
        found = {0: ""}
        pending = deque([0])
        room = _LONGEST_PATHS
        while pending:
            number = pending.popleft()
            path = found[number]
            yield number, path
            for name, child in self.children[number].items():
                if child not in found:
                    step = escape_name(name)
                    found[child] = f"{path}/{step}" if path else step
                    room -= len(found[child])
                    if room < 0:
                        raise DataLossError(f"{self._what}: the paths to its objects are absurdly long")
                    pending.append(child)

    def find(self, path: str) -> int:
        """The object at a path, which need not be the shortest to it."""
        at = 0
        for step in path.split("/") if path else ():
            child = self.children[at].get(unescape_name(step)) if self.nodes else None
            if child is None:
                known = ", ".join(sorted(map(escape_name, self.children[at]))) if self.nodes else ""
                raise NotFoundError(f'no object "{path}": there is no "{step}"; there is {known or "nothing"}')
            at = child
        return at

    def of_kind(self, kind: str) -> dict[str, int]:
        """The objects of a kind by their shortest paths."""
        return {path: number for number, path in self.paths.items() if self.kind(number) == kind}

    def functions(self) -> dict[str, int]:
        """The functions that the model's author wrote, by path: not those that make and fill resources."""
        inner = {
            child
            for number in range(len(self.nodes))
            if self.kind(number) == "resource"
            for name, child in self.children[number].items()
            if name in _OF_RESOURCES
        }
        saving = {
            number
            for node in self.nodes
            for saveable in node.saveable_objects.values()
            for number in (saveable.save_function, saveable.restore_function)
        }
        found = self.of_kind("function")
        return {path: number for path, number in found.items() if number not in inner and number not in saving}

    # ------------------------------------------------------------------------------------------- what is stored

    def stored_keys(self, stored: ObjectGraph) -> dict[int, Mapping[str, str]]:
        """For each object that a checkpoint has a value of, the keys of its attributes.

        Objects are matched by the names on the way to them, from the roots on.
        """
        found: dict[int, Mapping[str, str]] = {}
        seen = {0}
        pending = deque([(0, 0)]) if self.nodes and stored.children else deque()
        while pending:
            number, other = pending.popleft()
            found[number] = stored.keys[other]
            for name, child in self.children[number].items():
                match = stored.children[other].get(name)
                if match is not None and child not in seen:
                    seen.add(child)
                    pending.append((child, match))
        self._match_slots(stored, found)
        return found

    def _match_slots(self, stored: ObjectGraph, found: dict[int, Mapping[str, str]]) -> None:
        """Slot variables are nobody's children: an optimizer names them, with the variables that they belong to."""
        by_slot = {(slot.optimizer, slot.slot, slot.variable): slot.path for slot in stored.slots}
        if not by_slot:
            return
        keys = {item.path: {item.attribute: item.key} for item in stored.attributes}
        for number, path in self.paths.items():
            for slot in self.nodes[number].slot_variables:
                variable = self.paths.get(slot.original_variable_node_id, "")
                at = by_slot.get((path, slot.slot_name, variable))
                if at is not None and at in keys:
                    found[self._checked_number(slot.slot_variable_node_id)] = keys[at]
