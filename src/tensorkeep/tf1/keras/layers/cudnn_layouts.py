"""Weights of recurrent layers as cuDNN has them and as others do, one made of the other when files are read.

cuDNN's kernels hold a transposed matrix for each gate row by row, and there are two biases in a row. That of other long
short-term memories is one, the sum of both; gated recurrent units that reset after the product have two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError


def lstm_values(values: Sequence[Any], *, as_cudnn: bool) -> list[Any]:
    """The values of a long short-term memory, in the layout that is asked for, whichever they have."""
    if len(values) != 3 or np.ndim(values[1]) != 2:
        return list(values)
    wide = np.shape(values[1])[1]
    if np.shape(values[2]) not in ((wide,), (2 * wide,)):
        raise InvalidArgumentError(f"Invalid bias shape: {np.shape(values[2])}, for {wide} outputs of gates")
    is_cudnn = np.shape(values[2]) == (2 * wide,)
    if is_cudnn == as_cudnn:
        return list(values)
    bias = np.asarray(values[2])
    made = bias[:wide] + bias[wide:] if is_cudnn else np.tile(bias.dtype.type(0.5) * bias, 2)
    return [*_turned_kernels(values, 4, is_cudnn), made]


def gru_values(values: Sequence[Any], *, as_cudnn: bool, reset_after: bool) -> list[Any]:
    """The values of gated recurrent units, in the layout that is asked for, whichever they have."""
    if len(values) != 3 or np.ndim(values[1]) != 2:
        return list(values)
    wide = np.shape(values[1])[1]
    names = {
        (2 * wide,): "CuDNNGRU",
        (2, wide): "GRU(reset_after=True)",
        (wide,): "GRU(reset_after=False)",
    }
    source = names.get(np.shape(values[2]))
    if source is None:
        raise InvalidArgumentError(f"Invalid bias shape: {np.shape(values[2])}, for {wide} outputs of gates")
    target = "CuDNNGRU" if as_cudnn else f"GRU(reset_after={reset_after})"
    if source == target:
        return list(values)
    if "GRU(reset_after=False)" in (source, target):
        raise InvalidArgumentError(f"weights of {source} are not compatible with {target}")
    bias = np.asarray(values[2]).reshape(-1 if as_cudnn else (2, -1))
    return [*_turned_kernels(values, 3, not as_cudnn), bias]


def _turned_kernels(values: Sequence[Any], gates: int, is_cudnn: bool) -> list[Array]:
    def of_inputs(kernel: Array) -> Array:
        return kernel.T.reshape(kernel.shape, order="F" if is_cudnn else "C")

    return [
        _of_each_gate(np.asarray(values[0]), gates, of_inputs),
        _of_each_gate(np.asarray(values[1]), gates, np.transpose),
    ]


def _of_each_gate(kernel: Array, gates: int, change: Callable[[Array], Array]) -> Array:
    return np.hstack([change(part) for part in np.hsplit(kernel, gates)])
