"""Small namespaces of `tf.contrib`: what `data`, `nn`, `compiler`, `memory_stats` and some others have of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.framework.tensors import with_shape
from tensorkeep.tf1.datasets.transformations import get_single_element, group_by_reducer
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal, minimum
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as
from tensorkeep.tf1.training.loops.device_setter import Cluster, ClusterSpec

# ---------------------------------------------------------------------------------------------------- nn


def nth_element(input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """The n-th smallest element of each row, from 0; the n-th largest if reversed."""
    return emit("NthElement", input, n, reverse=reverse, name=name)


# ---------------------------------------------------------------------------------------------------- data


def batch_and_drop_remainder(batch_size: TensorLike) -> Callable[[Any], Any]:
    """For `Dataset.apply`: batches that are all full."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: object, padding_values: object = None
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: batches of elements that are filled up, all full."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: TensorLike, block_length: TensorLike = 1
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: elements of several datasets in turn; here, always in the same order."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """What a reducer makes of all elements, as tensors."""
    return get_single_element(dataset.apply(group_by_reducer(lambda *_: constant(0, INT64), reducer)))


def assert_element_shape(expected_shapes: Any) -> Callable[[Any], Any]:
    """For `Dataset.apply`: elements whose tensors are asserted to have shapes, as far as these are known."""

    def checked(shape: Any, value: Any) -> Any:
        static = TensorShape(shape)
        return value if static.rank is None else with_shape(static, value)

    def apply(dataset: Any) -> Any:
        def check(*parts: Any) -> Any:
            element = parts[0] if len(parts) == 1 else parts
            flat = _shapes_of(element, expected_shapes)
            return pack_sequence_as(element, [checked(*pair) for pair in zip(flat, flatten(element), strict=True)])

        return dataset.map(check)

    return apply


def _shapes_of(element: Any, shapes: Any) -> list[Any]:
    """The shape of each tensor of an element, from a structure like it; a shape may be a list, too."""
    if isinstance(element, dict):
        return [shape for key in sorted(element) for shape in _shapes_of(element[key], shapes[key])]
    if isinstance(element, tuple):
        pairs = zip(element, shapes, strict=True)
        return [shape for item, part in pairs for shape in _shapes_of(item, part)]
    return [shapes]


def sliding_window_batch(
    window_size: int, stride: int | None = None, window_shift: int | None = None, window_stride: int = 1
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: batches of so many elements that follow each other; the last ones are left out."""
    if stride is not None and window_shift is not None:
        raise InvalidArgumentError("Cannot specify both `stride` and `window_shift`")
    shift = window_shift if stride is None else stride

    def apply(dataset: Any) -> Any:
        windows = dataset.window(window_size, 1 if shift is None else shift, window_stride, drop_remainder=True)
        return windows.flat_map(lambda *parts: _join_components(parts, window_size))

    return apply


def _join_components(parts: Sequence[Any], size: int) -> Any:
    """Datasets of components as one of batches."""
    if len(parts) == 1:
        return parts[0].batch(size)
    first = parts[0]
    return type(first).zip(tuple(parts)).batch(size)


# ---------------------------------------------------------------------------------------------------- nn

_ALPHA = -1.7580993408473766  # where SELU goes for large negative values: minus its scale times its alpha


def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout that keeps mean and variance of what SELU gives (Klambauer et al., 2017)."""
    with name_scope(name or "alpha_dropout"):
        given = convert(x)
        if isinstance(keep_prob, float) and not 0 < keep_prob <= 1:
            raise InvalidArgumentError(f"keep_prob must be a scalar tensor or a float in (0, 1], got {keep_prob}")
        if isinstance(keep_prob, float | int) and keep_prob == 1:
            return given
        share = cast(convert(keep_prob), given.dtype.base_dtype)
        where_to = shape_of(given) if noise_shape is None else noise_shape
        drawn = random_uniform(where_to, seed=seed, dtype=given.dtype.base_dtype)
        kept = cast(greater_equal(drawn, 1 - share), given.dtype.base_dtype)
        dropped = given * kept + _ALPHA * (1 - kept)
        scale = (share + _ALPHA**2 * share * (1 - share)) ** -0.5
        return scale * dropped - scale * _ALPHA * (1 - share)


def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """alpha * softplus(x / alpha), at most `clip`."""
    with name_scope(name or "scaled_softplus"):
        given = convert(x, name="x")
        steep = convert(alpha, given.dtype.base_dtype, name="alpha")
        found: Tensor = steep * softplus(given / steep)
        return found if clip is None else minimum(found, convert(clip, given.dtype.base_dtype, name="clip"))


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits`, with logits first as before TensorFlow 1.0."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`, with logits first as before TensorFlow 1.0."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits`, with logits first as before TensorFlow 1.0."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


# ---------------------------------------------------------------------------------------------------- compiler


@contextmanager
def experimental_jit_scope(compile_ops: object = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Nothing is marked: all runs are compiled here, without asking."""
    yield


def compile_computation(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """What a computation gives for inputs; it is compiled when it is run, as everything is."""
    return computation(*(convert(item) for item in inputs or ()))


# ---------------------------------------------------------------------------------------------------- memory_stats


def bytes_in_use() -> Tensor:
    """How many bytes of memory this process has when it is run, whatever device is asked."""
    return emit("BytesInUse")


def max_bytes_in_use() -> Tensor:
    """How many bytes of memory this process had at most so far."""
    return emit("MaxBytesInUse")


def bytes_limit() -> Tensor:
    """How many bytes of memory the machine has, or this process may take of them in its container."""
    return emit("BytesLimit")


# ---------------------------------------------------------------------------------------------------- resampler


def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> Tensor:
    """Values of images at points between their pixels, each made of the four around it.

    `data` are images [batch, height, width, channels], `warp` points [batch, ..., 2] of x and y in pixels. Outside of
    an image are zeros. The result is [batch, ..., channels].
    """
    return emit("Resampler", data, warp, name=name)


# ---------------------------------------------------------------------------------------------------- cluster_resolver


class SimpleClusterResolver:
    """A cluster resolver that gives the cluster it was made with."""

    def __init__(
        self,
        cluster_spec: Cluster,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: object = None,
        rpc_layer: str | None = None,
    ) -> None:
        self._cluster, self._master = ClusterSpec(cluster_spec), master
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task; without one, what was told."""
        if task_type is None or task_id is None:
            return self._master
        address = self._cluster.task_address(task_type, task_id)
        return f"{rpc_layer or self.rpc_layer}://{address}" if rpc_layer or self.rpc_layer else address
