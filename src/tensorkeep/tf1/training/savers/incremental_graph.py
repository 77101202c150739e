"""The operations by which a saver saves incrementally, beside those of full saves.

<name>/incremental/save       writes what changed since the last full save; the prefix comes out
<name>/incremental/restore    puts that over what was restored from the full one

Plain variables are written whole. If their rows are wanted, those that changed are, of each that changed by rows only:

<name>/incremental/restored         to be run after a full checkpoint was restored: what changes from now on is a change
<name>/incremental/restored_delta   the same after an incremental one was
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT64, STRING
from tensorkeep.graph.arguments import emit, emit_operation, emit_tensors
from tensorkeep.graph.building import control_dependencies, device, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import Saveable
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.files.checkpoints import restore_v2, save_v2
from tensorkeep.proto.messages import SaverDef
from tensorkeep.tf1.functions.arrays.shapes import stack
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.variables.embedding_variables.saving import (
    EmbeddingSaveable,
    empty_key,
    initializers_of,
    primary_of,
)
from tensorkeep.tf1.variables.saveable import ReferenceVariableSaveable, ResourceVariableSaveable, base_dtype

SCOPE: Final = "incremental"
MODEL_SCOPE: Final = "incr_save"


def record_from_the_first_step(tables: Sequence[EmbeddingSaveable]) -> None:
    """Has the keys that are touched recorded as soon as a table is there: its initializers wait for that."""
    for table in tables:
        if primary_of(table.handle) is table.handle:
            with device(table.handle.device):
                recording = emit_operation("KvRecordTouched", table.handle)
            for op in initializers_of(table.handle):
                op.add_control_inputs([recording])


def by_rows(plain: Sequence[Saveable]) -> list[Saveable]:
    """The saveables of which single rows can be saved: variables of rank 1 or more that are saved in one piece."""
    return [saveable for saveable in plain if _variable_name(saveable)]


def _variable_name(saveable: Saveable) -> str:
    """The name by which a session knows the variable behind a saveable; "" if its rows cannot be saved."""
    if not isinstance(saveable, ReferenceVariableSaveable | ResourceVariableSaveable) or saveable.specs[0].slice_spec:
        return ""
    variable = saveable.op
    handle = saveable.handle_op if isinstance(saveable, ResourceVariableSaveable) else variable
    op: Operation = handle.op
    is_known = op.type in ("Variable", "VariableV2", "VarHandleOp") and not op.attr("container")
    return (op.attr("shared_name").decode() or op.name) if is_known and plain_shape(variable.shape).rank else ""


def begin_delta(tables: Sequence[EmbeddingSaveable], rows: Sequence[Saveable]) -> Operation:
    """An operation that marks where a full checkpoint begins: what is touched after it belongs to the next delta."""
    names = list(map(_variable_name, rows))
    return emit_operation("KvBeginDelta", [table.handle for table in tables], variables=names)


def forget_saved_changes(
    tables: Sequence[EmbeddingSaveable], rows: Sequence[Saveable], saved: Tensor, prefix: Tensor
) -> Tensor:
    """The prefix, as a tensor that waits until a full checkpoint is written and its changes are forgotten."""
    if not tables and not rows:
        return saved
    with control_dependencies([saved]):
        names = list(map(_variable_name, rows))
        forgotten = emit_operation("KvForgetTouched", [table.handle for table in tables], variables=names)
    with control_dependencies([forgotten]):
        return emit(identity, prefix)


def add_incremental(
    prefix: Tensor,
    plain: Sequence[Saveable],
    rows: Sequence[Saveable],
    tables: Sequence[EmbeddingSaveable],
    step: Tensor,
) -> None:
    """Adds the operations to the scope that is open. `rows` are those of the plain saveables whose rows are saved."""
    with name_scope(SCOPE):
        with control_dependencies([_saving(prefix, plain, rows, tables, step)]):
            identity(prefix, name="save")
        whole = [saveable for saveable in plain if saveable not in rows]
        done = [*_restoring(prefix, whole, tables), *_restoring_rows(prefix, rows)]
        group(*done, name="restore")
        if rows:
            names = list(map(_variable_name, rows))
            emit_operation("ActivateSparseRecorder", names, name="restored")
            stored = [saveable.name for saveable in rows]
            emit_operation("KvRebaseOnDelta", prefix, stored, variables=names, name="restored_delta")


def _saving(
    prefix: Tensor,
    plain: Sequence[Saveable],
    rows: Sequence[Saveable],
    tables: Sequence[EmbeddingSaveable],
    step: Tensor,
) -> Operation:
    specs = [spec for saveable in plain for spec in saveable.specs]
    names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
    tensors = [spec.tensor for spec in specs]
    if not tables and not rows:
        return emit_operation(save_v2, prefix, names, slices, tensors)
    variables = [_variable_name(saveable) if saveable in rows else "" for saveable in plain for _ in saveable.specs]
    return emit_operation(
        "KvIncrSave",
        prefix,
        ["global_step", *names],
        ["", *slices],
        constant([table.name for table in tables], STRING),
        stack([table.address for table in tables]) if tables else constant([], INT64),
        [step, *tensors],
        variables=variables if rows else [],
    )


def _restoring_rows(prefix: Tensor, rows: Sequence[Saveable]) -> list[Any]:
    if not rows:
        return []
    specs = [spec for saveable in rows for spec in saveable.specs]
    with device("cpu:0"):
        read = emit_tensors(
            "IncrRestore",
            prefix,
            [spec.name for spec in specs],
            [spec.slice_spec for spec in specs],
            [True] * len(specs),
            [spec.tensor for spec in specs],
        )
    return [saveable.restore([tensor], None) for saveable, tensor in zip(rows, read, strict=True)]


def add_restoring_to_model(
    plain: Sequence[Saveable], rows: Sequence[Saveable], tables: Sequence[EmbeddingSaveable]
) -> SaverDef:
    """Adds operations that put an incremental checkpoint over a model that is served, as DeepRec's builder does.

        incr_save/Const          the prefix of the incremental checkpoint, which a run feeds
        incr_save/restore_all    what its server runs (`incr_saver_def` in ModelSessionMgr::CreateModelSession)

    There are none that save: nothing trains where a model is served.
    """
    with name_scope(MODEL_SCOPE):
        prefix = constant("model", STRING)
        whole = [saveable for saveable in plain if saveable not in rows]
        restored = group(*_restoring(prefix, whole, tables), *_restoring_rows(prefix, rows), name="restore_all")
    return SaverDef(filename_tensor_name=prefix.name, restore_op_name=restored.name, sharded=True, version=SaverDef.V2)


def _restoring(prefix: Tensor, plain: Sequence[Saveable], tables: Sequence[EmbeddingSaveable]) -> list[Any]:
    specs = [spec for saveable in plain for spec in saveable.specs]
    done: list[Any] = []
    if specs:
        with device("cpu:0"):
            read = iter(
                emit_tensors(
                    restore_v2,
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
                emit_operation(
                    "KvResourceIncrImport",
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
