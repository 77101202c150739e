"""Adding operations to a graph: which graph, under which name, on which device, after what.

The graph being built is a context variable, set by `with building(graph):`. All other state is the graph's own
(`graph.scopes`), and every function here that changes it is a context manager that puts it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, TensorKeepError, WrongTypeError
from tensorkeep.graph.devices import canonical_device, merge_devices
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import Attr
from tensorkeep.graph.scopes import ControlDependencies, ControlFlowContext, DeviceFunction

if TYPE_CHECKING:
    from tensorkeep.graph.registry.opspec import OpSpec

_CURRENT: Final[ContextVar[tuple[Graph, ...]]] = ContextVar("the graphs being built, the innermost last", default=())
_FALLBACK: list[Callable[[], Graph]] = []

_FIRST_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*\Z")
_LATER_NAME: Final = re.compile(r"[A-Za-z0-9_.\\/>-]*\Z")


@contextmanager
def building(graph: Graph) -> Iterator[Graph]:
    """Operations made inside are added to `graph`."""
    token = _CURRENT.set((*_CURRENT.get(), graph))
    outside, graph.scopes.uncolocated_devices = graph.scopes.uncolocated_devices, None
    try:
        yield graph
    finally:
        graph.scopes.uncolocated_devices = outside
        _CURRENT.reset(token)


def open_graph(graph: Graph) -> None:
    """Operations made from now on are added to `graph`, until `leave_graph`. For what cannot be a `with` statement."""
    _CURRENT.set((*_CURRENT.get(), graph))


def leave_graph(graph: Graph) -> None:
    """Undoes the last `open_graph` of this graph, whatever has been opened since."""
    opened = list(_CURRENT.get())
    if graph in opened:
        del opened[len(opened) - 1 - opened[::-1].index(graph)]
        _CURRENT.set(tuple(opened))


def is_building() -> bool:
    """Whether a graph has been named by `building`."""
    return bool(_CURRENT.get())


def current_graph() -> Graph:
    """The graph being built."""
    opened = _CURRENT.get()
    if opened:
        return opened[-1]
    if _FALLBACK:
        return _FALLBACK[-1]()
    raise FailedPreconditionError("no graph is being built: write `with building(graph):` around the code")


def set_fallback_graph(function: Callable[[], Graph]) -> None:
    """Says where a graph comes from when none is being built. Without it that is an error."""
    _FALLBACK[:] = [function]


def graph_of(values: Iterable[Any]) -> Graph:
    """The graph that the values are of; the one being built if none of them is of a graph."""
    found: Graph | None = None
    origin: Any = None
    for value in values:
        graph = getattr(value, "graph", None)
        if not isinstance(graph, Graph):
            continue
        if found is None:
            found, origin = graph, value
        elif graph is not found and not _captures(graph, found):
            raise InvalidArgumentError(f"{value!r} must be from the same graph as {origin!r}.")
    if found is None:
        return current_graph()
    opened = _CURRENT.get()
    return opened[-1] if opened and opened[-1] is not found and opened[-1].captures_from(found) else found


def _captures(*graphs: Graph) -> bool:
    """Whether the graph being built is each of these graphs, or the body of a function that may use its tensors."""
    opened = _CURRENT.get()
    return bool(opened) and all(graph is opened[-1] or opened[-1].captures_from(graph) for graph in graphs)


# ---------------------------------------------------------------------------------------------------- Names


class name_scope:  # noqa: N801 - used as a function
    """Names of operations made inside begin with `name`, made unique.

    A name that ends in "/" is taken as it is, without the scopes around it: so a scope is entered again. An empty
    one leaves all scopes. `as` gives the scope's whole name with a trailing slash.
    """

    __slots__ = ("_graph", "_name", "_old")

    def __init__(self, name: str | None, graph: Graph | None = None) -> None:
        self._graph = graph or current_graph()
        self._name = name or ""
        self._old = ""

    def __enter__(self) -> str:
        scopes = self._graph.scopes
        self._old = scopes.name
        name = self._name
        if name:
            check_name(name, self._old)
            scopes.name = name[:-1] if name.endswith("/") else unique_name(name, self._graph)
        else:
            scopes.name = ""
        return f"{scopes.name}/" if scopes.name else ""

    def __exit__(self, *_: object) -> None:
        self._graph.scopes.name = self._old


def chosen_name(name: str | None, default: str) -> str:
    """The name of a function's scope: the default if none is given. An empty one is given: it leaves all scopes."""
    return default if name is None else name


def check_name(name: str, scope: str) -> None:
    if not isinstance(name, str):
        raise WrongTypeError(f"the name of a scope or operation must be a string, got {name!r}")
    if not (_LATER_NAME if scope else _FIRST_NAME).match(name):
        raise InvalidArgumentError(f"'{name}' is not a valid {'' if scope else 'root '}scope or operation name")


def unique_name(name: str, graph: Graph | None = None, mark_as_used: bool = True) -> str:
    """The name within the current scope, with a number behind it if it is taken."""
    graph = graph or current_graph()
    scope = graph.scopes.name
    return graph.names.unique(f"{scope}/{name}" if scope else name, mark_as_used)


# ---------------------------------------------------------------------------------------------------- Scopes


@contextmanager
def _changed_scope(graph: Graph | None, **changes: Any) -> Iterator[None]:
    """Changes some of the builder's state, and puts it back."""
    scopes = (graph or current_graph()).scopes
    old = {name: getattr(scopes, name) for name in changes}
    for name, value in changes.items():
        setattr(scopes, name, value)
    try:
        yield
    finally:
        for name, value in old.items():
            setattr(scopes, name, value)


@contextmanager
def device(place: str | DeviceFunction | Any | None, graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside are placed there: a name in full or part, or a function of the operation.

    Inner devices win, part by part. None forgets all outer ones.
    """
    graph = graph or current_graph()
    if place is None:
        devices: tuple[str | DeviceFunction, ...] = ()
    elif callable(place):
        devices = (*graph.scopes.devices, place)
    else:
        devices = (*graph.scopes.devices, canonical_device(place if isinstance(place, str) else place.to_string()))
    outside = graph.scopes.uncolocated_devices
    with _changed_scope(graph, devices=devices, uncolocated_devices=() if place is None and outside else outside):
        yield


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None, graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside run after all of these. None forgets outer dependencies and control flow."""
    graph = graph or current_graph()
    if control_inputs is None:
        cleared = ControlDependencies((), True, None, set())
        with _changed_scope(graph, control_dependencies=(cleared,), control_flow=None):
            yield
        return
    if callable(control_inputs):
        control_inputs = (control_inputs,)
    present = {op for entry in graph.scopes.control_dependencies for op in entry.control_inputs}
    ops = dict.fromkeys(operation_of(graph.element(item) if isinstance(item, str) else item) for item in control_inputs)
    fresh = tuple(op for op in ops if op not in present)
    for op in fresh:
        if not op.attr("_has_manual_control_dependencies"):
            op.decorate("_has_manual_control_dependencies", True)
    entry = ControlDependencies(fresh, False, graph.scopes.control_flow, set())
    with _changed_scope(graph, control_dependencies=(*graph.scopes.control_dependencies, entry)):
        yield


def operation_of(item: object) -> Operation:
    """The operation that makes an item: itself, or that of a tensor, variable, or slices."""
    if isinstance(item, Operation):
        return item
    found = getattr(item, "op", None)
    if isinstance(found, Operation):
        return found
    raise WrongTypeError(f"expected an operation, a tensor or a variable, got {item!r}")


@contextmanager
def colocate_with(op: object, ignore_existing: bool = False, graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside go where `op` goes; with what has a handle, where that does."""
    graph = graph or current_graph()
    handle = getattr(op, "handle", None)
    outer = () if ignore_existing else graph.scopes.colocation
    if op is None and not ignore_existing:
        raise InvalidArgumentError("Trying to reset colocation (op is None) but ignore_existing is not True")
    scopes = graph.scopes
    outside = scopes.devices if scopes.uncolocated_devices is None else scopes.uncolocated_devices
    colocation = outer if op is None else (*outer, operation_of(handle if isinstance(handle, Tensor) else op))
    with _changed_scope(graph, colocation=colocation, devices=(), uncolocated_devices=outside):
        yield


@contextmanager
def control_flow(context: ControlFlowContext | None, graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside belong to that branch or loop."""
    with _changed_scope(graph, control_flow=context):
        yield


@contextmanager
def init_scope(graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside belong to no branch or loop and wait for nothing; the name scope stays.

    Where colocation has put devices out of force, those outside of it are in force again.
    """
    scopes = (graph or current_graph()).scopes
    devices = scopes.devices or scopes.uncolocated_devices or ()
    with control_dependencies(None, graph), _changed_scope(graph, devices=devices):
        yield


@contextmanager
def container(name: str, graph: Graph | None = None) -> Iterator[str]:
    """Resources made inside live in the container of that name."""
    with _changed_scope(graph, container=name):
        yield name


@contextmanager
def gradient_override_map(overrides: Mapping[str, str], graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside of an op named here have the gradient registered under the name beside it."""
    graph = graph or current_graph()
    with _changed_scope(graph, gradient_overrides={**graph.scopes.gradient_overrides, **overrides}):
        yield


@contextmanager
def attr_scope(attrs: Mapping[str, Attr | None], graph: Graph | None = None) -> Iterator[None]:
    """Operations made inside also have these attributes; None takes one away."""
    graph = graph or current_graph()
    merged = {**graph.scopes.attrs, **attrs}
    with _changed_scope(graph, attrs={name: value for name, value in merged.items() if value is not None}):
        yield


# ---------------------------------------------------------------------------------------------------- Adding


def add(
    spec: OpSpec,
    inputs: Sequence[Tensor],
    attrs: dict[str, Attr],
    name: str | None = None,
    graph: Graph | None = None,
) -> Operation:
    """Adds an operation under everything in force: names, control dependencies, devices, colocation, control flow.

    A name that ends in "/" has been made unique already, by a name scope.
    """
    graph = graph or current_graph()
    scopes = graph.scopes
    if name is None:
        name = unique_name(spec.name, graph)
    elif name.endswith("/"):
        name = name[:-1]
    else:
        check_name(name, scopes.name)
        name = unique_name(name, graph)
    for tensor in inputs:
        if tensor.op.graph is not graph:
            inputs = [item if item.op.graph is graph else graph.capture(item) for item in inputs]
            break
    controls = controls_for(graph, inputs) if scopes.control_dependencies else ()
    op = graph.add_operation(spec, name, inputs, attrs, controls)
    _infer(graph, op)
    if scopes.devices or scopes.colocation:
        _place(op)
    if scopes.attrs or scopes.gradient_overrides or scopes.container:
        _decorate(op)
    for entry in scopes.control_dependencies:
        entry.seen.add(op)
    _take_in(op, scopes.control_flow)
    return op


def _take_in(op: Operation, context: ControlFlowContext | None) -> None:
    """Makes the operation part of the branch or loop in force, once its inputs have been found to be within reach."""
    op.control_flow_context = context
    for tensor in op.inputs:
        other = tensor.op.control_flow_context
        if other is not None and other is not context:
            try:
                other.check_use(tensor.op, op)
            except TensorKeepError:
                op.graph.remove_last_operation(op)
                raise
    if context is not None:
        context.add_op(op)


def _infer(graph: Graph, op: Operation) -> None:
    try:
        graph.infer_shapes()
    except TensorKeepError as error:
        if graph.operations[-1] is op:
            graph.remove_last_operation(op)
        shapes = ", ".join(str(tensor.static_shape) for tensor in op.inputs)
        raise InvalidArgumentError(f"{error} for '{op.name}' (op: '{op.type}') with input shapes: {shapes}.") from None


def controls_for(graph: Graph, inputs: Sequence[Tensor]) -> list[Operation]:
    """The control inputs in force for an operation with these inputs, without those that one of the inputs waits for
    already.
    """
    sources = [tensor.op for tensor in inputs]
    found: dict[Operation, None] = {}
    for entry in graph.scopes.control_dependencies:
        if not any(op in entry.seen for op in sources):
            found.update((op, None) for op in entry.control_inputs if op not in sources)
    return list(found)


def _place(op: Operation) -> None:
    """Applies devices from the innermost outwards: what is placed already stays so, part by part."""
    scopes = op.graph.scopes
    _apply_devices(op)
    if scopes.colocation:
        groups: set[bytes] = set()
        for other in reversed(scopes.colocation):
            groups.update(other.colocation_groups())
            if other.device:
                op.device = other.device
        op.decorate("_class", tuple(sorted(groups)))


def current_device(graph: Graph) -> str:
    """The device that is in force by name, of which inner parts win; functions of operations have no part in it."""
    found = ""
    for place in reversed(graph.scopes.devices):
        found = found if callable(place) else merge_devices(place, found)
    return found


def _apply_devices(op: Operation) -> None:
    for place in reversed(op.graph.scopes.devices):
        wanted = place(op) if callable(place) else merge_devices(place, op.device)
        if wanted is not None:
            op.device = wanted if isinstance(wanted, str) else wanted.to_string()


def place_imported(ops: Iterable[Operation], graph: Graph) -> None:
    """Puts imported operations under the devices, control dependencies and control flow in force.

    What is to share a device with another operation keeps what it says of devices, whatever is in force.
    """
    scopes = graph.scopes
    if not (scopes.devices or scopes.control_dependencies or scopes.control_flow):
        return
    for op in ops:
        if scopes.devices and not _is_colocated(op):
            _apply_devices(op)
        _take_in_imported(op)


def share_devices(ops: Iterable[Operation]) -> None:
    """Gives each operation without a device the device of the first one that it is colocated with and that has one.

    As TensorFlow's importer.py does once all others are placed; it also replaces the devices that a file says.
    """
    for op in ops:
        others = (group.removeprefix(b"loc:@").decode(errors="replace") for group in op.colocation_groups())
        named = (op.graph.operation(name) for name in others if name in op.graph)
        op.device = op.device or next((other.device for other in named if other.device), "")


def _is_colocated(op: Operation) -> bool:
    """Whether an operation must share a device with another one."""
    groups, own = op.attr("_class"), b"loc:@" + op.name.encode()
    return isinstance(groups, tuple) and any(group.startswith(b"loc:@") and group != own for group in groups)


def _take_in_imported(op: Operation) -> None:
    graph = op.graph
    scopes = graph.scopes
    op.add_control_inputs(controls_for(graph, op.inputs))
    if scopes.control_flow is not None:
        op.control_flow_context = scopes.control_flow
        scopes.control_flow.add_op(op)


def _decorate(op: Operation) -> None:
    scopes = op.graph.scopes
    for name, value in scopes.attrs.items():
        if op.attr(name) is None and (found := value(op) if callable(value) else value) is not None:
            op.decorate(name, found)
    if (override := scopes.gradient_overrides.get(op.type)) is not None:
        op.decorate("_gradient_op_type", override.encode())
    if scopes.container and op.spec.schema.is_stateful and op.attr("container") == b"":
        op.decorate("container", scopes.container.encode())


__all__ = [
    "add",
    "attr_scope",
    "building",
    "check_name",
    "chosen_name",
    "colocate_with",
    "container",
    "control_dependencies",
    "control_flow",
    "controls_for",
    "current_graph",
    "device",
    "gradient_override_map",
    "graph_of",
    "init_scope",
    "is_building",
    "leave_graph",
    "name_scope",
    "open_graph",
    "operation_of",
    "place_imported",
    "share_devices",
    "set_fallback_graph",
    "unique_name",
]
