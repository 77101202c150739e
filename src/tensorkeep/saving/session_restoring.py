"""Restoring the variables of a session by the nodes of its graph: compared first, then set, or left as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.finding.opening import held_reader
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions, TensorInfo
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.planning import exact_outcome, plan_restore, stored_exactly
from tensorkeep.checkpoint.restore.wanted_tensors import Policy, Wanted
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.graph import Operation
from tensorkeep.io.machine.resources import collector_paused
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.ops.files.checkpoints import is_large
from tensorkeep.proto.messages import SaverDef
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saving.dense_embeddings import with_dense_embeddings
from tensorkeep.saving.restore_nodes import RestoreNodes
from tensorkeep.saving.restored_embeddings import EmbeddingPlan


def restore_variables(
    session: Session,
    saver_def: SaverDef,
    nodes: RestoreNodes,
    path: str,
    mapping: Mapping[str, str] | None,
    on_mismatch: Policy,
) -> RestoreOutcome:
    """Sets what the restore nodes of a graph set to what a checkpoint holds, and says what was set and what was not."""
    fs = session.surroundings.filesystem
    with collector_paused(), held_reader(partial(open_prefix, path, ReadOptions(Checksums.ONCE), fs)) as reader:
        # Where functions do the restoring, the graph does not tell what is wanted, and there is nothing to compare.
        stored = None if mapping else stored_exactly(nodes.wanted, reader) if nodes.wanted else []
        hash_tables = nodes.hash_tables.plan(reader, mapping, on_mismatch)
        tables = nodes.embeddings.plan(SurveyedCheckpoint(reader), mapping, on_mismatch).with_hash_tables(hash_tables)
        run = _Run(session, saver_def, nodes, path, tables)
        if stored is None or tables.absent:
            return hash_tables.told(run.as_planned(on_mismatch))
        run.read_from(reader, _large(nodes.wanted, stored) if stored else None)
        return hash_tables.told(exact_outcome(nodes.wanted, stored, reader))


def _large(wanted: Sequence[Wanted], stored: Sequence[TensorInfo]) -> frozenset[str]:
    """The keys of tensors that are large. Many tensors share what is known of them, which is looked at once."""
    large = {at for at, info in {id(info): info for info in stored}.items() if is_large(info)}
    if not large:
        return frozenset()
    return frozenset(item.key for item, info in zip(wanted, stored, strict=True) if id(info) in large)


class _Run:
    """One restore."""

    def __init__(
        self, session: Session, saver_def: SaverDef, nodes: RestoreNodes, path: str, tables: EmbeddingPlan
    ) -> None:
        self._session = session
        self._saver_def = saver_def
        self._nodes = nodes
        self._path = path
        self._tables = tables

    def as_planned(self, on_mismatch: Policy) -> RestoreOutcome:
        """Restores from a checkpoint whose names, types or shapes are not quite the graph's, as the policy says."""
        fs = self._session.surroundings.filesystem
        wanted = self._nodes.wanted
        reader = with_dense_embeddings(self._tables.checkpoint, wanted, fs)
        names = self._tables.other_names(wanted)
        plan = plan_restore(wanted, reader, mapping=names, on_mismatch=on_mismatch)
        view = plan.reader(reader, partial(_initial_value, self._session, self._nodes), placeholders=True)
        outcome = plan.outcome()
        self.read_from(view, skipped=frozenset(item.wanted.key for item in outcome.not_restored))
        self._tables.log()
        return outcome

    def read_from(
        self,
        reader: CheckpointReader,
        large: frozenset[str] | None = None,
        *,
        skipped: frozenset[str] = frozenset(),
    ) -> None:
        """Has the graph restore from a reader, all that is not to be skipped."""
        session, nodes, tables = self._session, self._nodes, self._tables
        restoring: Any = self._saver_def.restore_op_name
        if skipped or tables.absent:
            restoring = nodes.without(skipped, tables.absent)
        # Where nothing has a value, there is none to lose: what was assigned before an error is taken back.
        is_new = not tables.stems and _can_be_cleared(session, nodes)
        is_one = nodes.readings == 1 and not tables.stems  # else something is assigned before all has been read
        if not is_new and not is_one:
            reader.verify_many({item.key for item in nodes.wanted} - skipped)
        checkpoint = SurveyedCheckpoint(reader)
        access = CheckpointAccess(
            open=lambda path: checkpoint,
            large=large,
            whole=tables.checkpoint,
            renamed=tables.renamed,
            renamed_tensor=tables.hash_tables.renamed,
            checks_first=not is_new and is_one,
        )
        try:
            session.run(restoring, {self._saver_def.filename_tensor_name: self._path}, checkpoints=access)
        except BaseException:
            for place in _places(session, nodes) if is_new else ():
                place.clear()
            raise


def _initial_value(session: Session, nodes: RestoreNodes, wanted: Wanted) -> Array:
    """What a variable holds that is restored in part: its value, or else its initial value."""
    found = next((item.variable for item in nodes.tensors if item.wanted is wanted), None)
    if found is None:
        raise FailedPreconditionError(
            f'"{wanted.key}" is not restored into a variable, so it cannot be restored in part'
        )
    place = _place(session, found)
    if place is not None and place.is_initialized:
        return place.read()
    for op in found.graph.operations:
        if op.type in ("Assign", "AssignVariableOp") and op.inputs[0].op is found:
            return np.asarray(session.run(op.inputs[1]))  # the first assignment of a variable initialises it
    raise FailedPreconditionError(f'variable "{found.name}" has neither a value nor an initializer to grow from')


def _can_be_cleared(session: Session, nodes: RestoreNodes) -> bool:
    """Whether all that is restored are variables, and none of them has a value."""
    if any(place.is_initialized for place in _places(session, nodes)):  # found out at the first one, mostly
        return False
    return not any(item.sink is not None and item.variable is None for item in nodes.tensors)


def _places(session: Session, nodes: RestoreNodes) -> Iterator[VariableResource]:
    """Where a session keeps the variables that are restored, as far as it has come across them."""
    found = (_place(session, item.variable) for item in nodes.tensors)
    return (place for place in found if place is not None)


def _place(session: Session, variable: Operation | None) -> VariableResource | None:
    """Where a session keeps a variable; None if it has not come across it yet."""
    if variable is None or variable.type not in ("Variable", "VariableV2", "VarHandleOp"):
        return None
    container, name = (variable.attr(attr).decode() for attr in ("container", "shared_name"))
    found = session.resources.find(container, name or variable.name)
    return found if isinstance(found, VariableResource) else None
