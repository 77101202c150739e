"""The ops that optimizers apply gradients with.

A rule changes blocks of a variable and its slots in place, given the gradient's block and the scalars. Four ops stand
on every rule: on reference and on resource variables, with a dense gradient and with rows of one (`Sparse`).

Rules are written in NumPy; those that tables of rows have too are in `native/rules.py`. Most of them exist in compiled
form besides, which does the same in one pass; where that is present, and the arrays are such that it takes them, it
does the work. Else a dense variable is updated block by block, so that what a rule computes in between stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor, held_behind
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.native.rules import adagrad, adam, adam_rate, ftrl, ftrl_of_whole, gradient_descent
from tensorkeep.native.updates import fused_update
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Rule: TypeAlias = Callable[..., None]

_BLOCK: Final = 1 << 17  # elements: a handful of float32 blocks stay in the cache, and calls cost little beside them


# ---------------------------------------------------------------------------------------------------- Running rules


def _run_with_locks(variables: Sequence[VariableResource], work: Callable[[], None]) -> None:
    """Does something while nobody else changes several variables."""
    held = sorted(variables, key=id)  # one order for all, or two updates could wait for each other
    for variable in held:
        variable.lock.acquire()
    try:
        work()
    finally:
        for variable in held:
            variable.lock.release()


@dataclass(frozen=True, slots=True)
class Update:
    """How an op changes arrays: its name, its rule, and the words that the rule has for the numbers it is given."""

    name: str
    rule: Rule
    words: tuple[str, ...]

    def __call__(self, arrays: Sequence[Array], gradient: Array, numbers: Sequence[Any]) -> None:
        if fused_update(self.name, arrays, gradient, numbers):
            return
        scalars = {
            word: number if isinstance(number, bool) else number[()]
            for word, number in zip(self.words, numbers, strict=True)
        }
        if gradient.size <= _BLOCK:
            self.rule(*arrays, gradient, **scalars)
            return
        flat = [array.reshape(-1) for array in arrays]
        whole = np.ascontiguousarray(gradient).reshape(-1)
        for at in range(0, whole.size, _BLOCK):
            self.rule(*(array[at : at + _BLOCK] for array in flat), whole[at : at + _BLOCK], **scalars)


UPDATES: Final[dict[str, Update]] = {}
"""The rules, by the names that ops have behind `Apply`."""


def _apply_dense(
    update: Update, variables: Sequence[VariableResource], gradient: Array, numbers: Sequence[Any]
) -> None:
    shape = gradient.shape

    def work() -> None:
        places = [variable.places() for variable in variables]
        for before, _ in places:
            if before.shape != shape:
                raise _other_shape(variables, [before for before, _ in places], shape)
        if all(before is after for before, after in places):
            update([after for _, after in places], gradient, numbers)
            return
        _renew(update, places, gradient, numbers)
        for variable, (_, after) in zip(variables, places, strict=True):
            variable.assign(after)

    _run_with_locks(variables, work)


def _renew(update: Update, places: Sequence[tuple[Array, Array]], gradient: Array, numbers: Sequence[Any]) -> None:
    """Applies an update block by block and writes the results to their places, so that what is copied stays in the
    cache.
    """
    flat = [(before.reshape(-1), after.reshape(-1), before is after) for before, after in places]
    whole = np.ascontiguousarray(gradient).reshape(-1)
    for at in range(0, whole.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        for before, after, is_same in flat:
            if not is_same:
                np.copyto(after[block], before[block])
        update([after[block] for _, after, _ in flat], whole[block], numbers)


def _other_shape(
    variables: Sequence[VariableResource], arrays: Sequence[Array], shape: tuple[int, ...]
) -> InvalidArgumentError:
    if arrays[0].shape != shape:
        return InvalidArgumentError(f"var and grad do not have the same shape {list(arrays[0].shape)} {list(shape)}")
    wrong = [variable.name for variable, array in zip(variables, arrays, strict=True) if array.shape != shape]
    return InvalidArgumentError("; ".join(f"var and {name} do not have the same shape" for name in wrong))


def _apply_rows(
    update: Update, variables: Sequence[VariableResource], gradient: Array, indices: Array, numbers: Sequence[Any]
) -> None:
    """Applies a rule to some rows. A row that is named several times is updated several times, in order."""
    indices = np.asarray(indices)
    if indices.ndim != 1 or len(gradient) != len(indices):
        raise InvalidArgumentError("grad must be the same size as indices in the first dimension.")

    def work() -> None:
        arrays = [variable.writable(indices) for variable in variables]
        for array, variable in zip(arrays, variables, strict=True):
            if array.shape != arrays[0].shape:
                raise InvalidArgumentError(f"var and {variable.name} do not have the same shape")
        if gradient.shape[1:] != arrays[0].shape[1:]:
            raise InvalidArgumentError(
                f"var and grad must match in all dimensions but the first: {arrays[0].shape}, {gradient.shape}"
            )
        rows = len(arrays[0])
        if indices.size and (indices.min() < 0 or indices.max() >= rows):
            bad = int(np.flatnonzero((indices < 0) | (indices >= rows))[0])
            raise InvalidArgumentError(f"Index {indices[bad]} at offset {bad} in indices is out of range")
        for chosen in rounds(indices):
            where = indices[chosen]
            blocks = [array[where] for array in arrays]
            update(blocks, gradient[chosen], numbers)
            for array, block in zip(arrays, blocks, strict=True):
                array[where] = block

    _run_with_locks(variables, work)


def rounds(indices: Array) -> Iterator[Any]:
    """Splits the positions of a list of indices into rounds such that no index occurs twice in one round."""
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if ordered.size else np.zeros(0, np.int64)
    if len(starts) == len(ordered):
        yield slice(None)
        return
    repeat = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    for turn in range(int(repeat.max()) + 1):
        yield np.sort(order[repeat == turn])


# ---------------------------------------------------------------------------------------------------- Making ops


def _check_shapes(*tensors: Tensor) -> Shape:
    """Variables, slots and the gradient have one shape; all else is scalar."""
    shape = UNKNOWN_SHAPE
    for tensor in tensors:
        held = held_behind(tensor)
        shape = shape.merge(tensor.static_shape if held is None else held.element_shape)
    return shape


def _update_ops(
    name: str, arguments: str, rule: Rule, *attrs: str, kinds: str, of_whole: Rule | None = None
) -> list[OpSpec]:
    """Registers the ops of a rule; `of_whole` is that of the ops that are not sparse, if it is another one.

    `arguments` are TensorFlow's: variable and slots, a bar, then scalars with `grad` or `delta` among them, and
    `indices` where the sparse op has it. `kinds` says which ops there are: Ref, RefSparse, Resource, ResourceSparse.
    """
    state, _, rest = arguments.partition("|")
    slots = [word.strip() for word in state.split(",")]
    words = [word.strip() for word in rest.split(",")]
    specs = []
    for kind in kinds.split():
        is_sparse, is_resource = kind.endswith("Sparse"), kind.startswith("Resource")
        prefix = ("Resource" if is_resource else "") + ("SparseApply" if is_sparse else "Apply")
        mutable = "resource" if is_resource else "Ref(T)"
        chosen = [word for word in words if is_sparse or word != "indices"]
        chosen = ["grad" if is_sparse and word == "delta" else word for word in chosen]
        types = {"indices": "Tindices", "global_step": "int64"}
        inputs = [f"{slot}: {mutable}" for slot in slots] + [f"{word}: {types.get(word, 'T')}" for word in chosen]
        spec = op(
            f"{prefix}{name}({', '.join(inputs)})" + ("" if is_resource else " -> out: Ref(T)"),
            "T: numbertype",
            *(["Tindices: {int32, int64}"] if is_sparse else []),
            "use_locking: bool = false",
            *attrs,
            *(["stateful"] if is_resource else []),
        )
        flags = [attr.partition(":")[0] for attr in attrs]
        own = None if is_sparse else of_whole
        _define(spec, name if own is None else f"{name}OfWhole", own or rule, len(slots), chosen, flags)
        specs.append(spec)
    not_differentiable(*specs)
    return specs


def _define(spec: OpSpec, name: str, rule: Rule, slots: int, words: list[str], flags: list[str]) -> None:
    """Gives an op its shape rule and kernel."""
    gradient_at = next(i for i, word in enumerate(words) if word in ("grad", "delta"))
    indices_at = words.index("indices") if "indices" in words else None
    scalar_at = [(i, word) for i, word in enumerate(words) if word not in ("grad", "delta", "indices")]

    def shape(*tensors: Tensor) -> Any:
        state = _check_shapes(*tensors[:slots])
        if indices_at is None:
            _check_shapes(*tensors[:slots], tensors[slots + gradient_at])
        for i, _ in scalar_at:
            tensors[slots + i].static_shape.merge(SCALAR)
        return state if spec.schema.outputs else ()

    number_at = [slots + i for i, _ in scalar_at]
    update = UPDATES.setdefault(name, Update(name, rule, (*(word for _, word in scalar_at), *flags)))

    def run(inputs: Sequence[Any], *given: bool) -> Any:
        variables, gradient = inputs[:slots], inputs[slots + gradient_at]
        numbers = [inputs[i] for i in number_at]
        for number in numbers:
            if number.ndim:
                raise _not_scalar(update.words, numbers)
        numbers.extend(given)
        if indices_at is None:
            _apply_dense(update, variables, gradient, numbers)
        else:
            _apply_rows(update, variables, gradient, inputs[slots + indices_at], numbers)
        return variables[0] if spec.schema.outputs else ()

    if flags == ["use_nesterov"]:

        def kernel(*inputs: Any, use_nesterov: bool) -> Any:
            return run(inputs, use_nesterov)

    elif flags == ["update_slots"]:

        def kernel(*inputs: Any, update_slots: bool) -> Any:  # type: ignore[misc]
            return run(inputs, update_slots)

    elif flags == ["multiply_linear_by_lr"]:

        def kernel(*inputs: Any, multiply_linear_by_lr: bool) -> Any:  # type: ignore[misc]
            return run(inputs, multiply_linear_by_lr)

    else:

        def kernel(*inputs: Any) -> Any:  # type: ignore[misc]
            return run(inputs)

    spec.shape(shape)
    spec.kernel(kernel)


def _not_scalar(words: Sequence[str], numbers: Sequence[Any]) -> InvalidArgumentError:
    wrong = [
        f"{word} is not a scalar: {list(number.shape)}"
        for word, number in zip(words, numbers, strict=False)
        if number.ndim
    ]
    return InvalidArgumentError("; ".join(wrong))


_ALL: Final = "Ref RefSparse Resource ResourceSparse"


# ---------------------------------------------------------------------------------------------------- Rules


_update_ops("GradientDescent", "var | alpha, delta", gradient_descent, kinds="Ref Resource")


def proximal_gradient_descent(var: Array, grad: Array, *, alpha: Array, l1: Array, l2: Array) -> None:
    _proximal(var, var - grad * alpha, alpha, l1, l2)


def _proximal(var: Array, stepped: Array, rate: Any, l1: Any, l2: Any) -> None:
    """Shrinks a variable that has taken its step: towards zero by l1, and in proportion by l2."""
    one = var.dtype.type(1)
    if l1 > 0:
        stepped = np.sign(stepped) * np.maximum(np.abs(stepped) - rate * l1, 0)
    var[...] = stepped / (one + l2 * rate)


_update_ops("ProximalGradientDescent", "var | alpha, l1, l2, delta, indices", proximal_gradient_descent, kinds=_ALL)


def momentum_step(var: Array, accum: Array, grad: Array, *, lr: Array, momentum: Array, use_nesterov: bool) -> None:
    accum *= momentum
    accum += grad
    if use_nesterov:
        var -= grad * lr + accum * (momentum * lr)
    else:
        var -= accum * lr


_update_ops(
    "Momentum", "var, accum | lr, grad, indices, momentum", momentum_step, "use_nesterov: bool = false", kinds=_ALL
)


def keras_momentum(var: Array, accum: Array, grad: Array, *, lr: Array, momentum: Array, use_nesterov: bool) -> None:
    accum *= momentum
    accum -= grad * lr
    if use_nesterov:
        var += accum * momentum - grad * lr
    else:
        var += accum


_update_ops(
    "KerasMomentum",
    "var, accum | lr, grad, indices, momentum",
    keras_momentum,
    "use_nesterov: bool = false",
    kinds="Resource ResourceSparse",
)


_update_ops("Adagrad", "var, accum | lr, grad, indices", adagrad, "update_slots: bool = true", kinds=_ALL)


def adagrad_v2(var: Array, accum: Array, grad: Array, *, lr: Array, epsilon: Array, update_slots: bool) -> None:
    if update_slots:
        accum += grad * grad
    var -= grad * lr / (np.sqrt(accum) + epsilon)


_update_ops("AdagradV2", "var, accum | lr, epsilon, grad, indices", adagrad_v2, "update_slots: bool = true", kinds=_ALL)


def adagrad_dual_averaging(
    var: Array, total: Array, squares: Array, grad: Array, *, lr: Array, l1: Array, l2: Array, global_step: Array
) -> None:
    step = var.dtype.type(global_step)
    total += grad
    squares += grad * grad
    shrunk = np.sign(total) * np.maximum(np.abs(total) - l1 * step, 0) if l1 > 0 else total
    var[...] = -lr * shrunk / (l2 * step * lr + np.sqrt(squares))


_update_ops(
    "AdagradDA",
    "var, gradient_accumulator, gradient_squared_accumulator | grad, indices, lr, l1, l2, global_step",
    adagrad_dual_averaging,
    kinds=_ALL,
)


def proximal_adagrad(var: Array, accum: Array, grad: Array, *, lr: Array, l1: Array, l2: Array) -> None:
    accum += grad * grad
    rate = lr / np.sqrt(accum)
    _proximal(var, var - grad * rate, rate, l1, l2)


_update_ops("ProximalAdagrad", "var, accum | lr, l1, l2, grad, indices", proximal_adagrad, kinds=_ALL)


def adadelta(
    var: Array, accum: Array, accum_update: Array, grad: Array, *, lr: Array, rho: Array, epsilon: Array
) -> None:
    rest = var.dtype.type(1) - rho
    accum *= rho
    accum += grad * grad * rest
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    accum_update *= rho
    accum_update += update * update * rest
    var -= update * lr


_update_ops("Adadelta", "var, accum, accum_update | lr, rho, epsilon, grad, indices", adadelta, kinds=_ALL)


_update_ops(
    "Adam",
    "var, m, v | beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    adam,
    "use_nesterov: bool = false",
    kinds="Ref Resource",
)


def adam_with_amsgrad(
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    grad: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
) -> None:
    one = var.dtype.type(1)
    m += (grad - m) * (one - beta1)
    v += (grad * grad - v) * (one - beta2)
    np.maximum(vhat, v, out=vhat)
    rate = adam_rate(var.dtype, lr, beta1_power, beta2_power)
    var -= m * rate / (np.sqrt(vhat) + epsilon)


_update_ops(
    "AdamWithAmsgrad",
    "var, m, v, vhat | beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    adam_with_amsgrad,
    kinds="Resource",
)


def adamax(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
) -> None:
    one = var.dtype.type(1)
    m += (grad - m) * (one - beta1)
    np.maximum(v * beta2, np.abs(grad), out=v)
    var -= lr / (one - beta1_power) * (m / (v + epsilon))


_update_ops("AdaMax", "var, m, v | beta1_power, lr, beta1, beta2, epsilon, grad", adamax, kinds="Ref Resource")


def rmsprop(
    var: Array, ms: Array, mom: Array, grad: Array, *, lr: Array, rho: Array, momentum: Array, epsilon: Array
) -> None:
    ms += (grad * grad - ms) * (var.dtype.type(1) - rho)
    mom *= momentum
    mom += grad * lr / np.sqrt(ms + epsilon)
    var -= mom


_update_ops("RMSProp", "var, ms, mom | lr, rho, momentum, epsilon, grad, indices", rmsprop, kinds=_ALL)


def centered_rmsprop(
    var: Array, mg: Array, ms: Array, mom: Array, grad: Array, *, lr: Array, rho: Array, momentum: Array, epsilon: Array
) -> None:
    rest = var.dtype.type(1) - rho
    ms += (grad * grad - ms) * rest
    mg += (grad - mg) * rest
    mom *= momentum
    mom += grad * lr / np.sqrt(ms - mg * mg + epsilon)
    var -= mom


_update_ops(
    "CenteredRMSProp", "var, mg, ms, mom | lr, rho, momentum, epsilon, grad, indices", centered_rmsprop, kinds=_ALL
)


_update_ops(
    "Ftrl",
    "var, accum, linear | grad, indices, lr, l1, l2, lr_power",
    ftrl,
    "multiply_linear_by_lr: bool = false",
    kinds=_ALL,
    of_whole=ftrl_of_whole,
)
_update_ops(
    "FtrlV2",
    "var, accum, linear | grad, indices, lr, l1, l2, l2_shrinkage, lr_power",
    ftrl,
    "multiply_linear_by_lr: bool = false",
    kinds=_ALL,
    of_whole=ftrl_of_whole,
)


def power_sign(var: Array, m: Array, grad: Array, *, lr: Array, logbase: Array, sign_decay: Array, beta: Array) -> None:
    m *= beta
    m += grad * (var.dtype.type(1) - beta)
    var -= lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad


_update_ops("PowerSign", "var, m | lr, logbase, sign_decay, beta, grad", power_sign, kinds="Ref Resource")


def add_sign(var: Array, m: Array, grad: Array, *, lr: Array, alpha: Array, sign_decay: Array, beta: Array) -> None:
    m *= beta
    m += grad * (var.dtype.type(1) - beta)
    var -= lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad


_update_ops("AddSign", "var, m | lr, alpha, sign_decay, beta, grad", add_sign, kinds="Ref Resource")
