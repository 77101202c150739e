"""Gradients: the reverse walk, which adds to the graph the operations that compute them.

From the targets backwards, every operation on a path to the sources is visited once all its consumers on such paths
have been; the gradients that reached its outputs are summed, its op's gradient rule adds nodes, and what these give
flows on to its inputs. Names, order and sums are TensorFlow's, so that the graphs are equal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeAlias

from tensorkeep.dtypes import RESOURCE, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.functions.constants import constant
from tensorkeep.graph.building import colocate_with, device, graph_of, name_scope, unique_name
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import get_op

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
        return custom  # type: ignore[no-any-return]
    override = op.attr("_gradient_op_type")
    name = op.type if override is None else override.decode()
    if name in _REGISTERED:
        return _REGISTERED[name]
    if override is None and op.spec.is_differentiable is not None:
        return op.spec.gradient_rule
    raise LookupError(f"gradient registry has no entry for: {name}")


class LoopState(Protocol):
    """What the walk must do where operations stand in loops. Loops supply it, if there are any."""

    def enter(self, op: Operation, before: bool) -> None:
        """Gradient operations added from now on belong to the loop that undoes the operation's."""

    def leave(self, op: Operation, before: bool) -> None: ...

    def zeros_like(self, op: Operation, index: int) -> Any:
        """A gradient of zeros for an output inside a loop."""

    def unused_exits(self, pending: dict[Operation, int], targets: set[Operation]) -> list[Tensor]:
        """Exits of loops that no gradient reaches, which must still start their loop's gradient."""

    def zeros_like_exit(self, tensor: Tensor) -> Any: ...

    def ready_exits(self, op: Operation, exits_with_gradients: bool) -> list[Tensor]: ...

    def finish(self) -> None: ...


LOOPS: Final[list[Callable[..., LoopState | None]]] = []
"""Set by control flow: makes the LoopState for the operations between targets and sources, or None without loops."""


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    *,
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: str = "none",
) -> list[Gradient | None]:
    """The gradients of the sum of `ys` with respect to each of `xs`; None where there is no path."""
    targets, sources = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    given = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    graph = graph_of([*targets, *sources])
    with name_scope(name or "gradients", graph):
        walk = _Walk(
            unique_name("uid", graph),
            colocates=colocate_gradients_with_ops,
            gates=gate_gradients,
            aggregation=aggregation_method or ADD_N,
        )
        outputs = [convert(y, name=f"y_{i}") if not isinstance(y, IndexedSlices) else y for i, y in enumerate(targets)]
        inputs = [_source(x, i) for i, x in enumerate(sources)]
        stopped = [_source(x, i) for i, x in enumerate(stops)]
        found = walk.run(outputs, inputs, walk.start(outputs, given), stopped)
        if str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "zero":
            zeros = get_op("ZerosLike")
            found = [zeros(x) if grad is None else grad for grad, x in zip(found, inputs, strict=True)]
        return found


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _source(value: Any, index: int) -> Tensor:
    """The tensor that gradients are taken with respect to: for a resource variable its handle."""
    handle = getattr(value, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(value, IndexedSlices):
        return value.values
    return convert(value, name=f"x_{index}", as_ref=True)


def is_trainable(tensor: Any) -> bool:
    """Whether gradients flow through tensors of its type."""
    return tensor.dtype.base_dtype in _TRAINABLE


class _Walk:
    """One reverse walk."""

    def __init__(self, uid: str, *, colocates: bool, gates: bool, aggregation: int) -> None:
        self._uid = uid
        self._colocates = colocates
        self._gates = gates
        self._aggregation = aggregation
        self._grads: dict[Tensor, list[Gradient]] = {}

    def start(self, ys: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The gradients of the targets: as given, or ones."""
        if len(given) != len(ys):
            raise InvalidArgumentError(f"`grad_ys` has {len(given)} gradients for {len(ys)} targets")
        started: list[Any] = []
        for i, (y, grad) in enumerate(zip(ys, given, strict=True)):
            if grad is None:
                if y.dtype.base_dtype.is_complex:
                    raise WrongTypeError("Gradients of complex tensors must set grad_ys (y.dtype = complex)")
                with self._colocated(y.op):
                    started.append(_ones_like(y, i))
                continue
            started.append(self._checked_start(y, grad, i))
        return started

    def _checked_start(self, y: Any, grad: Any, i: int) -> Any:
        if isinstance(grad, IndexedSlices):
            return grad
        dtype = y.dtype.base_dtype
        grad = convert(grad, None if isinstance(grad, Tensor) else dtype, name=f"grad_ys_{i}")
        if (dtype.is_floating or dtype.is_integer) and not (grad.dtype.is_floating or grad.dtype.is_integer):
            raise WrongTypeError(
                f"Gradient type {grad.dtype} generated for real or integer-valued tensor {y} must be real or integer"
            )
        if dtype not in (VARIANT, RESOURCE):
            with self._colocated(grad.op):
                grad = get_op("Identity")(grad, name=f"grad_ys_{i}")
        return grad

    @contextmanager
    def _colocated(self, op: Operation) -> Iterator[None]:
        if self._colocates:
            with colocate_with(op):
                yield
        else:
            yield

    # ------------------------------------------------------------------------------------------ the walk

    def run(
        self, ys: Sequence[Any], xs: Sequence[Tensor], grad_ys: Sequence[Any], stops: Sequence[Tensor]
    ) -> list[Gradient | None]:
        to_ops = [y.op for y in ys]
        from_ops = [x.op for x in xs]
        reached, pending, loops = _pending_counts(to_ops, from_ops)
        for y, grad in zip(ys, grad_ys, strict=True):
            self._grads.setdefault(y.values if isinstance(y, IndexedSlices) else y, []).append(grad)
        queue: deque[Operation] = deque()
        seen: set[Operation] = set()
        for op in to_ops:
            if pending.get(op, 0) == 0 and op not in seen and op in reached:
                seen.add(op)
                queue.append(op)
        if loops is not None:
            for tensor in loops.unused_exits(pending, seen):
                if is_trainable(tensor):
                    self._grads.setdefault(tensor, []).append(loops.zeros_like_exit(tensor))
                    queue.append(tensor.op)
        stop_ops = _stop_ops(from_ops, [tensor.op for tensor in stops], pending, set(xs))
        while queue:
            op = queue.popleft()
            self._visit(op, op in stop_ops, loops)
            self._release(op, queue, pending, loops)
        if loops is not None:
            loops.finish()
        return [self._final(x) for x in xs]

    def _visit(self, op: Operation, stopped: bool, loops: LoopState | None) -> None:
        with self._colocated(op):
            if loops is not None:
                loops.enter(op, before=True)
            out_grads = [self._summed(tensor) for tensor in op.outputs]
            if loops is not None:
                loops.leave(op, before=True)
            has_gradients = any(grad is not None for grad in out_grads)
            rule = None
            if has_gradients and not stopped:
                try:
                    rule = gradient_function(op)
                except LookupError as error:
                    raise LookupError(
                        f"No gradient defined for operation '{op.name}' (op type: {op.type}). In general every "
                        "operation must have an associated `@tf.RegisterGradient` for correct autodiff, which this op "
                        f"is lacking. ({error})"
                    ) from None
            if loops is not None:
                loops.enter(op, before=False)
            if rule is not None and has_gradients:
                self._distribute(op, self._input_gradients(op, rule, out_grads, loops))
            if loops is not None:
                loops.leave(op, before=False)

    def _input_gradients(
        self, op: Operation, rule: Callable[..., Any], out_grads: list[Any], loops: LoopState | None
    ) -> list[Any]:
        for i, grad in enumerate(out_grads):
            if grad is None and is_trainable(op.outputs[i]):
                out_grads[i] = loops.zeros_like(op, i) if loops is not None else zeros_like_output(op, i)
        with name_scope(f"{op.name}_grad"):
            in_grads = rule(op, *out_grads)
            in_grads = list(in_grads) if isinstance(in_grads, list | tuple) else [in_grads]
            if len(in_grads) != len(op.inputs):
                raise InvalidArgumentError(
                    f"Num gradients {len(in_grads)} generated for op {op.name} ({op.type}) do not match num inputs "
                    f"{len(op.inputs)}"
                )
            if self._gates and sum(grad is not None for grad in in_grads) > 1:
                with device(None), colocate_with(None, ignore_existing=True):
                    in_grads = GATES[-1](in_grads)
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

    def _release(
        self, op: Operation, queue: deque[Operation], pending: dict[Operation, int], loops: LoopState | None
    ) -> None:
        """Marks the operation as done for its inputs, and queues those that wait for nothing more."""
        for tensor in op.inputs:
            source = tensor.op
            if source not in pending:
                continue
            pending[source] -= 1
            ready = pending[source] == 0
            if loops is not None and not ready:
                ready = pending[source] > 0 and is_loop_switch(source)
            if not ready:
                continue
            if loops is not None and is_exit(source):
                has_gradient = bool(self._grads.get(source.outputs[0]))
                for exit_tensor in loops.ready_exits(source, has_gradient):
                    if exit_tensor not in self._grads:
                        self._grads[exit_tensor] = [loops.zeros_like_exit(exit_tensor)]
                    queue.append(exit_tensor.op)
            else:
                queue.append(source)

    # ------------------------------------------------------------------------------------------ sums

    def _summed(self, tensor: Tensor) -> Gradient | None:
        """All gradients that have reached a tensor, as one."""
        grads = self._grads.get(tensor)
        if grads is None:
            return None
        if len(grads) > 1:
            if all(isinstance(grad, Tensor) for grad in grads):
                total: Gradient = self._add(grads)
            else:
                total = aggregate_slices(grads)
            self._grads[tensor] = grads = [total]
        return grads[0]

    def _add(self, grads: list[Any]) -> Tensor:
        """The sum, computed on each device first where they are on several."""
        by_device: dict[str, list[Tensor]] = {}
        for grad in grads:
            by_device.setdefault(grad.device, []).append(grad)
        summands = []
        for on_device in by_device.values():
            with colocate_with(on_device[0].op, ignore_existing=True):
                summands.append(get_op("AddN")(on_device) if len(on_device) > 1 else on_device[0])
        return summands[0] if len(summands) == 1 else get_op("AddN")(summands)

    def _final(self, x: Tensor) -> Gradient | None:
        grads = self._grads.get(x)
        if not grads:
            return None
        if len(grads) > 1:
            return self._summed(x)
        return grads[0]


GATES: Final[list[Callable[[list[Any]], list[Any]]]] = []
"""Set by control flow: a tuple of gradients none of which is ready before all are."""


def _ones_like(y: Any, index: int) -> Tensor:
    values = y.values if isinstance(y, IndexedSlices) else y
    shape = values.static_shape
    if shape.is_fully_known:
        dims: Any = constant(list(shape.as_tuple()), "int32", name="Shape")
    else:
        dims = get_op("Shape")(values, name="Shape")
    one = constant(1, values.dtype.base_dtype, name=f"grad_ys_{index}")
    filled = get_op("Fill")(dims, one)
    if not isinstance(y, IndexedSlices):
        return filled  # type: ignore[no-any-return]
    return IndexedSlices(filled, y.indices, y.dense_shape)  # type: ignore[return-value]


def zeros_like_output(op: Operation, index: int) -> Tensor:
    """A gradient of zeros for an output that no gradient reached."""
    value = op.outputs[index]
    if value.dtype is RESOURCE:
        shape = get_op("VariableShape")(value)
        return get_op("Fill")(shape, 0.0, name="zeros")  # type: ignore[no-any-return]
    return get_op("ZerosLike")(value, name="zeros_like")  # type: ignore[no-any-return]


def aggregate_slices(grads: Sequence[Any]) -> IndexedSlices:
    """Slices and dense gradients as one set of slices: those of all, one after the other."""
    slices = [grad if isinstance(grad, IndexedSlices) else _dense_as_slices(grad) for grad in grads]
    if len(slices) == 1:
        return slices[0]
    indices = [item.indices for item in slices]
    if any(index.dtype.name == "int64" for index in indices):
        indices = [
            index if index.dtype.name == "int64" else get_op("Cast")(index, DstT="int64", name="Cast")
            for index in indices
        ]
    concat = get_op("ConcatV2")
    values = concat([item.values for item in slices], 0, name="concat")
    joined = concat(indices, 0, name="concat")
    return IndexedSlices(values, joined, slices[0].dense_shape)


def _dense_as_slices(grad: Tensor) -> IndexedSlices:
    shape = get_op("Shape")(grad, name="Shape")
    rows = get_op("StridedSlice")(shape, [0], [1], [1], shrink_axis_mask=1, name="strided_slice")
    return IndexedSlices(grad, get_op("Range")(0, rows, 1, name="range"), shape)


# ---------------------------------------------------------------------------------------------------- What is between


def _pending_counts(
    to_ops: Sequence[Operation], from_ops: Sequence[Operation]
) -> tuple[set[Operation], dict[Operation, int], LoopState | None]:
    """The operations on paths from sources to targets, and how many consumers on such paths each one waits for."""
    forward = set(from_ops)
    queue = deque(dict.fromkeys(from_ops))
    while queue:
        op = queue.popleft()
        for tensor in op.outputs:
            if is_trainable(tensor):
                for consumer in tensor.consumers():
                    if consumer not in forward:
                        forward.add(consumer)
                        queue.append(consumer)
    reached: set[Operation] = set()
    between: list[Operation] = []
    queue = deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in forward and op not in reached:
            reached.add(op)
            between.append(op)
            queue.extend(tensor.op for tensor in op.inputs)
    loops = LOOPS[-1](between, reached) if LOOPS else None
    inside = set(between)
    pending: dict[Operation, int] = {}
    for op in between:
        for tensor in op.inputs:
            if tensor.op in inside:
                pending[tensor.op] = pending.get(tensor.op, 0) + 1
    return {op for op in to_ops if op in reached} | reached, pending, loops


def _stop_ops(
    from_ops: Sequence[Operation], stops: Sequence[Operation], pending: Mapping[Operation, int], xs: set[Tensor]
) -> set[Operation]:
    """Sources that no path from another source leads to: the walk ends there."""
    stopped = {op for op in from_ops if all(pending.get(tensor.op, 0) <= 0 for tensor in op.inputs)}
    return stopped | set(stops)


def is_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def is_loop_switch(op: Operation) -> bool:
    """Whether an operation is the switch at the head of a loop."""
    if op.type not in ("Switch", "RefSwitch"):
        return False
    context = op.control_flow_context
    return context is not None and getattr(context, "is_while", False) and op.inputs[0].op.type in ("Merge", "RefMerge")


__all__ = [
    "GATES",
    "LOOPS",
    "LoopState",
    "aggregate_slices",
    "gradient_function",
    "gradients",
    "is_trainable",
    "register_gradient",
    "zeros_like_output",
]
