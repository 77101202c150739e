"""The ops that optimizers update embedding variables with, under DeepRec's names.

An update finds the keys or makes them, counts them, notes the step as their version, and changes the rows of those
that are let in. Gradients of one key are added up first. Each op has a second form, `…WithCounts`, which is told how
often the keys occurred; without, each occurrence among the indices counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.embedding.table.update_rules import RULES
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.embedding.session_tables import EmbeddingResource, embedding_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.resources import VariableResource

_RESOURCES: Final = frozenset(("var", "accum", "linear", "m", "v", "accum_decay_power"))
_TYPES: Final = {"indices": "Tindices", "global_step": "Tstep", "decay_step": "Tstep", "indices_counts": "int64"}
_POWERS: Final = ("beta1_power", "beta2_power")


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What an update is given, by the names of its inputs."""

    rule: str
    words: tuple[str, ...]

    def run(self, values: Sequence[Any], flags: dict[str, Any]) -> tuple[()]:
        given = dict(zip(self.words, values, strict=True))
        rule = RULES[self.rule]
        columns = [embedding_of(given[word]) for word in self.words[: rule.slots + 1]]
        _check_owner(columns)
        keys, gradient = np.asarray(given["indices"]), np.asarray(given["grad"])
        _check_slices(columns[0], keys, gradient)
        step = given.get("global_step")
        numbers = {word: _number(given[word]) for word in rule.numbers if word in given}
        numbers.update(flags)
        columns[0].table.apply(
            self.rule,
            gradient,
            keys,
            slots=[column.column for column in columns[1:]],
            counts=given.get("indices_counts"),
            step=None if step is None else int(step),
            **numbers,
        )
        columns[0].owner.touch(keys)
        return ()


def _check_owner(columns: Sequence[EmbeddingResource]) -> None:
    table = columns[0].table  # says so if there is none
    for column in columns[1:]:
        if column.table is not table:
            raise InvalidArgumentError(
                f'"{column.name}" is no slot of "{columns[0].name}": they are in different tables'
            )


def _check_slices(variable: EmbeddingResource, keys: Array, gradient: Array) -> None:
    if keys.ndim != 1 or gradient.shape != (len(keys), variable.dim):
        raise InvalidArgumentError(
            f'the gradient of "{variable.name}" has the shape {list(gradient.shape)} for indices of shape '
            f"{list(keys.shape)}, expected one row of {variable.dim} for each index"
        )


def _number(value: Any) -> Any:
    if isinstance(value, VariableResource):
        value = value.read()
    array = np.asarray(value)
    if array.size != 1:
        raise InvalidArgumentError(f"a number of an update has the shape {list(array.shape)}, expected a scalar")
    return array.reshape(())[()]


def _update_ops(rule: str, arguments: str, *attrs: str) -> list[OpSpec]:
    """Registers the two ops of a rule. `arguments` are the names of the inputs in order."""
    specs = []
    for suffix in ("", "WithCounts"):
        words = tuple(arguments.split()) + (("indices_counts",) if suffix else ())
        resources = _RESOURCES | set(_POWERS if rule == "AdamAsync" else ())
        inputs = [f"{word}: {'resource' if word in resources else _TYPES.get(word, 'T')}" for word in words]
        has_step = any(_TYPES.get(word) == "Tstep" for word in words)
        spec = op(
            f"KvResourceSparseApply{rule}{suffix}({', '.join(inputs)})",
            "T: numbertype",
            "Tindices: {int32, int64}",
            *(["Tstep: {int32, int64} = int64"] if has_step else []),
            "use_locking: bool = false",
            *attrs,
            "stateful",
        )
        _define(spec, _Inputs(rule, words))
        specs.append(spec)
    not_differentiable(*specs)
    return specs


def _define(spec: OpSpec, inputs: _Inputs) -> None:
    @spec.shape
    def update_shape(*tensors: Tensor) -> tuple[()]:
        return ()

    if inputs.rule == "AdamAsync":

        @spec.kernel
        def update_async_kernel(*values: Any, apply_sparse_rmsprop: bool) -> tuple[()]:
            inputs.run(values, {"apply_sparse_rmsprop": apply_sparse_rmsprop})
            given = dict(zip(inputs.words, values, strict=True))
            if not apply_sparse_rmsprop and len(given["indices"]):
                _advance_powers(given)
            return ()

    else:

        @spec.kernel
        def update_kernel(*values: Any) -> tuple[()]:
            return inputs.run(values, {})


def _advance_powers(given: dict[str, Any]) -> None:
    """The powers of the betas belong to the variable, and grow with each of its updates that has rows."""
    for power, beta in zip(_POWERS, ("beta1", "beta2"), strict=True):
        variable: VariableResource = given[power]
        with variable.lock:
            array = variable.writable()
            array *= given[beta]


_update_ops("GradientDescent", "var alpha grad indices global_step")
_update_ops("Adagrad", "var accum lr grad indices global_step")
_update_ops("AdagradDecay", "var accum accum_decay_power lr decay_step decay_rate baseline global_step grad indices")
_ADAM: Final = "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad indices global_step"
_update_ops("Adam", _ADAM)
_update_ops("AdamW", f"{_ADAM} weight_decay")
_update_ops("AdamAsync", _ADAM, "apply_sparse_rmsprop: bool = false")
_update_ops("Ftrl", "var accum linear grad indices lr l1 l2 lr_power")
_update_ops("FtrlV2", "var accum linear grad indices lr l1 l2 l2_shrinkage lr_power")
