"""The engine itself: asked for the parts of a plan, it translates them and has ONNX Runtime run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.ordering import topological
from tensorkeep.io.machine.mapped_memory import leave_in_files
from tensorkeep.onnx.engine.empty_arrays import FilledValues, why_dangerous
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.onnx.engine.partition import partition
from tensorkeep.onnx.engine.parts import ARRAY, VARIABLE, Constants, FasterPart, OnnxPart, note_fault
from tensorkeep.onnx.engine.sessions import CannotRunError, OnnxSession, providers_of
from tensorkeep.onnx.engine.trial import Translation, Trial, passes_border, resource_term, try_plan
from tensorkeep.onnx.models import TranslateOptions, assembled_model
from tensorkeep.onnx.terms import Term
from tensorkeep.onnx.translation import Translator
from tensorkeep.runtime.blocks import Block, Item, Step
from tensorkeep.runtime.engines import Kept, Own, Part, PlanToSplit, Split, operations_in
from tensorkeep.runtime.plan import Plan
from tensorkeep.runtime.resources import VariableResource

OPSET: Final = 20  # ONNX Runtime's own optimizations know the operators of this version best
_OUTPUT: Final = ":o"
_COPIED: Final = 32 << 20  # bytes of tables that may be there twice: in memory, and in a file that is mapped


class OnnxRuntimeEngine:
    """Runs what translates to ONNX in ONNX Runtime."""

    def __init__(self, options: OnnxRuntime = OnnxRuntime()) -> None:
        providers_of(options)
        self.options = options

    def split(self, question: PlanToSplit) -> Split:
        """The largest parts that translate and that are worth it."""
        trial = try_plan(question, OPSET)
        reasons = [tried.reason for tried in trial.items]
        parts: list[Part] = []
        groups = _groups(question, trial, reasons, self.options.smallest)
        options = self.options if len(groups) < 2 else self.options.that_wait_quietly()
        for members in groups:
            try:
                parts.append(self._part(question, trial, members, options))
            except Exception as error:  # our kernels can run what cannot be translated, whatever the reason
                note_fault(error)
                for number in members:
                    reasons[number] = str(error).partition("\n")[0] or type(error).__name__
        trial.forget()
        in_parts = {id(item) for part in parts for item in part.items}
        kept = [
            Kept(op, reasons[number] or "too little to do")
            for number, item in enumerate(question.graph.items)
            if not trial.items[number].is_free and id(item) not in in_parts
            for op in dict.fromkeys(_named_operations(item))
        ]
        return Split(tuple(parts), tuple(kept))

    def _part(self, question: PlanToSplit, trial: Trial, members: Sequence[int], options: OnnxRuntime) -> Part:
        ends = _ends(question, trial, members)
        is_whole = all(tried.is_free or number in members for number, tried in enumerate(trial.items))
        known = [trial.take_whole() if is_whole else None]  # for the first model; others are translated again

        def build(variables: Sequence[VariableResource], constants: Constants) -> OnnxSession:
            done, known[0] = known[0], None
            if done is not None:
                return OnnxSession(_model(done, ends, _given_terms(done, ends), constants), options, constants)
            return OnnxSession(_translate_part(ends, variables, constants), options, constants)

        def make_own() -> Own:
            return question.own(Plan((*ends.arrays, *ends.variables), ends.outputs, _operations(ends.items)))

        run = OnnxPart(len(ends.arrays), build, make_own)
        held = [question.resources[tensor] for tensor in ends.variables]
        run.prepare([item for item in held if isinstance(item, VariableResource)])
        items = tuple(question.graph.items[number] for number in members)
        chosen: Own = FasterPart(run) if self.options.only_if_faster else run
        copied = tuple(item for item in ends.items if item not in items)
        return Part(items, (*ends.arrays, *ends.variables), ends.outputs, chosen, copied)


def _named_operations(item: Item) -> Iterable[Operation]:
    """The operations of an item that our kernels keep, by which a report names it: the operation of a step, all those
    in a block.
    """
    return [item.op] if isinstance(item, Step) else operations_in(item)


def _operations(items: Iterable[Item]) -> tuple[Operation, ...]:
    """The operations of items, in an order in which they can run."""
    return tuple(dict.fromkeys(op for item in items for op in operations_in(item)))


# ------------------------------------------------------------------------------------------------------ the partition


def _groups(question: PlanToSplit, trial: Trial, reasons: list[str], smallest: float) -> list[list[int]]:
    """The items of each part, with at least so much to do. Adds to `reasons` why some that translate are in none."""
    units = _units(question, trial, reasons)
    steps = sorted({id(unit): unit for unit in units.values()}.values(), key=lambda unit: unit[0])
    step_of = {number: at for at, unit in enumerate(steps) for number in unit}
    waits = question.graph.sources_without({number for number, tried in enumerate(trial.items) if tried.is_free})
    sources = [{step_of[source] for number in unit for source in waits[number]} - {at} for at, unit in enumerate(steps)]
    order = topological([sorted(found) for found in sources])
    if len(order) < len(steps):  # what must stay together waits for what is in between: none of it goes elsewhere
        for unit in steps:
            if len(unit) > 1:
                for number in unit:
                    reasons[number] = "it waits for something that waits for what it belongs together with"
        return _groups(question, trial, reasons, smallest)
    position = {step: at for at, step in enumerate(order)}
    weights = [sum(trial.items[number].weight for number in steps[step]) for step in order]
    found = partition(
        [sorted(position[source] for source in sources[step]) for step in order],
        [not any(reasons[number] for number in steps[step]) for step in order],
        lambda piece: sum(weights[at] for at in piece) >= smallest,
    )
    return [sorted(number for at in group for number in steps[order[at]]) for group in found]


def _units(question: PlanToSplit, trial: Trial, reasons: list[str]) -> dict[int, list[int]]:
    """The items that are in the same part or in none: what passes between them does not go over a border."""
    graph = question.graph
    units = {number: [number] for number, tried in enumerate(trial.items) if not tried.is_free}

    def join(numbers: Sequence[int]) -> None:
        joined = sorted({member for number in numbers for member in units[number]})
        for member in joined:
            units[member] = joined

    for tensor, makers in graph.makers.items():
        if tensor in trial.free:
            continue
        takers = [taker for taker in graph.takers.get(tensor, ()) if taker in units]
        if not passes_border(tensor.dtype):
            ends = [*makers, *takers]
            if tensor in question.wanted:
                for maker in makers:
                    reasons[maker] = reasons[maker] or f'its value "{tensor.name}" is {tensor.dtype.name}'
            if not all(reasons[number] for number in ends) and len(ends) > 1:
                join(ends)
        elif len(makers) > 1 and not all(reasons[number] for number in makers):
            join(makers)
    for unit in {id(unit): unit for unit in units.values()}.values():
        reason = next((reasons[number] for number in unit if reasons[number]), "")
        if reason:
            for number in unit:
                if not reasons[number]:
                    reasons[number] = "it belongs together with something that stays"
                units[number] = [number]
    return units


# ---------------------------------------------------------------------------------------------------------- one part


@dataclass(frozen=True)
class _Ends:
    """A part of a plan: its items, items from elsewhere that it computes again for itself, its inputs and outputs."""

    items: tuple[Item, ...]
    arrays: tuple[Tensor, ...]
    variables: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def _ends(question: PlanToSplit, trial: Trial, members: Sequence[int]) -> _Ends:
    graph, inside = question.graph, set(members)
    arrays: dict[Tensor, None] = {}
    variables: dict[Tensor, None] = {}
    pending, seen = list(members), set(members)
    while pending:
        number = pending.pop()
        for tensor in sorted(graph.takes[number], key=lambda tensor: (tensor.op.index, tensor.name)):
            makers = graph.makers.get(tensor, ())
            if any(maker in inside for maker in makers):
                continue
            if tensor in question.resources and tensor in trial.free:
                variables[tensor] = None
            elif tensor in trial.free and makers:
                new = [maker for maker in makers if maker not in seen]
                seen.update(new)
                pending.extend(new)
            else:
                arrays[tensor] = None
    outputs = {
        tensor: None
        for number in members
        for op in operations_in(graph.items[number])
        for tensor in op.outputs
        if tensor in graph.makers
        and (tensor in question.wanted or any(taker not in inside for taker in graph.takers.get(tensor, ())))
    }
    items = tuple(graph.items[number] for number in sorted(seen))
    return _Ends(items, _in_order(arrays), _in_order(variables), _in_order(outputs))


def _in_order(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    return tuple(sorted(tensors, key=lambda tensor: (tensor.op.index, tensor.value_index)))


def _translate_part(ends: _Ends, variables: Sequence[VariableResource], constants: Constants) -> ir.Model:
    """The ONNX model of a part, as it is with variables that have these values, or are inputs."""
    translator = Translator(OPSET, lambda op: None, is_for_engine=True)
    to = translator.graph()
    terms: dict[Tensor, Term] = {
        tensor: to.input(tensor.dtype, tensor.static_shape.dims, tensor.op.name) for tensor in ends.arrays
    }
    inputs = {f"{ARRAY}{number}": terms[tensor] for number, tensor in enumerate(ends.arrays)}
    for number, (tensor, held, array) in enumerate(zip(ends.variables, variables, constants, strict=True)):
        if array is not None:
            known = resource_term(tensor, held)
            assert known is not None
            terms[tensor] = known
            continue
        term = inputs[f"{VARIABLE}{number}"] = to.input(held.dtype, held.value_shape, held.name)
        terms[tensor] = term if tensor.dtype.is_ref else Term(tensor.dtype, (), held=term)
    translator.run_block(to, Block(items=list(ends.items)), terms)
    return _model(Translation(translator, to, terms), ends, inputs, constants)


def _given_terms(done: Translation, ends: _Ends) -> dict[str, Term]:
    return {f"{ARRAY}{number}": done.terms[tensor] for number, tensor in enumerate(ends.arrays)}


def _model(done: Translation, ends: _Ends, inputs: Mapping[str, Term], constants: Constants) -> ir.Model:
    """The model of a translation. Names of inputs tell which they are; those of outputs are in their order."""
    for name, term in inputs.items():
        assert term.value is not None
        term.value.name = name
    outputs = {f"{_OUTPUT}{number}": done.terms[tensor] for number, tensor in enumerate(ends.outputs)}
    done.terms.clear()
    options = TranslateOptions(OPSET, is_for_engine=True)
    leave_in_files(constants)  # what was made of them, in another order of axes, is there now; passes make more of that
    model = assembled_model(done.translator, done.to, list(inputs.values()), outputs, options).model
    done.forget()
    if dangers := FilledValues().dangers(model.graph):  # passes may have put others in the place of what was looked at
        raise CannotRunError(why_dangerous(dangers[0]))
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        for value in node.outputs:
            value.meta.clear()  # what passes were told, with the arrays that operations took
    _take_tables(model, constants)
    for value in list(model.graph.inputs):
        if not value.uses() and not value.is_graph_output():
            model.graph.inputs.remove(value)
    return model


def _take_tables(model: ir.Model, constants: Constants) -> None:
    """Makes large variables whose rows are only looked up inputs of the model, so that the constants left are small.

    ONNX Runtime copies constants and, for looking up, does nothing else with them. What is given is not copied, but
    every input takes a little time in every call.
    """
    tables = sorted(_tables(model, constants), key=lambda found: found[1], reverse=True)
    remaining = sum(size for _, size, _ in tables)
    for value, size, number in tables:
        if remaining <= _COPIED:
            break
        remaining -= size
        assert value.name is not None
        del model.graph.initializers[value.name]
        value.const_value = None
        value.name = f"{VARIABLE}{number}"
        model.graph.inputs.append(value)


def _tables(model: ir.Model, constants: Constants) -> Iterator[tuple[ir.Value, int, int]]:
    """The constants that rows are only looked up in: their sizes in bytes, and which variables they are."""
    places = {
        array.__array_interface__["data"][0]: number for number, array in enumerate(constants) if array is not None
    }
    for value in model.graph.initializers.values():
        tensor = value.const_value
        array = tensor.raw if isinstance(tensor, ir.Tensor) else None
        if not isinstance(array, np.ndarray):
            continue
        number = places.get(array.__array_interface__["data"][0])
        known = None if number is None else constants[number]
        if number is None or known is None or (known.shape, known.dtype) != (array.shape, array.dtype):
            continue
        if all(use.node.op_type == "Gather" and use.idx == 0 for use in value.uses()):
            yield value, array.nbytes, number
