"""Attention: the values of a sequence, weighted by how well their keys fit a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, ones, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_band_part
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, logical_and, logical_not, tanh
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.keras.engine.base_layer import Layer

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import LayerOptions


class _Attention(Layer):
    """What kinds of attention share; called with [query, value] or [query, value, key]."""

    _configured = ("use_scale", "causal")

    def __init__(self, causal: bool = False, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        raise NotImplementedError

    def call(self, inputs: Sequence[Tensor], mask: Sequence[Tensor | None] | None = None) -> Tensor:
        if not isinstance(inputs, list | tuple) or not 2 <= len(inputs) <= 3:
            raise InvalidArgumentError(
                f"{type(self).__name__} layer must be called on a list of inputs, namely [query, value] or [query, "
                f"value, key]. Got: {inputs}"
            )
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._scores(query, key)
        kept = None if value_mask is None else expand_dims(value_mask, -2)
        if self.causal:
            sizes = shape_of(scores)
            lower = matrix_band_part(ones([1, sizes[1], sizes[2]], "int32"), -1, 0)
            kept = cast(lower, BOOL) if kept is None else logical_and(kept, cast(lower, BOOL))
        if kept is not None:
            scores = scores - 1.0e9 * cast(logical_not(kept), scores.dtype.base_dtype)
        result = matmul(softmax(scores), value)
        if query_mask is not None:
            result = result * cast(expand_dims(query_mask, axis=-1), result.dtype.base_dtype)
        return result

    def compute_mask(self, inputs: Sequence[Tensor], mask: Sequence[Tensor | None] | None = None) -> Tensor | None:
        return None if not mask or mask[0] is None else mask[0]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        query, value = TensorShape(input_shape[0]).as_list(), TensorShape(input_shape[1]).as_list()
        return TensorShape([*query[:-1], value[-1]])


class Attention(_Attention):
    """Attention by products of query and key."""

    def __init__(self, use_scale: bool = False, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.scale: Any = None

    def build(self, input_shape: TensorShape) -> None:
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones", trainable=True)
        self.built = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scores = matmul(query, transpose(key, [0, 2, 1]))
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(_Attention):
    """Attention by sums of query and key."""

    def __init__(self, use_scale: bool = True, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.scale: Any = None

    def build(self, input_shape: TensorShape) -> None:
        if self.use_scale:
            size = TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self.add_weight(name="scale", shape=[size], initializer="glorot_uniform", trainable=True)
        self.built = True

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        each = tanh(expand_dims(query, axis=-2) + expand_dims(key, axis=-3))
        return reduce_sum(each if self.scale is None else self.scale * each, axis=-1)
