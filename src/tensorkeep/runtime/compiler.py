"""Plans as Python functions: one line per operation.

    def run(f0, f1):                            # feeds
        v2 = k0(f0, c0, transpose_a=a0)         # a kernel; constants and attributes are names of the function's module
        del f0
        v3 = v2 + f1                            # a kernel that is an operator
        while True:                             # a loop: its variables, its condition, its body
            v4 = v3 < c1
            if not v4:
                break
            v3 = v3 + c2
        v5, v6 = p0(v3, r1)                     # a part that another engine runs: several operations
        return (v3,)

Written-out code is the fastest interpreter there is for a graph: what remains per operation is the call of its kernel.
Nodes that only pass a value on are not written: their outputs are other words for their inputs. Values are dropped
after their last use, and element-wise results take the place of an input that ends there. Those of large arrays of
float32 are computed together, where the compiled library is (`fusing`). The line on which a run
fails tells the operation. Control flow that is not made of branches and loops is run by `frames`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.capabilities import Allowed
from tensorkeep.graph.registry.opspec import group, keyword_names
from tensorkeep.native.layers import moments
from tensorkeep.runtime.blocks import (
    Arm,
    Block,
    Choice,
    Loop,
    LoopVariable,
    PartCall,
    Step,
    Steps,
    Structure,
    structure,
)
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.deferred import loaded_value
from tensorkeep.runtime.dilating import Dilation, find_dilations
from tensorkeep.runtime.engines import PlanToSplit, Split, is_resource, with_parts
from tensorkeep.runtime.flattening import Flattening, find_flattenings, flattened
from tensorkeep.runtime.frames import TokenMachine
from tensorkeep.runtime.fusing import Group, find_groups
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.limits import count_step
from tensorkeep.runtime.liveness import UnstructuredError
from tensorkeep.runtime.names import PASSES_ON, Names
from tensorkeep.runtime.normalizing import Moments, find_moments
from tensorkeep.runtime.plan import CONTROL_FLOW, Plan
from tensorkeep.runtime.program import Program, as_strings, raise_no_value
from tensorkeep.runtime.resources import dereference, dereferenced_values
from tensorkeep.shapes import Shape

# Besides NumPy's own: their results are new arrays …
_MAKES_NEW: Final = frozenset(
    ("MatMul", "BiasAdd", "Relu", "BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "DepthwiseConv2dNative", "Softmax")
)
_IS_SEEN_ANEW: Final = frozenset(("Reshape", "ExpandDims", "Squeeze"))  # … and of these, views of their input

# Kernels that are operators of Python. Between NumPy's scalars an operator is ten times as fast as the function, and
# loops count with scalars.
_OPERATORS: Final[dict[Any, str]] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
    np.logical_and: "&",
    np.logical_or: "|",
    np.negative: "-",
    np.logical_not: "~",
}
_UPDATES_IN_PLACE: Final = ("Assign", "Apply", "SparseApply", "Scatter", "CountUpTo")
_OUT_BY_NAME: Final = frozenset((np.maximum, np.minimum))  # NumPy takes no third argument of these by position
_ON_BOOLS: Final = frozenset(("&", "|", "~"))


def _variable_of(reference: Tensor) -> Operation:
    """The variable that a reference leads to, through all that passes references on."""
    while reference.op.inputs and reference.op.inputs[0].dtype.is_ref:
        reference = reference.op.inputs[0]
    return reference.op


def _never_known(op: Operation) -> None:
    """Always None: for compilers that must not ask which resource an operation gives."""


_USED: Final = (
    dereference,
    dereferenced_values,
    as_strings,
    raise_no_value,
    loaded_value,
    count_step,
    flattened,
    moments,
)  # by compiled functions


class Compiler:
    """Writes the function for one plan."""

    def __init__(
        self,
        plan: Plan,
        surroundings: Surroundings,
        contexts: dict[Operation, KernelContext],
        allowed: Allowed,
        *,
        binds_resources: bool = False,
        uses_engine: bool = True,
        resources: Mapping[Tensor, object] | None = None,
    ) -> None:
        """With `binds_resources` the function holds variables; whoever keeps it drops it when one is deleted.

        The engine of the session is asked for parts, unless `uses_engine` says otherwise. `resources` are what some of
        the feeds will be, which helps it: variables. The function is right for others as well.
        """
        self._plan = plan
        self._counts_steps = surroundings.counts_steps
        self._kernels = Kernels(surroundings, contexts, allowed)
        self._engine = surroundings.engine if uses_engine else None
        self._resources = dict(resources or {})
        self._by_kernels = lambda other: Compiler(other, surroundings, contexts, allowed, uses_engine=False).program()
        self._split: Split | None = None
        namespace = {function.__name__: function for function in _USED}
        self._lasting = self._kernels.lasting_resource if binds_resources else _never_known
        self._names = Names(plan, namespace, self._lasting, surroundings.trusts_shapes)
        self._values = self._names.values
        self._lifetimes = self._names.lifetimes
        self._fed = self._names.fed
        self._lines: list[str] = []
        self._ops_of_lines: dict[int, Operation] = {}
        self._indent = "    "
        self._ends: dict[tuple[Block, int], list[str]] = {}
        # Of reference variables, the values read so far: the name, that of the reference, and the block.
        self._reads: dict[Operation, list[tuple[str, str, Block]]] = {}
        self._fresh: set[str] = set()  # names of arrays that nothing else can see
        self._groups: dict[Operation, Group] = {}  # by their roots
        self._flattenings: dict[Operation, Flattening] = {}  # by their roots
        self._moments: dict[Operation, Moments] = {}  # by their means
        self._dilations: dict[Operation, Dilation] = {}  # by their convolutions
        self._grouped: set[Operation] = set()

    def program(self) -> Program:
        try:
            found = structure(self._plan)
        except UnstructuredError:
            return Program(TokenMachine(self._plan, self._bound).run, {})
        return self._written(found if self._engine is None else self._with_parts(found))

    def _with_parts(self, found: Structure) -> Structure:
        """The plan with the parts that the engine runs."""
        assert self._engine is not None
        plan = self._plan
        for op in plan.ops:
            if op.spec.kernel_lasts and op.outputs[0] not in self._fed and (value := self._lasting(op)) is not None:
                self._resources[op.outputs[0]] = value
        asked = {predicate for condition in found.fetches for predicate, _ in condition or ()}
        wanted = frozenset((*plan.fetches, *asked))
        question = PlanToSplit(plan, found.block, wanted, self._resources, self._counts_steps, self._by_kernels)
        self._split = self._engine.split(question)
        if not self._split.parts:
            return found
        return Structure(with_parts(question, self._split.parts), found.fetches)

    def _written(self, found: Structure) -> Program:
        plan = self._plan
        for i, tensor in enumerate(plan.feeds):
            self._names.define(tensor, f"f{i}", found.block, 0)
        self._lines.append(f"def run({', '.join(self._values[tensor] for tensor in plan.feeds)}):")
        self._names.name_block(found.block)
        for tensor, condition in zip(plan.fetches, found.fetches, strict=True):
            if condition is not None:
                self._lifetimes.keep(self._values[tensor])
                for predicate, _ in condition:
                    self._lifetimes.keep(self._values[predicate])
        self._find_groups(found.block)
        self._ends = self._lifetimes.ends()
        self._write_block(found.block)
        for i, condition in enumerate(found.fetches):
            self._write_check(i, condition)
        if None not in found.fetches:
            results = "".join(f"{self._fetch(tensor)}, " for tensor in plan.fetches)
            self._write(f"return ({results})")
        text = "\n".join(self._lines)
        exec(compile(text, "<plan>", "exec"), self._names.namespace)
        return Program(self._names.namespace["run"], self._ops_of_lines, text, self._split)

    def _find_groups(self, block: Block) -> None:
        """Finds what is computed together, and keeps what it uses until then."""
        for each in find_moments(block, self._names):
            self._moments[each.mean] = each
            self._grouped.update((each.mean, each.squares, each.variance))
            self._names.large.discard(self._values[each.squares.outputs[0]])
        for found, home, at in find_groups(block, self._names, frozenset(self._grouped)):
            self._groups[found.ops[-1]] = found
            self._grouped.update(found.ops)
            for tensor in found.inputs:
                if self._values[tensor][0] not in "cr":
                    self._lifetimes.extend(self._values[tensor], home, 2 * at + 1)
            self._names.large.difference_update(self._values[op.outputs[0]] for op in found.ops[:-1])
        for dilation, at in find_dilations(block, self._names):
            self._dilations[dilation.convolution] = dilation
            self._grouped.update(dilation.ops)
            self._names.large.difference_update(self._values[op.outputs[0]] for op in dilation.ops[:-1])
            source = self._values[dilation.ops[0].inputs[0]]
            if source[0] not in "cr":
                self._lifetimes.extend(source, block, 2 * at + 1)
        for flattening in find_flattenings(block, self._names):
            self._flattenings[flattening.ops[-1]] = flattening
            self._grouped.update(flattening.ops)
            self._names.large.difference_update(self._values[op.outputs[0]] for op in flattening.ops[:-1])

    def _write_check(self, index: int, condition: Steps | None) -> None:
        """Fails for a fetched tensor that has no value in this run."""
        if condition is None:
            self._write(f"raise_no_value({index})")
        elif condition:
            self._write(f"if not ({self._test(condition)}): raise_no_value({index})")

    def _test(self, condition: Steps) -> str:
        return " and ".join(f"{'' if truth else 'not '}{self._values[predicate]}" for predicate, truth in condition)

    def _write(self, line: str, op: Operation | None = None) -> None:
        self._lines.append(self._indent + line)
        if op is not None:
            self._ops_of_lines[len(self._lines)] = op

    # --------------------------------------------------------------------------------------------- blocks

    def _write_block(self, block: Block) -> None:
        for i, item in enumerate(block.items):
            if isinstance(item, Step):
                if item.op in self._groups:
                    self._write_group(self._groups[item.op], block)
                elif item.op in self._moments:
                    self._write_moments(self._moments[item.op], block)
                elif item.op in self._dilations:
                    self._write_dilation(self._dilations[item.op], block)
                elif item.op in self._flattenings:
                    self._write_flattening(self._flattenings[item.op], block)
                elif item.op not in self._names.silent and item.op not in self._grouped:
                    self._write_step(item.op, block)
                    self._write_reads_again(item.op, block, 2 * i + 1)
            elif isinstance(item, Arm):
                self._write_arm(item)
            elif isinstance(item, Choice):
                self._write_choice(item)
            elif isinstance(item, PartCall):
                self._write_part(item)
            else:
                self._write_loop(item, block, 2 * i)
            self._write_ends(block, 2 * i + 1)

    def _write_reads_again(self, op: Operation, block: Block, at: int) -> None:
        """After an update of a reference variable, writes lines that read it again, into the names of earlier reads.

        In TensorFlow both are the same memory, and programs rely on it: a constraint is applied to what was read
        before the step.
        """
        if not op.type.startswith(_UPDATES_IN_PLACE):
            return
        for tensor in op.inputs:
            if tensor.dtype.is_ref:
                for name, reference, home in self._reads.get(_variable_of(tensor), ()):
                    if home is block and self._lifetimes.is_wanted_after(name, block, at):
                        self._write(f"{name} = dereference({reference})", op)

    def _write_ends(self, block: Block, at: int) -> None:
        """Drops the values that are not needed after some place of a block."""
        names = [name for name in self._ends.get((block, at), ()) if name in self._names.large]
        here = [name for name in names if self._lifetimes.home(name) is block]
        if here:
            self._write(f"del {', '.join(here)}")
        elsewhere = [name for name in names if self._lifetimes.home(name) is not block]
        if elsewhere:  # made in an inner block, which may not have run
            self._write(f"{' = '.join(elsewhere)} = None")

    def _write_inner(self, block: Block) -> None:
        old = self._indent
        self._indent += " "
        start = len(self._lines)
        self._write_block(block)
        if len(self._lines) == start:
            self._write("pass")
        self._indent = old

    def _write_arm(self, arm: Arm) -> None:
        merge = arm.merge
        value, index = merge.outputs
        if value not in self._fed:
            self._write(f"{self._values[value]} = {self._argument(merge.inputs[arm.index], value.dtype.is_ref)}", merge)
        if self._is_wanted(index):
            self._write(f"{self._values[index]} = {self._index(arm.index)}", merge)

    def _is_wanted(self, tensor: Tensor) -> bool:
        return self._lifetimes.uses.get(self._values[tensor], 0) > 0 and tensor not in self._fed

    def _index(self, number: int) -> str:
        return self._names.scalars[self._names.constant(np.array(number, np.int32))]

    def _write_choice(self, choice: Choice) -> None:
        predicate = self._argument(choice.predicate, False)
        self._write(f"if {predicate}:", choice.predicate.op)
        self._write_inner(choice.then)
        self._write("else:")
        self._write_inner(choice.otherwise)
        if self._lines[-1].strip() == "pass":
            del self._lines[-2:]

    def _write_part(self, call: PartCall) -> None:
        """One line for what an engine runs. Its operations are seen to be allowed, as those that we run are."""
        part = call.part
        for op in part.ops:
            if op.type not in CONTROL_FLOW:
                self._kernels.of(op)
        arguments = ", ".join(self._argument(tensor, is_resource(tensor)) for tensor in part.inputs)
        targets = "".join(f"{self._values[tensor]}, " for tensor in part.outputs)
        self._write(f"{targets}= {self._names.name('p', part.run)}({arguments})", part.ops[0])

    def _write_loop(self, loop: Loop, block: Block, at: int) -> None:
        counted = [variable for variable in loop.variables if self._is_wanted(variable.merge.outputs[1])]
        for variable in loop.variables:
            self._write(f"{self._values[variable.merge.outputs[0]]} = {self._start(variable)}", variable.merge)
        for variable in counted:
            self._write(f"{self._values[variable.merge.outputs[1]]} = {self._index(0)}")
        self._write_ends(block, at)
        self._write("while True:")
        old = self._indent
        self._indent += " "
        if self._counts_steps:
            self._write("count_step()", loop.op)
        self._write_block(loop.header)
        self._write(f"if not {self._argument(loop.condition, False)}: break", loop.op)
        self._write_ends(loop.header, 2 * len(loop.header.items))
        self._write_block(loop.body)
        self._write_next(loop)
        for variable in counted:
            self._write(f"{self._values[variable.merge.outputs[1]]} = {self._index(1)}")
        self._write_ends(loop.body, 2 * len(loop.body.items))
        self._indent = old
        self._write_block(loop.after)

    def _start(self, variable: LoopVariable) -> str:
        """A loop variable's first value; a scalar as one of NumPy's."""
        value = variable.merge.outputs[0]
        start = self._argument(variable.start, value.dtype.is_ref)
        is_scalar = self._names.ranks.get(self._values[variable.start]) == 0
        if is_scalar and not value.dtype.is_object and not value.dtype.is_ref:
            start = self._names.scalars.get(start) or f"{start}[()]"
        return f"{start} if {self._test(variable.condition)} else None" if variable.condition else start

    def _following(self, variable: LoopVariable) -> str:
        """A loop variable's next value."""
        value = self._argument(variable.following, variable.merge.outputs[0].dtype.is_ref)
        return f"({value} if {self._test(variable.condition)} else None)" if variable.condition else value

    def _write_next(self, loop: Loop) -> None:
        """Gives loop variables their next values: one by one, or all at once where one's next is another."""
        names = [self._values[variable.merge.outputs[0]] for variable in loop.variables]
        values = [self._following(variable) for variable in loop.variables]
        moved = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
        sources = {self._values[variable.following] for variable in loop.variables}
        if any(name in sources for name, value in moved):
            self._write(f"{', '.join(name for name, _ in moved)} = {', '.join(value for _, value in moved)}")
            return
        for name, value in moved:
            self._write(f"{name} = {value}")

    # ----------------------------------------------------------------------------------------- operations

    def _write_group(self, elements: Group, block: Block) -> None:
        """Writes a call of the library for element-wise operations, and beside it what does them one by one."""
        root = elements.ops[-1]
        names = [self._values[tensor] for tensor in elements.inputs]
        reusable = [at for at, name in enumerate(names) if self._is_last_seen(name, elements, block)]
        chain = elements.chain(reusable)
        result = self._values[root.outputs[0]]
        call = f"{self._names.name('k', chain)}({', '.join(names)})"
        self._write(f"{result} = {call} if {names[elements.leading]}.size >= {chain.smallest} else None", root)
        self._write_apart(result, elements.ops, block)
        self._fresh.add(result)

    def _write_moments(self, found: Moments, block: Block) -> None:
        """One call for mean and variance; the operations themselves where that does not do."""
        mean, squares, variance = (self._values[op.outputs[0]] for op in (found.mean, found.squares, found.variance))
        self._write(f"{mean}, {variance} = moments({self._values[found.mean.inputs[0]]})", found.mean)
        self._write(f"if {mean} is None:")
        old = self._indent
        self._indent += " "
        for op in (found.mean, found.squares, found.variance):
            self._write_step(op, block)
        self._write(f"del {squares}")
        self._indent = old
        self._fresh.difference_update((mean, squares, variance))

    def _write_dilation(self, found: Dilation, block: Block) -> None:
        """One call for a convolution by filters with gaps; the operations themselves where that does not do."""
        convolution, root = found.convolution, found.ops[-1]
        result = self._values[root.outputs[0]]
        images, filters = self._argument(found.ops[0].inputs[0], False), self._argument(convolution.inputs[1], False)
        kernel = self._names.name("k", found.applied(self._kernels.of(convolution)))
        self._write(f"{result} = {kernel}({images}, {filters})", convolution)
        self._write_apart(result, found.ops, block)

    def _write_apart(self, result: str, ops: Sequence[Operation], block: Block) -> None:
        """The lines of operations, of which the last makes the result, for where there is none."""
        self._write(f"if {result} is None:")
        old = self._indent
        self._indent += " "
        for op in ops:
            self._write_step(op, block)
        made = [self._values[op.outputs[0]] for op in ops[:-1]]
        if made:
            self._write(f"del {', '.join(made)}")
        self._indent = old
        self._fresh.difference_update(made)

    def _write_flattening(self, found: Flattening, block: Block) -> None:
        """One call for the sizes and the reshape; the operations themselves where that does not do."""
        root = found.ops[-1]
        result, given = self._values[root.outputs[0]], self._values[root.inputs[0]]
        self._write(f"{result} = flattened({given}, {found.sizes!r})", root)
        self._write_apart(result, found.ops, block)

    def _is_last_seen(self, name: str, elements: Group, block: Block) -> bool:
        """Whether a group may overwrite one of its inputs: an array of the same block that has no other use."""
        return (
            name in self._fresh
            and self._lifetimes.uses.get(name) == elements.uses(name, self._names)
            and self._lifetimes.home(name) is block
        )

    def _write_step(self, op: Operation, block: Block) -> None:
        if op.type in PASSES_ON:
            self._write_read(op, block)
            return
        kernel = self._kernels.of(op)
        written = self._written_inline(op, kernel, block) or self._written_call(op, kernel)
        targets = self._targets(op)
        self._write(f"{targets} = {written}" if targets else written, op)
        makes_new = isinstance(kernel, np.ufunc) or op.type in _MAKES_NEW or self._is_only_view(op, block)
        if makes_new and len(op.outputs) == 1 and op.outputs[0] not in self._fed:
            self._fresh.add(self._values[op.outputs[0]])

    def _is_only_view(self, op: Operation, block: Block) -> bool:
        """Whether a result is all that remains of an array that nothing else can see."""
        if op.type not in _IS_SEEN_ANEW:
            return False
        name = self._values[op.inputs[0]]
        is_last = self._lifetimes.uses.get(name) == 1 and self._lifetimes.home(name) is block
        return is_last and name in self._fresh

    def _write_read(self, op: Operation, block: Block) -> None:
        """Reads a reference variable. Outputs that are fed keep the values that they are given."""
        source = op.inputs[0]
        made = dict.fromkeys(self._values[tensor] for tensor in op.outputs if tensor not in self._fed)
        self._write(f"{' = '.join(made) or '_'} = dereference({self._values[source]})", op)
        reads = self._reads.setdefault(_variable_of(source), [])
        reads.extend((name, self._values[source], block) for name in made)

    def _written_call(self, op: Operation, kernel: Callable[..., Any]) -> str:
        arguments = self._arguments(op)
        if op.spec.kernel_takes_context:
            arguments.insert(0, self._names.name("x", self._kernels.context(op)))
        for name in keyword_names(kernel):
            arguments.append(f"{name}={self._attr(op, name)}")
        call = f"{self._names.name('k', kernel)}({', '.join(arguments)})"
        return f"as_strings({call})" if any(tensor.dtype is STRING for tensor in op.outputs) else call

    def _written_inline(self, op: Operation, kernel: Any, block: Block) -> str | None:
        """An element-wise operation that writes to an input's place, or as an operator."""
        if not isinstance(kernel, np.ufunc) or kernel.signature is not None or op.spec.kernel_takes_context:
            return None
        inputs = op.inputs
        if len(op.outputs) != 1 or kernel.nin != len(inputs) or inputs[0].dtype.is_object:
            return None
        arguments = [self._argument(tensor, False) for tensor in inputs]
        for i, tensor in enumerate(inputs):
            if self._is_replaceable(tensor, inputs[1 - i] if len(inputs) == 2 else None, op.outputs[0], block):
                out = "out=" if kernel in _OUT_BY_NAME else ""
                return f"{self._names.name('k', kernel)}({', '.join(arguments)}, {out}{arguments[i]})"
        operator = _OPERATORS.get(kernel)
        if operator is None or (operator in _ON_BOOLS and inputs[0].dtype.base_dtype.name != "bool"):
            return None
        if len(inputs) == 1:
            return f"{operator}{arguments[0]}"
        first, second = arguments
        if self._names.ranks.get(second, 0) == 0:  # between scalars NumPy's are the fastest, beside arrays they are not
            first = self._names.scalars.get(first, first)
        if self._names.ranks.get(first, 0) == 0:
            second = self._names.scalars.get(second, second)
        return f"{first} {operator} {second}"

    def _is_replaceable(self, tensor: Tensor, other: Tensor | None, output: Tensor, block: Block) -> bool:
        """Whether a result can be written where an input is: nobody else sees that, and it has the result's shape."""
        name = self._values[tensor]
        return (
            self._names.folds  # else what is fed may be of other shapes than the graph has been told
            and name in self._fresh
            and tensor.dtype is output.dtype
            and self._lifetimes.uses.get(name) == 1
            and self._lifetimes.home(name) is block
            and _covers(tensor.static_shape, None if other is None else other.static_shape)
        )

    def _attr(self, op: Operation, name: str) -> str:
        """An attribute as an argument: written out if it is a number, else a name that keeps it alive."""
        value = op.attr(name)
        if value is None or isinstance(value, bool | int | bytes):
            return repr(value)
        return self._names.name("a", value)

    def _arguments(self, op: Operation) -> list[str]:
        schema = op.spec.schema
        if op.spec.kernel_takes_deferred:
            return [
                self._argument(tensor, arg.is_ref, takes_deferred=True)
                for tensor, arg in zip(op.inputs, schema.inputs, strict=True)
            ]
        if not op.spec.has_list_inputs:
            return [self._argument(tensor, arg.is_ref) for tensor, arg in zip(op.inputs, schema.inputs, strict=True)]
        grouped = group(schema.inputs, op.inputs, op.attr)
        return [
            self._list_argument(item, arg.is_ref) if arg.is_list else self._argument(item, arg.is_ref)
            for arg, item in zip(schema.inputs, grouped, strict=True)
        ]

    def _list_argument(self, tensors: list[Tensor], wants_ref: bool) -> str:
        """Several tensors as one argument. Variables among them are read together."""
        reads = not wants_ref and sum(tensor.dtype.is_ref for tensor in tensors) > 1
        items = ", ".join(self._argument(tensor, wants_ref or (reads and tensor.dtype.is_ref)) for tensor in tensors)
        return f"dereferenced_values([{items}])" if reads else f"[{items}]"

    def _argument(self, tensor: Tensor, wants_ref: bool, *, takes_deferred: bool = False) -> str:
        name = self._values[tensor]
        if name in self._names.deferred and not takes_deferred:
            return f"loaded_value({name})"
        return f"dereference({name})" if tensor.dtype.is_ref and not wants_ref else name

    def _targets(self, op: Operation) -> str:
        if not op.outputs:
            return ""
        names = ["_" if tensor in self._fed else self._values[tensor] for tensor in op.outputs]
        schema = op.spec.schema
        if op.spec.has_list_outputs:
            grouped = group(schema.outputs, names, op.attr)
            names = [f"[{', '.join(item)}]" if isinstance(item, list) else item for item in grouped]
        return names[0] if len(schema.outputs) == 1 else ", ".join(names)

    def _bound(self, op: Operation) -> Callable[[list[Any]], list[Any]]:
        """The operation as a function, for the executor by tokens. A placeholder that is fed gives nothing: only other
        operations wait for it.
        """
        return (lambda _: [None]) if self._names.is_fed(op) else self._kernels.bound(op)

    def _fetch(self, tensor: Tensor) -> str:
        return self._argument(tensor, wants_ref=False)


def _covers(shape: Shape, other: Shape | None) -> bool:
    """Whether broadcasting values of two shapes surely gives the first shape; not if that is a scalar's."""
    dims = shape.dims
    if not dims:
        return False
    if other is None:
        return True
    others = other.dims
    if others is None or len(others) > len(dims):
        return False
    pairs = zip(reversed(dims), reversed(others), strict=False)
    return all(b == 1 or (b is not None and b == a) for a, b in pairs)
