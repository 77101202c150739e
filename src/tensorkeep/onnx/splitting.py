"""A plan in three: what comes before ONNX, what becomes ONNX, and what comes after (`runtime.splitting`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.models import TranslateOptions, new_translator
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.onnx.translation import Problem, ResourceOf
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.plans.splitting import Split, is_numeric, listed_once, same_anywhere, split_plan


def refused_operations(
    plan: Plan,
    resource_of: ResourceOf,
    options: TranslateOptions,
    known: Mapping[Tensor, object] | None = None,
    *,
    numbers_only: bool = False,
) -> dict[Operation, str]:
    """Which operations of a plan cannot be translated, and why; with `numbers_only`, also those that take strings.

    What they would give is taken as given, so that what comes behind them is tried too.
    """
    refused: dict[Operation, str] = {}
    if numbers_only:
        same = same_anywhere(plan, lambda op: True, known or ())
        refused = {op: "it has to do with strings" for op in plan.ops if op not in same and not is_numeric(op, same)}
    while True:
        given = listed_once([*plan.feeds, *(tensor for op in refused for tensor in op.outputs)])
        new = _problems(plan, given, resource_of, options, known or {})
        new = {op: reason for op, reason in new.items() if op not in refused}
        if not new:
            return refused
        refused |= new


def split_for_onnx(
    plan: Plan,
    resource_of: ResourceOf,
    options: TranslateOptions,
    known: Mapping[Tensor, object] | None = None,
) -> Split:
    """Divides a plan so that the middle has to do with numbers only, and can be translated with these options.

    Calls of functions are operations like others: whoever wants to cut inside them writes them out first. Operations
    may wait for others of another part, so each part is run as a graph of its own (`part_graphs`).
    """
    held = known or {}
    refused = refused_operations(plan, resource_of, options, known, numbers_only=True)

    def translatable(op: Operation) -> bool:
        return op not in refused

    while True:
        try:
            split = split_plan(plan, translatable, held=held)
        except UnstructuredError as error:
            raise CannotTranslateError(f"the branches and loops of the graph cannot be told apart: {error}") from error
        middle = Plan(split.middle.inputs, split.middle.outputs, split.middle.ops)
        new = _problems(middle, middle.feeds, resource_of, options, held)
        if not new:
            return split
        refused.update(new)


def _problems(
    plan: Plan,
    given: Sequence[Tensor],
    resource_of: ResourceOf,
    options: TranslateOptions,
    known: Mapping[Tensor, object],
) -> dict[Operation, str]:
    """What a trial finds: the operations of a plan that are refused, with the reasons."""
    translator = new_translator(resource_of, options)
    to = translator.graph()
    terms: dict[Tensor, Term] = {}
    for tensor in given:
        dtype, item = tensor.dtype.base_dtype, known.get(tensor)
        if isinstance(item, np.ndarray | np.generic):
            terms[tensor] = constant_term(np.asarray(item), dtype)
        elif item is not None or dtype in (RESOURCE, VARIANT):
            terms[tensor] = Term(dtype, (), held=item)
        else:
            terms[tensor] = to.input(dtype, tensor.static_shape.dims, tensor.name)
    fed = frozenset(given)
    left = [op for op in plan.ops if not op.outputs or any(tensor not in fed for tensor in op.outputs)]
    translator.run(to, replace(plan, feeds=tuple(given), ops=tuple(left)), terms)
    return _by_operation(plan, translator.outcome.problems)


def _by_operation(plan: Plan, problems: Iterable[Problem]) -> dict[Operation, str]:
    """Problems by the operation that has them, or that calls the function in which they are."""
    by_name = {op.name: op for op in plan.ops}
    found: dict[Operation, str] = {}
    for problem in problems:
        name = problem.node
        while name and name not in by_name:
            name = name.rpartition("/")[0]
        assert name, f'"{problem.node}" is in no operation of the plan'
        found.setdefault(by_name[name], problem.reason)
    return found
