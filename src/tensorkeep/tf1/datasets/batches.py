"""Datasets of batches: of rows that are ragged or sparse, by length, cut anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_operation
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.tf1.datasets.arguments import int64_of
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.structures import Element, Shapes, Specs, flat, map_leaves, pack_leaves, with_rows
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.reductions import reduce_min
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.type_specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec


def ragged_batch(
    dataset: Dataset, batch_size: TensorLike, drop_remainder: TensorLike = False, row_splits_dtype: DTypeLike = INT64
) -> Dataset:
    """So many elements as one, whose components of unknown sizes are ragged tensors."""
    splits = DType.of(row_splits_dtype)

    def is_ragged(spec: Any) -> bool:
        return isinstance(spec, TensorSpec) and not (spec.shape.ndims is not None and spec.shape.plain.is_fully_known)

    specs = dataset.element_spec
    made = map_leaves(lambda spec: _ragged_rows(spec, splits) if is_ragged(spec) else spec, specs)

    def to_variants(*args: Any) -> Any:
        element = args if isinstance(specs, tuple) else args[0]
        leaves = [
            _ragged_component(leaf, spec, splits) if is_ragged(spec) else leaf
            for leaf, spec in zip(flat(element), flat(specs), strict=True)
        ]
        return pack_leaves(specs, leaves)

    variants = dataset.map(to_variants)
    return Dataset(variants._variant_tensor, made, dataset.options()).batch(batch_size, drop_remainder)


def _ragged_rows(spec: TensorSpec, splits: DType) -> RaggedTensorSpec:
    if spec.shape.ndims is None:
        raise InvalidArgumentError("the rank of what goes into a ragged batch must be known")
    return RaggedTensorSpec(spec.shape, spec.dtype, max(spec.shape.ndims - 1, 0), splits)


def sparse_batch(dataset: Dataset, batch_size: TensorLike, row_shape: ShapeLike) -> Dataset:
    """So many elements as one sparse tensor whose rows have a shape, -1 where it is the largest of them."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise WrongTypeError(f"`dense_to_sparse_batch` works on tensors, got {spec!r}")
    shape = plain_shape(row_shape)
    told = constant(np.array([-1 if size is None else size for size in shape.dims or ()], np.int64), INT64)
    made = SparseTensorSpec(TensorShape([None]).concatenate(TensorShape(shape)), spec.dtype)
    return dataset._changed("DenseToSparseBatchDataset", int64_of(batch_size, "batch_size"), told, spec=made)


def rebatch(dataset: Dataset, batch_size: TensorLike, drop_remainder: TensorLike = False) -> Dataset:
    """The rows of the elements in batches of other sizes, which take turns if they are several."""
    sizes, drops = convert(batch_size, INT64, "batch_size"), convert(drop_remainder, BOOL, "drop_remainder")
    known, always = constant_value(sizes), constant_value(drops)
    rows = (
        int(known.reshape(-1)[0]) if known is not None and known.size == 1 and always is not None and always else None
    )

    def spec_of_rows(spec: Any) -> Any:
        if not isinstance(spec, TensorSpec) or spec.shape.ndims == 0:
            raise InvalidArgumentError(f"`rebatch` works on tensors with a first dimension, got {spec!r}")
        return with_rows(TensorSpec(spec.shape[1:] if spec.shape.ndims is not None else None, spec.dtype), rows)

    return dataset._changed("RebatchDatasetV2", sizes, drops, spec=map_leaves(spec_of_rows, dataset.element_spec))


@dataclass(frozen=True)
class Buckets:
    """Which elements go together: those whose length lies between the same boundaries, so many at a time."""

    length_of: Callable[..., Any]
    boundaries: Sequence[int]
    batch_sizes: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.batch_sizes) != len(self.boundaries) + 1:
            raise InvalidArgumentError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1`, but they are "
                f"{len(self.batch_sizes)} and {len(self.boundaries)}."
            )

    def number_of(self, length: Tensor) -> Tensor:
        """In which bucket a length is."""
        numbers = np.iinfo(np.int32)
        lowest, highest = [numbers.min, *self.boundaries], [*self.boundaries, numbers.max]
        is_in = emit(
            "LogicalAnd",
            emit("LessEqual", constant(lowest, INT32), length),
            emit("Less", length, constant(highest, INT32)),
        )
        found: Tensor = reduce_min(emit("Where", is_in))
        return found


def bucket_elements(
    dataset: Dataset,
    buckets: Buckets,
    padded_shapes: Shapes = None,
    padding_values: Element = None,
    to_boundary: bool = False,
    no_padding: bool = False,
    drops: bool = False,
) -> Dataset:
    """Batches of elements of about the same length, padded to the longest of them or to the boundary."""
    sizes = constant(list(buckets.batch_sizes), INT64)

    def element_to_bucket_id(*args: Any) -> Tensor:
        return buckets.number_of(convert(buckets.length_of(*args), INT32))

    def window_size_fn(bucket_id: Tensor) -> Any:
        return _pick_number(sizes, bucket_id)

    def batching_fn(bucket_id: Tensor, grouped: Dataset) -> Dataset:
        size = _pick_number(sizes, bucket_id)
        if no_padding:
            return grouped.batch(size, drop_remainder=drops)
        shapes = padded_shapes if padded_shapes is not None else _open_shapes(dataset.element_spec)
        if to_boundary:
            shapes = _with_boundary(dataset.element_spec, shapes, _largest_length(buckets.boundaries, bucket_id))
        return grouped.padded_batch(size, shapes, padding_values, drop_remainder=drops)

    return dataset.group_by_window(element_to_bucket_id, batching_fn, window_size_func=window_size_fn)


def _pick_number(numbers: Tensor, at: Tensor) -> Tensor:
    found: Any = numbers[at]
    return found  # type: ignore[no-any-return]


def _largest_length(boundaries: Sequence[int], bucket_id: Tensor) -> Tensor:
    """To which length a bucket is filled up. The last one has no boundary: what is in it is too long."""
    is_bounded = emit("Less", bucket_id, constant(len(boundaries), INT64))
    told = constant("When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
    with control_dependencies([emit_operation("Assert", is_bounded, [told])]):
        bounded = emit("Identity", bucket_id)
    return _pick_number(constant(list(boundaries), INT64) - 1, bounded)


def _open_shapes(specs: Specs) -> Shapes:
    return map_leaves(lambda spec: spec.shape, specs)


def _with_boundary(specs: Specs, shapes: Shapes, boundary: Tensor) -> Shapes:
    """Shapes whose open sizes are those of a bucket."""

    def filled(spec: Any, shape: Any) -> Tensor:
        sizes = plain_shape(shape).dims or ()
        parts = [boundary if size is None else constant(size, INT64) for size in sizes]
        return emit("Pack", parts) if parts else constant(np.zeros(0, np.int64), INT64)

    leaves = [filled(spec, shape) for spec, shape in zip(flat(specs), _leaves_of_shapes(specs, shapes), strict=True)]
    return pack_leaves(specs, leaves)


def _leaves_of_shapes(specs: Any, shapes: Any) -> list[Any]:
    if isinstance(specs, tuple):
        return [leaf for part, item in zip(specs, shapes, strict=True) for leaf in _leaves_of_shapes(part, item)]
    if isinstance(specs, dict):
        return [leaf for key in sorted(specs) for leaf in _leaves_of_shapes(specs[key], shapes[key])]
    return [shapes]


def _ragged_component(tensor: Tensor, spec: TensorSpec, splits: DType) -> Tensor:
    """A tensor as the variant of a ragged one, of as many ragged dimensions as it has beyond the first."""
    rank = spec.shape.ndims or 0
    if rank <= 1:
        return emit("RaggedTensorToVariant", [], tensor, Tsplits=splits, RAGGED_RANK=0, batched_input=False)
    ragged = RaggedTensor.from_tensor(tensor, ragged_rank=rank - 1, row_splits_dtype=splits)
    return ragged._to_variant(batched_input=False)
