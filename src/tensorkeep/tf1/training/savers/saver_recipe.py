"""Savers that are yet to be made: of things to save, whose operations are added, or of operations that a graph has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import saveable_objects
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.messages import SaverDef
from tensorkeep.saving.retention import KeepRecent, RetentionPolicy
from tensorkeep.saving.saver import Saver, SaverOptions
from tensorkeep.saving.saver_defs import check_saver_def, saver_def_below
from tensorkeep.tf1.training.savers.saver_graph import BaseSaverBuilder, BulkSaverBuilder


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
