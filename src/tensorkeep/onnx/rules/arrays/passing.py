"""What only passes values on, or as another type, and where values come from: variables and what is read of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import complex_of_parts, part
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term, constant_term, element_type
from tensorkeep.runtime.resources import VariableResource

_FRACTION_BITS: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
_ENDS_TOLD: Final = frozenset(("int32", "int64"))
"""Whole types for which numbers beyond their ends become the same in ONNX Runtime as in TensorFlow."""


@rule(
    "Identity", "Snapshot", "StopGradient", "PreventGradient", "EnsureShape", "CheckNumerics", "CheckNumericsV2",
    "DeepCopy", "_MklIdentity", "PlaceholderWithDefault", "DebugGradientIdentity", "OptimizationBarrier", "Copy",
    "CopyHost", "DebugIdentity", "GuaranteeConst",
    takes_complex=True,
)  # fmt: skip
def passed_on(to: OnnxGraph, *inputs: Term) -> Term | list[Term]:
    """The same value. What only checks values is said to be dropped, by the translation."""
    return list(inputs) if len(inputs) != 1 or isinstance(inputs[0], list) else inputs[0]


@rule("Print", takes_complex=True)
def print_op(to: OnnxGraph, input: Term, data: list[Term]) -> Term:
    """The value that it passes on. What it prints is left out, and need not be there."""
    return input


@rule("IdentityN", takes_complex=True)
def all_passed_on(to: OnnxGraph, values: list[Term]) -> list[list[Term]]:
    return [values]


@rule("ReadVariableOp", takes_complex=True)
def read_variable(to: OnnxGraph, resource: Term) -> Term:
    """A variable's value is a constant of the file, what the model is given for it, or what was assigned to it."""
    held = resource.held
    if to.translator.loops:
        to.model.read_in_loops.add(id(held))
    if id(held) in to.model.assigned:
        found = to.model.assigned[id(held)]
        if found is None:
            to.refuse("its variable is changed before, in a way that ONNX cannot follow")
        return found
    if isinstance(held, Term):
        return held
    if not isinstance(held, VariableResource):
        to.refuse("its variable is not known before the model runs")
    if not held.is_initialized:
        to.refuse(f'the variable "{held.name}" has no value: restore or initialize it first')
    found = constant_term(held.read(), held.dtype, held.name)
    if id(held) in to.model.changing:  # of this run alone: what is computed of it is computed when the file runs
        return replace(found, array=None, value=to.value(found))
    return found


@rule("VarIsInitializedOp", "IsVariableInitialized")
def variable_is_initialized(to: OnnxGraph, variable: Term) -> Term:
    """True: what has no value is refused where it is read."""
    held = variable.held
    if isinstance(held, VariableResource) and not held.is_initialized:
        return to.constant(np.bool_(False))
    return to.constant(np.bool_(True))


@rule("VariableShape")
def variable_shape(to: OnnxGraph, input: Term, *, out_type: DType) -> Term:
    """The sizes of a variable's value."""
    return to.cast(to.shape(read_variable(to, input)), out_type)


@rule("Cast", takes_complex=True)
def cast(to: OnnxGraph, x: Term, *, DstT: DType, Truncate: bool) -> Term:  # noqa: N803
    """The value as another type.

    Floats that a whole type cannot hold are undefined in ONNX, and in TensorFlow depend on where in the array they are.
    """
    source, target = x.dtype, DstT.base_dtype
    if source.is_object or target.is_object:
        to.refuse(f"TensorFlow casts no {source.name} to {target.name}")
    if source is target:
        return x
    if Truncate and _FRACTION_BITS.get(source.name, 0) > _FRACTION_BITS.get(target.name, 99):
        to.refuse(f"ONNX rounds {source.name} to {target.name}, and it is to be cut off")
    if to.model.is_for_engine and source.is_floating and target.is_integer and target.name not in _ENDS_TOLD:
        to.refuse(f"ONNX leaves open what numbers beyond the ends of {target.name} become")
    if source.is_complex and not target.is_complex:
        return _real_cast(to, part(to, x, 0), target)
    if target.is_complex and not source.is_complex:
        real = _real_cast(to, x, target.real_dtype)
        return complex_of_parts(to, real, to.like(real, 0), target)
    return _real_cast(to, x, target)


def _real_cast(to: OnnxGraph, x: Term, target: DType) -> Term:
    kind = target.real_dtype if target.is_complex else target
    if not to.takes("Cast", kind):
        to.refuse(f"Cast of ONNX gives no {target.name} in opset {to.opset}")
    if not x.is_complex and element_type(x.dtype) is element_type(target):  # a quantised type is its whole type
        return to.node("Identity", x, dtype=target, dims=x.dims)
    return to.cast(x, target)
