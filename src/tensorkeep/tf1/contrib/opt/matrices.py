"""Gradients conditioned by matrices of what past gradients had in common: GGT and Shampoo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape, transpose, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import scatter_nd
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.linear_algebra.matrices import eye, svd
from tensorkeep.tf1.functions.linear_algebra.products import matmul, tensordot
from tensorkeep.tf1.functions.numbers.elementwise import cast, floormod, maximum, minimum, sqrt
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.reductions import reduce_min, reduce_sum
from tensorkeep.tf1.training.optimizers.base import Number, Optimizer, Trained, Update
from tensorkeep.tf1.variables.global_step import Step


def _sizes(var: Any) -> list[int]:
    sizes: list[int] = var.shape.as_list()
    if None in sizes:
        raise InvalidArgumentError(f'the shape of "{var.op.name}" must be known, and is {var.shape}')
    return sizes


class GGTOptimizer(Optimizer):
    """Adagrad with the whole matrix of the last gradients, all variables together.

    The rule: Agarwal et al., The Case for Full-Matrix Adaptive Regularization (2018). With M the last `window`
    means of gradients as columns, over the root of their number, and U, sigma of M'M + svd_eps:

        step = M U (sqrt(sigma) + sigma_eps)^-3 U' M' m + (m - M U sigma^-1 U' M' m) / min sqrt(sigma)

    where the second part counts only if min sqrt(sigma) > eps.
    """

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: float = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        self._order: list[Any] = sorted(var_list, key=lambda var: str(var.name))
        self._sizes = [math.prod(_sizes(var)) for var in self._order]
        first, count = self._order[0], sum(self._sizes)
        kind = first.dtype.base_dtype
        self._create_non_slot_variable(convert(0.0, kind), "global_step", first)
        self._create_non_slot_variable(zeros([self._window, count], kind), "grad_buffer", first)
        self._create_non_slot_variable(zeros([count], kind), "moment1", first)
        self._create_non_slot_variable(zeros([count], kind), "flat_grad", first)

    def _prepare(self) -> None:
        self._gradients: dict[Any, Tensor] = {}

    def _apply_dense(self, grad: Tensor, var: Any) -> Update:
        self._gradients[var] = reshape(grad, [-1])
        return self._gradients[var].op

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Update:
        return self._apply_dense(grad, handle)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Update:
        raise UnimplementedError(f'GGT takes no sparse gradients, as that of "{var.op.name}": use another optimizer')

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Update:
        raise UnimplementedError(f'GGT takes no sparse gradients, as that of "{handle.op.name}": use another optimizer')

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        steps, buffer, moment, flat = (
            self._get_non_slot_variable(name) for name in ("global_step", "grad_buffer", "moment1", "flat_grad")
        )
        assert steps is not None
        assert buffer is not None
        assert moment is not None
        assert flat is not None
        kind = moment.dtype.base_dtype
        parts = [
            self._gradients[var] if var in self._gradients else zeros([size], kind)
            for var, size in zip(self._order, self._sizes, strict=True)
        ]
        gradient = flat.assign(concat(parts, 0) if len(parts) > 1 else parts[0])
        count = convert(steps.assign_add(convert(1.0, kind)))
        mean = convert(moment.assign(self._beta1 * convert(moment) + (1 - self._beta1) * convert(gradient)))
        place = floormod(cast(count - 1.0, INT32), self._window)
        table: Any = buffer
        kept = convert(table.scatter_update(IndexedSlices(expand_dims(mean, 0), expand_dims(place, 0))))
        step = self._step(transpose(kept / sqrt(minimum(count, float(self._window)))), expand_dims(mean, -1), kind)
        moved, at = [], 0
        for var, size in zip(self._order, self._sizes, strict=True):
            if var in self._gradients:
                rate = cast(convert(self._call_if_callable(self._lr)), kind)
                moved.append(var.assign_sub(rate * reshape(step[at : at + size], var.shape)))
            at += size
        return group(*moved, name=name_scope)

    def _step(self, matrix: Tensor, mean: Tensor, kind: Any) -> Tensor:
        """The step along a mean, of gradients in the columns of a matrix."""
        found = svd(matmul(matrix, matrix, transpose_a=True) + eye(self._window, dtype=kind) * self._svd_eps)
        sigma, left = found[0], found[1]
        root = sqrt(sigma)
        inner = matmul(left, matmul(matrix, mean, transpose_a=True), transpose_a=True)

        def along(weights: Tensor) -> Tensor:
            return matmul(matrix, matmul(left, expand_dims(weights, -1) * inner))

        head = along(power(root + self._sigma_eps, -3.0))
        smallest = reduce_min(root)
        step: Tensor = cond(
            smallest > self._eps, lambda: head + (mean - along(1.0 / sigma)) / smallest, lambda: head + 0.0
        )
        return step


class ShampooOptimizer(Optimizer):
    """Adagrad with a matrix for each axis of a variable.

    The rule: Gupta, Koren and Singer, Shampoo (2018). G_j adds up products of gradients along axis j; the gradient is
    multiplied along each by (G_j + epsilon)^(-alpha / rank). Axes longer than `max_matrix_size` have a vector instead.
    """

    def __init__(
        self,
        global_step: Step | int = 0,
        max_matrix_size: int = 768,
        gbar_decay: Number = 0.0,
        gbar_weight: Number = 1.0,
        mat_gbar_decay: Number = 1.0,
        mat_gbar_weight: Number = 1.0,
        learning_rate: Number = 1.0,
        svd_interval: int = 1,
        precond_update_interval: int = 1,
        epsilon: float = 0.1,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        if use_iterative_root:
            raise UnimplementedError("use_iterative_root is for TPUs: leave it out, and roots are taken by svd")
        if svd_interval != 1 or precond_update_interval != 1:
            raise UnimplementedError(
                f"svd_interval {svd_interval} and precond_update_interval {precond_update_interval}: matrices are "
                "worked out at each step here; leave these out"
            )
        self._steps = global_step
        self._largest, self._lr, self._epsilon, self._alpha = max_matrix_size, learning_rate, epsilon, alpha
        self._decays, self._weights = (gbar_decay, mat_gbar_decay), (gbar_weight, mat_gbar_weight)

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gbar", self._name)
            for axis, size in enumerate(_sizes(var)):
                shape = [size, size] if size <= self._largest else [size]
                self._get_or_make_slot(var, zeros(shape, var.dtype.base_dtype), f"Gbar_{axis}", self._name)

    def _now(self, number: Any) -> Any:
        return number(cast(convert(self._steps), FLOAT32) + 1) if callable(number) else number

    def _averaged(self, slot: Any, number: int, value: Tensor) -> Tensor:
        """decay * slot + weight * value; the slot becomes that, unless it would not be looked at again."""
        decay = self._decays[number]
        weighed: Tensor = self._now(self._weights[number]) * value
        if not callable(decay) and decay == 0.0:
            return weighed
        return convert(slot.assign(self._now(decay) * convert(slot) + weighed))

    def _apply_dense(self, grad: Tensor, var: Any) -> Update:
        step = self._averaged(self.get_slot(var, "gbar"), 0, grad)
        rank = len(_sizes(var))
        for axis, size in enumerate(_sizes(var)):
            others = [other for other in range(rank) if other != axis]
            slot = self.get_slot(var, f"Gbar_{axis}")
            if size <= self._largest:
                matrix = self._averaged(slot, 1, tensordot(grad, grad, [others, others]))
                step = tensordot(step, self._root(matrix, size, -self._alpha / rank), [[0], [0]])
            else:  # a vector in the place of the matrix: the axis moves to the end as well
                vector = self._averaged(slot, 1, reduce_sum(grad * grad, others))
                scale = power(vector + self._epsilon, -self._alpha / rank)
                step = transpose(step, [*range(1, rank), 0]) * scale
        rate = cast(convert(self._now(self._lr)), var.dtype.base_dtype)
        return group(var.assign_sub(rate * step))

    def _root(self, matrix: Tensor, size: int, exponent: float) -> Tensor:
        if size == 1:
            return power(matrix + self._epsilon, exponent)
        found = svd(matrix + self._epsilon * eye(size, dtype=matrix.dtype), full_matrices=True)
        values, left, right = found[0], found[1], found[2]
        return matmul(right * power(maximum(values, self._epsilon), exponent), transpose(left))

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Update:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Update:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Update:
        with control_dependencies([grad]):
            whole = scatter_nd(expand_dims(indices, 1), grad, shape_of(handle, out_type=indices.dtype))
        return self._apply_dense(whole, handle)
