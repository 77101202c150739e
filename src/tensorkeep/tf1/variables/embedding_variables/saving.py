"""How embedding variables are saved and restored: by one operation that is given the table itself.

<save>/KvResourceLookupResource   the number under which the session knows the table
<save>/SaveV3                     writes tables, slots and plain tensors to one checkpoint
<save>/KvResourceImportV3         reads one column of a table, however many shards it was saved in
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from tensorkeep.dtypes import DType
from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import control_dependencies, device
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.ops.shared.expressions import constant
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable

INITIALIZERS: Final = frozenset(("InitializeKvVariableOp", "InitializeKvVariableV2Op"))
EMPTY_KEYS: Final = {"int64": 2**63 - 1, "int32": -1}
"""What DeepRec takes for no key. It is passed along; here every key is one."""

_NOMINAL: Final = ("-keys", "-values", "-versions", "-freqs")  # for devices and messages: nothing reads them


class EmbeddingSaveable(SaveableObject):
    """An embedding variable, or a slot of one, under a stem: nine tensors that its table writes by itself."""

    def __init__(self, variable: EmbeddingVariable, name: str) -> None:
        self.handle = variable.handle
        self.key_dtype = variable.key_dtype
        self.partition = variable.partition
        with device(variable.device):
            self.address = variable.lookup_resource()
        specs = [SaveSpec(self.address, "", name + suffix, device=variable.device) for suffix in _NOMINAL]
        super().__init__(variable, specs, name)

    def restore_from(self, prefix: Tensor) -> Operation:
        """An operation that reads the variable from the checkpoint of that prefix."""
        number, count = self.partition
        with device(self.handle.device), control_dependencies(list(building_ops(self.handle))):
            return emit_operation(
                "KvResourceImportV3",
                prefix,
                self.handle,
                self.name,
                empty_key(self.key_dtype),
                shape=Shape(self.handle.op.attr("shape").dims),
                dtype=self.handle.op.attr("dtype"),
                partition_id=number,
                partition_num=count,
            )

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> NoReturn:
        raise NotImplementedError(f'"{self.name}" is an embedding variable, which reads a checkpoint by itself')


def empty_key(key_dtype: DType) -> Tensor:
    """The constant that ops of embedding variables take."""
    return constant(EMPTY_KEYS[key_dtype.name], key_dtype, name="empty_key")


def primary_of(handle: Tensor) -> Tensor:
    """The handle of the variable that a slot belongs to; that of a variable itself is its own."""
    for op in initializers_of(handle):
        return op.inputs[1]
    return handle


def initializers_of(handle: Tensor) -> Iterator[Operation]:
    """The operations that initialize what a handle leads to, or build it for a restore."""
    return (op for op in handle.consumers() if op.type in INITIALIZERS and op.inputs[0] is handle)


def building_ops(handle: Tensor) -> Iterator[Operation]:
    """The operations that make the table of a variable and the columns of its slots before these are restored."""
    primary = primary_of(handle)
    for op in primary.consumers():
        if op.type in INITIALIZERS and op.inputs[1] is primary and op.attr("initial_num_buckets") == 0:
            yield op
