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

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.capabilities import Allowed
from tensorkeep.native.layers import moments
from tensorkeep.runtime.context import KernelContext, Surroundings
from tensorkeep.runtime.fusions.cells import arrange_cells
from tensorkeep.runtime.fusions.flattening import flatten_array
from tensorkeep.runtime.fusions.fused_lines import FusedLines
from tensorkeep.runtime.fusions.summing import finish_sum
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.limits import count_step
from tensorkeep.runtime.locks import LOCKING, giving_back
from tensorkeep.runtime.partitions.engines import PlanToSplit, Split, block_of, is_resource, with_parts
from tensorkeep.runtime.plans.blocks import (
    Arm,
    Block,
    Choice,
    Item,
    Loop,
    LoopVariable,
    PartCall,
    Step,
    Steps,
    Structure,
    structure,
)
from tensorkeep.runtime.plans.frames import TokenMachine
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.names import Names
from tensorkeep.runtime.plans.operation_lines import Lines, OperationLines
from tensorkeep.runtime.plans.plan import CONTROL_FLOW, Plan
from tensorkeep.runtime.plans.program import Program, as_strings, raise_no_value
from tensorkeep.runtime.resources import dereference, dereferenced_values, loaded_value


def _never_known(op: Operation) -> None:
    """Always None: for compilers that must not ask which resource an operation gives."""


_USED: Final = (
    dereference,
    dereferenced_values,
    as_strings,
    raise_no_value,
    loaded_value,
    count_step,
    flatten_array,
    finish_sum,
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
        self._kernels = Kernels(surroundings, contexts, allowed, plan.ops)
        self._engine = surroundings.engine if uses_engine else None
        self._resources = dict(resources or {})
        self._by_kernels = lambda other, items: Compiler(
            other, surroundings, contexts, allowed, uses_engine=False
        ).program(items)
        self._by_engine = lambda other, items, given: Compiler(
            other, surroundings, contexts, allowed, resources=given
        ).program(items)
        self._split: Split | None = None
        namespace = {function.__name__: function for function in _USED}
        self._lasting = self._kernels.lasting_resource if binds_resources else _never_known
        self._names = Names(plan, namespace, self._lasting, surroundings.trusts_shapes)
        self._values = self._names.values
        self._lifetimes = self._names.lifetimes
        self._fed = self._names.fed
        self._lines = Lines()
        self._write = self._lines.write
        self._operations = OperationLines(self._names, self._kernels, self._lines)
        self._argument = self._operations.argument
        self._fused = FusedLines(self._names, self._kernels, self._lines, self._operations)
        self._ends: dict[tuple[Block, int], list[str]] = {}

    def program(self, items: Sequence[Item] | None = None) -> Program:
        """The program of the plan; of `items`, if its branches and loops have been found already. All that is fetched
        is then there in every run.
        """
        try:
            found = (
                structure(self._plan) if items is None else Structure(block_of(items), ((),) * len(self._plan.fetches))
            )
        except UnstructuredError:
            return Program(self._safe(TokenMachine(self._plan, self._kernels.bound).run), {})
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
        question = PlanToSplit(
            plan,
            found.block,
            wanted,
            self._resources,
            self._counts_steps,
            self._by_kernels,
            self._by_engine,
            self._kernels,
        )
        self._split = self._engine.split(question)
        if not self._split.parts:
            return found
        return Structure(with_parts(question, self._split), found.fetches)

    def _written(self, found: Structure) -> Program:
        plan = self._plan
        for i, tensor in enumerate(plan.feeds):
            self._names.define(tensor, f"f{i}", found.block, 0)
        self._lines.begin(f"def run({', '.join(self._values[tensor] for tensor in plan.feeds)}):")
        cells = arrange_cells(found.block, self._fed)
        self._names.name_block(found.block)
        for tensor, condition in zip(plan.fetches, found.fetches, strict=True):
            if condition is not None:
                self._lifetimes.keep(self._values[tensor])
                for predicate, _ in condition:
                    self._lifetimes.keep(self._values[predicate])
        self._fused.find(found.block, cells)
        if self._fused.keeps_matrices:
            self._write("packs = {}")
        self._ends = self._lifetimes.ends()
        self._write_block(found.block)
        for i, condition in enumerate(found.fetches):
            self._write_check(i, condition)
        if None not in found.fetches:
            results = "".join(f"{self._argument(tensor, False)}, " for tensor in plan.fetches)
            self._write(f"return ({results})")
        text = "\n".join(self._lines.written)
        exec(compile(text, "<plan>", "exec"), self._names.namespace)
        return Program(self._safe(self._names.namespace["run"]), self._lines.ops, text, self._split)

    def _safe(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of the plan, which holds no lock any more when it has ended."""
        return giving_back(function) if any(op.type == LOCKING for op in self._plan.ops) else function

    def _write_check(self, index: int, condition: Steps | None) -> None:
        """Fails for a fetched tensor that has no value in this run."""
        if condition is None:
            self._write(f"raise_no_value({index})")
        elif condition:
            self._write(f"if not ({self._test(condition)}): raise_no_value({index})")

    def _test(self, condition: Steps) -> str:
        return " and ".join(f"{'' if truth else 'not '}{self._values[predicate]}" for predicate, truth in condition)

    # --------------------------------------------------------------------------------------------- blocks

    def _write_block(self, block: Block) -> None:
        for i, item in enumerate(block.items):
            if isinstance(item, Step):
                if not self._fused.write(item.op, block) and item.op not in self._names.silent:
                    self._operations.write_step(item.op, block)
                    self._operations.write_reads_again(item.op, block, 2 * i + 1)
            elif isinstance(item, Arm):
                self._write_arm(item)
            elif isinstance(item, Choice):
                self._write_choice(item)
            elif isinstance(item, PartCall):
                self._write_part(item)
            else:
                self._write_loop(item, block, 2 * i)
            self._write_ends(block, 2 * i + 1)

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
        start = len(self._lines.written)
        with self._lines.indented():
            self._write_block(block)
            if len(self._lines.written) == start:
                self._write("pass")

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
        if self._lines.written[-1].strip() == "pass":
            del self._lines.written[-2:]

    def _write_part(self, call: PartCall) -> None:
        """One line for what an engine runs. Its operations are seen to be allowed, as those that we run are."""
        part = call.part
        for op in part.ops:
            if op.type not in CONTROL_FLOW:
                self._kernels.of(op)
        arguments = ", ".join(self._argument(tensor, is_resource(tensor)) for tensor in part.inputs)
        targets = "".join(f"{self._values[tensor]}, " for tensor in part.outputs)
        targets = f"{targets}= " if targets else ""
        self._write(f"{targets}{self._names.name('p', part.run)}({arguments})", part.ops[0])

    def _write_loop(self, loop: Loop, block: Block, at: int) -> None:
        counted = [variable for variable in loop.variables if self._is_wanted(variable.merge.outputs[1])]
        for variable in loop.variables:
            self._write(f"{self._values[variable.merge.outputs[0]]} = {self._start(variable)}", variable.merge)
        for variable in counted:
            self._write(f"{self._values[variable.merge.outputs[1]]} = {self._index(0)}")
        self._write_ends(block, at)
        self._write("while True:")
        with self._lines.indented():
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
        for name in self._fused.summed_by(loop):
            self._write(f"{name} = finish_sum({name})")
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
