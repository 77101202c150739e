"""What programs may say of the layers of Keras, as types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

from tensorkeep.arrays import Array
from tensorkeep.graph.arguments import DTypeLike, IntegersLike, ShapeLike
from tensorkeep.tf1.layers.arguments import ActivationLike
from tensorkeep.tf1.variables.options import Constraint, InitializerLike, Regularizer

Named: TypeAlias = "str | Mapping[str, Any] | None"
"""An object by its name, or by the configuration that makes it."""
ActivationOption: TypeAlias = "ActivationLike | Named"
InitializerOption: TypeAlias = "InitializerLike | Named"
RegularizerOption: TypeAlias = "Regularizer | Named"
ConstraintOption: TypeAlias = "Constraint | Named"
Sizes: TypeAlias = "Sequence[int | None]"
ShapesLike: TypeAlias = "ShapeLike | Sequence[ShapeLike]"
"""The shape of a tensor, or those of several."""
WeightOption: TypeAlias = "InitializerOption | RegularizerOption | ConstraintOption"
AnyOption: TypeAlias = "ActivationOption | WeightOption | DTypeLike | IntegersLike | Sizes | Sequence[Array]"
"""An argument of a layer whose arguments are those of another class."""


class ShapeOptions(TypedDict, total=False):
    """What any layer may be told of its inputs, and of how it computes."""

    dtype: DTypeLike | None
    dynamic: bool
    input_shape: Sizes
    batch_input_shape: Sizes
    batch_size: int | None
    autocast: bool
    experimental_autocast: bool


class TableOptions(ShapeOptions, total=False):
    """The same, and what it is called and begins with."""

    trainable: bool
    name: str | None
    weights: Sequence[Array] | None


class NamedOptions(TableOptions, total=False):
    """The same for layers whose own arguments do not say how wide the inputs are, as those of tables do."""

    input_dim: int


class LayerOptions(NamedOptions, total=False):
    """The same for layers whose own arguments do not say what their outputs cost."""

    activity_regularizer: RegularizerOption


class ActivityOptions(ShapeOptions, total=False):
    """What a layer may be told whose own arguments say what it is called."""

    input_dim: int
    weights: Sequence[Array] | None
    activity_regularizer: RegularizerOption


class WrapperOptions(ShapeOptions, total=False):
    """What a layer may be told whose own arguments say what it begins with."""

    trainable: bool
    name: str | None
    input_dim: int
    activity_regularizer: RegularizerOption


class LoopOptions(LayerOptions, total=False):
    """What a recurrent layer may be told besides."""

    time_major: bool


class StackOptions(LayerOptions, total=False):
    """What cells on top of each other may be told besides; Keras once had their states the other way round."""

    reverse_state_order: bool
