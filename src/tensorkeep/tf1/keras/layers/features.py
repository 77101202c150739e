"""Feature columns as a layer of Keras."""

from __future__ import annotations

from collections.abc import Iterable

from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.columns import dense_layers
from tensorkeep.tf1.columns.column import FeatureColumn
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.named_objects import unique_object_name
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.scopes import variable_scope


class DenseFeatures(dense_layers.DenseFeatures, Layer):
    """What dense columns give, side by side, in the order of their names; called with features by name."""

    _not_followed = Layer._not_followed | {"_columns", "_state"}

    def __init__(
        self,
        feature_columns: Iterable[FeatureColumn],
        trainable: bool = True,
        name: str | None = None,
        partitioner: Partitioner | None = None,
    ) -> None:
        chosen = name or unique_object_name("dense_features", zero_based=True)
        super().__init__(feature_columns, trainable, chosen, partitioner)

    def build(self, input_shape: TensorShape) -> None:
        with variable_scope(self.name, auxiliary_name_scope=False):
            super().build(input_shape)
