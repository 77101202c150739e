"""Ensembles of decision trees, and boundaries of buckets: the resources of the BoostedTrees ops.

An ensemble is a TreeEnsemble message. A node of a tree is a leaf, or a split that sends an example on: to the left if
its bucket of a feature is at most the threshold (or, for a category, is the value), else to the right.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.proto.messages import parse, serialize
from tensorkeep.proto.op_messages import DebugOutput, Node, Tree, TreeEnsemble

Integers = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


class FlatTree:
    """One tree as arrays, an element for each node. Checked: every way down ends in a leaf."""

    def __init__(self, tree: Tree, where: str) -> None:
        count = len(tree.nodes)
        if not count:
            raise DataLossError(f"{where} has no nodes")
        self.is_leaf = np.zeros(count, bool)
        self.is_category = np.zeros(count, bool)
        self.feature, self.dimension, self.threshold, self.left, self.right = (
            np.zeros(count, np.int64) for _ in "12345"
        )
        self.values = [_values(node) for node in tree.nodes]
        for at, node in enumerate(tree.nodes):
            self._set(at, node, f"{where}, node {at}")
        self._check_ends(where)

    def _set(self, at: int, node: Node, where: str) -> None:
        kind = node.WhichOneof("node")
        self.is_leaf[at] = kind == "leaf"
        if kind == "leaf":
            return
        if kind not in ("bucketized_split", "categorical_split"):
            raise UnimplementedError(f"{where} is a {kind or 'node of no kind'}; only splits of buckets are understood")
        split: Any = getattr(node, kind)
        self.is_category[at] = kind == "categorical_split"
        self.threshold[at] = split.value if self.is_category[at] else split.threshold
        self.feature[at], self.dimension[at] = split.feature_id, split.dimension_id
        self.left[at], self.right[at] = split.left_id, split.right_id
        for child in (split.left_id, split.right_id):
            if not 0 <= child < len(self.values):
                raise DataLossError(f"{where} leads to node {child}, and the tree has {len(self.values)}")

    def _check_ends(self, where: str) -> None:
        """No node may be reached from itself."""
        seen, level = 0, {0}
        while level:
            seen += 1
            if seen > len(self.values):
                raise DataLossError(f"{where} leads round in a circle")
            level = {int(child) for at in level if not self.is_leaf[at] for child in (self.left[at], self.right[at])}

    def below(self, nodes: Integers, features: list[npt.NDArray[np.int32]]) -> Integers:
        """The node after each of these, one for each example; a leaf stays."""
        result = nodes.copy()
        for feature, dimension in {(int(self.feature[at]), int(self.dimension[at])) for at in set(nodes.tolist())}:
            here = ~self.is_leaf[nodes] & (self.feature[nodes] == feature) & (self.dimension[nodes] == dimension)
            if not here.any():
                continue
            at, buckets = nodes[here], _column(features, feature, dimension)[here]
            matches = np.where(self.is_category[at], buckets == self.threshold[at], buckets <= self.threshold[at])
            result[here] = np.where(matches, self.left[at], self.right[at])
        return result


def _values(node: Node) -> list[float]:
    """The logits of a leaf, or those a split had while it was one; none, if it never was."""
    if node.WhichOneof("node") != "leaf" and not node.metadata.HasField("original_leaf"):
        return []
    leaf = node.leaf if node.WhichOneof("node") == "leaf" else node.metadata.original_leaf
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


def _column(features: list[npt.NDArray[np.int32]], feature: int, dimension: int) -> npt.NDArray[np.int32]:
    if not 0 <= feature < len(features):
        raise InvalidArgumentError(f"a tree asks for feature {feature}, and {len(features)} are given")
    values = features[feature]
    if values.ndim == 1:
        values = values[:, None]
    if not 0 <= dimension < values.shape[1]:
        raise InvalidArgumentError(f"a tree asks for column {dimension} of feature {feature}, which is {values.shape}")
    return values[:, dimension]


class Ensemble:
    """Trees whose leaves, weighted, are added up. Safe to share; until it is created it has no trees to ask for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = RLock()
        self.stamp: int | None = None
        self.serialized = b""
        self.message = TreeEnsemble()
        self.trees: list[FlatTree] = []

    def load(self, stamp: int, serialized: bytes) -> None:
        """Replaces the trees by those of a serialized message."""
        message = parse(TreeEnsemble, serialized, f'tree ensemble "{self.name}"')
        if len(message.tree_weights) < len(message.trees):
            raise DataLossError(
                f'tree ensemble "{self.name}" has {len(message.trees)} trees and {len(message.tree_weights)} weights'
            )
        trees = [FlatTree(tree, f'tree {at} of ensemble "{self.name}"') for at, tree in enumerate(message.trees)]
        with self.lock:
            self.stamp, self.serialized, self.message, self.trees = stamp, serialized, message, trees

    def checked(self) -> Ensemble:
        if self.stamp is None:
            raise FailedPreconditionError(f'tree ensemble "{self.name}" has not been created or restored')
        return self

    def logits(self, features: list[npt.NDArray[np.int32]], dimensions: int) -> Singles:
        """The sum over all trees of the leaf that each example ends in, times the weight of its tree."""
        total = np.zeros((len(features[0]), dimensions), np.float32)
        for tree, weight in zip(self.trees, self.message.tree_weights, strict=False):
            nodes = np.zeros(len(total), np.int64)
            while not tree.is_leaf[nodes].all():
                nodes = tree.below(nodes, features)
            total += np.float32(weight) * self._table(tree, dimensions)[nodes]
        return total

    def _table(self, tree: FlatTree, dimensions: int) -> Singles:
        table = np.zeros((len(tree.values), dimensions), np.float32)
        for at, values in enumerate(tree.values):
            if tree.is_leaf[at] and len(values) != dimensions:
                raise InvalidArgumentError(
                    f'a leaf of tree ensemble "{self.name}" has {len(values)} logits, and {dimensions} are wanted'
                )
            if len(values) == dimensions:
                table[at] = values
        return table

    def paths(self, features: list[npt.NDArray[np.int32]]) -> list[bytes]:
        """Of each example, which features were asked and what the logit was after each, as DebugOutput messages."""
        outputs = [DebugOutput() for _ in range(len(features[0]))]
        for example, output in enumerate(outputs):
            self._follow([feature[example : example + 1] for feature in features], output)
        return [serialize(output) for output in outputs]

    def _follow(self, features: list[npt.NDArray[np.int32]], output: DebugOutput) -> None:
        before = np.float32(0)
        for at, (tree, weight) in enumerate(zip(self.trees, self.message.tree_weights, strict=False)):
            table, node = np.float32(weight) * self._table(tree, 1)[:, 0], 0
            if at == 0:
                output.logits_path.append(table[0])
            while not tree.is_leaf[node]:
                output.feature_ids.append(int(tree.feature[node]))
                node = int(tree.below(np.array([node]), features)[0])
                output.logits_path.append(table[node] + before)
            if at == 0 or node > 0:
                before += table[node]


class QuantileStreams:
    """The boundaries of the buckets of several features. None are there until they are restored."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = RLock()
        self.boundaries: list[Singles] | None = None

    def create(self, count: int) -> None:
        with self.lock:
            if self.boundaries is None:
                self.boundaries = [np.empty(0, np.float32)] * count

    def checked(self) -> list[Singles]:
        if self.boundaries is None:
            raise FailedPreconditionError(f'quantile streams "{self.name}" have not been created')
        return self.boundaries
