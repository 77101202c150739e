"""The messages of decision trees, which only ensembles of trees need."""

from __future__ import annotations

from tensorkeep.proto._generated.boosted_trees_pb2 import DebugOutput, Node, Tree, TreeEnsemble

__all__ = ["DebugOutput", "Node", "Tree", "TreeEnsemble"]
