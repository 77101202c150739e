"""Graphs that are changed where they are: views of operations, copies of them, and ends that are led elsewhere.

What TensorFlow 1 has as `tf.contrib.graph_editor`; programs that compute activations again for gradients use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import current_graph, unique_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.functions.gradients.graph_walks import get_backward_walk_ops, get_forward_walk_ops
from tensorkeep.tf1.functions.structures import flatten, map_structure

Selected: TypeAlias = "SubGraphView | Operation | Tensor | str | re.Pattern[str] | Iterable[Any]"
Items: TypeAlias = "Graph | Operation | Tensor | Iterable[Any]"
"""All of a graph, one operation or tensor, or several."""
Filter: TypeAlias = "Callable[[Any], bool] | bool"
"""What operations or tensors have to be: a function is true of them, or True for all."""


# ---------------------------------------------------------------------------------------------------- choosing


def make_list_of_op(
    ops: Items,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ts: bool = False,
) -> list[Operation]:
    """The operations of a graph, of one operation, or of several; tensors among them are left out if told so."""
    if isinstance(ops, Graph):
        return list(ops.get_operations())
    several: list[Any] = [ops] if isinstance(ops, Operation | Tensor) else list(ops)
    kept = [item for item in several if not (ignore_ts and isinstance(item, Tensor))]
    if wrong := [item for item in kept if not isinstance(item, Operation)]:
        raise WrongTypeError(f"expected operations, got {wrong[0]!r}")
    return kept


def make_list_of_t(
    ts: Items,
    check_graph: bool = True,
    allow_graph: bool = True,
    ignore_ops: bool = False,
) -> list[Tensor]:
    """The tensors of a graph, of one tensor, or of several; operations among them are left out if told so."""
    if isinstance(ts, Graph):
        return [tensor for op in ts.get_operations() for tensor in op.outputs]
    several: list[Any] = [ts] if isinstance(ts, Operation | Tensor) else list(ts)
    kept = [item for item in several if not (ignore_ops and isinstance(item, Operation))]
    if wrong := [item for item in kept if not isinstance(item, Tensor)]:
        raise WrongTypeError(f"expected tensors, got {wrong[0]!r}")
    return kept


def filter_ts(ops: Items, positive_filter: Filter) -> list[Tensor]:
    """The outputs of operations that a function is true of; all, if it is True."""
    chosen = _test_of(positive_filter)
    return [tensor for op in make_list_of_op(ops) for tensor in op.outputs if chosen(tensor)]


def filter_ts_from_regex(ops: Items, regex: str | re.Pattern[str]) -> list[Tensor]:
    """The outputs of operations whose names a pattern is found in."""
    return filter_ts(ops, lambda tensor: re.search(regex, tensor.op.name) is not None)


def filter_ops(ops: Items, positive_filter: Filter) -> list[Operation]:
    """The operations that a function is true of; all, if it is True."""
    return [op for op in make_list_of_op(ops) if _test_of(positive_filter)(op)]


def filter_ops_from_regex(ops: Items, regex: str | re.Pattern[str]) -> list[Operation]:
    """The operations whose names a pattern is found in."""
    return filter_ops(ops, lambda op: re.search(regex, op.name) is not None)


def _test_of(wanted: Filter) -> Callable[[Any], bool]:
    return wanted if callable(wanted) else lambda item: bool(wanted)


def select_ops(
    *args: Selected, graph: Graph | None = None, positive_filter: Filter | None = None, **options: bool
) -> list[Operation]:
    """The operations that are given, and those whose names patterns are found in."""
    return _select(args, graph, positive_filter, options, "ops", lambda found: list(found.get_operations()))


def select_ts(
    *args: Selected, graph: Graph | None = None, positive_filter: Filter | None = None, **options: bool
) -> list[Tensor]:
    """The tensors that are given, and those whose names patterns are found in."""
    return _select(args, graph, positive_filter, options, "ts", make_list_of_t)


def select_ops_and_ts(*args: Selected, graph: Graph | None = None) -> tuple[list[Operation], list[Tensor]]:
    """Operations and tensors that are given or whose names patterns are found in: those of tensors after `(?#ts)`."""
    of_tensors = [item for item in args if isinstance(item, str) and item.startswith("(?#ts)")]
    rest = [item for item in args if item not in of_tensors] if of_tensors else list(args)
    ops = select_ops(*(item for item in rest if not isinstance(item, Tensor)), graph=graph)
    tensors = select_ts(*of_tensors, *(item for item in rest if isinstance(item, Tensor)), graph=graph)
    return ops, tensors


def _select(
    args: Sequence[Any],
    graph: Graph | None,
    positive_filter: Filter | None,
    options: Mapping[str, bool],
    kind: str,
    everything: Callable[[Graph], list[Any]],
) -> list[Any]:
    known = ("restrict_ops_regex", "restrict_ts_regex")
    if unknown := sorted(set(options) - set(known)):
        raise WrongTypeError(f"select_{kind} got unexpected arguments: {unknown}")
    found: dict[Any, None] = {}
    for item in args:
        if isinstance(item, str | re.Pattern):
            text = item if isinstance(item, str) else item.pattern
            if options.get(f"restrict_{kind}_regex") and not text.startswith(f"(?#{kind})"):
                continue
            pattern = re.compile(text.removeprefix(f"(?#{kind})")) if isinstance(item, str) else item
            candidates = everything(graph or current_graph())
            found.update(dict.fromkeys(each for each in candidates if pattern.search(each.name)))
        else:
            found.update(dict.fromkeys(make_list_of_op(item) if kind == "ops" else make_list_of_t(item)))
    chosen = _test_of(True if positive_filter is None else positive_filter)
    return [item for item in found if chosen(item)]


# ---------------------------------------------------------------------------------------------------- views


class SubGraphView:
    """Some operations of a graph, with the tensors that come in from others and those that others may take."""

    def __init__(self, inside_ops: Iterable[Operation] = (), passthrough_ts: Iterable[Tensor] = ()) -> None:
        chosen = set(inside_ops)
        self._ops = sorted(chosen, key=lambda op: op.index)
        self._passed = list(passthrough_ts)
        inputs = dict.fromkeys(tensor for op in self._ops for tensor in op.inputs if tensor.op not in chosen)
        outputs = [tensor for op in self._ops for tensor in op.outputs]
        self._inputs = [*inputs, *self._passed]
        self._outputs = [tensor for tensor in outputs if any(user not in chosen for user in tensor.consumers())]
        self._outputs += [tensor for tensor in outputs if not tensor.consumers()] + self._passed

    @property
    def graph(self) -> Graph | None:
        return self._ops[0].graph if self._ops else self._passed[0].graph if self._passed else None

    @property
    def ops(self) -> list[Operation]:
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self._outputs)

    @property
    def passthroughs(self) -> list[Tensor]:
        return list(self._passed)

    @property
    def connected_inputs(self) -> list[Tensor]:
        return [tensor for tensor in self._inputs if tensor not in self._passed]

    @property
    def connected_outputs(self) -> list[Tensor]:
        return [tensor for tensor in self._outputs if tensor not in self._passed]

    def consumers(self) -> list[Operation]:
        """The operations outside that take what comes out."""
        inside = set(self._ops)
        return list(dict.fromkeys(u for tensor in self._outputs for u in tensor.consumers() if u not in inside))

    def op(self, op_id: int) -> Operation:
        """The operation of a number."""
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor comes in and goes out unchanged."""
        return t in self._passed

    def input_index(self, t: Tensor) -> int:
        """Where among the inputs a tensor is."""
        return self._inputs.index(t)

    def output_index(self, t: Tensor) -> int:
        """Where among the outputs a tensor is."""
        return self._outputs.index(t)

    def _remapped(self, which: str, wanted: Sequence[int | Tensor]) -> SubGraphView:
        old = getattr(self, which)
        made = SubGraphView(self._ops, self._passed)
        made._inputs, made._outputs = self.inputs, self.outputs
        setattr(made, which, [old[item] if isinstance(item, int) else old[old.index(item)] for item in wanted])
        return made

    def remap_inputs(self, new_input_indices: Sequence[int | Tensor]) -> SubGraphView:
        """A view with some of its inputs, in an order of one's own."""
        return self._remapped("_inputs", new_input_indices)

    def remap_outputs(self, new_output_indices: Sequence[int | Tensor]) -> SubGraphView:
        """A view with some of its outputs, in an order of one's own."""
        return self._remapped("_outputs", new_output_indices)

    def __bool__(self) -> bool:
        return self.graph is not None

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *unused: object) -> None:
        """Nothing to do."""


def make_view(*args: Selected, graph: Graph | None = None) -> SubGraphView:
    """A view of operations that are given or whose names patterns are found in; a view is itself."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    ops, passed = select_ops_and_ts(*args, graph=graph)
    return SubGraphView(ops, passed)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """A view of the operations of a scope."""
    return SubGraphView(op for op in graph.get_operations() if op.name.startswith(f"{scope.rstrip('/')}/"))


# ---------------------------------------------------------------------------------------------------- copying


class TransformerInfo:
    """What a copy made of which operations and tensors."""

    def __init__(self, ops: dict[Operation, Operation], tensors: dict[Tensor, Tensor]) -> None:
        self._transformed_ops = ops
        self._transformed_ts = tensors
        both: dict[Any, Any] = {**ops, **tensors}
        self._originals = {new: old for old, new in both.items()}

    def transformed(self, original: object, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """What became of operations and tensors, in any structure; None of those that were not copied."""
        known: dict[Any, Any] = {**self._transformed_ops, **self._transformed_ts}

        def found(item: Any) -> Any:
            return known[item] if item in known else missing_fn(item) if missing_fn else None

        return map_structure(found, original)

    def original(self, transformed: object, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Of what copies are, in any structure; None of those that are no copies."""

        def found(item: Any) -> Any:
            return self._originals[item] if item in self._originals else missing_fn(item) if missing_fn else None

        return map_structure(found, transformed)


def copy_with_input_replacements(
    sgv: Selected,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies operations, where other tensors take the place of some; a view of the copies, and what became of what."""
    view = make_view(sgv)
    graph = dst_graph or view.graph
    if graph is None:
        raise InvalidArgumentError("there is nothing to be copied: the view is empty")
    source = f"{src_scope.rstrip('/')}/" if src_scope else ""
    _check_copied(view, source)
    prefix = f"{dst_scope.rstrip('/')}/" if dst_scope else ""
    if prefix and not reuse_dst_scope:
        prefix = f"{unique_name(prefix[:-1], graph)}/"
    names = {op: f"{prefix}{op.name.removeprefix(source)}" for op in view.ops}
    info = _copied(view, names, replacement_ts, graph)
    made = SubGraphView(info._transformed_ops.values())
    made._outputs = [info._transformed_ts[item] for item in view.connected_outputs]
    return made, info


def _check_copied(view: SubGraphView, source: str) -> None:
    if outside := [op.name for op in view.ops if not op.name.startswith(source)]:
        raise InvalidArgumentError(f'"{outside[0]}" is not in the scope "{source}" that is to be copied')
    if inside := [op.name for op in view.ops if op.control_flow_context is not None]:
        raise InvalidArgumentError(
            f'"{inside[0]}" is inside of a tf.cond or a tf.while_loop: such operations are not copied. Call the Python '
            "function that makes them again"
        )


def _copied(
    view: SubGraphView, names: Mapping[Operation, str], replaced: Mapping[Tensor, Tensor], graph: Graph
) -> TransformerInfo:
    ops: dict[Operation, Operation] = {}
    tensors: dict[Tensor, Tensor] = {}

    def end_of(tensor: Tensor) -> Tensor:
        found = replaced.get(tensor, tensors.get(tensor, tensor))
        if found.graph is not graph:
            raise InvalidArgumentError(f'"{found.name}" is of another graph: name what takes its place')
        return found

    for op in view.ops:
        waited_for = [ops.get(other, other) for other in op.control_inputs]
        made = graph.add_operation(
            op.spec,
            unique_name(names[op], graph),
            [end_of(tensor) for tensor in op.inputs],
            op.node_def,
            [other for other in waited_for if other.graph is graph],
        )
        made.device = op.device
        graph.infer_shapes()
        ops[op] = made
        for old, new in zip(op.outputs, made.outputs, strict=True):
            new.set_shape(old.static_shape)
            tensors[old] = new
    return TransformerInfo(ops, tensors)


def copy(
    sgv: Selected,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies operations, which take what theirs take; a view of the copies, and what became of what."""
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Tensor, Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Tensors as they would be if others took the place of some: what is between is copied."""
    targets = flatten(target_ts)
    between = get_walks_intersection_ops(list(replacement_ts), targets)
    if not between:
        raise InvalidArgumentError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(between, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, missing_fn=lambda item: item)


def get_walks_intersection_ops(
    forward_seed_ops: Operation | Tensor | Iterable[Operation | Tensor],
    backward_seed_ops: Operation | Tensor | Iterable[Operation | Tensor],
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Iterable[Operation] | None = None,
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that some lead to, and that lead to others."""
    ahead = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops)
    behind = set(
        get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, control_inputs=control_inputs)
    )
    return [op for op in ahead if op in behind]


# ---------------------------------------------------------------------------------------------------- leading elsewhere


def reroute_ts(
    ts0: Iterable[Tensor],
    ts1: Iterable[Tensor],
    can_modify: Iterable[Operation] | None = None,
    cannot_modify: Iterable[Operation] | None = None,
) -> int:
    """Those that take the tensors `ts1` take those of `ts0` instead; how many inputs that changed."""
    return _reroute(_pairs(ts0, ts1), can_modify, cannot_modify)


def swap_ts(
    ts0: Iterable[Tensor],
    ts1: Iterable[Tensor],
    can_modify: Iterable[Operation] | None = None,
    cannot_modify: Iterable[Operation] | None = None,
) -> int:
    """Those that take one tensor take the other, and the other way round; how many inputs that changed."""
    pairs = _pairs(ts0, ts1)
    return _reroute([*pairs, *((old, new) for new, old in pairs)], can_modify, cannot_modify)


def _pairs(ts0: Iterable[Tensor], ts1: Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    news, olds = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(news) != len(olds):
        raise InvalidArgumentError(f"as many tensors are wanted as there are to be replaced: {len(news)}, {len(olds)}")
    for new, old in zip(news, olds, strict=True):
        if new.dtype.base_dtype is not old.dtype.base_dtype or not new.static_shape.is_compatible(old.static_shape):
            raise InvalidArgumentError(f"{new} cannot take the place of {old}")
    return list(zip(news, olds, strict=True))


def _reroute(
    pairs: Sequence[tuple[Tensor, Tensor]],
    can_modify: Iterable[Operation] | None,
    cannot_modify: Iterable[Operation] | None,
) -> int:
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set(make_list_of_op(cannot_modify or ()))
    users = [(new, old, set(old.consumers())) for new, old in pairs]  # as they are before any is changed
    changes = [
        (op, index, new)
        for new, old, ops in users
        for op in ops
        if (allowed is None or op in allowed) and op not in forbidden
        for index, tensor in enumerate(op.inputs)
        if tensor is old
    ]
    for op, index, new in changes:
        op.set_input(index, new)
    return len(changes)


def add_control_inputs(op: Operation, cops: Items) -> None:
    """An operation also waits for others. None of them may be one that it waits for already."""
    others = make_list_of_op(cops)
    if known := [other.name for other in others if other in op.control_inputs]:
        raise InvalidArgumentError(f"{known[0]} is already a control_input of {op.name}")
    op.add_control_inputs(others)


def remove_control_inputs(op: Operation, cops: Items) -> None:
    """An operation waits for some others no more."""
    others = set(make_list_of_op(cops))
    if unknown := [other.name for other in others if other not in op.control_inputs]:
        raise InvalidArgumentError(f"{unknown[0]} is not a control_input of {op.name}")
    kept = [other for other in op.control_inputs if other not in others]
    op.clear_control_inputs()
    op.add_control_inputs(kept)


__all__ = [
    "SubGraphView",
    "TransformerInfo",
    "add_control_inputs",
    "copy",
    "copy_with_input_replacements",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_walks_intersection_ops",
    "graph_replace",
    "make_list_of_op",
    "make_list_of_t",
    "make_view",
    "make_view_from_scope",
    "remove_control_inputs",
    "reroute_ts",
    "select_ops",
    "select_ops_and_ts",
    "select_ts",
    "swap_ts",
]
