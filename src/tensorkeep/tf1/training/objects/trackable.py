"""Objects that checkpoints can follow: which they are, and what they refer to by which names.

Variables and arrays hold values. Optimizers, layers, tables, `AutoTrackable` objects, and the lists, tuples and
dictionaries assigned to their attributes lead to them. What else an object refers to is not followed.

Lists and dictionaries are wrapped when they are assigned, as in TensorFlow: the wrapper is a list or a dictionary, and
one object of a checkpoint. Elements may be added and replaced later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, SupportsIndex

import numpy as np

from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.messages import TrackableObjectGraph
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.cell_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper
from tensorkeep.tf1.layers.cells import MultiRNNCell
from tensorkeep.tf1.training.optimizers.base import Optimizer, Slot
from tensorkeep.tf1.variables.variable import Variable

_TABLE: Final = "table"
_DEPENDENCIES: Final = "_checkpoint_dependencies"
_CHILDREN: Final = "_checkpoint_children"  # the method of objects that say themselves what they consist of


class NoDependency:
    """Wraps a value that is assigned to an attribute and shall not be saved."""

    def __init__(self, value: object) -> None:
        self.value = value


class TrackedList(list[Any]):
    """A list whose elements are saved under their positions."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, source: list[Any]) -> None:
        source[:] = map(tracked_value, source)
        super().__init__(source)
        self._source = source
        self._as_given = list(source)

    def check(self) -> None:
        """Whoever goes on changing the list that was given, and not this one, would lose what is added there."""
        if not _are_same(self._source, self._as_given):
            raise InvalidArgumentError(
                f"Unable to save the object {list(self)} (a list wrapper constructed to track trackable TensorFlow "
                "objects). The wrapped list was modified outside the wrapper (its final value was "
                f"{self._source}, its value when a checkpoint dependency was added was {self._as_given}), which breaks "
                "restoration on object creation. Change the list through the attribute that it was assigned to."
            )

    def append(self, value: object) -> None:
        super().append(tracked_value(value))

    def extend(self, values: Iterable[object]) -> None:
        super().extend(map(tracked_value, values))

    def insert(self, index: SupportsIndex, value: object) -> None:
        super().insert(index, tracked_value(value))

    def __setitem__(self, index: SupportsIndex | slice, value: object) -> None:
        if isinstance(index, slice):
            values: Any = value  # several
            super().__setitem__(index, [*map(tracked_value, values)])
        else:
            super().__setitem__(index, tracked_value(value))

    def __iadd__(self, values: Iterable[object]) -> TrackedList:  # type: ignore[misc]
        self.extend(values)
        return self


class TrackedDict(dict[Any, Any]):
    """A dictionary whose values are saved under their keys."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, source: dict[Any, Any]) -> None:
        source.update({key: tracked_value(value) for key, value in source.items()})
        super().__init__(source)
        self._source = source
        self._as_given = dict(source)

    def check(self) -> None:
        """InvalidArgumentError if the dictionary was changed behind this object's back, so that it cannot be saved."""
        if not _are_same([*self._source, *self._source.values()], [*self._as_given, *self._as_given.values()]):
            raise InvalidArgumentError(
                f"Unable to save the object {dict(self)} (a dictionary wrapper constructed automatically on attribute "
                f"assignment). The wrapped dictionary was modified outside the wrapper (its final value was "
                f"{self._source}, its value when a checkpoint dependency was added was {self._as_given}), which breaks "
                "restoration on object creation. Change the dictionary through the attribute that it was assigned to."
            )

    def __setitem__(self, key: Hashable, value: object) -> None:
        super().__setitem__(key, tracked_value(value))

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Hashable, default: object = None) -> object:
        if key not in self:
            self[key] = default
        return self[key]


def _are_same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


class TrackedTuple(tuple[Any, ...]):
    """A tuple whose elements are saved under their positions."""

    __slots__ = ()


@cache
def _tracked_kind(kind: Any) -> Any:
    """A named tuple's type, such that the tuples of it are known to be wrapped."""
    return type(kind.__name__, (kind,), {"__slots__": (), "_is_tracked": True})


def tracked_value(value: object) -> object:
    """A value as it is stored in an attribute: a container that can be followed, if it is one."""
    kind: Any = type(value)  # exactly: a class of one's own may have reasons to be
    if isinstance(value, list) and kind is list:
        return TrackedList(value)
    if isinstance(value, dict) and kind in (dict, OrderedDict):
        return TrackedDict(value)
    if isinstance(value, tuple) and _is_wrapped(value):
        return value
    if isinstance(value, tuple) and any(_is_worth_tracking(item) for item in value):
        elements = [tracked_value(item) for item in value]
        return _tracked_kind(kind)(*elements) if hasattr(value, "_fields") else TrackedTuple(elements)
    return value.value if isinstance(value, NoDependency) else value


def _is_wrapped(value: tuple[Any, ...]) -> bool:
    return isinstance(value, TrackedTuple) or hasattr(value, "_is_tracked")


def _is_worth_tracking(item: object) -> bool:
    if isinstance(item, tuple):
        return any(map(_is_worth_tracking, item))
    return type(item) in (list, dict, OrderedDict) or isinstance(item, NoDependency) or is_trackable(item)


def is_trackable(item: object, arrays: bool = True) -> bool:
    """Whether a checkpoint can hold an object, or what it refers to."""
    if isinstance(item, np.ndarray):
        return arrays
    if isinstance(item, tuple):
        return _is_wrapped(item) and any(is_trackable(element, arrays) for element in item)
    followed = Variable | AutoTrackable | TrackedList | TrackedDict | Optimizer | Layer
    return isinstance(item, followed) or hasattr(type(item), "_saveables") or hasattr(type(item), _CHILDREN)


class AutoTrackable:
    """An object whose attributes are saved with it, under their names, if they are trackable.

    A name that was once given to something trackable stays the name of that, even if the attribute is then set to
    something else that is not; to delete the attribute ends it.
    """

    def __setattr__(self, name: str, value: object) -> None:
        stored = tracked_value(value)
        object.__setattr__(self, name, stored)
        if not isinstance(value, NoDependency):
            for arrays in (True, False):
                if is_trackable(stored, arrays):
                    self._dependencies(arrays)[name] = stored

    def __delattr__(self, name: str) -> None:
        for arrays in (True, False):
            self._dependencies(arrays).pop(name, None)
        object.__delattr__(self, name)

    def _dependencies(self, arrays: bool) -> dict[str, Any]:
        """What is saved with the object, by name, in the order in which it was first assigned.

        Kept twice, for those to whom arrays are objects and for those to whom they are not: an array takes the place
        of what had its name before for the first only.
        """
        found: dict[bool, dict[str, Any]] = self.__dict__.setdefault(_DEPENDENCIES, {True: {}, False: {}})
        return found[arrays]

    def _saved_objects(self, arrays: bool) -> dict[str, Any]:
        """What a checkpoint follows from the object: what was assigned, and what a class knows besides."""
        return self._dependencies(arrays)


class GraphView:
    """What objects consist of, in one graph: the `ObjectView` of everything trackable."""

    def __init__(
        self,
        root: object,
        graph: Graph | None,
        attached: Mapping[str, Any] | None = None,
        *,
        arrays: bool = True,
        slots: bool = True,
    ) -> None:
        self._root = root
        self._graph = graph
        self._attached: Mapping[str, Any] = {} if attached is None else attached
        self._arrays = arrays
        self._slots = slots

    def children(self, item: object) -> dict[str, Any]:
        pairs = _references(item, self._graph, self._arrays)
        found = {name: child for name, child in pairs if is_trackable(child, self._arrays)}
        if item is self._root:
            found.update(self._attached)
        return found

    def attributes(self, item: object) -> Sequence[str]:
        if isinstance(item, Variable | np.ndarray):
            return (VARIABLE_VALUE,)
        return (_TABLE,) if hasattr(type(item), "_saveables") else ()

    def full_name(self, item: object) -> str:
        if not isinstance(item, Variable):
            return ""
        info = item._get_save_slice_info()
        return (info.full_name if info else None) or item._shared_name

    def slot_names(self, item: object) -> Sequence[str]:
        names: Any = getattr(item, "get_slot_names", None)  # of optimizers of `tf.train` and of Keras
        return names() if self._slots and names is not None else ()

    def slot(self, optimizer: object, variable: object, name: str) -> Slot | None:
        if not self._slots or not isinstance(variable, Variable):
            return None
        if isinstance(optimizer, Optimizer):
            return optimizer.get_slot(variable, name)
        slots: Any = getattr(optimizer, "_slots", {})  # Keras's are by variable first
        found: Slot | None = slots.get(id(variable), {}).get(name)
        return found

    def ignored_slots(self, graph: TrackableObjectGraph) -> frozenset[int]:
        """The numbers of the stored slots, if this view shows none."""
        slots = (slot for node in graph.nodes for slot in node.slot_variables)
        return frozenset() if self._slots else frozenset(slot.slot_variable_node_id for slot in slots)


def _references(item: object, graph: Graph | None, arrays: bool) -> Sequence[tuple[str, Any]]:
    if hasattr(type(item), _CHILDREN):
        return list(getattr(item, _CHILDREN)().items())
    if isinstance(item, AutoTrackable):
        return list(item._saved_objects(arrays).items())
    if isinstance(item, TrackedDict):
        item.check()
        return _named_items(item)
    if isinstance(item, TrackedList):
        item.check()
        return [(str(at), element) for at, element in enumerate(item)]
    if isinstance(item, tuple):
        fields = getattr(item, "_fields", ())
        return [*zip(fields, item, strict=False), *((str(at), element) for at, element in enumerate(item))]
    if isinstance(item, Optimizer):
        kept = {name: variable for (name, owner), variable in item._non_slots.items() if owner is graph}
        return sorted(kept.items())
    if isinstance(item, Layer):
        return _cells(item) or _weights(item)
    return ()


def _named_items(item: TrackedDict) -> Sequence[tuple[str, Any]]:
    if wrong := [key for key, value in item.items() if not isinstance(key, str) and is_trackable(value)]:
        raise InvalidArgumentError(
            f"Unable to save the object {dict(item)} (a dictionary wrapper constructed automatically on attribute "
            f"assignment). The wrapped dictionary contains a non-string key which maps to a trackable object or "
            f"mutable data structure: {wrong[0]!r}."
        )
    return [(key, value) for key, value in item.items() if isinstance(key, str)]


def _weights(layer: Layer) -> list[tuple[str, Any]]:
    """The variables that a layer made, by the names that it gave them; parts of a partitioned one are not followed."""
    found: list[tuple[str, Any]] = []
    for variable in layer.weights:
        if not variable._get_save_slice_info():
            name = variable.op.name
            scope = "" if layer._scope is None else f"{layer._scope.name}/"
            found.append((name.removeprefix(scope) if name.startswith(scope) else name.rpartition("/")[2], variable))
    return found


def _cells(layer: Layer) -> list[tuple[str, Any]]:
    if isinstance(layer, MultiRNNCell):
        return [(f"cell-{at}", cell) for at, cell in enumerate(layer._cells)]
    return [("cell", layer.cell)] if isinstance(layer, DropoutWrapper | ResidualWrapper | DeviceWrapper) else []
