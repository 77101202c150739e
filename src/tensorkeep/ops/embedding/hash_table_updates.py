"""The ops that optimizers update hash tables with, under DeepRec's names: rows by id, by the rules of dense variables.

Ids of keys that were not let in are passed over. A row that is named several times is updated several times, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.embedding.hash_table.table import NOT_ADMITTED
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.embedding.session_hash_tables import TensibleResource, rows_to_change, variable_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.ops.training.optimizer_steps import UPDATES, rounds

_STATE: Final = ("var", "accum", "accum_update", "linear", "m", "v", "ms", "mg", "mom")
_SLOTS: Final = frozenset((*_STATE, "gradient_accumulator", "gradient_squared_accumulator"))
_TYPES: Final = {"indices": "int64", "global_step": "int64"}
_GRADIENTS: Final = ("grad", "delta")
_FLAGS: Final = {"update_slots": True, "multiply_linear_by_lr": False, "use_nesterov": False}
"""What rules of dense variables can be told besides, and what they do if they are not."""


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What an update is given, by the names of its inputs."""

    rule: str
    words: tuple[str, ...]

    def run(self, values: Sequence[Any], flags: dict[str, Any]) -> tuple[()]:
        given = dict(zip(self.words, values, strict=True))
        variables = [variable_of(given[word]) for word in self.words if word in _SLOTS]
        ids = np.asarray(given["indices"])
        gradient = np.asarray(next(given[word] for word in _GRADIENTS if word in given))
        _check_shapes(variables, ids, gradient)
        flat = ids.reshape(-1)
        is_known = flat != NOT_ADMITTED
        flat, gradient = flat[is_known], gradient.reshape(len(flat), variables[0].rows.row_size)[is_known]
        numbers = self._numbers(given, flags)
        with rows_to_change(variables, flat) as columns, np.errstate(all="ignore"):
            for chosen in rounds(flat):
                where = flat[chosen]
                blocks = [column.read(where) for column in columns]
                self._step(blocks, np.ascontiguousarray(gradient[chosen]), numbers)
                for column, block in zip(columns, blocks, strict=True):
                    column.write(where, block)
        return ()

    def _numbers(self, given: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
        numbers: dict[str, Any] = {}
        for word in UPDATES[self.rule].words:
            if word in _FLAGS:
                numbers[word] = flags.get(word, _FLAGS[word])
                continue
            numbers[word] = number = np.asarray(given[word])
            if number.ndim:
                raise InvalidArgumentError(f"{word} is not a scalar: {list(number.shape)}")
        return numbers

    def _step(self, blocks: list[Array], gradient: Array, numbers: dict[str, Any]) -> None:
        if self.rule == "FtrlV2":
            # The squares that accumulate are those of the gradient with the shrinkage in it, other than TensorFlow has
            # it now (SimpleApplyFtrlV2 of training_ops.cc in kernels/hash_ops).
            gradient = gradient + gradient.dtype.type(2) * numbers["l2_shrinkage"] * blocks[0]
            numbers = {**numbers, "l2_shrinkage": np.zeros((), gradient.dtype)}
        UPDATES[self.rule](blocks, gradient, [numbers[word] for word in UPDATES[self.rule].words])


def _check_shapes(variables: Sequence[TensibleResource], ids: Array, gradient: Array) -> None:
    first = variables[0].rows
    for number, variable in enumerate(variables[1:], 1):
        rows = variable.rows
        if rows.row_shape != first.row_shape:
            raise InvalidArgumentError(
                f"var {number} shape mismatch {list(first.row_shape)} vs {list(rows.row_shape)}: "
                f'rows of "{variables[0].name}" and "{variable.name}"'
            )
        if rows.dtype != first.dtype:
            raise InvalidArgumentError(f"var {number} dtype mismatch {rows.dtype} vs {first.dtype}")
    wanted = (*ids.shape, *first.row_shape)
    if gradient.shape != wanted:
        raise InvalidArgumentError(f"grad shape mismatch {list(gradient.shape)} vs {list(wanted)}")


def _update_op(rule: str, arguments: str, *attrs: str) -> OpSpec:
    """Registers the op of a rule. `arguments` are the names of its inputs in order."""
    words = tuple(arguments.split())
    inputs = [f"{word}: {'resource' if word in _SLOTS else _TYPES.get(word, 'T')}" for word in words]
    spec = op(f"TensibleVariableApply{rule}({', '.join(inputs)})", "T: numbertype", "use_locking: bool = false", *attrs)
    scalars = [at for at, word in enumerate(words) if word not in _SLOTS and word not in ("indices", *_GRADIENTS)]
    run = _Inputs(rule, words).run

    @spec.shape
    def update_shape(*tensors: Tensor) -> tuple[()]:
        for at in scalars:
            tensors[at].static_shape.merge(SCALAR)
        return ()

    if attrs:

        @spec.kernel
        def nesterov_kernel(*values: Any, use_nesterov: bool) -> tuple[()]:
            return run(values, {"use_nesterov": use_nesterov})

    else:

        @spec.kernel
        def update_kernel(*values: Any) -> tuple[()]:
            return run(values, {})

    not_differentiable(spec)
    return spec


_NESTEROV: Final = "use_nesterov: bool = false"

_update_op("GradientDescent", "var alpha delta indices")
_update_op("ProximalGradientDescent", "var alpha l1 l2 grad indices")
_update_op("Adadelta", "var accum accum_update lr rho epsilon grad indices")
_update_op("Adagrad", "var accum lr grad indices")
_update_op("AdagradDA", "var gradient_accumulator gradient_squared_accumulator grad indices lr l1 l2 global_step")
_update_op("ProximalAdagrad", "var accum lr l1 l2 grad indices")
_update_op("Ftrl", "var accum linear grad indices lr l1 l2 lr_power")
_update_op("FtrlV2", "var accum linear grad indices lr l1 l2 l2_shrinkage lr_power")
_update_op("Momentum", "var accum lr grad indices momentum", _NESTEROV)
_update_op("Adam", "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad indices", _NESTEROV)
_update_op("RMSProp", "var ms mom lr rho momentum epsilon grad indices")
_update_op("CenteredRMSProp", "var mg ms mom lr rho momentum epsilon grad indices")
