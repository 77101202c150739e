"""Accumulators for programs: gradients that several runs bring, and that another takes when there are enough."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.data import accumulators as ops
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.functions.numbers.elementwise import cast


class ConditionalAccumulatorBase:
    """Gradients that are added up. Those of a step that is over are dropped."""

    _prefix = "Resource"

    def __init__(self, dtype: DTypeLike, shape: ShapeLike | None, accumulator_ref: Tensor) -> None:
        self._dtype = DType.of(dtype)
        self._shape = UNKNOWN_SHAPE if shape is None else plain_shape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        return self._accumulator_ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients have been added up since the last were taken."""
        return emit(
            f"{self._prefix}AccumulatorNumAccumulated",
            self._accumulator_ref,
            name=chosen_name(name, f"{self._name}_NumAccumulated"),
        )

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """The operation that sets the step: gradients of earlier ones are dropped from then on."""
        return emit_operation(
            f"{self._prefix}AccumulatorSetGlobalStep",
            self._accumulator_ref,
            cast(convert(new_global_step), INT64),
            name=name,
        )


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Dense gradients that are added up; their sum or mean is taken when there are enough."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = ops.resource_conditional_accumulator(
            dtype=DType.of(dtype),
            shape=UNKNOWN_SHAPE if shape is None else plain_shape(shape),
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None) -> Operation:
        """The operation that adds a gradient, unless it is of an earlier step."""
        gradient = convert(grad, self._dtype)
        if not gradient.static_shape.is_compatible(self._shape):
            raise InvalidArgumentError(f"Shapes {gradient.static_shape} and {self._shape} are incompatible")
        step = cast(convert(local_step), INT64)
        return emit_operation("ResourceAccumulatorApplyGradient", self._accumulator_ref, step, gradient, name=name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """The sum or mean. When run, it waits for so many gradients; then the next step begins."""
        taken = emit(
            "ResourceAccumulatorTakeGradient", self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Rows of gradients that are added up by index; the mean of a row is over those that have it."""

    _prefix = ""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = ops.sparse_conditional_accumulator(
            dtype=DType.of(dtype),
            shape=UNKNOWN_SHAPE if shape is None else plain_shape(shape),
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """The operation that adds rows."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """The operation that adds rows: their indices, in order and each once, and their values."""
        step = cast(convert(local_step), INT64)
        return emit_operation(
            "SparseAccumulatorApplyGradient",
            self._accumulator_ref,
            step,
            cast(grad_indices, INT64),
            grad_values,
            cast([] if grad_shape is None else grad_shape, INT64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Sequence[Tensor]:
        """Indices, values and shape. When run, it waits for so many gradients."""
        return emit_tensors(
            "SparseAccumulatorTakeGradient", self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """The same as slices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)


__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]
