"""What only passes values on, and where values come from: variables and the tensors that are read from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.runtime.resources import VariableResource


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
