"""The operations by which a saver saves incrementally, beside those of full saves.

<name>/incremental/save       writes what changed since the last full save; the prefix comes out
<name>/incremental/restore    puts that over what was restored from the full one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.functions.array import stack
from tensorkeep.functions.constants import constant
from tensorkeep.functions.grouping import group
from tensorkeep.graph.building import control_dependencies, device, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.opspec import get_op
from tensorkeep.graph.saveable import Saveable
from tensorkeep.ops.checkpoint_io import restore_v2, save_v2
from tensorkeep.ops.constants import identity
from tensorkeep.variables.embedding_saving import EmbeddingSaveable, empty_key, initializers_of, primary_of
from tensorkeep.variables.saveable import base_dtype

SCOPE: Final = "incremental"


def record_from_the_first_step(tables: Sequence[EmbeddingSaveable]) -> None:
    """Has the keys that are touched recorded as soon as a table is there: its initializers wait for that."""
    for table in tables:
        if primary_of(table.handle) is table.handle:
            with device(table.handle.device):
                recording = get_op("KvRecordTouched")(table.handle)
            for op in initializers_of(table.handle):
                op.add_control_inputs([recording])


def beginning_delta(tables: Sequence[EmbeddingSaveable]) -> Operation:
    """An operation after which what is touched is not in the full checkpoint that is about to be saved."""
    begun: Operation = get_op("KvBeginDelta")([table.handle for table in tables])
    return begun


def forgetting(tables: Sequence[EmbeddingSaveable], saved: Tensor, prefix: Tensor) -> Tensor:
    """The prefix, when a full checkpoint is there and what it has is forgotten."""
    if not tables:
        return saved
    with control_dependencies([saved]):
        forgotten = get_op("KvForgetTouched")([table.handle for table in tables])
    with control_dependencies([forgotten]):
        done: Tensor = identity(prefix)
        return done


def add_incremental(
    prefix: Tensor, plain: Sequence[Saveable], tables: Sequence[EmbeddingSaveable], step: Tensor
) -> None:
    """Adds the operations to the scope that is open."""
    with name_scope(SCOPE):
        with control_dependencies([_saving(prefix, plain, tables, step)]):
            identity(prefix, name="save")
        group(*_restoring(prefix, plain, tables), name="restore")


def _saving(prefix: Tensor, plain: Sequence[Saveable], tables: Sequence[EmbeddingSaveable], step: Tensor) -> Operation:
    specs = [spec for saveable in plain for spec in saveable.specs]
    names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
    tensors = [spec.tensor for spec in specs]
    if not tables:
        written: Operation = save_v2(prefix, names, slices, tensors)
        return written
    written = get_op("KvIncrSave")(
        prefix,
        ["global_step", *names],
        ["", *slices],
        [table.name for table in tables],
        stack([table.address for table in tables]),
        [step, *tensors],
    )
    return written


def _restoring(prefix: Tensor, plain: Sequence[Saveable], tables: Sequence[EmbeddingSaveable]) -> list[Any]:
    specs = [spec for saveable in plain for spec in saveable.specs]
    done: list[Any] = []
    if specs:
        with device("cpu:0"):
            read = iter(
                restore_v2(
                    prefix,
                    [spec.name for spec in specs],
                    [spec.slice_spec for spec in specs],
                    dtypes=list(map(base_dtype, specs)),
                )
            )
        done += [saveable.restore([next(read) for _ in saveable.specs], None) for saveable in plain]
    for table in tables:
        number, count = table.partition
        with device(table.handle.device):
            done.append(
                get_op("KvResourceIncrImport")(
                    prefix,
                    table.handle,
                    table.name,
                    empty_key(table.key_dtype),
                    constant(0, table.handle.op.attr("dtype")),
                    partition_id=number,
                    partition_num=count,
                )
            )
    return done


__all__ = ["SCOPE", "add_incremental", "beginning_delta", "forgetting", "record_from_the_first_step"]
