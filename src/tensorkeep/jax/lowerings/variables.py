"""Variables: read, assigned, changed in some rows, and by the steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import tensorkeep.ops.training.optimizer_steps  # noqa: F401 - its ops are walked over
from tensorkeep.dtypes import RESOURCE, DType
from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.jax.lowerings.slicing import gather_along, gather_nd, scatter_updates
from tensorkeep.jax.registry import LOWERINGS, traced_lowering
from tensorkeep.jax.values import Value, as_type, on_device, shape_of

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing


@traced_lowering("ReadVariableOp")
def read_variable(tracing: Tracing, resource: Value) -> Value:
    return tracing.read(resource)


@traced_lowering("VariableShape")
def variable_shape(tracing: Tracing, input: Value, *, out_type: DType) -> Value:
    return np.array(shape_of(tracing.read(input)), out_type.array_dtype)


@traced_lowering("ResourceGather")
def resource_gather(tracing: Tracing, resource: Value, indices: Value, *, batch_dims: int) -> Value:
    table = on_device(tracing.read(resource))
    return gather_along(table, on_device(indices), np.array(batch_dims, np.int32), batch_dims=batch_dims)


@traced_lowering("ResourceGatherNd")
def resource_gather_nd(tracing: Tracing, resource: Value, indices: Value) -> Value:
    return gather_nd(on_device(tracing.read(resource)), on_device(indices))


@traced_lowering("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(tracing: Tracing, resource: Value) -> Value:
    return np.asarray(tracing.state.get(resource) is not None)


# --------------------------------------------------------------------------------------------------------- assignment


def _change_variable(tracing: Tracing, variable: Value, change: Callable[[Any], Any]) -> Any:
    """Gives a variable what a function makes of its value; it keeps its type."""
    new = change(on_device(tracing.read(variable)))
    dtype = getattr(variable, "dtype", None)
    tracing.assign(variable, as_type(new, dtype) if isinstance(dtype, DType) else new)
    return variable


@traced_lowering("AssignVariableOp")
def assign_variable(tracing: Tracing, resource: Value, value: Value) -> tuple[Any, ...]:
    tracing.assign(resource, on_device(value))
    return ()


@traced_lowering("Assign")
def assign(tracing: Tracing, ref: Value, value: Value) -> Value:
    tracing.assign(ref, on_device(value))
    return ref


def _updates(op: str, resource_op: str, combine: Any) -> None:
    @traced_lowering(op)
    def of_reference(tracing: Tracing, ref: Value, value: Value) -> Any:
        return _change_variable(tracing, ref, lambda old: combine(old, on_device(value)))

    @traced_lowering(resource_op)
    def of_resource(tracing: Tracing, resource: Value, value: Value) -> tuple[Any, ...]:
        _change_variable(tracing, resource, lambda old: combine(old, on_device(value)))
        return ()


_updates("AssignAdd", "AssignAddVariableOp", jnp.add)
_updates("AssignSub", "AssignSubVariableOp", jnp.subtract)


def _row_changes(name: str, how: str, prepared: Any = lambda updates: updates) -> None:
    """The ops that change rows of a variable by index, and elements by indices of several axes."""

    def rows(variable: Any, indices: Any, updates: Any) -> Any:
        updates = prepared(jnp.broadcast_to(updates, (*indices.shape, *variable.shape[1:])))
        places = jnp.where((indices < 0) | (indices >= variable.shape[0]), variable.shape[0], indices)
        return getattr(variable.at[places], how)(updates, mode="drop")

    @traced_lowering(f"Scatter{name}")
    def of_reference(tracing: Tracing, ref: Value, indices: Value, updates: Value) -> Any:
        return _change_variable(tracing, ref, lambda old: rows(old, on_device(indices), on_device(updates)))

    @traced_lowering(f"ResourceScatter{name}")
    def of_resource(tracing: Tracing, resource: Value, indices: Value, updates: Value) -> tuple[Any, ...]:
        _change_variable(tracing, resource, lambda old: rows(old, on_device(indices), on_device(updates)))
        return ()


for _name, _how in (("Update", "set"), ("Add", "add"), ("Mul", "multiply"), ("Max", "max"), ("Min", "min")):
    _row_changes(_name, _how)
_row_changes("Sub", "add", jnp.negative)
_row_changes("Div", "divide")


def _element_changes(name: str, how: str, sign: int = 1) -> None:
    @traced_lowering(f"ScatterNd{name}")
    def of_reference(tracing: Tracing, ref: Value, indices: Value, updates: Value) -> Any:
        return _change_variable(
            tracing, ref, lambda old: scatter_updates(old, on_device(indices), sign * on_device(updates), how)
        )

    @traced_lowering(f"ResourceScatterNd{name}")
    def of_resource(tracing: Tracing, ref: Value, indices: Value, updates: Value) -> tuple[Any, ...]:
        _change_variable(
            tracing, ref, lambda old: scatter_updates(old, on_device(indices), sign * on_device(updates), how)
        )
        return ()


_element_changes("Update", "set")
_element_changes("Add", "add")
_element_changes("Sub", "add", -1)


# --------------------------------------------------------------------------------------------------------- optimizers
#
# A rule takes the values of a variable and its slots, the gradient, and numbers by TensorFlow's names; it gives the
# new values of the former. The arithmetic is that of `ops.training.optimizer_steps`, in the same order.

Rule = Callable[..., tuple[Any, ...]]


def gradient_descent(var: jax.Array, grad: jax.Array, *, alpha: jax.Array) -> tuple[Any, ...]:
    return (var - grad * alpha,)


def _proximal(stepped: Any, rate: Any, l1: Any, l2: Any) -> Any:
    shrunk = jnp.sign(stepped) * jnp.maximum(jnp.abs(stepped) - rate * l1, 0)
    return jnp.where(l1 > 0, shrunk, stepped) / (1 + l2 * rate)


def proximal_gradient_descent(
    var: jax.Array, grad: jax.Array, *, alpha: jax.Array, l1: jax.Array, l2: jax.Array
) -> tuple[Any, ...]:
    return (_proximal(var - grad * alpha, alpha, l1, l2),)


def momentum_step(
    var: jax.Array, accum: jax.Array, grad: jax.Array, *, lr: jax.Array, momentum: jax.Array, use_nesterov: bool
) -> tuple[Any, ...]:
    accum = accum * momentum + grad
    return var - (grad * lr + accum * (momentum * lr) if use_nesterov else accum * lr), accum


def keras_momentum(
    var: jax.Array, accum: jax.Array, grad: jax.Array, *, lr: jax.Array, momentum: jax.Array, use_nesterov: bool
) -> tuple[Any, ...]:
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def adagrad(var: jax.Array, accum: jax.Array, grad: jax.Array, *, lr: jax.Array, update_slots: bool) -> tuple[Any, ...]:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / jnp.sqrt(accum), accum


def adagrad_v2(
    var: jax.Array, accum: jax.Array, grad: jax.Array, *, lr: jax.Array, epsilon: jax.Array, update_slots: bool
) -> tuple[Any, ...]:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (jnp.sqrt(accum) + epsilon), accum


def adagrad_dual_averaging(
    var: jax.Array,
    total: jax.Array,
    squares: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    global_step: jax.Array,
) -> tuple[Any, ...]:
    step = global_step.astype(var.dtype)
    total, squares = total + grad, squares + grad * grad
    shrunk = jnp.where(l1 > 0, jnp.sign(total) * jnp.maximum(jnp.abs(total) - l1 * step, 0), total)
    return -lr * shrunk / (l2 * step * lr + jnp.sqrt(squares)), total, squares


def proximal_adagrad(
    var: jax.Array, accum: jax.Array, grad: jax.Array, *, lr: jax.Array, l1: jax.Array, l2: jax.Array
) -> tuple[Any, ...]:
    accum = accum + grad * grad
    rate = lr / jnp.sqrt(accum)
    return _proximal(var - grad * rate, rate, l1, l2), accum


def adadelta(
    var: jax.Array,
    accum: jax.Array,
    accum_update: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    rho: jax.Array,
    epsilon: jax.Array,
) -> tuple[Any, ...]:
    accum = accum * rho + grad * grad * (1 - rho)
    update = jnp.sqrt(accum_update + epsilon) / jnp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def _adam_rate(lr: Any, beta1_power: Any, beta2_power: Any) -> Any:
    return lr * jnp.sqrt(1 - beta2_power) / (1 - beta1_power)


def adam(
    var: jax.Array,
    m: jax.Array,
    v: jax.Array,
    grad: jax.Array,
    *,
    beta1_power: jax.Array,
    beta2_power: jax.Array,
    lr: jax.Array,
    beta1: jax.Array,
    beta2: jax.Array,
    epsilon: jax.Array,
    use_nesterov: bool,
) -> tuple[Any, ...]:
    m = m * beta1 + grad * (1 - beta1)
    v = v * beta2 + grad * grad * (1 - beta2)
    ahead = grad * (1 - beta1) + m * beta1 if use_nesterov else m
    return var - ahead / (jnp.sqrt(v) + epsilon) * _adam_rate(lr, beta1_power, beta2_power), m, v


def adam_with_amsgrad(
    var: jax.Array,
    m: jax.Array,
    v: jax.Array,
    vhat: jax.Array,
    grad: jax.Array,
    *,
    beta1_power: jax.Array,
    beta2_power: jax.Array,
    lr: jax.Array,
    beta1: jax.Array,
    beta2: jax.Array,
    epsilon: jax.Array,
) -> tuple[Any, ...]:
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = jnp.maximum(vhat, v)
    return var - m * _adam_rate(lr, beta1_power, beta2_power) / (jnp.sqrt(vhat) + epsilon), m, v, vhat


def adamax(
    var: jax.Array,
    m: jax.Array,
    v: jax.Array,
    grad: jax.Array,
    *,
    beta1_power: jax.Array,
    lr: jax.Array,
    beta1: jax.Array,
    beta2: jax.Array,
    epsilon: jax.Array,
) -> tuple[Any, ...]:
    m = m + (grad - m) * (1 - beta1)
    v = jnp.maximum(v * beta2, jnp.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def rmsprop(
    var: jax.Array,
    ms: jax.Array,
    mom: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    rho: jax.Array,
    momentum: jax.Array,
    epsilon: jax.Array,
) -> tuple[Any, ...]:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / jnp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rmsprop(
    var: jax.Array,
    mg: jax.Array,
    ms: jax.Array,
    mom: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    rho: jax.Array,
    momentum: jax.Array,
    epsilon: jax.Array,
) -> tuple[Any, ...]:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / jnp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def ftrl(
    var: jax.Array,
    accum: jax.Array,
    linear: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    lr_power: jax.Array,
    multiply_linear_by_lr: bool,
    l2_shrinkage: jax.Array | float = 0.0,
) -> tuple[Any, ...]:
    grown = accum + grad * grad
    old, new = jnp.power(accum, -lr_power), jnp.power(grown, -lr_power)
    shrunk = grad + 2 * l2_shrinkage * var
    if multiply_linear_by_lr:
        linear = linear + shrunk * lr - (new - old) * var
        limit, weight = l1 * lr, new + 2 * l2 * lr
    else:
        linear = linear + shrunk - (new - old) / lr * var
        limit, weight = l1, new / lr + 2 * l2
    return (jnp.clip(linear, -limit, limit) - linear) / weight, grown, linear


def power_sign(
    var: jax.Array,
    m: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    logbase: jax.Array,
    sign_decay: jax.Array,
    beta: jax.Array,
) -> tuple[Any, ...]:
    m = m * beta + grad * (1 - beta)
    return var - lr * jnp.exp(logbase * sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m


def add_sign(
    var: jax.Array,
    m: jax.Array,
    grad: jax.Array,
    *,
    lr: jax.Array,
    alpha: jax.Array,
    sign_decay: jax.Array,
    beta: jax.Array,
) -> tuple[Any, ...]:
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * jnp.sign(grad) * jnp.sign(m)) * grad, m


_RULES: dict[str, Rule] = {
    "GradientDescent": gradient_descent,
    "ProximalGradientDescent": proximal_gradient_descent,
    "Momentum": momentum_step,
    "KerasMomentum": keras_momentum,
    "Adagrad": adagrad,
    "AdagradV2": adagrad_v2,
    "AdagradDA": adagrad_dual_averaging,
    "ProximalAdagrad": proximal_adagrad,
    "Adadelta": adadelta,
    "Adam": adam,
    "AdamWithAmsgrad": adam_with_amsgrad,
    "AdaMax": adamax,
    "RMSProp": rmsprop,
    "CenteredRMSProp": centered_rmsprop,
    "Ftrl": ftrl,
    "FtrlV2": ftrl,
    "PowerSign": power_sign,
    "AddSign": add_sign,
}
_FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


def _define_steps(name: str, rule: Rule) -> None:
    """The lowerings of a rule's ops: for references and resources, for whole gradients and for rows of one."""
    for op in (f"Apply{name}", f"ResourceApply{name}", f"SparseApply{name}", f"ResourceSparseApply{name}"):
        if op not in registered_ops():
            continue
        schema = registered_ops()[op].schema
        names = [arg.name for arg in schema.inputs]
        slots = sum(arg.is_ref or arg.dtype is RESOURCE for arg in schema.inputs)
        flags = [flag for flag in _FLAGS if flag in schema.attr_by_name]
        _define_step(op, rule, names, slots, flags, has_output=bool(schema.outputs))


def _define_step(op: str, rule: Rule, names: list[str], slots: int, flags: list[str], *, has_output: bool) -> None:
    def step(tracing: Tracing, *inputs: Value) -> Any:
        operation = tracing.operation
        assert operation is not None
        given = {word: on_device(value) for word, value in zip(names[slots:], inputs[slots:], strict=True)}
        gradient = given.pop("grad") if "grad" in given else given.pop("delta")
        indices = given.pop("indices", None)
        values = [on_device(tracing.read(variable)) for variable in inputs[:slots]]
        chosen = {flag: operation.attr(flag) for flag in flags}
        if indices is None:
            new = rule(*values, gradient, **given, **chosen)
        else:
            new = _row_by_row(rule, values, gradient, indices, {**given, **chosen})
        for variable, value, old in zip(inputs[:slots], new, values, strict=True):
            tracing.assign(variable, value.astype(old.dtype))
        return inputs[0] if has_output else ()

    traced_lowering(op)(step)
    assert op in LOWERINGS


def _row_by_row(rule: Rule, values: list[Any], gradient: Any, indices: Any, given: dict[str, Any]) -> tuple[Any, ...]:
    """A rule for some rows, one after the other: a row that is named several times is changed several times."""

    def once(at: Any, arrays: list[Any]) -> list[Any]:
        row = indices[at]
        new = rule(*(array[row] for array in arrays), gradient[at], **given)
        return [array.at[row].set(value.astype(array.dtype)) for array, value in zip(arrays, new, strict=True)]

    return tuple(jax.lax.fori_loop(0, indices.shape[0], once, values))


for _word, _rule in _RULES.items():
    _define_steps(_word, _rule)
