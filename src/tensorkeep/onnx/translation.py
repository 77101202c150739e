"""A graph to ONNX: operation by operation, with functions in their places and constants folded.

An operation whose inputs are all known is computed now, by its kernel, if it only computes and what it gives is no
larger than the model; every other becomes what its rule says. What cannot be translated is noted and gone around, so
that one error has all of it. Nothing that a graph keeps, reads or checks is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, TypeVar

import numpy as np

import tensorkeep.onnx.rules.every
import tensorkeep.ops.every  # noqa: F401 - a graph may use any op
from tensorkeep.arrays import Array
from tensorkeep.dtypes import RESOURCE, STRING, DType
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.constants import run_kernel
from tensorkeep.graph.functions import FunctionBody, find_function, function_body
from tensorkeep.graph.graph import HandleShape, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import flatten, group
from tensorkeep.onnx.branches_and_loops import (
    LostError,
    Rounds,
    choose,
    give_up,
    known_truth,
    place_results,
    repeat,
)
from tensorkeep.onnx.following_shapes import followed_dims
from tensorkeep.onnx.graphs import AttrValue, CannotTranslateError, OnnxGraph, OnnxModel
from tensorkeep.onnx.known_axes import known_axes
from tensorkeep.onnx.known_sizes import known_sizes
from tensorkeep.onnx.limits import TooLargeError, is_splat
from tensorkeep.onnx.not_in_onnx import NOT_IN_ONNX
from tensorkeep.onnx.rules.registry import RULES
from tensorkeep.onnx.size_vectors import vector
from tensorkeep.onnx.tensor_lists import HeldList, WrittenAgainError
from tensorkeep.onnx.terms import Size, Term, constant_term, element_type, shape_in_file
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Loop, Step, merged_in, structure
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import CONTROL_FLOW, Plan, is_pure, make_plan
from tensorkeep.runtime.plans.program import as_strings
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall", "RemoteCall"))
_CHECKS: Final = frozenset(("Assert", "CheckNumerics", "CheckNumericsV2", "Print", "PrintV2", "EnsureShape", "Abort"))
_PASSED: Final = {"Print": 1}
"""Ops that pass so many inputs on, and only tell of the others."""
_ASSIGNS: Final = {"AssignVariableOp": None, "AssignAddVariableOp": "AddV2", "AssignSubVariableOp": "Sub"}
"""Ops that change a variable, with the op that computes what it is then of what it was."""
_DRAWS: Final = (
    "StatelessRandom", "StatelessTruncated", "StatelessParameterized", "StatelessMultinomial", "StatelessShuffle",
)  # fmt: skip
"""How the names of ops begin that draw random numbers by a state that they are given."""
_OLD_HANDLES: Final = frozenset(  # whose outputs are references: to variables and tables
    ("VariableV2", "Variable", "HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")
)
_DEEPEST: Final = 100  # calls in each other
_CALL_COSTS: Final = 50  # operations: the graph of a function's body is made for each call
_LARGE: Final = 4096  # bytes; larger constants are in memory once, however often their function is called
_FEW: Final = 256  # elements that a rule may compute with, where no more may be made
_MOST_TEXT: Final = 4096  # bytes of strings that others may be made of now
_DEEP: Final = "its functions, branches and loops are too deep in each other"
_MOVING: Final = frozenset((  # that give elements of their inputs
    "Identity", "IdentityN", "Reshape", "ExpandDims", "Squeeze", "Transpose", "Pack", "Unpack", "Concat", "ConcatV2",
    "Split", "SplitV", "Slice", "StridedSlice", "Gather", "GatherV2", "GatherNd", "ReverseV2", "Tile", "Fill",
    "BroadcastTo", "Select", "SelectV2", "Pad", "PadV2", "Snapshot", "StopGradient", "PreventGradient",
))  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """An operation that could not be translated."""

    node: str
    op: str
    reason: str
    newest_opset: int | None = None
    """If an older version of ONNX has what it needs, the last one that does."""


@dataclass(frozen=True)
class Became:
    """What one operation became: the op types of its nodes, or words for what was done with it, such as "dropped"."""

    node: str
    op: str
    how: str


@dataclass
class Outcome:
    """What happened to each operation."""

    problems: list[Problem] = field(default_factory=list)
    nodes: list[Became] = field(default_factory=list)
    dropped: list[Became] = field(default_factory=list)
    """Operations that check, print or keep something, which the file does not do."""

    def mark(self) -> tuple[int, int, int]:
        """How much there is now, for `reset`."""
        return len(self.problems), len(self.nodes), len(self.dropped)

    def reset(self, mark: tuple[int, int, int]) -> None:
        """Forgets what has been noted since: it is translated again."""
        del self.problems[mark[0] :]
        del self.nodes[mark[1] :]
        del self.dropped[mark[2] :]


Result = TypeVar("Result")
ResourceOf = Callable[[Operation], object]
"""What an operation gives that makes a resource: a variable, a table. None if that cannot be had."""


class Translator:
    """Translates the graphs of one model."""

    def __init__(
        self,
        opset: int,
        resource_of: ResourceOf,
        *,
        is_for_engine: bool = False,
        folds: bool = True,
        custom_ops: Mapping[str, str] | None = None,
    ) -> None:
        """`custom_ops` has the domain of each op that becomes a node of its own name, which others are to run."""
        self.model = OnnxModel(opset, is_for_engine)
        self.outcome = Outcome()
        self._resource_of = resource_of
        self._folds = folds
        self._custom_ops = custom_ops or {}
        self._limits = self.model.limits
        self._contents: dict[tuple[str, tuple[int, ...], bytes], Array] = {}
        self._depth = 0
        self._taken: frozenset[Tensor] | None = None
        self.loops = 0
        """How many loops in each other are being written."""

    # ------------------------------------------------------------------------------------------------ graphs

    def graph(self) -> OnnxGraph:
        """A new graph to write to: the model's own."""
        return OnnxGraph(self.model, self)

    def translate(
        self, to: OnnxGraph, fetches: Sequence[Tensor], given: Mapping[Tensor, Term], targets: Sequence[Operation] = ()
    ) -> list[Term]:
        """Writes what computes tensors from others, and gives the terms of the former."""
        terms = dict(given)
        plan = make_plan(tuple(fetches), targets, tuple(terms))
        self.run(to, plan, terms)
        for tensor in fetches:
            if tensor not in terms:
                self._note_refusal(to, tensor.op, "it has a value only if a branch is taken", terms)
        return [terms[tensor] for tensor in fetches]

    def run(self, to: OnnxGraph, plan: Plan, terms: dict[Tensor, Term]) -> None:
        """Translates the operations of a plan in their order; adds the terms of their outputs to `terms`."""
        outer = self._taken
        self._taken = frozenset((*plan.fetches, *(tensor for op in plan.ops for tensor in op.inputs)))
        try:
            self._run_plan(to, plan, terms)
        finally:
            self._taken = outer

    def _run_plan(self, to: OnnxGraph, plan: Plan, terms: dict[Tensor, Term]) -> None:
        for op in _idle_operations(plan):
            for tensor in op.outputs:
                terms.setdefault(tensor, Term(tensor.dtype.base_dtype, tensor.static_shape.dims, is_lost=True))
            self.outcome.nodes.append(Became(to.scope + op.name, op.type, "nothing: only what is left out takes it"))
        try:
            block = structure(plan).block
        except UnstructuredError as error:
            for op in plan.ops:
                if op.type in ("Merge", "Exit", "RefMerge", "RefExit"):
                    self._note_refusal(to, op, f"its branches and loops cannot be told apart: {error}", terms)
            block = Block(items=[Step(op) for op in plan.ops])
        self.run_block(to, block, terms)

    def run_block(self, to: OnnxGraph, block: Block, terms: dict[Tensor, Term]) -> None:
        """Translates what is in a block: operations, and the branches and loops of TensorFlow 1."""
        earlier: dict[tuple[Tensor, bool], list[Block]] = {}
        for item in block.items:
            if isinstance(item, Step):
                self.step(to, item.op, terms)
            elif isinstance(item, Arm):
                _take_arm(item, terms)
            elif isinstance(item, Choice):
                self._choice(to, item, terms, earlier)
            else:
                assert isinstance(item, Loop), "a plan that is translated has no parts that another engine runs"
                self._loop(to, item, terms)

    def _choice(
        self, to: OnnxGraph, item: Choice, terms: dict[Tensor, Term], earlier: dict[tuple[Tensor, bool], list[Block]]
    ) -> None:
        """Translates a branch of TensorFlow 1: what merges take are the results of both sides.

        A side may use what the same side of an earlier branch by the same predicate computes; that is computed again.
        """
        predicate, blocks = item.predicate, (item.then, item.otherwise)
        merges = [merge for merge in merged_in(item.then) if merge in set(merged_in(item.otherwise))]
        wanted = [tensor for merge in merges for tensor in merge.outputs if not tensor.index or tensor.consumers()]
        if predicate not in terms or terms[predicate].is_lost:
            self._lose_all(merges, terms)
            return
        known = known_truth(terms[predicate])
        if known is not None:  # what it computes may be used by others that are chosen with it
            self.run_block(to, blocks[not known], terms)
            return

        def side(truth: bool) -> Callable[[OnnxGraph], list[Term]]:
            def piece(inner: OnnxGraph) -> list[Term]:
                own = dict(terms)
                for block in earlier.get((predicate, truth), ()):
                    self.quietly(self.run_block, inner, block, own)
                self.run_block(inner, blocks[not truth], own)
                return [own[tensor] for tensor in wanted]

            return piece

        if not wanted:
            for truth in (True, False):
                earlier.setdefault((predicate, truth), []).append(blocks[not truth])
            return
        try:
            found = self._call_named(to, merges[0], lambda: choose(to, terms[predicate], side(True), side(False)))
        except LostError:
            self._lose_all(merges, terms)
            return
        except (TooLargeError, WrittenAgainError):
            raise
        except TensorKeepError as error:
            self._note_refusal(to, merges[0], str(error).partition("\n")[0], terms)
            self._lose_all(merges, terms)
            return
        terms.update(zip(wanted, found, strict=True))
        for truth in (True, False):
            earlier.setdefault((predicate, truth), []).append(blocks[not truth])

    def _loop(self, to: OnnxGraph, item: Loop, terms: dict[Tensor, Term]) -> None:
        """Translates a loop of TensorFlow 1."""
        variables = [variable for variable in item.variables if variable.start in terms]

        def with_variables(values: Sequence[Term]) -> dict[Tensor, Term]:
            own = dict(terms)
            own.update((variable.merge.outputs[0], value) for variable, value in zip(variables, values, strict=True))
            return own

        def goes_on(inner: OnnxGraph, values: list[Term]) -> Term:
            own = with_variables(values)
            self.quietly(self.run_block, inner, item.header, own)
            return own[item.condition]

        def once(inner: OnnxGraph, values: list[Term]) -> list[Term]:
            own = with_variables(values)
            self.run_block(inner, item.header, own)
            self.run_block(inner, item.body, own)
            return [own[variable.following] for variable in variables]

        rounds = Rounds([terms[variable.start] for variable in variables], goes_on, once)
        try:
            found = self._call_named(to, item.op, lambda: repeat(to, rounds))
        except (TooLargeError, WrittenAgainError):
            raise
        except (LostError, TensorKeepError, KeyError) as error:
            if isinstance(error, TensorKeepError):
                self._note_refusal(to, item.op, str(error).partition("\n")[0], terms)
            elif isinstance(error, KeyError):
                self._note_refusal(to, item.op, "a round of its loop needs what is not computed in it", terms)
            found = [Term(term.dtype, term.dims, is_lost=True) for term in rounds.starts]
        own = with_variables(found)
        self.quietly(self.run_block, to, item.header, own)
        self.run_block(to, item.after, own)
        for tensor, term in own.items():
            terms.setdefault(tensor, term)

    def quietly(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Calls a function that translates once more what is noted already."""
        mark = self.outcome.mark()
        try:
            return function(*arguments)
        finally:
            self.outcome.reset((len(self.outcome.problems), *mark[1:]))

    def _call_named(self, to: OnnxGraph, op: Operation, function: Callable[[], Result]) -> Result:
        """Calls a function whose nodes are called after an operation."""
        old, to.operation = to.operation, op
        try:
            return function()
        finally:
            to.operation = old

    def _lose_all(self, ops: Sequence[Operation], terms: dict[Tensor, Term]) -> None:
        for op in ops:
            self._lose(op, terms)

    # -------------------------------------------------------------------------------------------- operations

    def step(self, to: OnnxGraph, op: Operation, terms: dict[Tensor, Term]) -> None:
        """Translates one operation."""
        if all(tensor in terms for tensor in op.outputs) and op.outputs:
            return
        self._limits.count_operation()
        old, to.operation = to.operation, op
        try:
            self._translate_one(to, op, terms)
        finally:
            to.operation = old

    def _translate_one(self, to: OnnxGraph, op: Operation, terms: dict[Tensor, Term]) -> None:
        if not op.outputs:
            self._note_assigned(to, op, terms)
            if op.type not in ("NoOp", "ControlTrigger"):
                self.outcome.dropped.append(Became(to.scope + op.name, op.type, "dropped"))
            return
        if op.type in _CHECKS:
            self.outcome.dropped.append(Became(to.scope + op.name, op.type, "dropped"))
        missing = [tensor.name for tensor in op.inputs if tensor not in terms]
        if missing:
            self._note_refusal(to, op, f'its input "{missing[0]}" is not there', terms)
            return
        inputs = [terms[tensor] for tensor in op.inputs]
        if any(term.is_lost for term in inputs[: _PASSED.get(op.type)]):
            self._lose(op, terms)
            return
        before = len(to.nodes)
        try:
            read = [_read(to, tensor, term) for tensor, term in zip(op.inputs, inputs, strict=True)]
            results, how = self._results(to, op, read)
        except LostError:
            give_up(to, before)
            self._lose(op, terms)
            return
        except (TooLargeError, WrittenAgainError):
            raise
        except (TensorKeepError, RecursionError, MemoryError) as error:
            give_up(to, before)
            newest = error.newest_opset if isinstance(error, CannotTranslateError) else None
            reason = _DEEP if isinstance(error, RecursionError) else str(error).partition("\n")[0]
            self._note_refusal(to, op, reason or type(error).__name__, terms, newest)
            return
        except Exception as error:
            if self.model.is_for_engine:  # which notes it, and has our kernels run the operation
                raise
            give_up(to, before)
            self._note_refusal(to, op, f"its rule fails, which is our mistake: {type(error).__name__}: {error}", terms)
            return
        for tensor, result in zip(op.outputs, results, strict=True):
            terms[tensor] = self._with_told_shape(tensor, result)
            if result.value is not None:  # for passes, which find formulas by it that a rule wrote out
                result.value.meta.setdefault("made_by", (op.type, tuple(inputs)))
        self._note_axes(op, inputs, results)
        made = how or ", ".join(node.op_type for node in to.nodes[before:]) or "nothing: the value is passed on"
        self.outcome.nodes.append(Became(to.scope + op.name, op.type, made))

    def _note_assigned(self, to: OnnxGraph, op: Operation, terms: dict[Tensor, Term]) -> None:
        """Notes what a variable is from now on, for what reads it later in the same run; the file keeps nothing."""
        given = [terms[tensor] for tensor in op.inputs if tensor in terms]
        for held in (term.held for term in given if isinstance(term.held, VariableResource | Term)):
            if self.loops and id(held) in self.model.read_in_loops:
                self._note_refusal(to, op, "rounds of a loop change a variable that later rounds read", terms)
            now = None
            if any(term.is_lost for term in given):
                now = Term(given[-1].dtype, is_lost=True)
            elif op.type in _ASSIGNS and not to.is_inner and len(given) == 2:
                old, value = given
                change = _ASSIGNS[op.type]
                try:
                    now = value if change is None else flatten(
                        RULES[change].function(to, RULES["ReadVariableOp"].function(to, old), value)
                    )[0]  # fmt: skip
                except TensorKeepError:
                    now = None
            self.model.assigned[id(held)] = now

    def _results(self, to: OnnxGraph, op: Operation, inputs: list[Term]) -> tuple[list[Term], str]:
        if op.type == "Const":
            return [self._constant(to, op)], "a constant"
        if any(tensor.dtype is RESOURCE for tensor in op.outputs) or op.type in _OLD_HANDLES:
            held = self._resource_of(op)
            if held is not None:
                return [Term(tensor.dtype.base_dtype, (), held=held) for tensor in op.outputs], "what it holds"
        if op.type in op.graph.functions or op.type in _CALLS:
            return self._call_function(to, op, inputs), "its function's nodes"
        self._limits.give(array for term in inputs if (array := _stored_array(term)) is not None)
        if inputs and all(term.array is not None for term in inputs):
            if self._limits.may_make(_expected_bytes(op)):
                folded = self._fold_operation(op, inputs)
                if folded is not None:
                    return folded, "a constant, folded"
            else:
                inputs = [_unlisted_value(to, term) for term in inputs]
        sizes = known_sizes(op, inputs)
        known = [item for item in sizes if item is not None and None not in item]
        if self._folds and known and len(known) == len(sizes):
            made = [self._of_sizes(to, tensor, item) for tensor, item in zip(op.outputs, known, strict=True)]
            return made, "sizes, by shapes" if any(term.array is None for term in made) else "a constant, by shapes"
        results = self._apply_rule(to, op, inputs)
        self._limits.make(result.array for result in results if result.array is not None)
        for result, item in zip(results, sizes, strict=True):
            if item is not None and result.array is None:
                result.sizes = item
        return results, ""

    def _apply_rule(self, to: OnnxGraph, op: Operation, inputs: list[Term]) -> list[Term]:
        """What an operation's rule gives."""
        domain = self._custom_ops.get(op.type)
        if domain is not None:
            return self._custom(to, op, inputs, domain)
        found = RULES.get(op.type)
        if found is None:
            reason = NOT_IN_ONNX.get(op.type, "no rule says what it is in ONNX")
            to.refuse(reason.partition(";")[0] if self.model.is_for_engine else reason)
        to.require_opset(found.oldest_opset, op.type)
        if not found.takes_complex and any(tensor.dtype.is_complex for tensor in (*op.inputs, *op.outputs)):
            to.refuse("ONNX Runtime does not compute with complex numbers")
        arguments = group(op.spec.schema.inputs, inputs, op.attr) if op.spec.has_list_inputs else inputs
        results = flatten(found.function(to, *arguments, **{name: op.attr(name) for name in found.attrs}))
        assert len(results) == len(op.outputs), f"the rule of {op.type} gave {len(results)} of {len(op.outputs)} terms"
        return list(results)

    def _custom(self, to: OnnxGraph, op: Operation, inputs: list[Term], domain: str) -> list[Term]:
        """A node for others to run, called as the op, with those of its attributes that ONNX can hold."""
        attrs: dict[str, AttrValue | None] = {}
        for name in (attr.name for attr in op.spec.schema.attrs):
            value = op.attr(name)
            if isinstance(value, DType):
                value = int(element_type(value))
            if isinstance(value, bool | int | float | bytes | str):
                attrs[name] = value
            elif isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value):
                attrs[name] = list(value)
        dtypes = [tensor.dtype for tensor in op.outputs]
        return list(to.node_with_outputs(op.type, inputs, len(dtypes), dtypes, domain=domain, attrs=attrs))

    def _with_told_shape(self, tensor: Tensor, term: Term) -> Term:
        """A rule's result, completed by what the graph says of its shape."""
        known = tensor.static_shape
        if term.array is None and term.held is None and known.dims is not None:
            own = Shape(term.dims)
            term.dims = own.merge(known).dims if own.is_compatible(known) else known.dims
            if term.value is not None and term.value.shape is None:
                term.value.shape = shape_in_file(term)
        if term.dims is None and term.array is None and term.held is None and term.value is not None:
            dims = followed_dims(term.value, self.model.opset)
            term.dims = dims[:-1] if dims and term.is_complex else dims
        return term

    def _note_axes(self, op: Operation, inputs: list[Term], results: list[Term]) -> None:
        """Notes which axes of a result are of a size that another value's axis has."""
        for result in results if op.type in ("Split", "SplitV") else results[:1]:
            if result.axes is None and result.dims is not None and None in result.dims and result not in inputs:
                result.axes = known_axes(op, inputs, len(result.dims))

    def _note_refusal(
        self, to: OnnxGraph, op: Operation, reason: str, terms: dict[Tensor, Term], newest: int | None = None
    ) -> None:
        self.outcome.problems.append(Problem(to.scope + op.name, op.type, reason, newest))
        self._lose(op, terms)

    def _lose(self, op: Operation, terms: dict[Tensor, Term]) -> None:
        for tensor in op.outputs:
            terms.setdefault(tensor, Term(tensor.dtype.base_dtype, tensor.static_shape.dims, is_lost=True))

    # --------------------------------------------------------------------------------------------- functions

    def body(self, op: Operation, reference: FunctionRef, arguments: Sequence[Term]) -> FunctionBody:
        """The body of a function of the graph's library, told the shapes of its arguments."""
        library = op.graph.functions
        shapes = [_shape_told(term) for term in arguments]
        return function_body(find_function(reference.name, library), library, reference.attrs, shapes)

    def taken_outputs(self, op: Operation) -> list[int]:
        """Which outputs of an operation something takes. Where parts for an engine are tried, any may be taken."""
        return [at for at, tensor in enumerate(op.outputs) if self._taken is None or tensor in self._taken]

    def call(
        self,
        to: OnnxGraph,
        op: Operation,
        reference: FunctionRef,
        arguments: Sequence[Term],
        wanted: Sequence[int] | None = None,
    ) -> list[Term]:
        """Writes the nodes of a function where it is called, and gives the terms of its results, or of those wanted."""
        if self._depth >= _DEEPEST:
            to.refuse(f"functions call each other more than {_DEEPEST} deep")
        self._limits.count_operation(_CALL_COSTS)
        body = self.body(op, reference, arguments)
        old = to.scope
        to.scope = f"{old}{op.name}/"
        self._depth += 1
        try:
            outputs = body.outputs if wanted is None else [body.outputs[at] for at in wanted]
            return self.translate(to, outputs, dict(zip(body.inputs, arguments, strict=True)), body.controls)
        finally:
            to.scope = old
            self._depth -= 1

    def _call_function(self, to: OnnxGraph, op: Operation, inputs: list[Term]) -> list[Term]:
        taken = self.taken_outputs(op)
        reference = op.attr("f") if op.type in _CALLS else FunctionRef(op.type, dict(op.attrs))
        assert isinstance(reference, FunctionRef)
        arguments = inputs[1:] if op.type == "RemoteCall" else inputs
        return place_results(op, taken, self.call(to, op, reference, arguments, taken))

    # --------------------------------------------------------------------------------------------- constants

    def _constant(self, to: OnnxGraph, op: Operation) -> Term:
        array, dtype = array_of_tensor(op.attr("value"), f'constant "{op.name}"'), op.outputs[0].dtype
        if is_splat(array):  # a few bytes of the graph
            if array.nbytes > _LARGE and not self._limits.may_spread(array.nbytes):
                return to.repeated(array, dtype)
            array = array.copy()
        if self._depth and array.nbytes > _LARGE and array.dtype != object:  # each call has a copy of it
            content = blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=32).digest()
            array = self._contents.setdefault((dtype.name, array.shape, content), array)
        self._limits.give([array])
        return constant_term(array, dtype, op.name)

    def _of_sizes(self, to: OnnxGraph, tensor: Tensor, sizes: Sequence[Size]) -> Term:
        """A scalar or vector of sizes that are known, if not as numbers then as those of axes."""
        largest = np.iinfo(tensor.dtype.array_dtype).max
        if any(isinstance(size, int) and size > largest for size in sizes):
            to.refuse(f"a size is larger than {tensor.dtype.name} can state")
        found = vector(to, [size for size in sizes if size is not None])
        if tensor.static_shape.rank == 0:
            found = to.squeeze(found, [0])
        found = to.cast(found, tensor.dtype)
        if found.array is None:
            found.sizes = tuple(sizes)
        return found

    def _fold_operation(self, op: Operation, inputs: list[Term]) -> list[Term] | None:
        """What an operation gives whose inputs are all known; None if it cannot or should not be computed now."""
        arrays = [term.array for term in inputs if term.array is not None]
        if not self._folds or len(arrays) < len(inputs) or not is_pure(op) or _makes_much_text(op, arrays):
            return None
        if any(tensor.static_shape.element_count() is None for tensor in op.outputs):
            return None
        results = _compute_known(op, arrays)
        if results is None:
            return None
        self._limits.make(results)
        self.model.has_drawn |= op.type.startswith(_DRAWS)
        return [constant_term(array, tensor.dtype, op.name) for array, tensor in zip(results, op.outputs, strict=True)]


def _idle_operations(plan: Plan) -> list[Operation]:
    """The operations whose values nothing takes but what a file leaves out: text that is printed, what is checked."""
    here, fetched = set(plan.ops), {tensor.op for tensor in plan.fetches}
    idle: dict[Operation, None] = {}
    for op in reversed(plan.ops):
        if not op.outputs or op in fetched or op.type in CONTROL_FLOW or not is_pure(op):
            continue
        takers = [(taker, tensor) for tensor in op.outputs for taker in tensor.consumers() if taker in here]
        if takers and all(taker in idle or _is_left_out(taker, tensor) for taker, tensor in takers):
            idle[op] = None
    return list(idle)


def _is_left_out(op: Operation, tensor: Tensor) -> bool:
    """Whether a file does not have what an operation does with one of its inputs."""
    if op.type in _PASSED:
        return tensor not in op.inputs[: _PASSED[op.type]]
    return not op.outputs and not any(given.dtype is RESOURCE or given.dtype.is_ref for given in op.inputs)


def _stored_array(term: Term) -> Array | None:
    """The array that a term stands for: a known value, or that of the variable that it leads to."""
    if isinstance(term.held, VariableResource) and term.held.is_initialized:
        return term.held.read()
    return term.array


def _expected_bytes(op: Operation) -> int:
    """How many bytes an operation gives, as far as its shapes say."""
    return sum((tensor.static_shape.element_count() or 0) * max(tensor.dtype.itemsize, 1) for tensor in op.outputs)


def _unlisted_value(to: OnnxGraph, term: Term) -> Term:
    """A known value as one that is not known, so that no rule computes with it; small ones stay what they are."""
    if term.array is None or term.array.size <= _FEW:
        return term
    return replace(term, array=None, value=to.value(term))


def _makes_much_text(op: Operation, arrays: Sequence[Array]) -> bool:
    """Whether an operation may make strings that are much longer than those that it is given."""
    if op.type in _MOVING or not any(tensor.dtype is STRING for tensor in op.outputs):
        return False
    taken = sum(len(item) for array in arrays if array.dtype == object for item in array.reshape(-1).tolist())
    for attr in op.spec.schema.attrs:
        value = op.attr(attr.name)
        if isinstance(value, bytes | str):
            taken += len(value)
        elif attr.name in ("width", "precision"):
            taken += abs(value)
    return taken > _MOST_TEXT


def _shape_told(term: Term) -> Shape:
    """What a function is told of an argument's shape, or of that of what the argument leads to."""
    if isinstance(term.held, HeldList):
        return HandleShape((), term.held.dtype, Shape(term.held.element))
    if isinstance(term.held, VariableResource):
        return HandleShape((), term.held.dtype, term.held.shape)
    return Shape(term.dims) if term.held is None else UNKNOWN_SHAPE


def _take_arm(arm: Arm, terms: dict[Tensor, Term]) -> None:
    """A merge takes one of its inputs, and says which."""
    merge = arm.merge
    terms[merge.outputs[0]] = terms[merge.inputs[arm.index]]
    terms[merge.outputs[1]] = constant_term(np.array(arm.index, np.int32), merge.outputs[1].dtype)


def _read(to: OnnxGraph, tensor: Tensor, term: Term) -> Term:
    """What an operation takes: where a reference leads to a variable of TensorFlow 1, the value of that."""
    held = term.held
    if not tensor.dtype.is_ref or not isinstance(held, VariableResource):
        return term
    if not held.is_initialized:
        to.refuse(f'the variable "{held.name}" has no value: restore or initialize it first')
    return constant_term(held.read(), held.dtype, held.name)


def _compute_known(op: Operation, arrays: list[Array]) -> list[Array] | None:
    """What an operation's kernel gives; None if it fails, as it may in a branch that is never taken."""
    try:
        found = run_kernel(op, arrays)
    except (TensorKeepError, ArithmeticError, LookupError, TypeError, ValueError, MemoryError):
        return None
    if any(tensor.dtype is STRING for tensor in op.outputs):
        found = as_strings(found)
    return [np.asarray(item) for item in found]
