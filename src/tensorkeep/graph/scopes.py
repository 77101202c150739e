"""What is in force while a graph is being built: scopes, devices, control dependencies, colocation.

It belongs to the graph, not to the caller, so that leaving a graph and coming back finds the same scope open. It is
plain data; `building` is where the `with` statements are.

Names under a scope and without it are here too: how what was exported finds its place in the graph it is imported into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tensorkeep.graph.graph import Operation, Tensor
    from tensorkeep.graph.messages.attrs import Attr

DeviceFunction = Callable[["Operation"], str | None]


class ControlFlowContext(Protocol):
    """The branch or loop that operations are being added to."""

    name: str

    @property
    def outer_context(self) -> ControlFlowContext | None: ...

    def add_value(self, value: Tensor) -> Tensor:
        """The tensor that stands for `value` inside the context."""

    def add_op(self, op: Operation) -> None:
        """Takes in an operation that has just been created, rewiring its inputs where needed."""

    def check_use(self, source: Operation, user: Operation) -> None:
        """Raises if `user` cannot take what `source`, an operation of this context, makes."""


@dataclass(frozen=True, slots=True)
class ControlDependencies:
    """One `with control_dependencies(...)`: what every operation added inside runs after.

    `clears` forgets all outer ones. `seen` holds the operations added inside, which carry the dependency already:
    what takes one of them as input need not be told again.
    """

    control_inputs: tuple[Operation, ...]
    clears: bool
    context: ControlFlowContext | None
    seen: set[Operation]


@dataclass(slots=True)
class Scopes:
    """The state of the builder of one graph."""

    name: str = ""  # the current name scope, without a trailing slash
    devices: tuple[str | DeviceFunction, ...] = ()
    control_dependencies: tuple[ControlDependencies, ...] = ()
    colocation: tuple[Operation, ...] = ()
    uncolocated_devices: tuple[str | DeviceFunction, ...] | None = None  # outside of the outermost colocation
    control_flow: ControlFlowContext | None = None
    container: str = ""
    gradient_overrides: Mapping[str, str] = field(default_factory=dict)
    attrs: Mapping[str, Attr | Callable[[Operation], Attr | None]] = field(default_factory=dict)


class NameTable:
    """The names taken in a graph. Case does not distinguish names, as it does not in TensorFlow."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def unique(self, name: str, mark_as_used: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, … when that is taken."""
        key = name.lower()
        count = self._uses.get(key, 0)
        if mark_as_used:
            self._uses[key] = count + 1
        if count == 0:
            return name
        candidate = key
        while candidate in self._uses:
            candidate = f"{key}_{count}"
            count += 1
        if mark_as_used:
            self._uses[candidate] = 1
        return f"{name}_{count - 1}"

    def copy(self) -> NameTable:
        """The names taken by now."""
        made = NameTable()
        made._uses = dict(self._uses)
        return made

    def claim(self, name: str) -> None:
        """Marks a name as taken that was chosen elsewhere."""
        self._uses.setdefault(name.lower(), 1)


def free_name(wanted: str, taken: Container[str]) -> str:
    """The wanted name or, if that is taken, the first of `wanted_1`, `wanted_2`, … that is not."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """The name below a scope: "loc:@w" in "a" is "loc:@a/w", "^w" is "^a/w"."""
    if not import_scope:
        return name
    marker, rest = _split_sign(name)
    return f"{marker}{import_scope.removesuffix('/')}/{rest}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """The name without a scope in front of it, if it has that."""
    if not export_scope:
        return name
    pattern = r"([\^]|loc:@|^)" + export_scope.removesuffix("/") + r"[\/]+(.*)"
    return re.sub(pattern, r"\1\2", name, count=1)


def _split_sign(name: str) -> tuple[str, str]:
    """The sign that says what kind of reference a name is, and the name."""
    for marker in ("^", "loc:@"):
        if name.startswith(marker):
            return marker, name[len(marker) :]
    return "", name
