"""Restoring the variables of a session by their names, where the graph has no operations that do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.planning import plan_restore
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch, Policy, Wanted
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saving.stored_values import StoredValue, by_any_name, parts_of_meta_graph, stored_values


def restore_by_name(
    session: Session,
    variables: Sequence[VariableNode],
    meta_graph: MetaGraphDef,
    checkpoint: PathLike,
    *,
    mapping: Mapping[str, str] | None = None,
    on_mismatch: Policy = OnMismatch.STRICT,
    fs: FileSystem = FILES,
) -> RestoreOutcome:
    """Sets variables to what a checkpoint holds under their names, and says what was set. All is compared first.

    Parts of a partitioned variable take their parts of the stored tensor.
    """
    with open_checkpoint(checkpoint, fs=fs) as opened:
        reader = by_any_name(opened)
        stored = stored_values(variables, variables, reader, parts_of_meta_graph(meta_graph))
        wanted = {node.name: _wanted_tensor(node, stored.get(node.name)) for node in variables}
        plan = plan_restore(list(wanted.values()), reader, mapping=mapping, on_mismatch=on_mismatch)
        nodes = {id(item): node for node, item in zip(variables, wanted.values(), strict=True)}
        read = list(plan.read(reader, lambda item: _present(session, nodes[id(item)])))
        outcome = plan.outcome()
        for item, array in read:
            place_of(session, nodes[id(item)]).assign(array)
    outcome.log()
    return outcome


def _wanted_tensor(node: VariableNode, place: StoredValue | None) -> Wanted:
    if place is None or place.part is None:
        return Wanted(node.name if place is None else place.key, node.dtype, node.shape.dims)
    return Wanted(place.key, node.dtype, None, place.part, node.name)


def _present(session: Session, node: VariableNode) -> Array:
    """What a variable holds that is restored in part."""
    place = place_of(session, node)
    if not place.is_initialized:
        raise FailedPreconditionError(f'variable "{node.name}" has no value to grow from: initialize it first')
    return place.read()


def place_of(session: Session, node: VariableNode) -> VariableResource:
    """Where a session keeps a variable; made if it has not come across it yet."""
    make = partial(VariableResource, node.resource_name, node.dtype, node.shape, is_ref=not node.is_resource)
    return session.resources.get_or_create(node.container, node.resource_name, VariableResource, make)
