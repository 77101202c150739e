"""What runs after what, stated as operations: group, tuple, and values that wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Structure, TensorLike, TensorSource, emit, emit_operation
from tensorkeep.graph.building import chosen_name, colocate_with, control_dependencies, device, graph_of, name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.arrays.constants import identity as identity_op
from tensorkeep.ops.arrays.constants import no_op as no_op_spec
from tensorkeep.ops.control.control_flow import ref_identity
from tensorkeep.tf1.functions.structures import flatten

_Composite = TypeVar("_Composite", IndexedSlices, SparseTensor)


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing, and runs after its control inputs."""
    return emit_operation(no_op_spec, name=name)


def group(*inputs: Structure, **kwargs: str | None) -> Operation:
    """An operation that is done when all of `inputs` are. `name` is the only other argument."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise InvalidArgumentError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    leaves = flatten(inputs, expand_composites=True)
    with name_scope(chosen_name(name, "group_deps"), graph_of(leaves)) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Any]] = {}
        for leaf in leaves:
            if not hasattr(leaf, "device"):
                raise WrongTypeError(
                    f"'inputs' should be zero or more (nested) Tensors. Received '{leaf}' with type '{type(leaf)}'."
                )
            by_device.setdefault(leaf.device or "", []).append(leaf)
        if len(by_device) == 1:
            ((place, members),) = by_device.items()
            return _join_members(place, members, scope)
        joints = [_join_members(place, by_device[place]) for place in sorted(by_device)]
        with control_dependencies(joints):
            return no_op(name=scope)


def _join_members(place: str, members: Sequence[Any], name: str | None = None) -> Operation:
    with control_dependencies(members), device(place):
        return no_op(name=name)


def tuple_(tensors: Sequence[Any], name: str | None = None, control_inputs: Iterable[Any] | None = None) -> list[Any]:
    """The same tensors, none of which is ready before all of them and all `control_inputs` are. None stays None."""
    with name_scope(chosen_name(name, "tuple"), graph_of(tensor for tensor in tensors if tensor is not None)):
        # A variable has an operation, which is not that of its value.
        values = [
            item if item is None or isinstance(item, Operation) or hasattr(item, "op") else convert(item)
            for item in tensors
        ]
        waiting = [value if isinstance(value, Operation) else value.op for value in values if value is not None]
        for item in control_inputs or ():
            if not isinstance(item, Operation | Tensor):
                raise WrongTypeError(f"'control_inputs' must only contain Operation or Tensor. Received: {type(item)}")
            waiting.append(item if isinstance(item, Operation) else item.op)
        if not waiting:
            raise InvalidArgumentError(f"'tensors' must have at least one Tensor. Received: {list(values)}.")
        gate = group(*sorted(set(waiting), key=lambda op: op.index))
        return [_behind(gate, value) for value in values]


def _behind(
    gate: Operation, value: Tensor | TensorSource | Operation | None
) -> Tensor | IndexedSlices | SparseTensor | Operation | None:
    if value is None:
        return None
    if isinstance(value, Operation):
        with control_dependencies([gate]):
            return group(value)
    return with_dependencies([gate], value)


@overload
def with_dependencies(  # type: ignore[overload-overlap]
    dependencies: Sequence[Any], output_tensor: _Composite, name: str | None = None
) -> _Composite: ...
@overload
def with_dependencies(dependencies: Sequence[Any], output_tensor: TensorLike, name: str | None = None) -> Tensor: ...
def with_dependencies(
    dependencies: Sequence[Any], output_tensor: TensorLike, name: str | None = None
) -> Tensor | IndexedSlices | SparseTensor:
    """The value of `output_tensor`, once all of `dependencies` have run."""
    graph = graph_of([*dependencies, output_tensor])
    with (
        name_scope(chosen_name(name, "control_dependency"), graph) as scope,
        colocate_with(output_tensor),
        control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            values = identity_or_ref(output_tensor.values, scope)
            return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
        if isinstance(output_tensor, SparseTensor):
            parts = (output_tensor.indices, output_tensor.values, output_tensor.dense_shape)
            return SparseTensor(*(identity_or_ref(part) for part in parts))
        return identity_or_ref(convert(output_tensor), scope)


def identity_or_ref(tensor: Tensor, name: str | None = None) -> Tensor:
    """The same value, or the same reference, under another name."""
    return emit(ref_identity if tensor.dtype.is_ref else identity_op, tensor, name=name)
