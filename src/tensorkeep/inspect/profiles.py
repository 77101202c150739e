"""How large a graph is by scopes and by types of operations: the views and numbers of TensorFlow's profiler.

A node is accounted for if one of its types is asked for, and shown if it is large enough and its name is asked for;
what is below a node that is not shown moves up to the next that is. Of runs nothing is measured here. That trees,
totals and text are TensorFlow's is proved by tests/interop/test_profiles.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.inspect.costs import profiled_operations
from tensorkeep.proto.reports import GraphNodeProto, MultiGraphNodeProto
from tensorkeep.shapes import Shape

TRAINABLE: Final = "_trainable_variables"
"""The type of trainable variables, besides their op."""
_ROOT: Final = "_TFProfRoot"
_SCOPE: Final = "_kTFScopeParent"


@dataclass(frozen=True)
class ProfileOptions:
    """What to account for, what to show of it, and in which order. Names and types are patterns."""

    max_depth: int
    min_params: int
    min_float_ops: int
    min_occurrence: int
    order_by: str
    account_types: Sequence[str]
    start_names: Sequence[str]
    trim_names: Sequence[str]
    show_names: Sequence[str]
    hide_names: Sequence[str]
    is_displayed_only: bool
    """Whether totals are those of what is shown."""
    select: frozenset[str]


@dataclass
class _Node:
    """An operation, a scope, or the root, with what is below it."""

    name: str
    types: frozenset[str]
    shape: tuple[int, ...] = ()
    parameters: int = 0
    operations: int = 0
    input_shapes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    below: list[_Node] = field(default_factory=list)
    is_accounted: bool = False
    shown: list[_Node] = field(default_factory=list)
    total_definitions: int = 0
    total_parameters: int = 0
    total_operations: int = 0

    def sum_up(self, others: Iterable[_Node]) -> None:
        """Sets the totals to what this and others have together."""
        parts = list(others)
        self.total_definitions = 1 + sum(node.total_definitions for node in parts)
        self.total_parameters = self.parameters + sum(node.total_parameters for node in parts)
        self.total_operations = self.operations + sum(node.total_operations for node in parts)


@dataclass(frozen=True)
class Profile:
    """A view as a message and as text, and of how many operations the shapes are not complete."""

    message: GraphNodeProto | MultiGraphNodeProto
    text: str
    incomplete: int


def profile_scopes(graph: Graph, types: Mapping[str, Iterable[str]], options: ProfileOptions) -> Profile:
    """A graph by the scopes in the names of its operations. `types` has, by name, further types of operations."""
    nodes, incomplete = _nodes_of(graph, types)
    root = _Node(_ROOT, frozenset({_SCOPE}), below=_tree(nodes))
    accounted = _account(root.below, options)
    root.sum_up(accounted)
    root.total_definitions -= 1  # the root itself is counted only among what is shown
    root.shown = _first_named_nodes(accounted, options)
    _show([root], options, 1)
    lines = [_legend(options), *_lines(root, options, 0)]
    return Profile(_scope_message(root), "".join(f"{line}\n" for line in lines), incomplete)


def _nodes_of(graph: Graph, types: Mapping[str, Iterable[str]]) -> tuple[dict[str, _Node], int]:
    found, incomplete = {}, 0
    for op in graph.operations:
        operations = profiled_operations(op)
        incomplete += operations is None
        found[op.name] = _node_of(op, operations or 0, types.get(op.name, ()))
    return found, incomplete


def _node_of(op: Operation, operations: int, types: Iterable[str]) -> _Node:
    declared = op.attrs.get("shape")
    shape = _sizes(declared) if isinstance(declared, Shape) else ()
    parameters = prod(shape) if shape and min(shape) >= 0 else 0
    inputs = {at: _sizes(tensor.static_shape) for at, tensor in enumerate(op.inputs)}
    return _Node(op.name, frozenset({op.type, *types}), shape, parameters, operations, inputs)


def _sizes(shape: Shape) -> tuple[int, ...]:
    """Sizes as the profiler has them: one of 1 for a scalar, -1 for those not known, none if their number is not."""
    if shape.rank is None:
        return ()
    return tuple(-1 if size is None else size for size in shape) or (1,)


def _tree(nodes: Mapping[str, _Node]) -> list[_Node]:
    """The nodes without a scope, each with what is below it; scopes that are no operations are added."""
    every = dict(nodes)
    for name in nodes:
        while "/" in name:
            name = name.rpartition("/")[0]
            every.setdefault(name, _Node(name, frozenset({_SCOPE})))
    tops: list[_Node] = []
    for name in sorted(every):
        scope = name.rpartition("/")[0]
        (every[scope].below if scope else tops).append(every[name])
    return tops


def _account(nodes: Iterable[_Node], options: ProfileOptions) -> list[_Node]:
    """The nodes that are accounted for themselves, or have some below them that are; with their totals."""
    found = []
    for node in nodes:
        node.shown = _account(node.below, options)
        node.is_accounted = any(_matches(kind, options.account_types) for kind in node.types)
        if node.is_accounted or node.shown:
            node.sum_up(node.shown)
            found.append(node)
    return found


def _first_named_nodes(nodes: list[_Node], options: ProfileOptions) -> list[_Node]:
    """The first nodes on each way down whose names are asked for."""
    found: list[_Node] = []
    for node in nodes:
        is_start = _matches(node.name, options.start_names)
        found += [node] if is_start else _first_named_nodes(node.shown, options)
    return found


def _show(nodes: list[_Node], options: ProfileOptions, depth: int) -> list[_Node]:
    """The nodes that are shown, or what is of those below them, with what is shown below each."""
    found: list[_Node] = []
    for node in nodes:
        is_shown = node.name == _ROOT or _is_shown(node, options, depth)
        is_end = _matches(node.name, options.trim_names) or depth > options.max_depth
        below = [] if is_end else _show(node.shown, options, depth + 1)
        if not is_shown:
            found += below
            continue
        node.shown = _sorted_nodes(below, options)
        if options.is_displayed_only:
            node.sum_up(node.shown)
        found.append(node)
    return found


def _is_shown(node: _Node, options: ProfileOptions, depth: int) -> bool:
    is_large = node.parameters >= options.min_params and node.operations >= options.min_float_ops
    is_counted = is_large and options.min_occurrence <= 0 and depth <= options.max_depth
    return is_counted and _is_named(node.name, options)


def _is_named(name: str, options: ProfileOptions) -> bool:
    return _matches(name, options.show_names) and not _matches(name, options.hide_names)


def _matches(text: str, patterns: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def _sorted_nodes(nodes: list[_Node], options: ProfileOptions) -> list[_Node]:
    orders = {
        "name": lambda node: node.name,
        "params": lambda node: -node.total_parameters,
        "float_ops": lambda node: -node.total_operations,
        "occurrence": lambda node: 0,
    }
    return sorted(nodes, key=orders[options.order_by])


def _lines(node: _Node, options: ProfileOptions, indent: int) -> list[str]:
    shown = ", ".join(_parts(node, options))
    below = [line for child in node.shown for line in _lines(child, options, indent + 2)]
    return [f"{' ' * indent}{node.name} ({shown})", *below]


def _parts(node: _Node, options: ProfileOptions) -> list[str]:
    def of(own: int | str, total: int) -> str:
        return f"{(_number(own) if isinstance(own, int) else own) if node.is_accounted else '--'}/{_number(total)}"

    parts = []
    if "params" in options.select:
        parts += ["x".join(map(str, node.shape))] if node.shape else []
        parts.append(f"{of(node.parameters, node.total_parameters)} params")
    if "float_ops" in options.select:
        parts.append(f"{of(node.operations, node.total_operations)} flops")
    if "op_types" in options.select:
        parts.append("|".join(sorted(node.types)))
    if "occurrence" in options.select:
        parts.append(f"{of(0, 0)}|{of('1', node.total_definitions)}")
    return parts


def _number(count: int) -> str:
    for size, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.2f}{letter}"
    return str(count)


_LEGEND: Final = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
}


def _legend(options: ProfileOptions, **others: str) -> str:
    titles = _LEGEND | others
    return f"node name | {' | '.join(title for name, title in titles.items() if name in options.select)}"


def _scope_message(node: _Node) -> GraphNodeProto:
    message = _own_message(node)
    for child in node.shown:
        message.children.append(_scope_message(child))
    return message


def _own_message(node: _Node) -> GraphNodeProto:
    message = GraphNodeProto(
        name=node.name,
        parameters=node.parameters,
        float_ops=node.operations,
        total_definition_count=node.total_definitions,
        total_parameters=node.total_parameters,
        total_float_ops=node.total_operations,
    )
    for at, sizes in node.input_shapes.items():
        for size in sizes:
            message.input_shapes[at].dim.add(size=size)
    return message


# ------------------------------------------------------------------------------------------- By types of operations


def profile_operations(graph: Graph, types: Mapping[str, Iterable[str]], options: ProfileOptions) -> Profile:
    """A graph by the types of its operations: each type's total is what it and all types after it have."""
    nodes, incomplete = _nodes_of(graph, types)
    kinds = [kind for kind in _kinds(graph, nodes, options) if kind.below]
    _sum_from_last(kinds)
    shown = _shown_kinds(kinds, options)
    if options.is_displayed_only:
        _sum_from_last(shown)
    first = shown if options.is_displayed_only else kinds
    root = _Node(_ROOT, frozenset())
    if first:
        root.total_parameters, root.total_operations = first[0].total_parameters, first[0].total_operations
    text = "".join(_kind_line(kind, root, options) for kind in shown)
    legend = _legend(options, occurrence="op occurrence (run|defined)")
    return Profile(_chain([root, *shown]), f"{legend}\n{text}", incomplete)


def _kinds(graph: Graph, nodes: Mapping[str, _Node], options: ProfileOptions) -> list[_Node]:
    """One node per type, with the operations of it that are accounted for, in order of their names, below it."""
    of_type: dict[str, list[_Node]] = {}
    for op in graph.operations:
        of_type.setdefault(op.type, []).append(nodes[op.name])
    kinds = []
    for name in sorted(of_type):
        taken = [node for node in of_type[name] if any(_matches(kind, options.account_types) for kind in node.types)]
        for node in taken:
            node.sum_up(())
        every = frozenset[str]().union(*(node.types for node in taken))
        kind = _Node(name, every, below=sorted(taken, key=lambda node: node.name))
        kind.parameters = sum(node.parameters for node in taken)
        kind.operations = sum(node.operations for node in taken)
        kind.sum_up(())
        kinds.append(kind)
    return _sorted_nodes(kinds, options)


def _sum_from_last(kinds: Sequence[_Node]) -> None:
    after: list[_Node] = []
    for kind in reversed(kinds):
        kind.sum_up(after)
        after = [kind]


def _shown_kinds(kinds: Sequence[_Node], options: ProfileOptions) -> list[_Node]:
    starts = (at for at, kind in enumerate(kinds) if _matches(kind.name, options.start_names))
    shown: list[_Node] = []
    for depth, kind in enumerate(kinds[next(starts, len(kinds)) :]):
        if _matches(kind.name, options.trim_names) or depth > options.max_depth:
            break
        is_large = kind.total_parameters >= options.min_params and kind.total_operations >= options.min_float_ops
        if is_large and options.min_occurrence <= 0 and _is_named(kind.name, options):
            shown.append(kind)
    return shown


def _kind_line(kind: _Node, root: _Node, options: ProfileOptions) -> str:
    parts = []
    if "params" in options.select:
        share = _share(kind.total_parameters, kind.parameters, root.total_parameters)
        parts.append(f"{f'{_number(kind.parameters)} params {share}':>30}")
    if "float_ops" in options.select:
        share = _share(kind.total_operations, kind.operations, root.total_operations)
        parts.append(f"{f'{_number(kind.operations)} float_ops {share}':>30}")
    if "op_types" in options.select:
        parts.append("|".join(sorted(kind.types)))
    if "occurrence" in options.select:
        parts.append(f"{f'0|{len(kind.below)}':>10}")
    return f"{kind.name:<25}{', '.join(parts)}\n"


def _share(total: int, own: int, whole: int) -> str:
    of_all, of_own = (100 * total / whole, 100 * own / whole) if total else (0.0, 0.0)
    return f"({of_all:.2f}%, {of_own:.2f}%)"


def _chain(kinds: Sequence[_Node]) -> MultiGraphNodeProto:
    """The types, each below the one before it."""
    message = MultiGraphNodeProto()
    for at, kind in enumerate(reversed(kinds)):
        below = [message] if at else []
        message = MultiGraphNodeProto(
            name=kind.name,
            parameters=kind.parameters,
            float_ops=kind.operations,
            total_parameters=kind.total_parameters,
            total_float_ops=kind.total_operations,
            graph_nodes=[_own_message(node) for node in kind.below],
            children=below,
        )
    return message
