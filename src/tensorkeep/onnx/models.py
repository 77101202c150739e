"""ONNX models made of graphs: translated, put in order, checked, as bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir.passes import common as tidying

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.onnx.graphs import OLDEST_OPSET, CannotTranslateError, OnnxGraph
from tensorkeep.onnx.passes.early_casts import cast_before_transposing
from tensorkeep.onnx.passes.every import PASSES, PROCESSOR_PASSES
from tensorkeep.onnx.tensor_lists import UnevenElementsError
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.onnx.translation import Outcome, Problem, ResourceOf, Translator

NEWEST_OPSET: Final[int] = onnx.defs.onnx_opset_version()
# The version of the file format that came with each version of the operators: what runs those reads it.
_FORMATS: Final = {13: 7, 15: 8, 19: 9, 21: 10, 23: 11, 24: 12, 25: 13}
_MOST_PROBLEMS: Final = 50  # lines of a message


@dataclass(frozen=True)
class TranslateOptions:
    """How a graph is translated."""

    opset: int
    folds: bool = True
    """Whether what is known before the model runs is computed now, and neighbours that fit are made one."""
    custom_ops: Mapping[str, str] = field(default_factory=dict)
    """Ops that become nodes of their own names, for others to run: the domain of each."""
    axes: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Names for axes of inputs whose sizes are not known; others are called after the input."""
    is_for_engine: bool = False
    is_for_processor: bool = False
    """Whether a processor is known to run it, so that what is faster only there may be done."""


@dataclass(frozen=True)
class Translated:
    """An ONNX model, and what became of each operation."""

    model: ir.Model
    outcome: Outcome

    def proto(self) -> onnx.ModelProto:
        """The model as a message, constants in it."""
        return ir.to_proto(self.model)


def translate_graph(
    inputs: Mapping[str, Tensor],
    outputs: Mapping[str, Tensor],
    resource_of: ResourceOf,
    options: TranslateOptions,
    known: Mapping[Tensor, object] | None = None,
) -> Translated:
    """The ONNX model that computes outputs from inputs, both called by the names given.

    `known` has the resources that tensors lead to which are not made by operations. Raises one error with all that
    cannot be translated.
    """
    if not OLDEST_OPSET <= options.opset <= NEWEST_OPSET:
        raise InvalidArgumentError(f"opset {options.opset}: from {OLDEST_OPSET} to {NEWEST_OPSET} can be written")
    uneven: frozenset[str] = frozenset()
    changing: frozenset[int] = frozenset()
    while True:
        translator = new_translator(resource_of, options)
        translator.model.uneven_loops, translator.model.changing = uneven, changing
        try:
            return _translate_once(inputs, outputs, translator, options, known)
        except UnevenElementsError as error:
            if error.loop in uneven:
                raise CannotTranslateError(f'the loop "{error.loop}" fills a list: {error}') from None
            uneven |= {error.loop}
        except _ChangingStateError as error:
            changing = error.variables


class _ChangingStateError(Exception):
    """Random numbers were computed now, in a model that changes variables, which may be the state that they are of."""

    def __init__(self, variables: frozenset[int]) -> None:
        super().__init__("random numbers may be of a state that changes")
        self.variables = variables


def _translate_once(
    inputs: Mapping[str, Tensor],
    outputs: Mapping[str, Tensor],
    translator: Translator,
    options: TranslateOptions,
    known: Mapping[Tensor, object] | None,
) -> Translated:
    """The model. Raises UnevenElementsError if lists that a loop fills have to be sequences, and _ChangingStateError if
    nothing may be computed now of variables that are found to change.
    """
    to = translator.graph()
    for name in outputs:  # names that others may not take
        translator.model.new_name(name)
    given = {tensor: to.input(tensor.dtype, tensor.static_shape.dims, name) for name, tensor in inputs.items()}
    terms = {**given, **{tensor: _known_term(tensor, item) for tensor, item in (known or {}).items()}}
    results = translator.translate(to, list(outputs.values()), terms)
    changed = frozenset(translator.model.assigned)
    if translator.model.has_drawn and changed - translator.model.changing:
        raise _ChangingStateError(changed | translator.model.changing)
    return assembled_model(translator, to, list(given.values()), dict(zip(outputs, results, strict=True)), options)


def new_translator(resource_of: ResourceOf, options: TranslateOptions) -> Translator:
    """A translator that is set up as the options say."""
    return Translator(
        options.opset,
        resource_of,
        is_for_engine=options.is_for_engine,
        folds=options.folds,
        custom_ops=options.custom_ops,
    )


def assembled_model(
    translator: Translator,
    to: OnnxGraph,
    inputs: Sequence[Term],
    outputs: Mapping[str, Term],
    options: TranslateOptions,
) -> Translated:
    """The model of a graph that has been written, whose names for outputs are taken already.

    Raises one error with all that could not be translated.
    """
    _raise_problems(translator.outcome)
    if translator.model.unproven_indices:
        raise CannotTranslateError("an index into a list may be negative, which ONNX would count from the end")
    to.nodes[:0] = translator.model.first_nodes
    graph = to.finished(inputs, list(outputs.values()), "model")
    for value, name in zip(graph.outputs, outputs, strict=True):
        value.name = name
    _name_axes(graph, options.axes)
    graph.initializers.update(translator.model.take_constants())
    graph.opset_imports.update(
        {name: version_of_domain(name, options.opset) for name in sorted({"", *translator.model.domains})}
    )
    model = ir.Model(graph, ir_version=format_of_opset(options.opset))
    for change in PASSES if options.folds else ():
        change(model)
    for change in PROCESSOR_PASSES if options.folds and options.is_for_processor else ():
        change(model)
    _tidy(model)
    cast_before_transposing(model)  # for whoever opens it: not for speed, so that nobody can do without
    return Translated(model, translator.outcome)


def version_of_domain(domain: str, opset: int) -> int:
    """The version of a set of operators that goes with one of ONNX's own; 1 of those that are not of ONNX."""
    if not domain:
        return opset
    if domain != "ai.onnx.ml":
        return 1
    return max(int(ml) for _, _, own, ml, *_ in onnx.helper.VERSION_TABLE if int(own) <= opset)


def _known_term(tensor: Tensor, item: object) -> Term:
    """The term for something that a function captures: a constant for an array; anything else is held as it is."""
    if isinstance(item, np.ndarray | np.generic):
        return constant_term(np.asarray(item), tensor.dtype.base_dtype, tensor.op.name)
    return Term(tensor.dtype, (), held=item)


def format_of_opset(opset: int) -> int:
    """The version of the file format that goes with a version of the operators."""
    return max(number for since, number in _FORMATS.items() if since <= opset)


def _raise_problems(outcome: Outcome) -> None:
    if not outcome.problems:
        return
    lines = problem_lines(outcome.problems)
    error = CannotTranslateError("\n".join(["these operations cannot be translated to ONNX:", *lines]))
    error.problems = tuple(outcome.problems)
    raise error


def problem_lines(problems: Sequence[Problem]) -> list[str]:
    """What could not be translated, a line for each op and reason, with some of the nodes."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for problem in problems:
        by_reason.setdefault((problem.op, problem.reason), []).append(problem.node)
    rows = sorted(by_reason.items())
    lines = [f"  {op}: {reason}: {some_of(nodes, 3)}" for (op, reason), nodes in rows[:_MOST_PROBLEMS]]
    more = len(rows) - _MOST_PROBLEMS
    return [*lines, f"  and {more} more"] if more > 0 else lines


def _name_axes(graph: ir.Graph, axes: Mapping[str, Sequence[str | None]]) -> None:
    """Names the axes of inputs whose sizes are not known: programs read these names in the file."""
    for value in graph.inputs:
        if value.shape is None or value.name is None:
            continue
        names = axes.get(value.name, ())
        for axis, size in enumerate(value.shape):
            if not isinstance(size, int):
                wanted = names[axis] if axis < len(names) else None
                value.shape[axis] = wanted or f"{value.name}_{axis}"


def _tidy(model: ir.Model) -> None:
    """Drops what nothing needs, and states once what was stated twice."""
    tidying.CommonSubexpressionEliminationPass()(model)
    _drop_identities(model)
    tidying.RemoveUnusedNodesPass()(model)
    tidying.RemoveUnusedOpsetsPass()(model)
    tidying.TopologicalSortPass()(model)  # passes put nodes beside those that they replace, not behind their inputs


def _drop_identities(model: ir.Model) -> None:
    """Drops nodes that only pass a value on, but for those that give a graph's output a name of its own."""
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        if node.op_type != "Identity" or node.domain or node.inputs[0] is None:
            continue
        value, result = node.inputs[0], node.outputs[0]
        if result.is_graph_output():
            producer = value.producer()
            if producer is None or producer.graph is not node.graph or value.is_graph_output():
                continue
            value.name = result.name
        value.shape = value.shape or result.shape
        ir.convenience.replace_all_uses_with(result, value, replace_graph_outputs=True)
        assert node.graph is not None
        node.graph.remove(node, safe=True)
