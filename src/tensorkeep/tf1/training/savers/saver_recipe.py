"""Savers that are yet to be made: of things to save, whose operations are added, or of operations that a graph has.

A SaverDef is the message that says what these operations are called; here are its names under other scopes, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import saveable_objects
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.proto.messages import SaverDef
from tensorkeep.saving.retention import KeepRecent, RetentionPolicy
from tensorkeep.saving.saver import Saver, SaverOptions
from tensorkeep.tf1.training.savers.saver_graph import BaseSaverBuilder, BulkSaverBuilder

_NAMES: Final = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


@dataclass(frozen=True)
class SaverRecipe:
    """A saver that is yet to be made: from things to save, or from the SaverDef of a graph that has its operations."""

    items: Any = None
    """A list or dictionary; None for all saveable objects of the graph at the time."""
    saver_def: SaverDef | None = None
    builder: BaseSaverBuilder = field(default_factory=BulkSaverBuilder)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """How the operations are built: arguments of `BaseSaverBuilder.build`, and those that only savers pass."""
    allow_empty: bool = False
    retention: RetentionPolicy | None = None
    """None: as the SaverDef says."""
    options: SaverOptions = field(default_factory=SaverOptions)

    def make(self, graph: Graph) -> Saver | None:
        """Adds the operations to the graph being built, unless it has them; None if there is nothing to save."""
        name = self.arguments.get("name")
        found = self._built() if self.saver_def is None else saver_def_below(check_saver_def(self.saver_def), name)
        if found is None:
            return None
        kept = self.retention or KeepRecent(found.max_to_keep, found.keep_checkpoint_every_n_hours)
        return Saver(graph, found, replace(self.options, retention=kept))

    def _built(self) -> SaverDef | None:
        items = saveable_objects(current_graph()) if self.items is None else self.items
        if items:
            return self.builder._build_internal(items, **self.arguments, build_save=True, build_restore=True)
        if self.allow_empty:
            return None
        raise InvalidArgumentError("No variables to save")


def check_saver_def(saver_def: object) -> SaverDef:
    """Sees that a SaverDef is one, and names what a saver runs."""
    if not isinstance(saver_def, SaverDef):
        raise InvalidArgumentError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
    for key in ("save_tensor_name", "restore_op_name"):
        if not getattr(saver_def, key):
            raise InvalidArgumentError(f"saver_def must specify the {key}: {saver_def}")
    return saver_def


def saver_def_below(saver_def: SaverDef, scope: str | None) -> SaverDef:
    """The same saver in a graph that was imported into a scope."""
    found = SaverDef.FromString(saver_def.SerializeToString())
    for key in _NAMES:
        setattr(found, key, prepend_name_scope(getattr(found, key), scope))
    return found


def saver_def_without(saver_def: SaverDef, scope: str | None) -> SaverDef | None:
    """The same saver in a graph that is exported from a scope; None if it is not in that scope."""
    if scope is None:
        return saver_def
    if not all(getattr(saver_def, key).startswith(scope) for key in _NAMES):
        return None
    found = SaverDef.FromString(saver_def.SerializeToString())
    for key in _NAMES:
        setattr(found, key, strip_name_scope(getattr(found, key), scope))
    return found
