"""Several branches, of which one runs: case, switch_case."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final

from tensorkeep.dtypes import BOOL, INT32, RESOURCE
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import chosen_name, control_dependencies, current_graph, graph_of, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.function_graph import FunctionGraph, trace_function
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.control import functional
from tensorkeep.ops.shared.expressions import cast
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert, Branch, cond, smart_cond
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as

LOG: Final = logging.getLogger("tensorkeep")
_READING: Final = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "_ReadVariablesOp")


def case(
    pred_fn_pairs: Mapping[Any, Callable[[], Any]] | Sequence[tuple[TensorLike, Callable[[], Any]]],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function beside the first true predicate gives, or `default`.

    With `exclusive` it is an error if several predicates are true, and without `default` if none is.
    """
    return _case(partial(cond, strict=strict), pred_fn_pairs, default, exclusive, name, takes_bools=False)


def smart_case(
    pred_fn_pairs: Mapping[Any, Callable[[], Any]] | Sequence[tuple[TensorLike, Callable[[], Any]]],
    default: Branch | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`case`, leaving out the functions that cannot run."""
    return _case(smart_cond, pred_fn_pairs, default, exclusive, name, takes_bools=True)


def _case(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Branch | None,
    exclusive: bool,
    name: str,
    takes_bools: bool,
) -> Any:
    predicates, actions = _checked_pairs(pred_fn_pairs, exclusive, name, takes_bools)
    with name_scope(chosen_name(name, "case"), graph_of(predicates)):
        if default is None:
            default, predicates, actions = _default_action(predicates, actions)
        function: Any = default
        for predicate, action in reversed(list(zip(predicates, actions, strict=True))):
            function = partial(cond_fn, predicate, true_fn=action, false_fn=function)
        if not exclusive:
            return function()
        with control_dependencies([_at_most(predicates, 1, "Input error: exclusive=True")]):
            return function()


def _checked_pairs(pred_fn_pairs: Any, exclusive: bool, name: str, takes_bools: bool) -> tuple[list[Any], list[Any]]:
    if not isinstance(pred_fn_pairs, list | tuple | dict):
        raise WrongTypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    pairs: Iterable[Any] = pred_fn_pairs
    if isinstance(pred_fn_pairs, dict):
        pairs = list(pred_fn_pairs.items())
        if not isinstance(pred_fn_pairs, OrderedDict):
            pairs = sorted(pairs, key=lambda pair: pair[0].name)
            if not exclusive:
                LOG.warning("%s: the predicates are of a dict, so they are asked in the order of their names", name)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise WrongTypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        predicate, function = pair
        if isinstance(predicate, Tensor):
            if predicate.dtype.base_dtype is not BOOL:
                raise WrongTypeError(f"pred must be Tensor of type bool: {predicate.name}")
        elif not takes_bools:
            raise WrongTypeError(f"pred must be a Tensor, got: {predicate}")
        elif not isinstance(predicate, bool):
            raise WrongTypeError(f"pred must be a Tensor or bool, got: {predicate}")
        if not callable(function):
            raise WrongTypeError(f"fn for pred {getattr(predicate, 'name', predicate)} must be callable.")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _default_action(predicates: list[Any], actions: list[Any]) -> tuple[Branch, list[Any], list[Any]]:
    """Without a default the last function is it, and complains if its predicate is not true."""
    last, action = predicates[-1], actions[-1]
    others = predicates[:-1]

    def default() -> Any:
        message = (
            f"Implementation error: selected default action #{len(others)} was called, but some of other predicates "
            "are True: "
        )
        shown = ("Input error: None of conditions evaluated as True:", emit("Pack", predicates, name="preds_c"))
        checks = [_at_most(others, 0, message), Assert(last, shown)]
        with control_dependencies(checks):
            return action()

    return default, others, actions[:-1]


def _at_most(predicates: Sequence[Any], count: int, message: str) -> Operation:
    """An operation that fails if more than `count` predicates are true."""
    packed = emit("Pack", predicates, name="preds_c") if predicates else convert([], name="preds_c")
    total = _sum_of(cast(packed, INT32), "num_true_conds")
    limit = constant(count, name="n_true_conds")
    condition = emit("LessEqual", total, limit, name="LessEqual")
    names = ", ".join(getattr(predicate, "name", "?") for predicate in predicates)
    shown = (f"{message}: more than {count} conditions ({names}) evaluated as True:", packed)
    return Assert(condition, shown, len(predicates))


def _sum_of(x: Tensor, name: str) -> Tensor:
    """The sum of a vector, named as `reduce_sum` names it."""
    axes = constant([0], name="Const")
    return emit("Sum", x, axes, keep_dims=False, name=name)


def switch_case(
    branch_index: TensorLike,
    branch_fns: Mapping[int, Callable[[], Any]] | Sequence[Callable[[], Any] | tuple[int, Callable[[], Any]]],
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """What the function of that index gives; the last one, or `default`, if the index is of none.

    The branches become functions of the graph's library, of which one is called.
    """
    functions = _checked_branches(branch_index, branch_fns, default)
    graph = graph_of([branch_index])
    with name_scope(chosen_name(name, "case"), graph), name_scope("indexed_case", graph) as scope:
        index = convert(branch_index, name="branch_index")
        bodies, results = zip(
            *(trace_function(partial(_outputs, function, index), graph) for function in functions), strict=True
        )
        first, leaves = results[0], [[leaf for leaf in flatten(result) if leaf is not None] for result in results]
        _check_alike(leaves, results)
        captured = list(dict.fromkeys(tensor for body in bodies for tensor in body.captured))
        references = [
            _define_branch(graph, f"{scope}branch{i}".replace("/", "_"), body, outputs, captured)
            for i, (body, outputs) in enumerate(zip(bodies, leaves, strict=True))
        ]
        found = iter(_choose_branch(graph, scope, index, captured, references, leaves, bodies))
        return pack_sequence_as(first, [None if leaf is None else next(found) for leaf in flatten(first)])


def _outputs(function: Branch, index: Tensor) -> Any:
    """What a branch gives, as tensors; for an operation, a number that waits for it."""
    return map_structure(partial(_output, index=index), function())


def _output(value: Any, index: Tensor) -> Tensor | None:
    if isinstance(value, Operation):
        with control_dependencies([value]):
            return emit(identity, index)
    if value is None:
        return None
    graph, tensor = current_graph(), convert(value)
    return tensor if tensor.graph is graph else graph.capture(tensor)


def _check_alike(leaves: Sequence[Sequence[Tensor]], results: Sequence[Any]) -> None:
    kinds = [[tensor.dtype.base_dtype for tensor in outputs] for outputs in leaves]
    for i, other in enumerate(kinds):
        if other != kinds[0]:
            raise WrongTypeError(
                f"branches[0] and branches[{i}] arguments to tf.switch_case must have the same number, type, and "
                f"overall structure of return values.\n\nbranches[0] output: {results[0]}\nbranches[{i}] output: "
                f"{results[i]}"
            )


def _define_branch(
    graph: Graph, name: str, body: FunctionGraph, outputs: Sequence[Tensor], captured: Sequence[Tensor]
) -> FunctionRef:
    """Adds the function of a branch to the library, under a name that is not taken."""
    chosen = next(found for i in count() if (found := f"{name}_{i}") not in graph.functions)
    graph.add_function(body.function(chosen, outputs, captured))
    return FunctionRef(chosen)


def _choose_branch(
    graph: Graph,
    scope: str,
    index: Tensor,
    captured: Sequence[Tensor],
    references: Sequence[FunctionRef],
    leaves: Sequence[Sequence[Tensor]],
    bodies: Sequence[FunctionGraph],
) -> list[Any]:
    stateful = any(graph.functions[reference.name].signature.is_stateful for reference in references)
    dtypes = [tensor.dtype.base_dtype for tensor in leaves[0]]
    shapes = [_shared_shape([outputs[i].static_shape for outputs in leaves]) for i in range(len(dtypes))]
    spec = functional.case if stateful else functional.stateless_case
    results = spec(index, captured, branches=references, Tout=dtypes, output_shapes=shapes, name=scope)
    op = results if isinstance(results, Operation) else results[0].op
    op.decorate("_lower_using_switch_merge", True)
    op.decorate("_read_only_resource_inputs", _only_read(captured, bodies))
    graph.unfetchable.add(op)
    return [identity(tensor) for tensor in op.outputs]


def _only_read(captured: Sequence[Tensor], bodies: Sequence[FunctionGraph]) -> tuple[int, ...]:
    """The inputs of the operation that are handles of what no branch writes to."""
    handles = [(i + 1, tensor) for i, tensor in enumerate(captured) if tensor.dtype is RESOURCE]
    return tuple(i for i, tensor in handles if not any(_is_written(body.captured[tensor]) for body in bodies))


def _is_written(handle: Tensor) -> bool:
    for op in handle.consumers():
        known = op.attr("_read_only_resource_inputs") or ()
        places = [i for i, tensor in enumerate(op.inputs) if tensor is handle]
        if op.spec.schema.is_stateful and op.type not in _READING and not set(places) <= set(known):
            return True
    return False


def _shared_shape(shapes: Sequence[Shape]) -> Shape:
    """What is true of all of some shapes."""
    dims = [shape.dims for shape in shapes if shape.dims is not None]
    if len(dims) < len(shapes) or any(len(sizes) != len(dims[0]) for sizes in dims):
        return UNKNOWN_SHAPE
    return Shape(tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*dims, strict=True)))


def _checked_branches(branch_index: Any, branch_fns: Any, default: Branch | None) -> list[Branch]:
    if not isinstance(branch_index, Tensor):
        raise WrongTypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise WrongTypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise InvalidArgumentError("Must provide at least one item in 'branch_fns'")
    if not isinstance(branch_fns, list | tuple | dict):
        raise WrongTypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else list(branch_fns)
    if all(callable(item) for item in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise WrongTypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], int):
            raise WrongTypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise WrongTypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(pair[0] for pair in pairs)
    if keys != list(range(len(keys))):
        raise InvalidArgumentError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    by_key = dict(pairs)
    return [by_key[key] for key in keys] + ([] if default is None else [default])


__all__ = ["case", "smart_case", "switch_case"]
