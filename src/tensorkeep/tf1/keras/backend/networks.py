"""Convolutions, pools and biases of images, in either data format; and labels of sequences (CTC)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.arrays.slicing import gather_nd, sequence_mask
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn import convolution as nn
from tensorkeep.tf1.functions.nn import ctc
from tensorkeep.tf1.functions.nn.activations import bias_add as add_bias
from tensorkeep.tf1.functions.nn.pooling import pool
from tensorkeep.tf1.functions.numbers.elementwise import cast, log
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_to_dense
from tensorkeep.tf1.keras.backend.arrays import temporal_padding
from tensorkeep.tf1.keras.backend.settings import chosen_data_format, epsilon
from tensorkeep.tf1.layers.arguments import tensor_format


def _format(data_format: str | None, rank: int) -> str:
    return tensor_format(chosen_data_format(data_format), rank)


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise InvalidArgumentError(f"Invalid padding: {padding}")
    return padding.upper()


def _convolve_inputs(
    x: Any, kernel: Any, strides: Any, padding: str, data_format: str | None, rates: Any, rank: int
) -> Tensor:
    return nn.convolution(
        input=convert(x),
        filter=convert(kernel),
        strides=tuple(strides),
        padding=_padding(padding),
        data_format=_format(data_format, rank),
        dilation_rate=tuple(rates),
    )


def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    """A convolution of sequences; "causal" padding looks back only."""
    values = convert(x)
    if padding == "causal":
        length: Any = convert(kernel).get_shape().as_list()[0]
        width = dilation_rate * (length - 1)
        values, padding = temporal_padding(values, (width, 0)), "valid"
    return _convolve_inputs(values, kernel, (strides,), padding, data_format, (dilation_rate,), 3)


def conv2d(
    x: Tensor,
    kernel: Tensor,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    """A convolution of images."""
    return _convolve_inputs(x, kernel, strides, padding, data_format, dilation_rate, 4)


def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1, 1),
) -> Tensor:
    """A convolution of volumes."""
    return _convolve_inputs(x, kernel, strides, padding, data_format, dilation_rate, 5)


def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: ShapeLike,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    """A transposed convolution of images: what a convolution of that kernel does to gradients."""
    form = _format(data_format, 4)
    around = (1, *strides, 1) if form == "NHWC" else (1, 1, *strides)
    wide = (1, *dilation_rate, 1) if form == "NHWC" else (1, 1, *dilation_rate)
    values = convert(x)
    if isinstance(output_shape, list | tuple) and output_shape[0] is None:
        output_shape = (shapes.shape(values)[0], *output_shape[1:])
    if isinstance(output_shape, list | tuple):
        output_shape = shapes.stack(list(output_shape))
    return nn.conv2d_transpose(
        values,
        convert(kernel),
        output_shape,
        around,
        padding=_padding(padding),
        data_format=form,
        dilations=None if set(dilation_rate) == {1} else wide,
    )


def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    """A convolution of each channel by itself."""
    form = _format(data_format, 4)
    around = (1, *strides, 1) if form == "NHWC" else (1, 1, *strides)
    return nn.depthwise_conv2d(
        convert(x), convert(depthwise_kernel), around, _padding(padding), rate=tuple(dilation_rate), data_format=form
    )


def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sequence[int] = (1, 1),
) -> Tensor:
    """A convolution of each channel by itself, then one across channels."""
    form = _format(data_format, 4)
    around = (1, *strides, 1) if form == "NHWC" else (1, 1, *strides)
    return nn.separable_conv2d(
        convert(x),
        convert(depthwise_kernel),
        convert(pointwise_kernel),
        around,
        _padding(padding),
        rate=tuple(dilation_rate),
        data_format=form,
    )


def _pool_inputs(
    x: Any, size: Any, strides: Any, padding: str, data_format: str | None, mode: str, rank: int
) -> Tensor:
    if mode not in ("max", "avg"):
        raise InvalidArgumentError(f"Invalid pooling mode: {mode}")
    return pool(
        convert(x),
        list(size),
        mode.upper(),
        _padding(padding),
        strides=list(strides),
        data_format=_format(data_format, rank),
    )


def pool2d(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """Maxima ("max") or means ("avg") of windows of images."""
    return _pool_inputs(x, pool_size, strides, padding, data_format, pool_mode, 4)


def pool3d(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """Maxima ("max") or means ("avg") of windows of volumes."""
    return _pool_inputs(x, pool_size, strides, padding, data_format, pool_mode, 5)


def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> Tensor:
    """A bias for each channel, or for each place of an item."""
    values, added = convert(x), convert(bias)
    rank, known = values.get_shape().rank, added.get_shape().rank
    if rank is None or known not in (1, rank - 1):
        raise InvalidArgumentError(
            f"Unexpected bias dimensions {known}, expect to be 1 or {None if rank is None else rank - 1} dimensions"
        )
    is_first = chosen_data_format(data_format) == "channels_first"
    if known == 1:
        if rank <= 2 or not is_first:
            return add_bias(values, added)
        return values + shapes.reshape(added, [1, -1] + [1] * (rank - 2))
    sizes = added.get_shape().as_list()
    order = [sizes[-1], *sizes[:-1]] if is_first else sizes
    return values + shapes.reshape(added, [1, *order])


def local_conv1d(
    inputs: Tensor,
    kernel: TensorLike,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    """A convolution of sequences with weights of its own at each place."""
    places = convert(kernel).get_shape().as_list()[0]
    return _local(inputs, kernel, kernel_size, strides, (places,), data_format)


def local_conv2d(
    inputs: Tensor,
    kernel: TensorLike,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    """A convolution of images with weights of its own at each place."""
    return _local(inputs, kernel, kernel_size, strides, tuple(output_shape), data_format)


def _local(inputs: Any, kernel: Any, size: Any, strides: Any, places: Any, data_format: str | None) -> Tensor:
    """Windows as rows, [place, batch, window], times the weights of each place, [place, window, filters]."""
    values, weights = convert(inputs), convert(kernel)
    is_first = chosen_data_format(data_format) == "channels_first"
    rank = len(places)
    corners: list[tuple[int, ...]] = [()]
    for count, stride in zip(places, strides, strict=True):
        corners = [(*corner, at * stride) for corner in corners for at in range(count)]
    width, filters = weights.get_shape().as_list()[1:]
    rows = []
    for corner in corners:
        window = tuple(slice(at, at + extent) for at, extent in zip(corner, size, strict=True))
        part = values[(slice(None), slice(None), *window)] if is_first else values[(slice(None), *window, slice(None))]
        rows.append(shapes.reshape(part, [1, -1, width]))
    product = matmul(shapes.concat(rows, 0), weights)
    found = shapes.reshape(product, [*places, -1, filters])
    batch, last = rank, rank + 1
    return shapes.transpose(found, [batch, last, *range(rank)] if is_first else [batch, *range(rank), last])


# ---------------------------------------------------------------------------------------------------- CTC


def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> SparseTensor:
    """Labels in rows, each so long, as a sparse tensor."""
    values = convert(labels)
    sizes = shapes.shape(values)
    mask = sequence_mask(shapes.reshape(label_lengths, [-1]), sizes[1])
    places = shapes.where(mask)
    return SparseTensor(cast(places, INT64), gather_nd(values, places), cast(sizes, INT64))


def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor:
    """The loss of labels in rows for probabilities [batch, time, classes]; the last class is the blank."""
    lengths, known = (cast(shapes.squeeze(convert(item), [-1]), INT32) for item in (input_length, label_length))
    labels = ctc_label_dense_to_sparse(y_true, known)
    sparse = SparseTensor(labels.indices, cast(labels.values, INT32), labels.dense_shape)
    logits = log(shapes.transpose(convert(y_pred), [1, 0, 2]) + epsilon())
    return shapes.expand_dims(ctc.ctc_loss(inputs=logits, labels=sparse, sequence_length=lengths), 1)


def ctc_decode(
    y_pred: TensorLike, input_length: TensorLike, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Tensor], Tensor]:
    """The likeliest labels for probabilities [batch, time, classes], padded with -1, and their log probabilities."""
    logits = log(shapes.transpose(convert(y_pred), [1, 0, 2]) + epsilon())
    lengths = cast(input_length, INT32)
    if greedy:
        decoded, score = ctc.ctc_greedy_decoder(inputs=logits, sequence_length=lengths)
    else:
        decoded, score = ctc.ctc_beam_search_decoder(
            inputs=logits, sequence_length=lengths, beam_width=beam_width, top_paths=top_paths, merge_repeated=False
        )
    return [sparse_tensor_to_dense(item, default_value=-1) for item in decoded], score
