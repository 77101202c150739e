"""Initializers: what makes the first value of a variable, given its shape and type.

An initializer is called with a shape, a type, and for a part of a partitioned variable with what part it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isclass
from math import prod, sqrt
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Scalar, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import sizes_of
from tensorkeep.tf1.functions.arrays.shapes import matrix_transpose, ones, reshape, zeros
from tensorkeep.tf1.functions.arrays.slicing import slice as part_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.random.numbers import random_normal, random_uniform, truncated_normal
from tensorkeep.tf1.variables.partitioned import PartitionInfo

Number: TypeAlias = "int | float | Tensor | Array | np.generic"

_TRUNCATED: Final = 0.87962566103423978
"""The deviation of normal numbers none of which is beyond two deviations: `scipy.stats.truncnorm.std(-2, 2)`, as in
`VarianceScaling` of TensorFlow's python/ops/init_ops.py."""


class Initializer:
    """What all initializers are. `get_config` gives the arguments that make another one like it."""

    _config: ClassVar[tuple[str, ...]] = ()
    dtype: DType

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: PartitionInfo | None = None
    ) -> Tensor:
        return self._make(shape, self._chosen_dtype(dtype), partition_info)

    def _chosen_dtype(self, dtype: DTypeLike | None) -> DType:
        return self.dtype if dtype is None else DType.of(dtype).base_dtype

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        """The value, of this type; `part` says of which variable it is a part, if it is one."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return {name: self.dtype.name if name == "dtype" else getattr(self, name) for name in self._config}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        return cls(**config)


class _OneValue(Initializer):
    _config = ("dtype",)

    def __init__(self, dtype: DTypeLike | None = FLOAT32) -> None:
        self.dtype = DType.of(dtype)


class Zeros(_OneValue):
    """Zeros, or empty strings."""

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        return zeros(_known_sizes(shape), dtype)


class Ones(_OneValue):
    """Ones."""

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        return ones(_known_sizes(shape), dtype)


class Constant(Initializer):
    """One number everywhere, or the numbers of a list; of fewer numbers than there are elements, the last fills up."""

    _config = ("value", "dtype")

    def __init__(
        self, value: Scalar | Sequence[Any] | Array = 0, dtype: DTypeLike | None = FLOAT32, verify_shape: bool = False
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise WrongTypeError(
                f"Invalid type for initial value={value!s} of type: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.dtype = DType.of(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        verifies = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, self._chosen_dtype(dtype), shape, verify_shape=verifies)


class RandomUniform(Initializer):
    """Numbers of [minval, maxval), each as likely as the others."""

    _config = ("minval", "maxval", "seed", "dtype")

    def __init__(
        self, minval: Number = 0.0, maxval: Number | None = None, seed: int | None = None, dtype: DTypeLike = FLOAT32
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = DType.of(dtype)

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        return random_uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class _Normal(Initializer):
    _config = ("mean", "stddev", "seed", "dtype")

    def __init__(
        self, mean: Number = 0.0, stddev: Number = 1.0, seed: int | None = None, dtype: DTypeLike = FLOAT32
    ) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _floating(dtype)


class RandomNormal(_Normal):
    """Normal numbers."""

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class TruncatedNormal(_Normal):
    """Normal numbers, none further from the mean than two deviations."""

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        return truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of what is multiplied by them."""

    _config = ("factor", "seed", "dtype")

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = FLOAT32) -> None:
        self.factor = factor
        self.seed = seed
        self.dtype = _floating(dtype)

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        inputs = float(max(prod(_whole(shape, part)[:-1]), 1))
        limit = sqrt(3 / inputs) * self.factor
        return random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class VarianceScaling(Initializer):
    """Numbers whose variance is `scale` divided by how many inputs or outputs, or both, a neuron has."""

    _config: ClassVar[tuple[str, ...]] = ("scale", "mode", "distribution", "seed", "dtype")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = FLOAT32,
    ) -> None:
        if scale <= 0.0:
            raise InvalidArgumentError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise InvalidArgumentError(
                f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}"
            )
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise InvalidArgumentError(
                "Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', "
                f"'untruncated_normal'). Received: {distribution}"
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _floating(dtype)

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        inputs, outputs = fans_of(_whole(shape, part))
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}
        scale = self.scale / max(1.0, fans[self.mode])
        if self.distribution in ("normal", "truncated_normal"):
            return truncated_normal(shape, 0.0, sqrt(scale) / _TRUNCATED, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, sqrt(scale), dtype, seed=self.seed)
        limit = sqrt(3.0 * scale)
        return random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    """Uniform numbers scaled by inputs and outputs: what variables are initialized with if nobody says otherwise."""

    _config = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: DTypeLike = FLOAT32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal numbers scaled by inputs and outputs."""

    _config = ("seed", "dtype")

    def __init__(self, seed: int | None = None, dtype: DTypeLike = FLOAT32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed)


class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns, made of normal numbers; dimensions before the last are taken as one."""

    _config = ("gain", "seed", "dtype")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = FLOAT32) -> None:
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        sizes = sizes_of(shape)
        if len(sizes) < 2:
            raise InvalidArgumentError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
                f"shape={shape}"
            )
        rows, columns = prod(sizes[:-1]), sizes[-1]
        numbers = random_normal((max(rows, columns), min(rows, columns)), dtype=dtype, seed=self.seed)
        q, r = emit_tensors("Qr", numbers, full_matrices=False)
        q = q * emit("Sign", emit("DiagPart", r))
        if rows < columns:
            q = matrix_transpose(q)
        return self.gain * reshape(q, sizes)


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    _config = ("gain", "dtype")

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = FLOAT32) -> None:
        self.gain = gain
        self.dtype = _floating(dtype)

    def _make(self, shape: ShapeLike, dtype: DType, part: PartitionInfo | None) -> Tensor:
        whole = _whole(shape, part)
        if len(whole) != 2:
            raise InvalidArgumentError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
                f"shape={shape}"
            )
        matrix = _eye(whole[0], whole[1], dtype)
        if part is not None:
            matrix = part_of(matrix, list(part.var_offset), sizes_of(shape))
        return self.gain * matrix


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Normal, cut at two deviations, so that sums over the inputs keep their variance."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, so that sums over the inputs keep their variance."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Normal, cut at two deviations, so that rectified sums over the inputs keep their variance."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, so that rectified sums over the inputs keep their variance."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)


def _eye(rows: int, columns: int, dtype: DType) -> Tensor:
    with name_scope("eye"):
        diagonal = ones([min(rows, columns)], dtype)
        if rows == columns:
            return emit("MatrixDiagV3", diagonal, 0, -1, -1, False if dtype is BOOL else 0, name="diag")
        return emit("MatrixSetDiagV3", zeros([rows, columns], dtype), diagonal, 0, name="set_diag")


def made_initializer(given: Callable[..., TensorLike]) -> Callable[..., TensorLike]:
    """The initializer that a program gave; a class of initializers is called, so that its defaults apply."""
    made: Any = given() if isclass(given) else given
    initializer: Callable[..., TensorLike] = made
    return initializer


def _floating(dtype: DTypeLike) -> DType:
    kind = DType.of(dtype)
    if not kind.is_floating:
        raise InvalidArgumentError(f"Argument `dtype` is expected to be floating point. Received: <dtype: '{kind}'>.")
    return kind


def _known_sizes(shape: ShapeLike) -> ShapeLike:
    """The sizes of a shape; the shape itself where it, or a size, is a tensor."""
    sizes = shape if isinstance(shape, list | tuple) else [shape]
    is_dynamic = any(isinstance(size, Tensor) for size in sizes)
    return shape if is_dynamic else sizes_of(shape)


def _whole(shape: ShapeLike, part: PartitionInfo | None) -> list[int]:
    """The shape of the whole variable, of which this may be a part."""
    return sizes_of(shape if part is None else part.full_shape)


def fans_of(shape: list[int]) -> tuple[int, int]:
    """How many inputs and outputs a neuron has whose weights have that shape."""
    if len(shape) < 2:
        count = shape[0] if shape else 1
        return count, count
    field = prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity

__all__ = [
    "Initializer",
    "constant_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "he_normal",
    "he_uniform",
    "identity_initializer",
    "lecun_normal",
    "lecun_uniform",
    "ones_initializer",
    "orthogonal_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "zeros_initializer",
]
