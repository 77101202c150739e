"""Variables: where they live, reading them, assigning to them.

The value of a tensor of a reference type, and of a handle to a variable, is the `VariableResource` itself. What is read
never changes afterwards: an assignment replaces the array, and changes it in place only while nobody else holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InternalError, InvalidArgumentError, NotFoundError, OutOfRangeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import HandleShape, Operation, Tensor, held_behind, held_shape
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.dimensions import at_least, of_rank
from tensorkeep.ops.shared.expressions import constant, size_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR, merge_shapes, with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.runtime.resources import Deferred, VariableResource
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, bracketed_shape

# ---------------------------------------------------------------------------------------------------- What all share


def variable_of(value: Handle) -> VariableResource:
    """The variable that a handle or reference leads to."""
    if not isinstance(value, VariableResource):
        raise InvalidArgumentError(f"expected a variable, got a {type(value).__name__}")
    return value


def initialized_variable_of(value: Handle) -> VariableResource:
    """The same, which must have a value; an error as TensorFlow has it for ops that look a resource up."""
    variable = variable_of(value)
    if not variable.is_initialized and not variable.is_ref:
        raise NotFoundError(f"Container localhost does not exist. (Could not find resource: localhost/{variable.name})")
    return variable


def element_shape(handle: Tensor, dtype: DType | None = None) -> Shape:
    """The shape of the variable that a handle leads to, as far as it is known. Its type must be `dtype`."""
    held = held_behind(handle)
    if held is not None and dtype is not None and held.element_dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to read variable with wrong dtype. Expected {held.element_dtype.label} got {dtype.label}"
        )
    return held_shape(handle)


def _find_or_create(
    ctx: KernelContext, container: bytes, shared_name: bytes, dtype: DType, shape: Shape, is_ref: bool
) -> VariableResource:
    """The variable of a node: by its shared name, or else by its own."""
    name = shared_name.decode() if shared_name else ctx.name
    place = container.decode() if container else ""
    found = ctx.resources.find(place, name)
    if type(found) is VariableResource:
        return found
    return ctx.resources.get_or_create(
        place, name, VariableResource, lambda: VariableResource(name, dtype, shape, is_ref)
    )


# ---------------------------------------------------------------------------------------------------- References


def _reference_op(name: str) -> OpSpec:
    return op(
        f"{name}() -> ref: Ref(dtype)",
        "shape: shape",
        "dtype: type",
        "container: string = ''",
        "shared_name: string = ''",
        "stateful",
    )


variable = _reference_op("Variable")
variable_v2 = _reference_op("VariableV2")


@variable.shape
def variable_shape_rule(*, shape: Shape) -> Shape:
    return shape if shape.dims else UNKNOWN_SHAPE  # of old, no dimensions meant that nobody had said


@variable_v2.shape
def variable_v2_shape(*, shape: Shape) -> Shape:
    return shape


variable.kernel_lasts = variable_v2.kernel_lasts = True


@variable.stateful_kernel
@variable_v2.stateful_kernel
def reference_kernel(
    ctx: KernelContext, *, shape: Shape, dtype: DType, container: bytes, shared_name: bytes
) -> VariableResource:
    found = _find_or_create(ctx, container, shared_name, dtype, shape, is_ref=True)
    if found.dtype is not dtype:
        raise InternalError(
            f"Output 0 of type {found.dtype.label}_ref does not match declared output type {dtype.label}_ref for "
            f"node {ctx.name}"
        )
    return found


temporary_variable = op(
    "TemporaryVariable() -> ref: Ref(dtype)", "shape: shape", "dtype: type", "var_name: string = ''", "stateful"
)
temporary_variable.shape(variable_v2_shape)


@temporary_variable.stateful_kernel
def temporary_variable_kernel(ctx: KernelContext, *, shape: Shape, dtype: DType, var_name: bytes) -> VariableResource:
    """A variable of this run alone. What it holds before the first assignment is nobody's promise."""
    created = VariableResource(var_name.decode() or ctx.name, dtype, shape, is_ref=True)
    fill: Any = b"" if dtype.is_object else 0
    check_allocation(shape.as_tuple(), dtype.array_dtype)
    created.assign(np.full(shape.as_tuple(), fill, dtype.array_dtype))
    return created


destroy_temporary_variable = op("DestroyTemporaryVariable(ref: Ref(T)) -> value: T", "T: type", "var_name: string")


@destroy_temporary_variable.shape
def destroy_temporary_variable_shape(ref: Tensor) -> Shape:
    return ref.static_shape


@destroy_temporary_variable.kernel
def destroy_temporary_variable_kernel(ref: Handle, *, var_name: bytes) -> Array:
    doomed = variable_of(ref)
    if doomed.name != var_name.decode():
        raise NotFoundError(f'there is no temporary variable "{var_name.decode()}" in this run')
    value = doomed.read()
    doomed.clear()
    return value


is_variable_initialized = op(
    "IsVariableInitialized(ref: Ref(dtype)) -> is_initialized: bool", "dtype: type", "allows_uninitialized_input"
)


@is_variable_initialized.shape
def is_variable_initialized_shape(ref: Tensor) -> Shape:
    return SCALAR


@is_variable_initialized.kernel
def is_variable_initialized_kernel(ref: Handle) -> np.bool_:
    return np.bool_(variable_of(ref).is_initialized)


assign = op(
    "Assign(ref: Ref(T), value: T) -> output_ref: Ref(T)",
    "T: type",
    "validate_shape: bool = true",
    "use_locking: bool = true",
    "allows_uninitialized_input",
)


@assign.shape
def assign_shape(ref: Tensor, value: Tensor, *, validate_shape: bool) -> Shape:
    return merge_shapes(ref.static_shape, value.static_shape) if validate_shape else value.static_shape


assign.kernel_takes_deferred = True


@assign.kernel
def assign_kernel(ref: Handle, value: Array | Deferred, *, validate_shape: bool) -> VariableResource:
    target = ref if type(ref) is VariableResource else variable_of(ref)
    with target.lock:
        if validate_shape and (sizes := target.value_shape) != value.shape:
            known = target.shape if sizes is None else Shape(sizes)
            if not known.is_compatible(Shape(value.shape)):
                raise InvalidArgumentError(
                    f"Assign requires shapes of both tensors to match. lhs shape= {known} "
                    f"rhs shape= {bracketed_shape(value.shape)}"
                )
        target.store(value)
    return target


def _update_op(name: str, combine: Callable[..., Any]) -> OpSpec:
    """A reference variable changed by a value of its shape."""
    spec = op(f"{name}(ref: Ref(T), value: T) -> output_ref: Ref(T)", "T: numbertype", "use_locking: bool = false")

    @spec.shape
    def update_shape(ref: Tensor, value: Tensor) -> Shape:
        return merge_shapes(ref.static_shape, value.static_shape)

    @spec.kernel
    def update_kernel(ref: Any, value: Array) -> VariableResource:
        target = variable_of(ref)
        with target.lock:
            before, after = target.places()
            if before.shape != np.shape(value):
                raise InvalidArgumentError("Parameters and update must be the same size")
            combine(before, value, out=after)
            target.assign(after)
        return target

    return spec


assign_add = _update_op("AssignAdd", np.add)
assign_sub = _update_op("AssignSub", np.subtract)
not_differentiable(assign, assign_add, assign_sub)

count_up_to = op("CountUpTo(ref: Ref(T)) -> output: T", "limit: int", "T: {int32, int64}")


@count_up_to.shape
def count_up_to_shape(ref: Tensor) -> Shape:
    return with_rank(ref, 0)


@count_up_to.kernel
def count_up_to_kernel(ref: Handle, *, limit: int) -> Array:
    target = initialized_variable_of(ref)
    with target.lock:
        before = target.read()
        if before.ndim:
            raise InvalidArgumentError(f"input is not a scalar: {bracketed_shape(before.shape)}")
        if before >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}")
        target.assign(np.array(before + 1, before.dtype))
    return before


# ---------------------------------------------------------------------------------------------------- Handles

var_handle = op(
    "VarHandleOp() -> resource: resource",
    "container: string = ''",
    "shared_name: string = ''",
    "debug_name: string = ''",
    "dtype: type",
    "shape: shape",
    "allowed_devices: list(string) = []",
    "stateful",
)


@var_handle.shape
def var_handle_shape(*, dtype: DType, shape: Shape) -> Shape:
    return HandleShape((), dtype, shape)


var_handle.kernel_lasts = True


@var_handle.stateful_kernel
def var_handle_kernel(
    ctx: KernelContext, *, container: bytes, shared_name: bytes, dtype: DType, shape: Shape
) -> VariableResource:
    return _find_or_create(ctx, container, shared_name, dtype, shape, is_ref=False)


var_is_initialized = op("VarIsInitializedOp(resource: resource) -> is_initialized: bool", "stateful")
not_differentiable(var_is_initialized)


@var_is_initialized.shape
def var_is_initialized_shape(resource: Tensor) -> Shape:
    return SCALAR


@var_is_initialized.kernel
def var_is_initialized_kernel(resource: Handle) -> np.bool_:
    return np.bool_(variable_of(resource).is_initialized)


read_variable = op("ReadVariableOp(resource: resource) -> value: dtype", "dtype: type", "stateful")


@read_variable.shape
def read_variable_shape(resource: Tensor, *, dtype: DType) -> Shape:
    return element_shape(resource, dtype)


@read_variable.kernel
def read_variable_kernel(resource: Handle, *, dtype: DType) -> Array:
    source = variable_of(resource)
    if source.dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to read variable with wrong dtype. Expected {dtype.label} got {source.dtype.label}"
        )
    return source.read()


@read_variable.gradient
def read_variable_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy


assign_variable = op(
    "AssignVariableOp(resource: resource, value: dtype)", "dtype: type", "validate_shape: bool = false", "stateful"
)


def _assigned_shape(resource: Tensor, value: Tensor, *, dtype: DType) -> tuple[()]:
    merge_shapes(element_shape(resource, dtype), value.static_shape)
    return ()


assign_variable.shape(_assigned_shape)


assign_variable.kernel_takes_deferred = True


@assign_variable.kernel
def assign_variable_kernel(
    resource: Handle, value: Array | Deferred, *, dtype: DType, validate_shape: bool
) -> tuple[()]:
    target = variable_of(resource)
    if target.dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to assign variable with wrong dtype. Expected {target.dtype.label} got {dtype.label}"
        )
    with target.lock:
        if validate_shape and target.is_initialized and target.read().shape != np.shape(value):
            raise InvalidArgumentError(
                "Trying to assign to variable with tensor with wrong shape. Expected "
                f"{bracketed_shape(target.read().shape)} got {bracketed_shape(np.shape(value))}"
            )
        target.store(value)
    return ()


def _resource_update_op(name: str, combine: Callable[..., Any]) -> OpSpec:
    """A resource variable changed by a value of its shape."""
    spec = op(f"{name}(resource: resource, value: dtype)", "dtype: type", "stateful")
    spec.shape(_assigned_shape)

    @spec.kernel
    def resource_update_kernel(resource: Any, value: Array) -> tuple[()]:
        target = variable_of(resource)
        with target.lock:
            before, after = target.places()
            if before.shape != np.shape(value):
                raise InvalidArgumentError(
                    f"Cannot update variable with shape {bracketed_shape(before.shape)} using a Tensor with shape "
                    f"{bracketed_shape(np.shape(value))}, shapes must be equal."
                )
            combine(before, value, out=after)
            target.assign(after)
        return ()

    return spec


assign_add_variable = _resource_update_op("AssignAddVariableOp", np.add)
assign_sub_variable = _resource_update_op("AssignSubVariableOp", np.subtract)

destroy_resource = op("DestroyResourceOp(resource: resource)", "ignore_lookup_error: bool = true", "stateful")


@destroy_resource.stateful_kernel
def destroy_resource_kernel(ctx: KernelContext, resource: Handle, *, ignore_lookup_error: bool) -> tuple[()]:
    if isinstance(resource, VariableResource) and not resource.is_initialized and not ignore_lookup_error:
        raise NotFoundError(f"Container localhost does not exist. (Could not find resource: localhost/{resource.name})")
    for (container, name), found in ctx.resources.items():
        if found is resource:
            ctx.resources.delete(container, name)
    if isinstance(resource, VariableResource):
        resource.clear()
    return ()


disable_copy_on_read = op("DisableCopyOnRead(resource: resource)", "stateful")


@disable_copy_on_read.kernel
def disable_copy_on_read_kernel(resource: Handle) -> tuple[()]:
    return ()  # a read never copies


variable_shape = op(
    "VariableShape(input: resource) -> output: out_type", "out_type: {int32, int64} = int32", "stateful"
)
not_differentiable(variable_shape)


@variable_shape.shape
def variable_shape_shape(input: Tensor) -> Shape:
    return Shape((element_shape(input).rank,))


@variable_shape.kernel
def variable_shape_kernel(input: Handle, *, out_type: DType) -> Array:
    return np.array(initialized_variable_of(input).read().shape, out_type.array_dtype)


resource_count_up_to = op(
    "ResourceCountUpTo(resource: resource) -> output: T", "limit: int", "T: {int32, int64}", "stateful"
)
resource_count_up_to.kernel(count_up_to_kernel)


@resource_count_up_to.shape
def resource_count_up_to_shape(resource: Tensor, *, T: DType) -> Shape:  # noqa: N803 - the attribute's name
    shape = element_shape(resource, T)
    of_rank(shape, 0)
    return SCALAR


# ---------------------------------------------------------------------------------------------------- Reading parts

resource_gather = op(
    "ResourceGather(resource: resource, indices: Tindices) -> output: dtype",
    "batch_dims: int = 0",
    "validate_indices: bool = true",
    "dtype: type",
    "Tindices: {int32, int64}",
    "stateful",
)


@resource_gather.shape
def resource_gather_shape(resource: Tensor, indices: Tensor, *, batch_dims: int, dtype: DType) -> Shape:
    if batch_dims < 0:
        raise InvalidArgumentError(f"batch_dims is negative ({batch_dims})")
    params, places = element_shape(resource, dtype), indices.static_shape
    at_least(params, batch_dims + 1)
    at_least(places, batch_dims)
    if params.dims is None or places.dims is None:
        return UNKNOWN_SHAPE
    return Shape(params.dims[:batch_dims] + places.dims[batch_dims:] + params.dims[batch_dims + 1 :])


@resource_gather.kernel
def resource_gather_kernel(resource: Handle, indices: Array, *, batch_dims: int) -> Array:
    params, places = initialized_variable_of(resource).read(), np.asarray(indices)
    if params.ndim <= batch_dims:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    check_indices(places, params.shape[batch_dims])
    if batch_dims == 0:
        return params.take(places, axis=0)
    batch = params.shape[:batch_dims]
    if places.shape[:batch_dims] != batch:
        raise InvalidArgumentError(
            f"params.shape {bracketed_shape(params.shape)} and indices.shape {bracketed_shape(places.shape)} must "
            f"agree in their first {batch_dims} dimensions"
        )
    rows = params.reshape(-1, *params.shape[batch_dims:]) if params.size else np.empty((0, 0), params.dtype)
    sizes = places.shape + params.shape[batch_dims + 1 :]
    if not places.size or not params.size:
        return np.empty(sizes, params.dtype)
    flat = places.reshape(len(rows), -1)
    result: Array = rows[np.arange(len(rows))[:, None], flat].reshape(sizes)
    return result


def check_indices(indices: Array, size: int) -> None:
    """Refuses positions outside 0 .. size - 1, naming the first."""
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        place = tuple(int(i) for i in np.argwhere((indices < 0) | (indices >= size))[0])
        where = f"[{','.join(map(str, place))}]" if place else ""
        raise InvalidArgumentError(f"indices{where} = {int(indices[place])} is not in [0, {size})")


@resource_gather.gradient
def resource_gather_gradient(op: Operation, dy: Tensor) -> Gradients:
    handle, indices = op.inputs
    params_shape = _shape_of_variable(handle)
    size = emit("ExpandDims", size_of(indices), 0)
    values_shape = emit("ConcatV2", [size, _tail(params_shape)], 0, name="concat")
    values = emit("Reshape", dy, values_shape)
    flat = emit("Reshape", indices, size)
    return IndexedSlices(values, flat, params_shape), None


def _shape_of_variable(handle: Tensor) -> Tensor:
    """The shape of the variable behind a handle: a constant if it is known."""
    known = element_shape(handle)
    if known.is_fully_known:
        return constant(np.array(known.as_tuple(), np.int32))
    found: Tensor = variable_shape(handle)
    return found


def _tail(shape: Tensor) -> Tensor:
    """A vector without its first element: `shape[1:]`."""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), name="stack") for at in (1, 0, 1)]
        rest: Tensor = emit("StridedSlice", shape, *ends, end_mask=1, name=scope)
    return rest


resource_gather_nd = op(
    "ResourceGatherNd(resource: resource, indices: Tindices) -> output: dtype",
    "dtype: type",
    "Tindices: {int32, int64}",
    "stateful",
)


@resource_gather_nd.shape
def resource_gather_nd_shape(resource: Tensor, indices: Tensor, *, dtype: DType) -> Shape:
    params, places = element_shape(resource, dtype), indices.static_shape
    at_least(places, 1)
    if params.dims is None or places.dims is None or places.dims[-1] is None:
        return UNKNOWN_SHAPE
    depth = places.dims[-1]
    if depth > len(params.dims):
        raise InvalidArgumentError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {places} and params shape: {params}"
        )
    return Shape(places.dims[:-1] + params.dims[depth:])


@resource_gather_nd.stateful_kernel
def resource_gather_nd_kernel(ctx: KernelContext, resource: Handle, indices: Array) -> Array:
    params, places = initialized_variable_of(resource).read(), np.asarray(indices)
    if places.ndim < 1 or places.shape[-1] > params.ndim:
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {places.shape[-1:]} vs. {params.ndim}"
        )
    depth = places.shape[-1]
    result = places.shape[:-1] + params.shape[depth:]
    bad = np.argwhere(((places < 0) | (places >= np.array(params.shape[:depth], places.dtype))).any(axis=-1))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        where = f"[{','.join(map(str, place))}]" if place else ""
        raise InvalidArgumentError(
            f"indices{where} = {places[place].tolist()} does not index into param shape "
            f"{bracketed_shape(params.shape)}, node name: {ctx.name}"
        )
    if depth == 0:
        return np.array(np.broadcast_to(params, result))
    return np.array(params[tuple(np.moveaxis(places, -1, 0))]).reshape(result)


@resource_gather_nd.gradient
def resource_gather_nd_gradient(op: Operation, dy: Tensor) -> Gradients:
    handle, indices = op.inputs
    shape = variable_shape(handle, out_type=indices.dtype)
    dims = indices.static_shape.dims
    if dims is not None and len(dims) == 2 and dims[-1] == 1:
        return IndexedSlices(dy, emit("Squeeze", indices, squeeze_dims=[-1]), shape), None
    return emit("ScatterNd", indices, dy, shape), None
