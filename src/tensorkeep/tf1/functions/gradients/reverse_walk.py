"""Gradients: the reverse walk, which adds to the graph the operations that compute them.

From the targets backwards, every operation on a path to the sources is visited once all its consumers on such paths
have been; the gradients that reached its outputs are summed, its op's gradient rule adds nodes, and what these give
flows on to its inputs. Names, order and sums are TensorFlow's, so that the graphs are equal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence, ValuesView
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import RESOURCE, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, emit
from tensorkeep.graph.building import chosen_name, colocate_with, device, graph_of, name_scope, unique_name
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import find_op, get_op
from tensorkeep.ops.control.functional import call_gradient
from tensorkeep.ops.shared.expressions import concat, ones, shape_of, zeros_like
from tensorkeep.tf1.functions.control.contexts import WhileContext, is_exit, is_loop_switch, is_switch
from tensorkeep.tf1.functions.control.flow_gradients import as_slices_alike
from tensorkeep.tf1.functions.control.grouping import tuple_
from tensorkeep.tf1.functions.gradients.gradient_loops import LoopState, zeros_like_output, zeros_like_variable
from tensorkeep.tf1.functions.structures import variables_read

Gradient: TypeAlias = Tensor | IndexedSlices

_REGISTERED: Final[dict[str, Callable[..., Any] | None]] = {}
_TRAINABLE: Final = frozenset(
    map(DType.of, ("half", "float", "double", "complex64", "complex128", "bfloat16", "resource", "variant"))
)

ADD_N, DEFAULT, EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N = 0, 0, 1, 2


def register_gradient(name: str, function: Callable[..., Any] | None) -> None:
    """Gives a gradient to the ops and overrides of that name; None says that there is none."""
    if name in _REGISTERED:
        raise InvalidArgumentError(f"Registering two gradients with name '{name}'!")
    _REGISTERED[name] = function


def gradient_function(op: Operation) -> Callable[..., Any] | None:
    """The gradient rule of an operation; None if it has none on purpose, LookupError if nobody defined one."""
    custom = op.extras.get("gradient_function")
    if custom is not None:
        rule: Callable[..., Any] = custom
        return rule
    found = op.attr("_gradient_op_type")
    override = found if isinstance(found, bytes) else None
    name = op.type if override is None else override.decode(errors="replace")
    if name in _REGISTERED:
        return _REGISTERED[name]
    # An override may also name another op: weights are quantized by rounding with the gradient of Identity.
    spec = op.spec if override is None else find_op(name)
    if spec is not None and spec.is_differentiable is not None:
        return spec.gradient_rule
    if override is None and op.type in op.graph.functions:
        return call_gradient
    raise LookupError(f"gradient registry has no entry for: {name}")


def gradients(
    ys: Structure,
    xs: Structure,
    grad_ys: Structure = None,
    name: str | None = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Structure = None,
    unconnected_gradients: str = "none",
) -> list[Gradient | None]:
    """The gradients of the sum of `ys` with respect to each of `xs`; None where there is no path."""
    targets, sources = variables_read(_as_list(ys)), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    given = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    graph = graph_of([*targets, *sources])
    with name_scope(chosen_name(name, "gradients"), graph):
        unique_name("uid", graph)
        outputs = [convert(y, name=f"y_{i}") if not isinstance(y, IndexedSlices) else y for i, y in enumerate(targets)]
        inputs = [_source(x, i) for i, x in enumerate(sources)]
        stopped = [_source(x, i) for i, x in enumerate(stops)]
        walk = _Walk(
            outputs,
            inputs,
            colocates=colocate_gradients_with_ops,
            gates=gate_gradients,
            aggregation=aggregation_method or ADD_N,
        )
        walk.run(walk.start(given), stopped)
    found = walk.finish()
    if str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "zero":
        found = [_unconnected_gradient(x) if grad is None else grad for grad, x in zip(found, inputs, strict=True)]
    return found


def _unconnected_gradient(x: Tensor) -> Tensor:
    """Zeros as the gradient with respect to what the targets do not depend on."""
    return zeros_like_variable(x) if x.dtype is RESOURCE else zeros_like(x)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | ValuesView) else [value]


def _source(value: Any, index: int) -> Tensor:
    """The tensor that gradients are taken with respect to: for a resource variable its handle."""
    handle = getattr(value, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(value, IndexedSlices):
        return value.values
    return convert(value, name=f"x_{index}", as_ref=True)


def is_trainable(tensor: Tensor) -> bool:
    """Whether gradients flow through tensors of its type."""
    return tensor.dtype.base_dtype in _TRAINABLE


class _Walk:
    """One reverse walk."""

    def __init__(
        self, ys: Sequence[Any], xs: Sequence[Tensor], *, colocates: bool, gates: bool, aggregation: int
    ) -> None:
        if aggregation not in (ADD_N, EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N):
            raise InvalidArgumentError(f"Invalid `aggregation_method` specified {aggregation}.")
        self._ys = ys
        self._xs = xs
        self._colocates = colocates
        self._gates = gates
        self._aggregation = aggregation
        self._grads: dict[Tensor, list[Gradient]] = {}
        self._pending: dict[Operation, int] = {}
        self._queue: deque[Operation] = deque()
        self._loops: LoopState | None = None

    def start(self, given: Sequence[Any]) -> list[Any]:
        """The gradients of the targets: as given, or ones."""
        if len(given) != len(self._ys):
            raise InvalidArgumentError(f"Length mismatch. Passed {len(given)} grad_ys for {len(self._ys)} ys")
        tensors = [
            grad if grad is None or isinstance(grad, IndexedSlices) else self._converted_start(y, grad, i)
            for i, (y, grad) in enumerate(zip(self._ys, given, strict=True))
        ]
        started: list[Any] = []
        for i, (y, grad) in enumerate(zip(self._ys, tensors, strict=True)):
            with self._colocated(y.op):
                started.append(_ones_like(y, i) if grad is None else _checked_start(y, grad, i))
        return started

    def _converted_start(self, y: Any, grad: Any, i: int) -> Tensor:
        dtype = y.dtype.base_dtype
        return convert(grad, None if isinstance(grad, Tensor) or dtype is RESOURCE else dtype, name=f"grad_y_{i}")

    @contextmanager
    def _colocated(self, op: Operation) -> Iterator[None]:
        if self._colocates:
            with colocate_with(op):
                yield
        else:
            yield

    # ------------------------------------------------------------------------------------------ the walk

    def run(self, grad_ys: Sequence[Any], stops: Sequence[Tensor]) -> None:
        to_ops = [y.op for y in self._ys]
        from_ops = [x.op for x in self._xs]
        between = self._count(to_ops, from_ops)
        for y, grad in zip(self._ys, grad_ys, strict=True):
            self._grads.setdefault(y.values if isinstance(y, IndexedSlices) else y, []).append(grad)
        seen: set[Operation] = set()
        for op in to_ops:
            if self._pending.get(op, 0) == 0 and op not in seen and op in between:
                seen.add(op)
                self._queue.append(op)
        if self._loops is not None:
            for tensor in self._loops.unused_exits(self._pending, seen):
                if is_trainable(tensor):
                    self._grads.setdefault(tensor, []).append(self._loops.zeros_like_exit(tensor))
                    self._queue.append(tensor.op)
        stop_ops = self._stop_ops(from_ops, [tensor.op for tensor in stops])
        while self._queue:
            op = self._queue.popleft()
            self._visit(op, op in stop_ops)
            self._release(op)

    def finish(self) -> list[Gradient | None]:
        """The gradients of the sources."""
        if self._loops is not None:
            self._loops.finish()
        return [self._final(x) for x in self._xs]

    def _count(self, to_ops: Sequence[Operation], from_ops: Sequence[Operation]) -> set[Operation]:
        """Finds the operations on paths from sources to targets, and how many consumers there each one waits for."""
        forward = _reached_operations(from_ops)
        members: set[Operation] = set()
        between: list[Operation] = []
        queue = deque(to_ops)
        while queue:
            op = queue.popleft()
            if op in forward and op not in members:
                members.add(op)
                between.append(op)
                queue.extend(tensor.op for tensor in op.inputs)
        self._loops = LoopState.of(between, members, self._colocated)
        for op in between:
            for tensor in op.inputs:
                if tensor.op in members:
                    self._pending[tensor.op] = self._pending.get(tensor.op, 0) + 1
        return members

    def _stop_ops(self, from_ops: Sequence[Operation], stops: Sequence[Operation]) -> set[Operation]:
        """Sources that no path from another source leads to: the walk ends there."""
        stopped = {op for op in from_ops if all(self._pending.get(tensor.op, 0) <= 0 for tensor in op.inputs)}
        return stopped | set(stops)

    @contextmanager
    def _in_loop(self, op: Operation, before: bool = False) -> Iterator[None]:
        """Operations made inside belong to the loop that undoes the operation's, if it is in one."""
        if self._loops is None:
            yield
        else:
            with self._loops.inside_loop_of(op, before):
                yield

    def _visit(self, op: Operation, stopped: bool) -> None:
        with self._colocated(op):
            with self._in_loop(op, before=True):
                out_grads = [self._summed(tensor) for tensor in op.outputs]
            if stopped or all(grad is None for grad in out_grads):
                return
            try:
                rule = gradient_function(op)
            except LookupError as error:
                raise LookupError(
                    f"No gradient defined for operation '{op.name}' (op type: {op.type}). In general every "
                    "operation must have an associated `@tf.RegisterGradient` for correct autodiff, which this op "
                    f"is lacking. ({error})"
                ) from None
            with self._in_loop(op):
                context = op.control_flow_context
                if is_switch(op) and isinstance(context, WhileContext) and context is op.graph.scopes.control_flow:
                    raise _through_start(op, [x.op for x in self._xs])
                if rule is not None:
                    self._distribute(op, self._input_gradients(op, rule, out_grads))

    def _input_gradients(self, op: Operation, rule: Callable[..., Any], out_grads: list[Any]) -> list[Any]:
        for i, grad in enumerate(out_grads):
            if grad is None and (rule is call_gradient or is_trainable(op.outputs[i])):
                out_grads[i] = zeros_like_output(op, i) if self._loops is None else self._loops.zeros_like(op, i)
                if out_grads[i] is not None and not is_loop_switch(op):
                    self._grads[op.outputs[i]] = [out_grads[i]]
        with name_scope(f"{op.name}_grad", op.graph):
            in_grads = rule(op, *out_grads)
            in_grads = list(in_grads) if isinstance(in_grads, list | tuple) else [in_grads]
            if len(in_grads) != len(op.inputs):
                raise InvalidArgumentError(
                    f"Num gradients {len(in_grads)} generated for op {op.name} ({op.type}) do not match num inputs "
                    f"{len(op.inputs)}"
                )
            if self._gates and sum(grad is not None for grad in in_grads) > 1:
                with device(None), colocate_with(None, ignore_existing=True):
                    in_grads = tuple_(in_grads)
        return in_grads

    def _distribute(self, op: Operation, in_grads: list[Any]) -> None:
        for tensor, grad in zip(op.inputs, in_grads, strict=True):
            if grad is None:
                continue
            if isinstance(grad, Tensor) and tensor.dtype is not RESOURCE:
                try:
                    grad.set_shape(tensor.static_shape)
                except ValueError:
                    raise InvalidArgumentError(
                        "Incompatible shapes between op input and calculated input gradient. Forward operation: "
                        f"{op.name}. Original input shape: {tensor.shape}. Calculated gradient shape: {grad.shape}"
                    ) from None
            self._grads.setdefault(tensor, []).append(grad)

    def _release(self, op: Operation) -> None:
        """Marks the operation as done for its inputs, and queues those that wait for nothing more."""
        for tensor in op.inputs:
            source = tensor.op
            if source not in self._pending:
                continue
            self._pending[source] -= 1
            ready = self._pending[source] == 0
            if self._loops is not None and not ready:
                ready = self._pending[source] > 0 and is_loop_switch(source)
            if not ready:
                continue
            if self._loops is not None and is_exit(source) and self._loops.loop_of(source) is not None:
                self._release_exit(source, self._loops)
            else:
                self._queue.append(source)

    def _release_exit(self, op: Operation, loops: LoopState) -> None:
        """The exits of a loop are visited together, once it is known whether gradients reach any of them."""
        used, unused = loops.exit_is_ready(op, lambda exit: any(self._grads.get(tensor) for tensor in exit.outputs))
        self._queue.extend(tensor.op for tensor in used)
        for tensor in unused:
            if used and is_trainable(tensor):
                self._grads.setdefault(tensor, []).append(loops.zeros_like_exit(tensor))
            self._queue.append(tensor.op)

    # ------------------------------------------------------------------------------------------ sums

    def _summed(self, tensor: Tensor) -> Gradient | None:
        """All gradients that have reached a tensor, as one."""
        grads = self._grads.get(tensor)
        if grads is None:
            return None
        if len(grads) > 1:
            if not all(isinstance(grad, Tensor) for grad in grads):
                total: Gradient = aggregate_slices(grads)
            elif self._aggregation == ADD_N:
                total = _added_by_device(grads)
            else:
                total = _added_in_turn(grads, tensor.op)
            self._grads[tensor] = grads = [total]
        return grads[0]

    def _final(self, x: Tensor) -> Gradient | None:
        grads = self._grads.get(x)
        if not grads:
            return None
        if len(grads) > 1:
            return self._summed(x)
        return grads[0]


def _added_by_device(grads: Sequence[Any]) -> Tensor:
    """The sum, computed on each device first where they are on several."""
    by_device: dict[str, list[Tensor]] = {}
    for grad in grads:
        by_device.setdefault(grad.device, []).append(grad)
    summands = []
    for place in sorted(by_device):
        on_device = by_device[place]
        with colocate_with(on_device[0].op, ignore_existing=True):
            summands.append(emit("AddN", on_device) if len(on_device) > 1 else on_device[0])
    return summands[0] if len(summands) == 1 else emit("AddN", summands)


def _added_in_turn(grads: Sequence[Any], op: Operation) -> Tensor:
    """The sum, two at a time, so that memory can be given back early."""
    with name_scope(f"{op.name}_gradient_sum", op.graph):
        total: Tensor = grads[0]
        for grad in grads[1:]:
            total = emit("AddN", [total, grad])
        return total


def _ones_like(y: Any, index: int) -> Any:
    if y.dtype.base_dtype.is_complex:
        raise WrongTypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.base_dtype})")
    values = y.values if isinstance(y, IndexedSlices) else y
    filled = ones(shape_of(values), values.dtype.base_dtype, f"grad_ys_{index}")
    return IndexedSlices(filled, y.indices, y.dense_shape) if isinstance(y, IndexedSlices) else filled


def _checked_start(y: Any, grad: Any, index: int) -> Any:
    """A gradient that was given, of a type that can be one of `y`, under a name that tells its call of `gradients`."""
    dtype, given = y.dtype.base_dtype, grad.dtype.base_dtype
    real = dtype.is_floating or dtype.is_integer
    if real and not (given.is_floating or given.is_integer):
        raise WrongTypeError(
            f"Gradient type {given} generated for real or integer-valued tensor {y} with type {dtype} must be real or "
            "integer"
        )
    if dtype.is_complex and not given.is_complex:
        raise WrongTypeError(
            f"Gradient type {given} generated for complex-valued tensor {y} with type {dtype} must be real"
        )
    if dtype is VARIANT and given is not VARIANT:
        raise WrongTypeError(
            f"Gradient type {given} generated for variant tensor {y} with type {dtype} must be variant"
        )
    if dtype is RESOURCE and given is RESOURCE:
        raise WrongTypeError(f"Input gradient {grad} for resource tensor {y} should not be a resource")
    if not (real or dtype.is_complex or dtype in (VARIANT, RESOURCE)):
        raise WrongTypeError(f"Tensor {y} with type {dtype} must be numeric to obtain a default gradient")
    identity = get_op("Identity")
    if not isinstance(grad, IndexedSlices):
        return identity(grad, name=f"grad_ys_{index}")
    indices = identity(grad.indices, name=f"grad_ys_{index}_indices")
    values = identity(grad.values, name=f"grad_ys_{index}_values")
    shape = grad.dense_shape
    return IndexedSlices(values, indices, None if shape is None else identity(shape, name=f"grad_ys_{index}_shape"))


def aggregate_slices(grads: Sequence[Any]) -> Gradient:
    """Slices as one set of slices: those of all, one after the other. With a dense gradient among them, dense."""
    if len(grads) == 1:
        only: Gradient = grads[0]
        return only
    if any(isinstance(grad, Tensor) for grad in grads):
        return emit("AddN", grads)
    slices = as_slices_alike(grads)
    values = concat([item.values for item in slices])
    return IndexedSlices(values, concat([item.indices for item in slices]), slices[0].dense_shape)


# ---------------------------------------------------------------------------------------------------- What is between


def _reached_operations(from_ops: Sequence[Operation]) -> set[Operation]:
    """The operations that a gradient could flow back from to one of these."""
    reached = set(from_ops)
    queue = deque(dict.fromkeys(from_ops))
    while queue:
        op = queue.popleft()
        for tensor in op.outputs:
            if is_trainable(tensor):
                for consumer in tensor.consumers():
                    if consumer not in reached:
                        reached.add(consumer)
                        queue.append(consumer)
    return reached


def _through_start(op: Operation, sources: Sequence[Operation]) -> InvalidArgumentError:
    """What is wrong with a gradient that would have to go through the start of a loop that is being built."""
    wanted, seen, pending = set(sources), set(), [op]
    target = op
    while pending:
        found = pending.pop(0)
        if found in seen:
            continue
        seen.add(found)
        if found in wanted:
            target = found
            break
        pending.extend(tensor.op for tensor in found.inputs)
    return InvalidArgumentError(
        f"Cannot compute gradient inside while loop with respect to op '{target.name}'. We do not support taking the "
        "gradient wrt or through the initial value of a loop variable. Gradients can be computed through loop "
        "invariants or wrt the input parameters to the loop body."
    )


__all__ = [
    "aggregate_slices",
    "gradient_function",
    "gradients",
    "is_trainable",
    "register_gradient",
    "zeros_like_output",
]
