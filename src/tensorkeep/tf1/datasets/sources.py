"""Datasets that are made of tensors, numbers, names of files, and of other datasets side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit, emit_operation
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.shapes import Shape
from tensorkeep.tf1.datasets.arguments import int64_of
from tensorkeep.tf1.datasets.dataset import Dataset, Datasets
from tensorkeep.tf1.datasets.structures import (
    Element,
    Specs,
    batched_tensors_of,
    component_shape,
    flat,
    flat_kinds,
    map_leaves,
    normalize_element,
    pack_leaves,
    spec_of,
    tensors_of,
    without_rows,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.type_specs import SparseTensorSpec, TensorSpec, TypeSpec


def from_tensors(tensors: Element) -> Dataset:
    """A dataset of one element."""
    element = normalize_element(tensors)
    spec = map_leaves(spec_of, element)
    return _source("TensorDataset", tensors_of(element), spec)


def from_tensor_slices(tensors: Element) -> Dataset:
    """A dataset of the rows of tensors along their first dimension."""
    element = normalize_element(tensors)
    spec = map_leaves(lambda leaf: without_rows(spec_of(leaf)), element)
    _check_sizes(flat(element))
    return _source("TensorSliceDataset", batched_tensors_of(element), spec)


def from_sparse_tensor_slices(sparse_tensor: SparseTensor | SparseTensorValue) -> Dataset:
    """A dataset of the rows of a sparse tensor."""
    value = SparseTensor.from_value(sparse_tensor) if isinstance(sparse_tensor, SparseTensorValue) else sparse_tensor
    if not isinstance(value, SparseTensor):
        raise WrongTypeError(f"`sparse_tensor` must be a tf.SparseTensor object, got {sparse_tensor!r}")
    variant = emit("SparseTensorSliceDataset", value.indices, value.values, value.dense_shape)
    rank = value.shape.ndims
    indices = TensorShape([None, None if rank is None else rank - 1])
    dense = TensorShape([None if rank is None else rank - 1])
    parts = (TensorSpec(indices, INT64), TensorSpec([None], value.dtype), TensorSpec(dense, INT64))
    return Dataset(variant, parts)


def number_range(*args: TensorLike, **kwargs: DTypeLike | None) -> Dataset:
    """A dataset of whole numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
    dtype = DType.of(kwargs.pop("output_type", INT64))
    kwargs.pop("name", None)
    if kwargs or not 1 <= len(args) <= 3:
        raise InvalidArgumentError(f"Invalid `args`. The length of `args` should be between 1 and 3, got {args}")
    start, stop, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    numbers = [int64_of(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step"))]
    spec = TensorSpec([], dtype)
    return Dataset(emit("RangeDataset", *numbers, **flat_kinds(spec)), spec)


def list_files(file_pattern: TensorLike, shuffle: bool | None = None, seed: int | None = None) -> Dataset:
    """A dataset of the names of files that match patterns, at random unless `shuffle` is False."""
    with name_scope("list_files"):
        patterns = convert(file_pattern, STRING, "file_pattern")
        found = emit("MatchingFiles", patterns)
        source = Dataset(
            emit(
                "TensorSliceDataset",
                [_not_empty(found, patterns)],
                output_shapes=(Shape(()),),
                is_files=True,
            ),
            TensorSpec([], STRING),
        )
        if shuffle is not None and not shuffle:
            return source
        size = emit("Shape", found, out_type=INT64)
        count = emit("Maximum", emit("Squeeze", size), constant(1, INT64))
        return source.shuffle(count, seed=seed)


def zip_datasets(*args: Datasets, datasets: Datasets | None = None) -> Dataset:
    """Datasets side by side: an element has the structure in which they are given."""
    if not args and datasets is None:
        raise WrongTypeError("Must pass at least one dataset to `zip`.")
    given = datasets if datasets is not None else args[0] if len(args) == 1 else args
    if isinstance(given, list):
        raise WrongTypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of Datasets")
    leaves = flat(given)
    if not leaves:
        raise InvalidArgumentError("`zip` needs at least one dataset, got none")
    for leaf in leaves:
        if not isinstance(leaf, Dataset):
            raise WrongTypeError(f"Invalid input to `zip`. Inputs must be datasets, got {type(leaf)}.")
    spec = pack_leaves(given, [leaf._element_spec for leaf in leaves])
    variants = [leaf._variant_tensor for leaf in leaves]
    options = leaves[0]._options
    for leaf in leaves[1:]:
        options = options.merge(leaf._options)
    return Dataset(emit("ZipDataset", variants, **flat_kinds(spec)), spec, options)


def _source(op: str, tensors: Sequence[Tensor], spec: Specs) -> Dataset:
    shapes = tuple(map(_told_component, flat(spec), tensors)) if op == "TensorDataset" else None
    kinds = flat_kinds(spec)["output_shapes"] if shapes is None else shapes
    return Dataset(emit(op, list(tensors), output_shapes=kinds), spec)


def _told_component(spec: TypeSpec, tensor: Tensor) -> Shape:
    """The shape of the tensor as which a value of a source travels."""
    return tensor.static_shape if isinstance(spec, SparseTensorSpec) else component_shape(spec)


def _check_sizes(leaves: Sequence[Any]) -> None:
    sizes = [int(shape[0]) for leaf in leaves if (shape := leaf.shape).ndims and shape.as_list()[0] is not None]
    if len(set(sizes)) > 1:
        raise InvalidArgumentError(
            f"Dimensions {sizes[0]} and {next(size for size in sizes if size != sizes[0])} are not compatible"
        )


def _not_empty(found: Tensor, patterns: Tensor) -> Tensor:
    """Names of files, of which there must be some when they are wanted."""
    from_first = emit("StridedSlice", emit("Shape", found), [0], [1], [1], shrink_axis_mask=1)
    is_filled = emit("Greater", from_first, constant(0), name="match_not_empty")
    axes = constant(np.arange(patterns.static_shape.rank or 0, dtype=np.int32))
    joined = emit("ReduceJoin", patterns, axes, separator=", ")
    message = emit("Add", constant("No files matched pattern: "), joined, name="message")
    return _asserted_value(found, is_filled, message)


def _asserted_value(value: Tensor, condition: Tensor, message: Tensor) -> Tensor:
    """A tensor that is there only if a condition holds."""
    check = emit_operation("Assert", condition, [message], summarize=1, name="assert_not_empty/Assert")
    with control_dependencies([check]):
        return emit("Identity", value)
