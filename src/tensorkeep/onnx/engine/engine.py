"""The engine itself: asked for the parts of a plan, it translates them and has ONNX Runtime run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter, thread_time
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.io.machine.mapped_memory import leave_in_files
from tensorkeep.io.machine.parallel import processors
from tensorkeep.onnx.engine.choosing import FasterPart
from tensorkeep.onnx.engine.empty_arrays import FilledValues, why_dangerous
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.onnx.engine.parts import ARRAY, VARIABLE, Constants, OnnxPart, note_fault
from tensorkeep.onnx.engine.row_by_row import inputs_by_row
from tensorkeep.onnx.engine.sessions import CannotRunError, OnnxSession, check_options
from tensorkeep.onnx.engine.trial import Translation, Trial, passes_border, resource_term, try_plan
from tensorkeep.onnx.models import TranslateOptions, assembled_model
from tensorkeep.onnx.terms import Term
from tensorkeep.onnx.translation import Translator
from tensorkeep.runtime.partitions.engine_groups import Candidates, Ends, ends_of
from tensorkeep.runtime.partitions.engines import Kept, Own, Part, PlanToSplit, Split, operations_in
from tensorkeep.runtime.plans.blocks import Block, Item, Step
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.resources import VariableResource

OPSET: Final = 20  # ONNX Runtime's own optimizations know the operators of this version best
_OUTPUT: Final = ":o"
_COPIED: Final = 32 << 20  # bytes of tables that may be there twice: in memory, and in a file that is mapped


class OnnxRuntimeEngine:
    """Runs what translates to ONNX in ONNX Runtime."""

    def __init__(self, options: OnnxRuntime = OnnxRuntime()) -> None:
        check_options(options)
        self.options = options

    def split(self, question: PlanToSplit) -> Split:
        """The largest parts that translate and that are worth it."""
        trial = try_plan(question, OPSET)
        reasons = [tried.reason for tried in trial.items]
        parts: list[Part] = []
        candidates = Candidates(
            question.graph,
            question.wanted,
            [tried.is_free for tried in trial.items],
            trial.free,
            [tried.weight for tried in trial.items],
            lambda tensor: passes_border(tensor.dtype),
        )
        groups = candidates.groups(reasons, self.options.smallest)
        options = self.options if len(groups) < 2 else self.options.that_wait_quietly()
        for members in groups:
            try:
                ends = ends_of(candidates, members, question.resources)
                parts.append(self._part(question, trial, members, ends, options))
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

    def _part(
        self, question: PlanToSplit, trial: Trial, members: Sequence[int], ends: Ends, options: OnnxRuntime
    ) -> Part:
        is_whole = all(tried.is_free or number in members for number, tried in enumerate(trial.items))
        known = [trial.take_whole() if is_whole else None]  # for the first model; others are translated again

        def build(variables: Sequence[VariableResource], constants: Constants) -> OnnxSession:
            done, known[0] = known[0], None
            if done is not None:
                model = _model(done, ends, _given_terms(done, ends), constants, options)
            else:
                model = _translate_part(ends, variables, constants, options)
            if options.is_of_processor:  # what is given to another device is copied there in every call
                _take_tables(model, constants)
            given = [value.name for value in model.graph.inputs if value.name and value.name.startswith(ARRAY)]
            return OnnxSession(model, options, constants, inputs_by_row(model, given))

        def make_own() -> Own:
            return question.own(Plan((*ends.arrays, *ends.variables), ends.outputs, ends.operations), ends.items)

        run = OnnxPart(len(ends.arrays), build, make_own)
        held = [question.resources[tensor] for tensor in ends.variables]
        run.prepare([item for item in held if isinstance(item, VariableResource)])
        items = tuple(question.graph.items[number] for number in members)
        chosen: Own = FasterPart(run, _clock_of(options)) if self.options.only_if_faster else run
        copied = tuple(item for item in ends.items if item not in items)
        return Part(items, (*ends.arrays, *ends.variables), ends.outputs, chosen, copied)


def _clock_of(options: OnnxRuntime) -> Callable[[], float]:
    """By which both engines are timed: with one processor, what it did for this thread, as whatever else the machine
    does would count otherwise. What several threads take is known by the time that passes alone.
    """
    is_alone = processors() == 1 and options.threads in (None, 1) and options.is_of_processor
    return thread_time if is_alone else perf_counter


def _named_operations(item: Item) -> Iterable[Operation]:
    """The operations of an item that our kernels keep, by which a report names it: the operation of a step, all those
    in a block.
    """
    return [item.op] if isinstance(item, Step) else operations_in(item)


# ---------------------------------------------------------------------------------------------------------- one part


def _translate_part(
    ends: Ends, variables: Sequence[VariableResource], constants: Constants, options: OnnxRuntime
) -> ir.Model:
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
    return _model(Translation(translator, to, terms), ends, inputs, constants, options)


def _given_terms(done: Translation, ends: Ends) -> dict[str, Term]:
    return {f"{ARRAY}{number}": done.terms[tensor] for number, tensor in enumerate(ends.arrays)}


def _model(
    done: Translation, ends: Ends, inputs: Mapping[str, Term], constants: Constants, options: OnnxRuntime
) -> ir.Model:
    """The model of a translation. Names of inputs tell which they are; those of outputs are in their order."""
    for name, term in inputs.items():
        assert term.value is not None
        term.value.name = name
    outputs = {f"{_OUTPUT}{number}": done.terms[tensor] for number, tensor in enumerate(ends.outputs)}
    done.terms.clear()
    how = TranslateOptions(OPSET, is_for_engine=True, is_for_processor=options.is_of_processor)
    leave_in_files(constants)  # what was made of them, in another order of axes, is there now; passes make more of that
    model = assembled_model(done.translator, done.to, list(inputs.values()), outputs, how).model
    done.forget()
    if dangers := FilledValues().dangers(model.graph):  # passes may have put others in the place of what was looked at
        raise CannotRunError(why_dangerous(dangers[0]))
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        for value in node.outputs:
            value.meta.clear()  # what passes were told, with the arrays that operations took
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
