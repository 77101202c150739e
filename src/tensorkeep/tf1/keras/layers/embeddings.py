"""Layers that look up rows by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike
from tensorkeep.graph.building import device
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import cast, not_equal
from tensorkeep.tf1.keras import constraints, initializers, regularizers
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.engine.base_layer import Layer

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import ConstraintOption, InitializerOption, RegularizerOption, TableOptions


class Embedding(Layer):
    """Rows of a table, by their numbers; with `mask_zero` those of number 0 are masked."""

    _configured = (
        "input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer", "activity_regularizer",
        "embeddings_constraint", "mask_zero", "input_length",
    )  # fmt: skip

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: InitializerOption = "uniform",
        embeddings_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        embeddings_constraint: ConstraintOption = None,
        mask_zero: bool = False,
        input_length: int | Sequence[int | None] | None = None,
        **kwargs: Unpack[TableOptions],
    ) -> None:
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if isinstance(input_length, int | None) else tuple(input_length)
            if input_length is None:
                kwargs["input_shape"] = (None,)
        kwargs["dtype"] = kwargs.get("dtype") or floatx()
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero, self.supports_masking, self.input_length = mask_zero, mask_zero, input_length
        self.embeddings: Any = None

    def build(self, input_shape: TensorShape) -> None:
        with device("cpu:0"):  # where TensorFlow without a GPU, and with one if it is not eager, has them
            self.embeddings = self.add_weight(
                shape=(self.input_dim, self.output_dim),
                initializer=self.embeddings_initializer,
                name="embeddings",
                regularizer=self.embeddings_regularizer,
                constraint=self.embeddings_constraint,
            )
        self.built = True

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        lengths = [self.input_length] if isinstance(self.input_length, int) else list(self.input_length)
        if len(lengths) != len(sizes) - 1:
            raise InvalidArgumentError(
                f'"input_length" is {self.input_length}, but received input has shape {tuple(sizes)}'
            )
        inner = [known if told is None else told for told, known in zip(lengths, sizes[1:], strict=True)]
        return TensorShape([sizes[0], *inner, self.output_dim])

    def call(self, inputs: Tensor) -> Tensor:
        if inputs.dtype.base_dtype not in (INT32, INT64):
            inputs = cast(inputs, INT32)
        return embedding_lookup(self.embeddings, inputs)
