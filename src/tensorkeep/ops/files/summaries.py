"""Summaries: what a graph reports of its values, as serialised messages."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.messages.attrs import shape_to_proto
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.codecs.audio import wav_of_samples
from tensorkeep.ops.codecs.png import encode_png
from tensorkeep.ops.shared.kernel_types import Array, Value, string_array
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.proto.messages import HistogramProto, Summary, SummaryMetadata, TensorProto, parse, serialize
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape


def _summary(summary: Summary) -> Array:
    return string_array([serialize(summary)], ())


def _tag(value: Any, what: str = "tag") -> str:
    array = np.asarray(value)
    if array.ndim:
        raise InvalidArgumentError(f"{what} must be scalar, got shape {list(array.shape)}")
    text: bytes = array.item()
    return text.decode(errors="replace")


def _list_shape(*_: Any) -> Shape:
    return Shape(())


scalar_summary = op("ScalarSummary(tags: string, values: T) -> summary: string", "T: realnumbertype")
scalar_summary.shape(scalar)


@scalar_summary.kernel
def scalar_summary_kernel(tags: Array, values: Array) -> Array:
    names, numbers = np.asarray(tags), np.asarray(values)
    if names.shape != numbers.shape:
        raise InvalidArgumentError(
            f"tags and values are not the same shape: {list(names.shape)} != {list(numbers.shape)}"
        )
    summary = Summary()
    for name, number in zip(names.reshape(-1).tolist(), numbers.reshape(-1), strict=True):
        summary.value.add(tag=name.decode(errors="replace"), simple_value=float(number))
    return _summary(summary)


histogram_summary = op("HistogramSummary(tag: string, values: T) -> summary: string", "T: realnumbertype = float")
histogram_summary.shape(scalar)


@cache
def _bucket_limits() -> Array:
    """Where the intervals of all histograms end: ten percent apart, on both sides of zero."""
    limits = []
    limit = 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    positive = [*limits, sys.float_info.max]
    return np.array([*(-limit for limit in reversed(positive)), 0.0, *positive])


def histogram(values: Array) -> HistogramProto:
    """How values are distributed; runs of empty intervals are one."""
    exact = values.reshape(-1).astype(np.float64)
    limits = _bucket_limits()
    proto = HistogramProto(min=limits[-1], max=-limits[-1], num=exact.size)
    places = np.minimum(limits.searchsorted(exact, side="right"), len(limits) - 1)
    counts = np.bincount(places, minlength=len(limits))
    if exact.size:
        proto.min, proto.max = exact.min(), exact.max()
        with np.errstate(over="ignore"):
            proto.sum, proto.sum_squares = np.cumsum(exact)[-1], np.cumsum(exact * exact)[-1]
    is_empty = counts == 0
    # An empty interval goes up in the empty one behind it.
    kept = np.flatnonzero(~is_empty | ~np.append(is_empty[1:], False))
    proto.bucket_limit.extend(limits[kept].tolist())
    proto.bucket.extend(counts[kept].astype(np.float64).tolist())
    return proto


@histogram_summary.stateful_kernel
def histogram_summary_kernel(ctx: KernelContext, tag: Array, values: Array) -> Array:
    return _summary(summary_of_values(_tag(tag, "tags"), values, ctx.name))


def summary_of_values(tag: str, values: Array, owner: str) -> Summary:
    """A histogram of values, which must be finite; `owner` is named if they are not."""
    wide = np.asarray(values).astype(np.float64)
    if np.isnan(wide).any():
        raise InvalidArgumentError(f"Nan in summary histogram for: {owner}")
    if np.isinf(wide).any():
        raise InvalidArgumentError(f"Infinity in summary histogram for: {owner}")
    summary = Summary()
    summary.value.add(tag=tag, histo=histogram(wide))
    return summary


image_summary = op(
    "ImageSummary(tag: string, tensor: T) -> summary: string",
    "max_images: int >= 1 = 3",
    "T: {uint8, float, half, double} = float",
    "bad_color: tensor = tensor 'dtype: DT_UINT8\\ntensor_shape {\\n  dim {\\n    size: 4\\n  }\\n}\\nint_val: 255\\n"
    "int_val: 0\\nint_val: 0\\nint_val: 255\\n'",
)
image_summary.shape(scalar)


@image_summary.kernel
def image_summary_kernel(tag: Array, tensor: Array, *, max_images: int, bad_color: TensorProto) -> Array:
    return _summary(summary_of_images(_tag(tag, "Tag"), tensor, max_images, array_of_tensor(bad_color)))


def summary_of_images(name: str, tensor: Array, max_images: int, color: Array) -> Summary:
    """The first images of a batch; `color` is that of pixels that are not finite."""
    images = np.asarray(tensor)
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(images.shape)}")
    count, height, width, channels = images.shape
    if height * width * channels >= 1 << 31 or height >= 1 << 31 or width >= 1 << 31:
        raise InvalidArgumentError(f"Tensor too large for summary {list(images.shape)}")
    if color.dtype != np.uint8 or color.ndim != 1 or color.size < channels:
        raise InvalidArgumentError(
            f"expected at least {channels} bad_color values of type uint8, got {color.dtype} {list(color.shape)}"
        )
    summary = Summary()
    for i in range(min(max_images, count)):
        shown = images[i] if images.dtype == np.uint8 else _as_bytes(images[i], color[:channels])
        image = Summary.Image(height=height, width=width, colorspace=channels)
        image.encoded_image_string = encode_png(shown, compression=-1)
        summary.value.add(tag=f"{name}/image" if max_images == 1 else f"{name}/image/{i}", image=image)
    return summary


def _as_bytes(image: Array, bad_color: Array) -> Array:
    """Numbers as bytes: zero is black if none is negative, else gray. Pixels that are not finite are of one colour."""
    number = image.dtype.type
    is_finite = np.isfinite(image).all(axis=2)
    finite = image[is_finite].astype(np.float32)
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (float("inf"), float("-inf"))
    reach = max(abs(least), most) if least < 0 else most
    scale = np.float32(0) if reach < 1e-6 else np.float32(127 if least < 0 else 255) / np.float32(reach)
    result = np.empty(image.shape, np.uint8)
    with np.errstate(all="ignore"):
        scaled = image[is_finite] * number(scale) + number(128 if least < 0 else 0)
        result[is_finite] = scaled.astype(np.uint8)
    result[~is_finite] = bad_color
    return result


audio_summary = op(
    "AudioSummary(tag: string, tensor: float) -> summary: string",
    "sample_rate: float",
    "max_outputs: int >= 1 = 3",
    "deprecated 15 'Use AudioSummaryV2.'",
)
audio_summary.shape(scalar)


@audio_summary.kernel
def audio_summary_kernel(tag: Array, tensor: Array, *, sample_rate: float, max_outputs: int) -> Array:
    return _summary(summary_of_sounds(_tag(tag, "Tag"), tensor, sample_rate, max_outputs))


audio_summary_v2 = op(
    "AudioSummaryV2(tag: string, tensor: float, sample_rate: float) -> summary: string", "max_outputs: int >= 1 = 3"
)
audio_summary_v2.shape(scalar)


@audio_summary_v2.kernel
def audio_summary_v2_kernel(tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int) -> Array:
    rate = np.asarray(sample_rate)
    if rate.size != 1:
        raise InvalidArgumentError(f"sample_rate must have one element, got shape {list(rate.shape)}")
    return _summary(summary_of_sounds(_tag(tag, "Tag"), tensor, float(rate.reshape(())), max_outputs))


def summary_of_sounds(name: str, tensor: Array, sample_rate: float, max_outputs: int) -> Summary:
    """The first sounds of a batch, by frames and channels."""
    sounds = np.asarray(tensor)
    if sounds.ndim not in (2, 3):
        raise InvalidArgumentError(f"Tensor must be 3-D or 2-D, got: {list(sounds.shape)}")
    if not 0 < sample_rate < 1 << 32:
        raise InvalidArgumentError(f"sample_rate must be > 0, got {sample_rate}")
    summary = Summary()
    for i, sound in enumerate(sounds[:max_outputs]):
        samples = sound if sounds.ndim == 3 else sound[:, np.newaxis]
        frames, channels = samples.shape
        audio = Summary.Audio(
            sample_rate=sample_rate, num_channels=channels, length_frames=frames, content_type="audio/wav"
        )
        audio.encoded_audio_string = wav_of_samples(samples, sample_rate)
        summary.value.add(tag=f"{name}/audio" if max_outputs == 1 else f"{name}/audio/{i}", audio=audio)
    return summary


tensor_summary = op(
    "TensorSummary(tensor: T) -> summary: string",
    "T: type",
    "description: string = ''",
    "labels: list(string) = []",
    "display_name: string = ''",
)
tensor_summary.shape(scalar)


def message_of_tensor(value: Value, dtype: DType) -> TensorProto:
    """A tensor with its elements as bytes, or as strings."""
    array = np.asarray(value)
    proto = TensorProto(dtype=dtype.number, tensor_shape=shape_to_proto(Shape(array.shape)))
    if dtype is STRING:
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


@tensor_summary.stateful_kernel
def tensor_summary_kernel(ctx: KernelContext, tensor: Array, *, T: DType) -> Array:  # noqa: N803
    summary = Summary()
    summary.value.add(node_name=ctx.name, tensor=message_of_tensor(tensor, T))
    return _summary(summary)


tensor_summary_v2 = op(
    "TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> summary: string", "T: type"
)
tensor_summary_v2.shape(scalar)


@tensor_summary_v2.kernel
def tensor_summary_v2_kernel(tag: Array, tensor: Array, serialized_summary_metadata: Array, *, T: DType) -> Array:  # noqa: N803
    name, metadata = _tag(tag), np.asarray(serialized_summary_metadata)
    if metadata.ndim:
        raise InvalidArgumentError("serialized_summary_metadata must be scalar")
    summary = Summary()
    value = summary.value.add(tag=name, tensor=message_of_tensor(tensor, T))
    value.metadata.CopyFrom(parse(SummaryMetadata, metadata.item(), "serialized_summary_metadata"))
    return _summary(summary)


merge_summary = op("MergeSummary(inputs: N * string) -> summary: string", "N: int >= 1")
merge_summary.shape(_list_shape)


@merge_summary.kernel
def merge_summary_kernel(inputs: list[Array]) -> Array:
    merged = Summary()
    tags: set[str] = set()
    for item in (text for array in inputs for text in np.asarray(array).reshape(-1).tolist()):
        try:
            summary = parse(Summary, item, "a summary")
        except DataLossError:
            raise InvalidArgumentError("Could not parse one of the summary inputs") from None
        for value in summary.value:
            if value.tag and value.tag in tags:
                raise InvalidArgumentError(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.value.extend(summary.value)
    return _summary(merged)


not_differentiable(
    scalar_summary,
    histogram_summary,
    image_summary,
    audio_summary,
    audio_summary_v2,
    tensor_summary,
    tensor_summary_v2,
    merge_summary,
)
