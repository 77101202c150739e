"""Names for all values of a plan: those it makes, those it is given, those that never change.

    f0, f1, …    feeds          k3    a kernel         a5    an attribute
    v2, v7, …    values         x4    a context        c6    a constant      r8    a resource
    p9           a part that an engine runs

Nodes that only pass a value on get no name: their outputs are other words for their inputs. What is known before
running is a constant. With the names comes what else is noted of values: where they are used, whether they are large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import PLACEHOLDERS, Operation, Tensor
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.runtime.locks import LOCKING
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Loop, PartCall, Step
from tensorkeep.runtime.plans.lifetimes import Lifetimes
from tensorkeep.runtime.plans.plan import CONTROL_FLOW, Plan

PASSES_ON: Final = frozenset(
    ("Identity", "StopGradient", "PreventGradient", "PlaceholderWithDefault", "RefIdentity", *CONTROL_FLOW)
)
_SMALL: Final = 16  # elements; values known to be smaller are dropped when the run ends
_OF_SHAPES: Final = frozenset(("Shape", "ShapeN", "Size", "Rank", "VariableShape"))  # known without their inputs
_NOTHING: Final = frozenset(("NoOp", "ControlTrigger"))


class Names:
    """The names of one plan, and the module that its function is in."""

    def __init__(
        self,
        plan: Plan,
        namespace: dict[str, Any],
        lasting: Callable[[Operation], Any],
        trusts_shapes: bool,
    ) -> None:
        self.namespace = namespace
        self._lasting = lasting  # what an operation gives in every run; None if that is not known
        self.values: dict[Tensor, str] = {}
        self.fed = frozenset(plan.feeds)
        self.folds = trusts_shapes and all(tensor.op.type in PLACEHOLDERS for tensor in plan.feeds)
        self.lifetimes = Lifetimes()
        self.silent: set[Operation] = set()  # operations that nothing is to be written for
        self.deferred: set[str] = set()  # names of values that may only be promised
        self.large: set[str] = set()
        self.ranks: dict[str, int] = {}  # likely ones, of names; what a loop carries is taken to keep its first rank
        self.scalars: dict[str, str] = {}  # of the names of constants without dimensions, those of NumPy's scalars
        self._objects: dict[int, str] = {}
        self._held: list[Any] = []  # so that no two values share an id

    def name(self, prefix: str, value: object) -> str:
        """A name of the function's module for a value, which stays alive with it."""
        self._held.append(value)
        name = self._objects.get(id(value))
        if name is None:
            name = f"{prefix}{len(self.namespace)}"
            self._objects[id(value)] = name
            self.namespace[name] = value
        return name

    def name_block(self, block: Block) -> None:
        """Gives every value made in a block its name, and notes where it is used."""
        for i, item in enumerate(block.items):
            at = 2 * i + 1
            if isinstance(item, Step):
                self._name_step(item.op, block, at)
            elif isinstance(item, Arm):
                self._name_arm(item, block, at)
            elif isinstance(item, Choice):
                self._use(item.predicate, block, at)
                self.name_block(item.then)
                self.name_block(item.otherwise)
            elif isinstance(item, PartCall):
                for tensor in item.part.inputs:
                    self._use(tensor, block, at)
                for tensor in item.part.outputs:
                    self.define(tensor, f"v{len(self.values)}", block, at)
            else:
                self._name_loop(item, block, at)

    def _name_step(self, op: Operation, block: Block, at: int) -> None:
        if op.type in _NOTHING or self.is_fed(op) or self._is_constant(op):
            self.silent.add(op)
            return
        if op.spec.kernel_lasts and op.outputs[0] not in self.fed and (value := self._lasting(op)) is not None:
            self.values[op.outputs[0]] = self.name("r", value)
            self.silent.add(op)
            return
        if op.type in PASSES_ON:
            source = op.inputs[0]
            if source.dtype.is_ref == op.outputs[0].dtype.is_ref:
                for tensor in op.outputs:
                    self.values.setdefault(tensor, self.values[source])
                self.silent.add(op)
                return
            self._use(source, block, at)
            self._define_all(op.outputs, block, at)
            return
        for tensor in op.inputs:
            self._use(tensor, block, at)
        for tensor in op.outputs:
            self.define(tensor, f"v{len(self.values)}", block, at, self._likely_rank(op))
        if op.spec.kernel_defers:
            self.deferred.update(self.values[tensor] for tensor in op.outputs if tensor not in self.fed)

    def _likely_rank(self, op: Operation) -> int | None:
        """The rank of an element-wise result, as far as the ranks of the inputs are known."""
        if not isinstance(op.spec.kernel_function, np.ufunc):
            return None
        ranks = [self.ranks.get(self.values[tensor]) for tensor in op.inputs]
        return None if None in ranks else max(rank for rank in ranks if rank is not None)

    def _name_arm(self, arm: Arm, block: Block, at: int) -> None:
        self._use(arm.merge.inputs[arm.index], block, at)
        for tensor in arm.merge.outputs:
            if tensor in self.values:
                self.lifetimes.define(self.values[tensor], block, at)
            else:
                self.define(tensor, f"v{len(self.values)}", block, at)

    def _name_loop(self, loop: Loop, block: Block, at: int) -> None:
        for variable in loop.variables:
            self._use(variable.start, block, at - 1)
            for predicate, _ in variable.condition:
                self._use(predicate, block, at)
            rank = self.ranks.get(self.values[variable.start])
            for tensor in variable.merge.outputs:
                self.define(tensor, f"v{len(self.values)}", block, at, rank)
        self.name_block(loop.header)
        self._use(loop.condition, loop.header, 2 * len(loop.header.items))
        self.name_block(loop.body)
        for variable in loop.variables:
            self._use(variable.following, loop.body, 2 * len(loop.body.items))
        self.name_block(loop.after)

    def _define_all(self, tensors: list[Tensor], block: Block, at: int) -> None:
        """Gives several tensors one name: the outputs of a switch are the same value."""
        name = f"v{len(self.values)}"
        for tensor in tensors:
            self.define(tensor, name, block, at)

    def define(self, tensor: Tensor, name: str, block: Block, at: int, rank: int | None = None) -> None:
        """Names a tensor that item `at` of a block makes, unless it is fed. `rank` is for one of unknown shape."""
        if tensor in self.values:  # fed: the value given wins over the one computed
            return
        self.values[tensor] = name
        self.lifetimes.define(name, block, at)
        if tensor.dtype.is_ref:
            return
        shape = tensor.static_shape
        rank = rank if shape.dims is None else len(shape.dims)
        if rank is not None:
            self.ranks[name] = rank
        count = shape.element_count()
        if (rank != 0 and (count is None or count > _SMALL)) or tensor.op.type == LOCKING:  # not to be held on to
            self.large.add(name)

    def _use(self, tensor: Tensor, block: Block, at: int) -> None:
        name = self.values[tensor]
        if name[0] not in "cr":
            self.lifetimes.use(name, block, at)

    def is_fed(self, op: Operation) -> bool:
        """Whether an operation is a placeholder whose value is fed: it runs only for what waits for it."""
        return op.type in PLACEHOLDERS and op.outputs[0] in self.fed

    def _is_constant(self, op: Operation) -> bool:
        """Whether the operation's outputs are known now; if so they become names."""
        if op.type == "Const" or (self.folds and self._may_fold(op)):
            values = [constant_value(tensor) for tensor in op.outputs]
            if all(value is not None for value in values):
                for tensor, value in zip(op.outputs, values, strict=True):
                    assert value is not None
                    check_allocation(value.shape, value.dtype)  # one value may stand for all
                    if tensor not in self.values:
                        self.values[tensor] = self.constant(value)
                return True
        return False

    def constant(self, value: Array) -> str:
        """The name of a constant."""
        name = self.name("c", value)
        self.ranks[name] = value.ndim
        if value.ndim == 0 and value.dtype != object:
            scalar = value[()]
            self.scalars[name] = self.name("c", scalar)
        return name

    def _may_fold(self, op: Operation) -> bool:
        values = self.values
        if op.type not in _OF_SHAPES and not (op.inputs and all(values[tensor][0] == "c" for tensor in op.inputs)):
            return False
        return bool(op.outputs) and op.type not in CONTROL_FLOW and not any(t in values for t in op.outputs)
