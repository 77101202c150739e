"""Gradients of what calls functions of the graph's library: branches, loops, plain calls.

The gradient of a function is a function: of the gradients of its results, and of what it needs of the values that the
function computed on its way. A branch or loop is made to give these values as further results; those of a loop, one
for each round, are kept in lists, which the loop that goes back takes them from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from tensorkeep.dtypes import INT32, RESOURCE, VARIANT, DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.building import add, building
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.functions import FunctionBody, find_function, function_body, function_def
from tensorkeep.graph.graph import Graph, HandleShape, Operation, Tensor, held_behind, held_shape
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.control.functional import (
    case,
    fake_param,
    gradient_dtype,
    if_,
    partitioned_call,
    stateful_partitioned_call,
    stateless_case,
    stateless_if,
    stateless_while,
    while_,
)
from tensorkeep.ops.control.tensor_lists import empty_tensor_list, tensor_list_pop_back, tensor_list_push_back
from tensorkeep.ops.numbers.comparisons import less
from tensorkeep.ops.shared.expressions import constant, plus, zeros_like
from tensorkeep.runtime.plans.calling import register_differentiation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.gradients.gradient_loops import zeros_like_variable
from tensorkeep.tf1.functions.gradients.reverse_walk import Gradient, gradients, is_trainable


@dataclass(frozen=True)
class Derivative:
    """A function's body with its gradient in the same graph, and where the one ends and the other begins."""

    body: FunctionBody
    given: tuple[Tensor | None, ...]  # for the gradient of each result, None where it can have none
    found: tuple[Tensor | None, ...]  # the gradient of each argument, None where there is none
    forward: tuple[Operation, ...]
    backward: tuple[Operation, ...]
    captured: tuple[Tensor, ...]  # what the function computes and its gradient needs


def differentiate(body: FunctionBody) -> Derivative:
    """Adds to a body the operations that compute the gradients of its arguments."""
    graph = body.graph
    start = len(graph.operations)
    with building(graph):
        given = [_place_of_gradient(tensor) if _has_gradient(tensor) else None for tensor in body.outputs]
        reached = [(y, dy) for y, dy in zip(body.outputs, given, strict=True) if dy is not None]
        ys, dys = [y for y, _ in reached], [dy for _, dy in reached]
        sources = [tensor for tensor in body.inputs if _has_gradient(tensor)]
        result = gradients(ys, sources, dys) if ys and sources else [None] * len(sources)
        by_source = dict(zip(sources, map(_dense, result), strict=True))
        found = [by_source.get(tensor) for tensor in body.inputs]
    return _part_operations(body, given, found, start)


def _has_gradient(tensor: Tensor) -> bool:
    return is_trainable(tensor) and (tensor.dtype is not RESOURCE or held_behind(tensor) is not None)


def _place_of_gradient(tensor: Tensor) -> Any:
    shape = UNKNOWN_SHAPE if tensor.dtype is RESOURCE else Shape(tensor.static_shape.dims)
    return placeholder(dtype=gradient_dtype(tensor), shape=shape, name="gradient")


def _dense(grad: Any) -> Tensor | None:
    return convert(grad) if isinstance(grad, IndexedSlices) else grad


def _part_operations(body: FunctionBody, given: Sequence[Any], found: Sequence[Any], start: int) -> Derivative:
    """Tells the operations of the function from those of its gradient."""
    order = list(body.graph.operations)
    forward = set(order[:start])
    pending = list(forward)
    while pending:  # what the gradient of a loop inside adds to that loop belongs to the function
        op = pending.pop()
        for source in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if source not in forward:
                forward.add(source)
                pending.append(source)
    places = {tensor.op for tensor in given if tensor is not None}
    backward = [op for op in order if op not in forward and op not in places]
    used = dict.fromkeys(tensor for op in backward for tensor in op.inputs)
    used.update(dict.fromkeys(tensor for tensor in found if tensor is not None))
    captured = [tensor for tensor in used if tensor.op in forward and tensor.op.type != "Const"]
    copied = dict.fromkeys(tensor.op for tensor in used if tensor.op in forward and tensor.op.type == "Const")
    return Derivative(
        body,
        tuple(given),
        tuple(found),
        tuple(op for op in order if op in forward),
        (*copied, *backward),
        tuple(captured),
    )


def _open_body(op: Operation, reference: FunctionRef, arguments: Sequence[Tensor]) -> FunctionBody:
    """The body of a function that an operation calls, which knows what handles among the arguments lead to."""
    library = op.graph.functions
    shapes = [UNKNOWN_SHAPE if (held := held_behind(tensor)) is None else held for tensor in arguments]
    return function_body(find_function(reference.name, library), library, reference.attrs, shapes)


def _define_function(graph: Graph, name: str, *parts: Any, **options: Any) -> FunctionRef:
    """Adds a function to the library of a graph, under a name that is not taken; and those that it calls."""
    taken = graph.functions
    found = next(chosen for i in count() if (chosen := f"{name}_{i}" if i else name) not in taken)
    inside: Graph = parts[0]
    for called, function in inside.functions.items():
        taken.setdefault(called, function)
    graph.add_function(function_def(found, *parts, **options))
    return FunctionRef(found)


def _is_stateful(graph: Graph, *references: FunctionRef) -> bool:
    return any(graph.functions[reference.name].signature.is_stateful for reference in references)


# ------------------------------------------------------------------------------------------------------- Branches


def _branches_gradient(
    op: Operation, branches: Sequence[FunctionRef], dys: Sequence[Gradient | None]
) -> list[Gradient | None]:
    """Makes the operation give what the gradients of its branches need, and chooses among these the same way."""
    graph, arguments = op.graph, op.inputs[1:]
    derived = []
    for reference in branches:
        part = differentiate(_open_body(op, reference, arguments))
        graph.functions.update(part.body.graph.functions)  # so that the next one finds other names
        derived.append(part)
    wanted = [any(part.found[i] is not None for part in derived) for i in range(len(arguments))]
    if not any(wanted):
        return [None] * len(op.inputs)
    needed = [[t for t in part.captured if t not in part.body.inputs] for part in derived]
    forward = [_widened_branch(graph, ref, i, derived, needed) for i, ref in enumerate(branches)]
    extra = _give_more(op, [tensor for tensors in needed for tensor in tensors])
    started = _reached_gradients(op.outputs, derived[0], dys)
    backward = [_branch_gradient(graph, ref, i, derived, needed, wanted) for i, ref in enumerate(branches)]
    found = iter(_choose_gradients(op, backward, [*started, *arguments, *extra], wanted))
    _set_branches(op, forward)
    return [None, *(next(found) if is_wanted else None for is_wanted in wanted)]


def _reached_gradients(results: Sequence[Tensor], part: Derivative, dys: Sequence[Any]) -> list[Tensor]:
    """The gradients of those results that can have one."""
    reached = [(y, dy) for y, dy, place in zip(results, dys, part.given, strict=False) if place is not None]
    return [_zeros_of(y) if dy is None else convert(dy) for y, dy in reached]


def _widened_branch(
    graph: Graph, reference: FunctionRef, index: int, derived: Sequence[Derivative], needed: Sequence[Sequence[Tensor]]
) -> FunctionRef:
    """A branch that also gives what its gradient needs, and something in the place of what those of others need."""
    part = derived[index]
    outputs, made = list(part.body.outputs), []
    with building(part.body.graph):
        for i, tensors in enumerate(needed):
            for tensor in tensors:
                shape = Shape(tensor.static_shape.dims)
                outputs.append(tensor if i == index else fake_param(dtype=tensor.dtype.base_dtype, shape=shape))
                if i != index:
                    made.append(outputs[-1].op)
    name, operations = f"{reference.name}_rewritten", [*part.forward, *made]
    inside, inputs, controls = part.body.graph, part.body.inputs, part.body.controls
    return _define_function(graph, name, inside, inputs, outputs, controls=controls, operations=operations)


def _branch_gradient(
    graph: Graph,
    reference: FunctionRef,
    index: int,
    derived: Sequence[Derivative],
    needed: Sequence[Sequence[Tensor]],
    wanted: Sequence[bool],
) -> FunctionRef:
    """The gradient of one branch as a function of all gradients of results, all arguments, all that any one needs."""
    part = derived[index]
    inside, made = part.body.graph, []
    inputs = [place for place in part.given if place is not None] + list(part.body.inputs)
    start = len(inside.operations)
    with building(inside):
        for i, tensors in enumerate(needed):
            inputs += tensors if i == index else [placeholder(dtype=t.dtype.base_dtype, shape=None) for t in tensors]
        outputs = [
            _zeros_of(x) if dx is None else identity(dx)
            for x, dx, is_wanted in zip(part.body.inputs, part.found, wanted, strict=True)
            if is_wanted
        ]
        made = list(inside.operations[start:])
    operations = [*part.backward, *made]
    return _define_function(graph, f"{reference.name}_grad", inside, inputs, outputs, operations=operations)


def _zeros_of(x: Tensor) -> Tensor:
    return zeros_like_variable(x) if x.dtype is RESOURCE else zeros_like(x)


def _give_more(op: Operation, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Adds results to an operation, like those tensors of its functions."""
    dtypes = [tensor.dtype.base_dtype for tensor in tensors]
    shapes = [Shape(tensor.static_shape.dims) for tensor in tensors]
    op.set_attr("Tout", (*(op.attr("Tout") or ()), *dtypes))
    if told := op.attr("output_shapes"):
        op.set_attr("output_shapes", (*told, *shapes))
    return op.append_outputs(dtypes, shapes)


def _set_branches(op: Operation, references: Sequence[FunctionRef]) -> None:
    if op.attr("branches") is not None:
        op.set_attr("branches", tuple(references))
    else:
        op.set_attr("then_branch", references[0])
        op.set_attr("else_branch", references[1])


def _choose_gradients(
    op: Operation, branches: Sequence[FunctionRef], inputs: Sequence[Any], wanted: Sequence[bool]
) -> list[Any]:
    """Chooses among gradients as the operation chooses among branches."""
    sources = [tensor for tensor, is_wanted in zip(op.inputs[1:], wanted, strict=True) if is_wanted]
    stateful = _is_stateful(op.graph, *branches)
    dtypes = [gradient_dtype(tensor) for tensor in sources]
    shapes = [tensor.static_shape if tensor.dtype is not RESOURCE else held_shape(tensor) for tensor in sources]
    common: dict[str, Any] = {"Tout": dtypes, "output_shapes": shapes}
    if op.attr("branches") is not None:
        spec = case if stateful else stateless_case
        results = spec(op.inputs[0], list(inputs), branches=list(branches), name="gradient", **common)
    else:
        spec = if_ if stateful else stateless_if
        then_branch, else_branch = branches
        results = spec(op.inputs[0], list(inputs), then_branch=then_branch, else_branch=else_branch, **common)
    return [identity(tensor) for tensor in results]


@if_.gradient
@stateless_if.gradient
def if_gradient(op: Operation, *dys: Gradient | None) -> Sequence[Gradient | None]:
    return _branches_gradient(op, (op.get_attr("then_branch"), op.get_attr("else_branch")), dys)


@case.gradient
@stateless_case.gradient
def case_gradient(op: Operation, *dys: Gradient | None) -> Sequence[Gradient | None]:
    return _branches_gradient(op, op.get_attr("branches"), dys)


# ---------------------------------------------------------------------------------------------------------- Loops


@while_.gradient
@stateless_while.gradient
def while_gradient(op: Operation, *dys: Gradient | None) -> Sequence[Gradient | None]:
    """Makes the loop count its rounds and keep what its gradient needs of each; another goes back through them."""
    graph, arguments = op.graph, list(op.inputs)
    body_name, cond_name = op.get_attr("body"), op.get_attr("cond")
    part = differentiate(_open_body(op, body_name, arguments))
    graph.functions.update(part.body.graph.functions)
    if not any(place is not None for place in part.given):
        return [None] * len(arguments)
    with building(part.body.graph):
        found = [
            None if place is None else _zeros_of(x) if dx is None else identity(dx)
            for x, place, dx in zip(part.body.inputs, part.given, part.found, strict=True)
        ]
    start = min(place.op.index for place in part.given if place is not None)
    part = _part_operations(part.body, part.given, found, start)
    constants = [x for x, y in zip(part.body.inputs, part.body.outputs, strict=True) if x is y and x in part.captured]
    kept = [tensor for tensor in part.captured if tensor not in constants]
    _check_kept(op, kept)
    rounds, lists = _count_rounds(op, part, kept, body_name, cond_name)
    once = _define_function(
        graph,
        f"{body_name.name}_grad",
        part.body.graph,
        [*(place for place in part.given if place is not None), *kept, *constants],
        [tensor for tensor in part.found if tensor is not None],
        operations=part.backward,
    )
    invariants = [arguments[part.body.inputs.index(tensor)] for tensor in constants]
    started = _reached_gradients(arguments, part, dys)
    results = iter(_gone_back(op, once, rounds, started, lists, kept, invariants))
    return [None if place is None else next(results) for place in part.given] + [None] * (len(kept) + 1)


def _check_kept(op: Operation, kept: Sequence[Tensor]) -> None:
    handles = [tensor.op.name for tensor in kept if tensor.dtype is RESOURCE]
    if handles:
        raise UnimplementedError(
            f'the gradient of the loop "{op.name}" ({op.type}) needs handles that its body makes in every round, and '
            f"lists cannot keep: {', '.join(handles)}. Make them outside of the loop"
        )


def _count_rounds(
    op: Operation, part: Derivative, kept: Sequence[Tensor], body: FunctionRef, cond: FunctionRef
) -> tuple[Tensor, list[Tensor]]:
    """Makes a loop count its rounds and keep some tensors of each. Gives the count and the lists."""
    graph = op.graph
    shapes = [Shape(tensor.static_shape.dims) for tensor in kept]
    dtypes = [tensor.dtype.base_dtype for tensor in kept]
    with building(graph):
        starts = [constant(0, INT32, "counter")]
        starts += [
            empty_tensor_list(_sizes(shape), -1, element_dtype=dtype, name="accumulator")
            for shape, dtype in zip(shapes, dtypes, strict=True)
        ]
    inside = part.body.graph
    start = len(inside.operations)
    with building(inside):
        counter = placeholder(dtype=INT32, shape=(), name="counter")
        lists = [placeholder(dtype=VARIANT, shape=(), name="accumulator") for _ in kept]
        after = [plus(counter, constant(1, INT32))]
        after += [tensor_list_push_back(handle, tensor) for handle, tensor in zip(lists, kept, strict=True)]
    made = list(inside.operations[start:])
    wider = _define_function(
        graph,
        f"{body.name}_rewritten",
        inside,
        [*part.body.inputs, counter, *lists],
        [*part.body.outputs, *after],
        controls=part.body.controls,
        operations=[*part.forward, *made],
    )
    op.set_attr("cond", _with_more_arguments(op, cond, [INT32, *([VARIANT] * len(kept))]))
    op.set_attr("body", wider)
    op.set_attr("T", (*(op.attr("T") or ()), INT32, *([VARIANT] * len(kept))))
    if told := op.attr("output_shapes"):
        op.set_attr("output_shapes", (*told, *[Shape(())] * len(starts)))
    for tensor in starts:
        op.append_input(tensor)
    rounds, *filled = op.append_outputs([tensor.dtype for tensor in starts], [tensor.static_shape for tensor in starts])
    return rounds, filled


def _sizes(shape: Shape) -> Any:
    return (
        constant(-1, INT32)
        if shape.dims is None
        else constant([-1 if size is None else size for size in shape.dims], INT32, shape=[len(shape.dims)])
    )


def _with_more_arguments(op: Operation, cond: FunctionRef, dtypes: Sequence[DType]) -> FunctionRef:
    body = function_body(find_function(cond.name, op.graph.functions), op.graph.functions, cond.attrs)
    with building(body.graph):
        more = [placeholder(dtype=dtype, shape=(), name="unused") for dtype in dtypes]
    inputs = [*body.inputs, *more]
    return _define_function(
        op.graph, f"{cond.name}_rewritten", body.graph, inputs, body.outputs, controls=body.controls
    )


def _gone_back(
    op: Operation,
    once: FunctionRef,
    rounds: Tensor,
    started: Sequence[Tensor],
    lists: Sequence[Tensor],
    kept: Sequence[Tensor],
    invariants: Sequence[Tensor],
) -> list[Any]:
    """The loop that goes back: counter, count, gradients, lists, invariants."""
    name = f"{op.get_attr('body').name}_grad_body"
    values = [constant(0, INT32, "grad_counter"), rounds, *started, *lists, *invariants]
    step, test = Graph(), Graph()
    first, last = 2 + len(started), 2 + len(started) + len(lists)
    with building(step):
        places = [placeholder(dtype=tensor.dtype.base_dtype, shape=None) for tensor in values]
        for place, value in zip(places, values, strict=True):
            if (held := held_behind(value)) is not None:
                place._shape = held
        popped = [
            tensor_list_pop_back(handle, _sizes(Shape(t.static_shape.dims)), element_dtype=t.dtype.base_dtype)
            for handle, t in zip(places[first:last], kept, strict=True)
        ]
        inputs = [*places[2:first], *(found.tensor for found in popped), *places[last:]]
        grads = _call_function(op.graph, once, inputs, [tensor.dtype for tensor in started])
        after = [plus(places[0], constant(1, INT32)), places[1], *grads]
        after += [*(found.output_handle for found in popped), *places[last:]]
    with building(test):
        numbers = [placeholder(dtype=tensor.dtype.base_dtype, shape=None) for tensor in values]
        goes_on = less(numbers[0], numbers[1])
    spec = while_ if _is_stateful(op.graph, once) else stateless_while
    results = spec(
        values,
        cond=_define_function(op.graph, f"{name}_cond", test, numbers, [goes_on]),
        body=_define_function(op.graph, name, step, places, after),
        output_shapes=[UNKNOWN_SHAPE if i >= 2 else Shape(()) for i in range(len(values))],
        name="while_grad",
    )
    return [identity(tensor) for tensor in results[2:first]]


def _call_function(graph: Graph, reference: FunctionRef, inputs: Sequence[Any], dtypes: Sequence[DType]) -> list[Any]:
    spec: OpSpec = stateful_partitioned_call if _is_stateful(graph, reference) else partitioned_call
    return list(add(spec, list(inputs), {**_call_attrs(inputs), "Tout": tuple(dtypes), "f": reference}).outputs)


def _call_attrs(inputs: Sequence[Any]) -> dict[str, Any]:
    return {
        "Tin": tuple(tensor.dtype.base_dtype for tensor in inputs),
        "config": b"",
        "config_proto": b"",
        "executor_type": b"",
    }


# ---------------------------------------------------------------------------------------------------------- Calls


def gradient_body(body: FunctionBody, dtypes: Sequence[DType]) -> FunctionBody:
    """The gradient of a function, all of it computed anew: of its arguments and the gradients of its results.

    `dtypes` are those of the gradients of the arguments, which for handles are those of what is behind them.

    An argument that has none gets zeros; for results that cannot have any, what is given is not looked at.
    """
    body.graph.infer_shapes(until=len(body.inputs))
    for tensor, dtype in zip(body.inputs, dtypes, strict=True):
        if tensor.dtype is RESOURCE and dtype is not RESOURCE:
            tensor._shape = HandleShape((), dtype, UNKNOWN_SHAPE)
    part = differentiate(body)
    with building(body.graph):
        places = [
            placeholder(dtype=y.dtype.base_dtype, shape=None) if place is None else place
            for y, place in zip(body.outputs, part.given, strict=True)
        ]
        found = [_zeros_of(x) if dx is None else dx for x, dx in zip(body.inputs, part.found, strict=True)]
    return FunctionBody(f"gradient of {body.name}", body.graph, (*body.inputs, *places), tuple(found), ())


register_differentiation(gradient_body)
