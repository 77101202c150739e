"""Control flow for programs: group and tuple, cond, while_loop, assertions.

Branches and loops are built from Switch, Merge, Enter and Exit, as TensorFlow 1 builds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT32, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name, control_dependencies, graph_of, name_scope, unique_name
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.control.control_flow import merge, ref_merge, switch
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.contexts import (
    CondContext,
    WhileContext,
    announce,
    close_loop,
    enter_tensor,
    exit_tensor,
    fits,
    inside_context,
    is_constant_enter,
    loop_condition,
    next_iteration_of,
    switch_tensor,
)
from tensorkeep.tf1.functions.control.grouping import group, identity_or_ref, no_op, tuple_, with_dependencies
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.structures import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
    variables_read,
)

COND_CONTEXT: Final = "cond_context"
WHILE_CONTEXT: Final = "while_context"

Branch = Callable[[], Any]


# ---------------------------------------------------------------------------------------------------- Values


def _converted_value(value: Any) -> Any:
    """A value as a tensor or composite; an array of tensors stays as it is."""
    return value if isinstance(value, TensorArray | IndexedSlices | SparseTensor) else convert(value)


def _flow_of(value: Any) -> Any:
    return value.flow if isinstance(value, TensorArray) else value


def _with_flow(original: Any, tensor: Tensor) -> Any:
    return original.with_flow(tensor) if isinstance(original, TensorArray) else tensor


def merge_tensors(inputs: Sequence[Tensor], name: str = "Merge") -> Tensor:
    """The op Merge: the value of the input that arrives. The others are those of branches that were not taken."""
    spec = ref_merge if all(tensor.dtype.is_ref for tensor in inputs) else merge
    return emit_tensors(spec, inputs, name=name)[0]


# ---------------------------------------------------------------------------------------------------- cond


def cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Branch | None = None,
    fn2: Branch | None = None,
) -> Any:
    """What `true_fn` gives if `pred`, else what `false_fn` gives. Both are called now; one of them will run.

    They must give the same structure of values of the same types. Unless `strict`, a list of one value is that value.
    """
    first = _one_of("true_fn", true_fn, "fn1", fn1)
    second = _one_of("false_fn", false_fn, "fn2", fn2)
    if isinstance(pred, bool):
        raise WrongTypeError("'pred' must not be a Python bool.")
    with name_scope(chosen_name(name, "cond"), graph_of([pred])):
        off, on = emit_tensors(switch, pred, pred, name="Switch")
        pivots = emit(identity, on, name="switch_t"), emit(identity, off, name="switch_f")
        chosen = emit(identity, pred, name="pred_id")
        graph = chosen.graph
        graph.unfetchable.update(tensor.op for tensor in (on, *pivots, chosen))
        context_t = CondContext.begin(chosen, pivots[0], 1)
        original_t, flat_t = _built_branch(context_t, first, "true_fn")
        context_f = CondContext.begin(chosen, pivots[1], 0)
        original_f, flat_f = _built_branch(context_f, second, "false_fn")
        if not strict:
            original_t, original_f = _unpack_single(original_t), _unpack_single(original_f)
        _check_alike(original_t, original_f)
        if not flat_t:
            raise InvalidArgumentError("'true_fn' and 'false_fn' must return at least one result.")
        for x, y in zip(flat_t, flat_f, strict=True):
            if x.dtype.base_dtype is not y.dtype.base_dtype:
                raise InvalidArgumentError(
                    "Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received "
                    f"{x.dtype} from 'true_fn' and {y.dtype} from 'false_fn'."
                )
        merges: list[Any] = [merge_tensors(pair) for pair in zip(flat_f, flat_t, strict=True)]
        merges = [
            _with_flow(original, tensor)
            for original, tensor in zip(flatten(original_t, expand_composites=True), merges, strict=True)
        ]
        if context_t.outer_context is None:
            graph.collections.setdefault(COND_CONTEXT, []).extend((context_t, context_f))
        result = pack_sequence_as(original_t, merges, expand_composites=True)
        return result if strict else _unpack_single(result)


def _one_of(name: str, function: Branch | None, old_name: str, old: Branch | None) -> Branch:
    if old is not None:
        if function is not None:
            raise WrongTypeError(f"cond(): '{name}' and '{old_name}' may not be set simultaneously.")
        function = old
    elif function is None:
        raise WrongTypeError(f"cond(): '{name}' argument required")
    if not callable(function):
        raise WrongTypeError(f"'{name}' must be callable.")
    return function


def _built_branch(context: CondContext, function: Branch, what: str) -> Any:
    """What a branch gives: as it gave it, and as tensors of the branch."""
    with inside_context(context):
        original = function()
        if original is None:
            raise InvalidArgumentError(f"'{what}' must have a return value.")
        original = variables_read(original)
        flat = [context.result(value) for value in flatten(original, expand_composites=True)]
        announce(context, flat)
        return original, flat


def _unpack_single(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _check_alike(original_t: Any, original_f: Any) -> None:
    try:
        assert_same_structure(original_t, original_f, expand_composites=True)
    except WrongTypeError as error:
        raise WrongTypeError(f"Incompatible return types of 'true_fn' and 'false_fn': {error}") from None
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"Incompatible return values of 'true_fn' and 'false_fn': {error}") from None


def smart_cond(
    pred: TensorLike, true_fn: Branch | None = None, false_fn: Branch | None = None, name: str | None = None
) -> Any:
    """`cond`, unless `pred` is known already: then only that branch is built."""
    if not callable(true_fn):
        raise WrongTypeError(f"Argument `true_fn` must be callable. Received {true_fn}")
    if not callable(false_fn):
        raise WrongTypeError(f"Argument `false_fn` must be callable. Received {false_fn}")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_constant_value(pred: TensorLike) -> bool | None:
    """The truth value of a predicate, if it is known before running."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, bool) or pred in (0, 1):
        return bool(pred)
    raise WrongTypeError(
        "Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. "
        f"Received: pred={pred} of type {type(pred).__name__}"
    )


def Assert(  # noqa: N802 - `assert` is taken
    condition: TensorLike, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that fails unless `condition`, and then shows `data`, up to `summarize` elements of each."""
    shown = 3 if summarize is None else summarize
    with name_scope(chosen_name(name, "Assert"), graph_of([condition, *data])):
        values = [convert(item) for item in data]

        def check() -> Operation:
            return emit_operation("Assert", condition, data, summarize=shown, name="Assert")

        if all(value.dtype.base_dtype in (STRING, INT32) for value in values):
            return check()
        condition = convert(condition, name="Condition")
        guarded: Tensor = cond(condition, no_op, check, name="AssertGuard")
        return guarded.op


# ---------------------------------------------------------------------------------------------------- while_loop


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Structure,
    shape_invariants: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """What `loop_vars` have become when `cond` of them is false, `body` giving their next values.

    Shapes must not change from round to round unless `shape_invariants` says which parts of them may.
    """
    if not callable(cond):
        raise WrongTypeError("'cond' must be callable.")
    if not callable(body):
        raise WrongTypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise WrongTypeError("'parallel_iterations' must be a positive integer.")
    carried: Any = variables_read(loop_vars)
    graph = graph_of(flatten(carried, expand_composites=True))
    with name_scope(chosen_name(name, "while"), graph):
        if not carried:
            raise InvalidArgumentError("'loop_vars' must be provided.")
        limit: Tensor | None = None
        if maximum_iterations is not None:
            limit = convert(maximum_iterations, name="maximum_iterations")
            if limit.static_shape.rank != 0:
                raise InvalidArgumentError(f"'maximum_iterations' must be a scalar. Received shape: {limit.shape}")
            packs = len(carried) == 1 and not return_same_structure
            cond, body, carried = _counted_loop(cond, body, carried, limit, packs)
            if shape_invariants is not None:
                shape_invariants = (TensorShape(()), shape_invariants)
        context = WhileContext(
            graph,
            unique_name("while_context", graph),
            maximum_iterations=limit,
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        if context.outer_context is None:
            graph.collections.setdefault(WHILE_CONTEXT, []).append(context)
        result = _Loop(context, carried, shape_invariants).build(cond, body, return_same_structure)
        return result if limit is None else result[1]


def _counted_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, limit: Tensor, packs: bool
) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
    """The loop with a counter as its first variable, that ends when the counter has reached the limit."""
    counter = constant(0, limit.dtype.base_dtype, name="iteration_counter")

    def counted_cond(i: Tensor, values: Any) -> Any:
        in_time = emit("Less", i, limit, name="Less")
        return emit("LogicalAnd", in_time, cond(values) if packs else cond(*values), name="LogicalAnd")

    def counted_body(i: Tensor, values: Any) -> Any:
        return emit("AddV2", i, 1, name="add"), body(values) if packs else body(*values)

    return counted_cond, counted_body, (counter, loop_vars[0] if packs else loop_vars)


class _Loop:
    """A loop while it is being built."""

    def __init__(self, context: WhileContext, loop_vars: Any, shape_invariants: Any) -> None:
        self._context = context
        self._graph: Graph = context.graph
        self._originals = flatten(loop_vars, expand_composites=True)
        self._loop_vars = map_structure(_converted_value, loop_vars)
        self._values = [_flow_of(value) for value in flatten(self._loop_vars, expand_composites=True)]
        self._shapes = _invariants(self._loop_vars, shape_invariants)

    def build(self, cond: Callable[..., Any], body: Callable[..., Any], return_same_structure: bool) -> Any:
        with inside_context(self._context):
            body_result, exits = self._build(cond, body)
        results = [
            _with_flow(original, tensor)
            for original, tensor in zip(flatten(body_result, expand_composites=True), exits, strict=True)
        ]
        packed = pack_sequence_as(body_result, results, expand_composites=True)
        return packed[0] if len(exits) == 1 and not return_same_structure else packed

    def _build(self, cond: Callable[..., Any], body: Callable[..., Any]) -> tuple[Any, list[Tensor]]:
        context = self._context
        enters = self._enter()
        heads = [merge_tensors([tensor, tensor]) for tensor in enters]
        context.pivot_for_pred = heads[0]
        context.pivot = loop_condition(convert(cond(*self._packed(heads))))
        switches = [switch_tensor(tensor, context.pivot) for tensor in heads]
        inside = [identity_or_ref(on) for _, on in switches]
        context.pivot_for_body = inside[0]
        arguments = self._packed(inside)
        result = body(*arguments)
        if not is_nested(result):
            result = [result]
        result = variables_read(result)
        # Arguments are often a list and results a tuple, so the outermost layer does not count.
        assert_same_structure(list(arguments), list(result), expand_composites=True)
        nexts = [convert(_flow_of(value)) for value in flatten(result, expand_composites=True)]
        for head, value in zip(heads, nexts, strict=True):
            self._close(head, value)
        exits = [exit_tensor(off) for off, _ in switches]
        context.loop_exits = exits
        announce(context, exits)
        return result, exits

    def _packed(self, tensors: Sequence[Tensor]) -> Any:
        values = [_with_flow(original, tensor) for original, tensor in zip(self._originals, tensors, strict=True)]
        return pack_sequence_as(self._loop_vars, values, expand_composites=True)

    def _enter(self) -> list[Tensor]:
        """The loop variables inside the loop."""
        context = self._context
        outer = context.outer_context
        context.values = {tensor.name for tensor in self._values}
        real = self._values if outer is None else [outer.add_value(tensor) for tensor in self._values]
        enters: list[Tensor] = []
        with control_dependencies(None, self._graph):
            for tensor, shape in zip(real, self._shapes, strict=True):
                inside = enter_tensor(tensor, context, use_input_shape=False)
                if not fits(tensor.static_shape, shape):
                    raise InvalidArgumentError(
                        f"The shape invariant specified for {tensor.name} is not compatible with the initial shape of "
                        f"the loop variable. It enters the loop with shape {tensor.shape}, but the specified shape "
                        f"invariant is {TensorShape(shape)}."
                    )
                inside.set_shape(shape)
                self._graph.unfeedable.add(inside)
                enters.append(inside)
        pivot: Tensor | None = None
        while outer is not None and pivot is None:
            pivot = outer.control_pivot
            outer = outer.outer_context
        if pivot is not None:
            for tensor in enters:
                if is_constant_enter(tensor.op.inputs[0].op):
                    tensor.op.add_control_inputs((pivot.op,))
        context.adopt_enters(enters)
        context.values = {tensor.name for tensor in enters}
        context.loop_enters = enters
        return enters

    def _close(self, head: Tensor, value: Tensor) -> None:
        following = next_iteration_of(value)
        if not fits(following.static_shape, head.static_shape):
            source = head.op.inputs[0].op.inputs[0]
            raise InvalidArgumentError(
                f"Input tensor '{source.name}' enters the loop with shape {source.shape}, but has shape "
                f"{following.shape} after one iteration. To allow the shape to vary across iterations, use the "
                "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
            )
        close_loop(head, following)


def _invariants(loop_vars: Any, shape_invariants: Any) -> list[Shape]:
    """What of the shape of each tensor stays the same."""
    values = flatten(loop_vars)
    if shape_invariants is None:
        told: list[Any] = [None] * len(values)
    else:
        assert_same_structure(loop_vars, shape_invariants, check_types=False)
        told = flatten(shape_invariants)
    return [shape for value, invariant in zip(values, told, strict=True) for shape in _invariant(value, invariant)]


def _invariant(value: Any, told: Any) -> list[Shape]:
    """The invariants of a value's tensors."""
    told = getattr(told, "shape", told)  # of a TensorSpec
    if isinstance(told, TensorShape):
        told = told.plain
    if told is not None and not isinstance(told, Shape):
        raise WrongTypeError(f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(told)}")
    value = _flow_of(value)
    if isinstance(value, Tensor):
        return [value.static_shape if told is None else told]
    if isinstance(value, SparseTensor):
        return _sparse_invariant(value, told)
    return _slices_invariant(value, told)


def _slices_invariant(value: IndexedSlices, told: Shape | None) -> list[Shape]:
    """The shape invariants of the parts of IndexedSlices, from that of the values: as many indices as rows."""
    shape = value.values.static_shape if told is None else told
    rows = UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[:1])
    rest = UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[1:])
    if told is None:
        rows = rows.merge(value.indices.static_shape)
        dense = value.shape.plain.dims
        rest = rest.merge(UNKNOWN_SHAPE if dense is None else Shape(dense[1:]))
    parts = [rows.concatenate(rest), rows]
    return parts if value.dense_shape is None else [*parts, Shape((None if rest.rank is None else 1 + rest.rank,))]


def _sparse_invariant(value: SparseTensor, told: Shape | None) -> list[Shape]:
    """The shape invariants of the parts of a sparse tensor, of which only the rank can be fixed."""
    rank = value.shape.rank if told is None else None
    if told is not None and told.dims is not None:
        if len(told.dims) != 1:
            raise InvalidArgumentError(
                f"Expected a shape with 1 dimension. Obtained: {TensorShape(told)} which has {len(told.dims)} "
                "dimensions."
            )
        rank = told.dims[0]
    return [Shape((None, rank)), Shape((None,)), Shape((rank,))]


__all__ = [
    "Assert",
    "cond",
    "group",
    "no_op",
    "smart_cond",
    "smart_constant_value",
    "tuple_",
    "while_loop",
    "with_dependencies",
]
