"""Gradients of a graph beside finite differences: `compute_gradient` of TensorFlow's python/ops/gradient_checker.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients


def gradients_both_ways(
    session: SessionLike,
    inputs: Sequence[tuple[Tensor, Sequence[int]]],
    output: tuple[Tensor, Sequence[int]],
    starts: Sequence[Any] | None,
    delta: float,
    feeds: Mapping[Any, Any],
) -> list[tuple[Array, Array]]:
    """For each of some tensors, two matrices: by the graph's gradients, and by differences of twice `delta`.

    A row of them is an element of the tensor, a column an element of the output. `starts` are the values of the
    tensors, random between 0 and 1 if they are None; a complex number counts as its two parts.
    """
    values = [
        _start(shape, tensor, None if starts is None else starts[at]) for at, (tensor, shape) in enumerate(inputs)
    ]
    result, shape = output
    if not result.dtype.is_floating or result.dtype.is_complex:
        raise InvalidArgumentError(f"gradients are checked of an output of real numbers, got {result.dtype}")
    weights = placeholder(result.dtype, shape)
    found = gradients([result], [tensor for tensor, _ in inputs], [weights])
    fed = {**feeds, **{tensor: value for (tensor, _), value in zip(inputs, values, strict=True)}}
    pairs = []
    for (tensor, _), value, gradient in zip(inputs, values, found, strict=True):
        exact = _by_gradient(session, gradient, weights, shape, value, fed)
        pairs.append((exact, _by_differences(session, tensor, result, value, delta, fed)))
    return pairs


def _start(shape: Sequence[int], tensor: Tensor, given: Any) -> Array:
    kind = tensor.dtype.base_dtype.array_dtype
    if given is not None:
        return np.array(given, kind).reshape([int(size) for size in shape])
    return np.asarray(np.random.random_sample([int(size) for size in shape]), kind)


def _by_gradient(
    session: SessionLike, gradient: Any, weights: Tensor, shape: Sequence[int], value: Array, fed: Mapping[Any, Any]
) -> Array:
    count = int(np.prod([int(size) for size in shape]))
    matrix = np.zeros((value.size, count), value.dtype)
    if gradient is None:
        return matrix
    for column in range(count):
        one = np.zeros(count, weights.dtype.base_dtype.array_dtype)
        one[column] = 1
        found = session.run(gradient, {**fed, weights: one.reshape([int(size) for size in shape])})
        matrix[:, column] = _dense(found, gradient, value).reshape(-1)
    return matrix


def _dense(found: Any, gradient: Any, value: Array) -> Array:
    """A gradient as a whole array, of one that may be rows."""
    if not isinstance(gradient, IndexedSlices):
        return np.asarray(found)
    whole = np.zeros(value.shape, value.dtype)
    np.add.at(whole, found.indices, found.values)
    return whole


def _by_differences(
    session: SessionLike, tensor: Tensor, result: Tensor, value: Array, delta: float, fed: Mapping[Any, Any]
) -> Array:
    rows = []
    for place in np.ndindex(*value.shape):
        sides = []
        for step in (delta, -delta):
            moved = value.copy()
            moved[place] += step
            sides.append(np.asarray(session.run(result, {**fed, tensor: moved})).reshape(-1))
        rows.append((sides[0] - sides[1]) / (2 * delta))
    return np.asarray(rows, value.dtype).reshape(value.size, -1)
