"""What of a plan translates to ONNX, and why the rest does not.

Every item of the plan's block is translated once, for itself; what cannot be is gone around, as if what it gives were
given. What was learnt is which items could run in ONNX Runtime, and how much they do. If all of them can, the
translation is kept, so that none of it is done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.dtypes import DType
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.onnx.engine.empty_arrays import FilledValues, why_dangerous
from tensorkeep.onnx.engine.parts import note_fault
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.onnx.translation import Translator
from tensorkeep.runtime.partitions.engine_groups import made_in_every_run
from tensorkeep.runtime.partitions.engines import PlanToSplit, WrittenOut, is_resource, operations_in
from tensorkeep.runtime.plans.blocks import Block, Step
from tensorkeep.runtime.resources import VariableResource

# What passes between NumPy and ONNX Runtime as it lies in memory.
BORDER_TYPES: Final = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
)
_HEAVY: Final = frozenset(
    ("MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum", "LSTM", "GRU", "RNN", "Loop", "Scan", "Attention")
)
_HEAVY_COSTS: Final = 4  # as much as so many other nodes, at least
_MOST_NODES: Final = 200_000  # of a call with all that it calls written out
_ELEMENTS: Final = 4096  # of constants and results that cost as much as one node


def passes_border(dtype: DType) -> bool:
    """Whether arrays of a type can be handed to ONNX Runtime and back."""
    return not dtype.is_ref and dtype.name in BORDER_TYPES


@dataclass
class Tried:
    """What is known of one item."""

    reason: str = ""
    """Why it cannot run in ONNX Runtime; empty if it can."""
    is_free: bool = False
    """Whether its values are known beforehand, so that whoever wants them computes them for itself."""
    weight: float = 0.0
    """About how much there is to do, in units of a small node."""


@dataclass
class Translation:
    """What has been translated: the terms of tensors, and where it was written to."""

    translator: Translator
    to: OnnxGraph
    terms: dict[Tensor, Term]

    def forget(self) -> None:
        """Lets go of arrays at once, rather than when Python finds that they only hold each other."""
        self.terms.clear()
        self.to.nodes.clear()
        self.translator.model.take_constants()


@dataclass
class Trial:
    """The outcome for all items of a plan."""

    items: list[Tried] = field(default_factory=list)
    free: set[Tensor] = field(default_factory=set)
    """The values that are known beforehand, and variables."""
    whole: Translation | None = None
    """The translation of the plan, if all of it could be translated. Who uses it takes it away."""

    def take_whole(self) -> Translation | None:
        """The translation of all of the plan, which can be had once."""
        found, self.whole = self.whole, None
        return found

    def forget(self) -> None:
        """Lets go of a translation that nobody wants."""
        if self.whole is not None:
            self.whole.forget()
            self.whole = None


def try_plan(question: PlanToSplit, opset: int) -> Trial:
    """Tries to translate each item of a plan."""
    attempt = _Attempt(question, opset)
    try:
        trial = attempt.outcome()
    except BaseException:
        attempt.translation.forget()
        raise
    if any(tried.reason for tried in trial.items):
        attempt.translation.forget()
    else:
        trial.whole = attempt.translation
    return trial


def resource_term(tensor: Tensor, held: object) -> Term | None:
    """The term for a tensor that leads to a variable whose value is known; None if it leads to something else."""
    if not isinstance(held, VariableResource) or not held.is_initialized:
        return None
    if tensor.dtype.is_ref:
        return constant_term(held.read(), held.dtype, held.name)
    return Term(tensor.dtype, (), held=held)


class _Attempt:
    def __init__(self, question: PlanToSplit, opset: int) -> None:
        self._question = question
        self._graph = question.graph
        self._translator = Translator(opset, self._held, is_for_engine=True)
        self._to: OnnxGraph = self._translator.graph()
        self._terms: dict[Tensor, Term] = {}
        self.translation = Translation(self._translator, self._to, self._terms)
        self._trial = Trial()
        self._sizes = WrittenOut()
        self._filled = FilledValues()
        self._always_there = made_in_every_run(self._graph.items)

    def _held(self, op: Operation) -> object:
        return None  # what leads to resources is told beforehand

    def outcome(self) -> Trial:
        for tensor, held in self._question.resources.items():
            term = resource_term(tensor, held)
            if term is not None:
                self._terms[tensor] = term
                self._trial.free.add(tensor)
        for tensor in self._question.plan.feeds:
            if tensor not in self._terms:
                self._give(tensor)
        for number in range(len(self._graph.items)):
            self._trial.items.append(self._try_item(number))
        return self._trial

    def _give(self, tensor: Tensor) -> None:
        """Makes a tensor an input of the translation, if its type can be one."""
        dims = tensor.static_shape.dims
        if passes_border(tensor.dtype):
            self._terms[tensor] = self._to.input(tensor.dtype, dims, tensor.op.name)
        else:
            self._terms[tensor] = Term(tensor.dtype.base_dtype, dims, is_lost=True)

    def _try_item(self, number: int) -> Tried:
        item = self._graph.items[number]
        made = [tensor for tensor, makers in self._made_tensors(number)]
        if isinstance(item, Step) and made and all(tensor in self._trial.free for tensor in made):
            return Tried(is_free=True)  # it makes a variable's handle
        reason = self._graph.reasons[number] or self._unfit(number)
        if reason:
            self._go_around(made)
            return Tried(reason)
        outcome = self._translator.outcome
        problems, dropped, nodes = len(outcome.problems), len(outcome.dropped), len(self._to.nodes)
        try:
            self._translator.run_block(self._to, Block(items=[item]), self._terms)
        except Exception as error:  # also faults of rules: our kernels can run what they cannot translate
            note_fault(error)
            reason = str(error) or type(error).__name__
        if len(outcome.problems) > problems:
            problem = outcome.problems[problems]
            reason = problem.reason if isinstance(item, Step) and item.op.type == problem.op else (
                f'"{problem.node}" ({problem.op}): {problem.reason}'
            )  # fmt: skip
        elif len(outcome.dropped) > dropped:
            reason = f'"{outcome.dropped[dropped].node}" ({outcome.dropped[dropped].op}) does not only compute'
        elif len(unproven := getattr(self._translator.model, "unproven_indices", [])):
            reason = "an index in it may be negative, which ONNX would count from the end"
            unproven.clear()
        elif not reason:
            dangers = self._filled.dangers(self._to.nodes[nodes:])
            reason = why_dangerous(dangers[0]) if dangers else self._missing(number)
        if reason:
            del self._to.nodes[nodes:]
            self._go_around(made, replaces=True)
            return Tried(reason)
        takes = self._graph.takes[number]
        terms = [self._terms[tensor] for tensor in made if tensor in self._terms]
        is_known = all(term.array is not None or term.held is not None for term in terms)
        if is_known and terms and all(tensor in self._trial.free for tensor in takes):
            self._trial.free.update(made)
            return Tried(is_free=True)
        return Tried(weight=self._weight(nodes))

    def _made_tensors(self, number: int) -> list[tuple[Tensor, list[int]]]:
        found = dict.fromkeys(tensor for op in operations_in(self._graph.items[number]) for tensor in op.outputs)
        return [(tensor, self._graph.makers[tensor]) for tensor in found if tensor in self._graph.makers]

    def _unfit(self, number: int) -> str:
        """Why an item cannot be translated, whatever its rule says."""
        for op in operations_in(self._graph.items[number]):
            if self._sizes.of(op) > _MOST_NODES:
                return f"written out, its functions have more than {_MOST_NODES} nodes"
        for tensor in self._graph.takes[number]:
            if tensor not in self._terms:
                return f'its input "{tensor.name}" is not there in every run'
            if self._terms[tensor].is_lost:
                what = "a resource" if is_resource(tensor) else tensor.dtype.name
                return f'its input "{tensor.name}" is {what}, which cannot be handed over'
        return ""

    def _missing(self, number: int) -> str:
        """Why a result of an item cannot be used by what follows it: not every run makes it. Empty if all can be."""
        for tensor, makers in self._made_tensors(number):
            is_used = tensor in self._question.wanted or any(
                taker not in makers for taker in self._graph.takers.get(tensor, ())
            )
            if is_used and (tensor not in self._terms or self._terms[tensor].is_lost):
                return f'its value "{tensor.name}" is not there in every run'
        return ""

    def _go_around(self, made: Sequence[Tensor], *, replaces: bool = False) -> None:
        """Takes the results of an item that is not translated as inputs of what follows. Results that are made in some
        runs only cannot be such.
        """
        for tensor in made:
            if tensor not in self._always_there:
                self._terms.pop(tensor, None)
            elif replaces or tensor not in self._terms:
                self._give(tensor)

    def _weight(self, nodes: int) -> float:
        weight = 0.0
        for node in self._to.nodes[nodes:]:
            weight += _HEAVY_COSTS if node.op_type in _HEAVY else 1
            for value in node.inputs:
                if value is not None and value.const_value is not None:
                    weight += value.const_value.size / _ELEMENTS
        return weight
