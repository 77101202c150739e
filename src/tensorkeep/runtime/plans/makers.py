"""Which operations of a block make which values, for those who look for several that can be one call."""

from __future__ import annotations

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.plans.blocks import Block, Step
from tensorkeep.runtime.plans.names import Names


class Makers:
    """The operations of a block that something is written for, and not those of blocks inside it."""

    def __init__(self, block: Block, names: Names) -> None:
        self._names = names
        steps = {item.op: at for at, item in enumerate(block.items) if isinstance(item, Step)}
        self.places = {op: at for op, at in steps.items() if op not in names.silent}
        """Of each operation, the number of its item."""
        self._by_name = {
            names.values[op.outputs[0]]: op
            for op in self.places
            if len(op.outputs) == 1 and op.outputs[0] not in names.fed
        }

    def all(self, op_type: str) -> list[Operation]:
        """The operations of a type that make one value, which is not given by the run."""
        return [op for op in self._by_name.values() if op.type == op_type]

    def maker(self, tensor: Tensor) -> Operation | None:
        """The operation that makes a value and no other, if it is in the block."""
        return self._by_name.get(self._names.values[tensor])

    def uses(self, tensor: Tensor) -> int:
        """How often a value is used in the whole plan."""
        return self._names.lifetimes.uses.get(self._names.values[tensor], 0)

    def sole_maker(self, tensor: Tensor) -> Operation | None:
        """The same, if the value is used but once."""
        return self.maker(tensor) if self.uses(tensor) == 1 else None

    def of(self, tensor: Tensor, op_type: str) -> Operation | None:
        """The operation that makes a value, if it is of that type."""
        op = self.maker(tensor)
        return op if op is not None and op.type == op_type else None

    def sole(self, tensor: Tensor, op_type: str) -> Operation | None:
        """The same, if the value is used but once."""
        op = self.sole_maker(tensor)
        return op if op is not None and op.type == op_type else None
