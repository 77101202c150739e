"""Sets along the last dimension, under the names of TensorFlow 1's `tf.sets`."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.numbers import sets
from tensorkeep.runtime.composite_values import SparseTensorValue


def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """How many different elements each set of a sparse tensor has."""
    a = _dense_or_sparse(a)
    if not isinstance(a, SparseTensor):
        raise WrongTypeError(f"Expected `SparseTensor`, got {a}.")
    return emit(sets.set_size, a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def set_intersection(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The elements that both sets have."""
    first, second, _ = _ordered_sets(a, b)
    return _combine_sets(first, second, "intersection", validate_indices)


def set_difference(a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of the first set that the second lacks; or the other way round."""
    first, second, is_flipped = _ordered_sets(a, b)
    return _combine_sets(first, second, "a-b" if aminusb != is_flipped else "b-a", validate_indices)


def set_union(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The elements that either set has."""
    first, second, _ = _ordered_sets(a, b)
    return _combine_sets(first, second, "union", validate_indices)


def _ordered_sets(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, a dense one before a sparse one, and whether they changed places."""
    a, b = _dense_or_sparse(a), _dense_or_sparse(b)
    first = a if isinstance(a, SparseTensor) else convert(a, name="a")
    second = b if isinstance(b, SparseTensor) else convert(b, name="b")
    if first.dtype.base_dtype is not second.dtype.base_dtype:
        raise WrongTypeError(f"Types don't match, {first.dtype} vs {second.dtype}.")
    if isinstance(first, SparseTensor) and not isinstance(second, SparseTensor):
        return second, first, True
    return first, second, False


def _dense_or_sparse(value: Any) -> Any:
    """A sparse tensor for the value of one; anything else as it is."""
    return SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value


def _combine_sets(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    attrs: dict[str, Any] = {"set_operation": operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        found = sets.sparse_to_sparse_set_operation(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, **attrs
        )
    elif isinstance(b, SparseTensor):
        found = sets.dense_to_sparse_set_operation(a, b.indices, b.values, b.dense_shape, **attrs)
    else:
        found = sets.dense_to_dense_set_operation(a, b, **attrs)
    return SparseTensor(*found)


__all__ = ["set_difference", "set_intersection", "set_size", "set_union"]
