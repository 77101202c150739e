"""Images made ready for networks, and predictions in words."""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.keras.backend.networks import bias_add
from tensorkeep.tf1.keras.backend.settings import chosen_data_format, floatx
from tensorkeep.tf1.keras.utils.downloads import get_file, read_bytes

_NAMES: Final = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_CAFFE_MEANS: Final = (103.939, 116.779, 123.68)  # blue, green, red
_TORCH_MEANS: Final = (0.485, 0.456, 0.406)
_TORCH_DEVIATIONS: Final = (0.229, 0.224, 0.225)


def preprocess_input(x: Array | Tensor, data_format: str | None = None, mode: str = "caffe") -> Array | Tensor:
    """Images with numbers from 0 to 255 as a network wants them.

    "tf": from -1 to 1. "torch": less the mean of each channel, by its deviation. "caffe": blue, green, red, less their
    means. Arrays of floats are written over.
    """
    if mode not in ("caffe", "tf", "torch"):
        raise InvalidArgumentError(f'Expected mode to be "caffe", "tf" or "torch". Received: mode={mode!r}')
    is_first = chosen_data_format(data_format) == "channels_first"
    if isinstance(x, np.ndarray):
        if not np.issubdtype(x.dtype, np.floating):
            x = x.astype(floatx())
        return _ready_array(x, mode, is_first)
    return _ready_tensor(x, mode, is_first)


def _reverse_channels(x: Any, is_first: bool, rank: int | None) -> Any:
    """The channels in the other order."""
    if not is_first:
        return x[..., ::-1]
    return x[::-1, ...] if rank == 3 else x[:, ::-1, ...]


def _ready_array(x: Array, mode: str, is_first: bool) -> Array:
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    if mode == "torch":
        x /= 255.0
    else:
        x = _reverse_channels(x, is_first, x.ndim)
    channels = x if not is_first else np.moveaxis(x, 0 if x.ndim == 3 else 1, -1)
    channels -= np.asarray(_TORCH_MEANS if mode == "torch" else _CAFFE_MEANS, x.dtype)
    if mode == "torch":
        channels /= np.asarray(_TORCH_DEVIATIONS, x.dtype)
    return x


def _ready_tensor(x: Tensor, mode: str, is_first: bool) -> Tensor:
    if mode == "tf":
        return x / 127.5 - 1.0
    x = x / 255.0 if mode == "torch" else _reverse_channels(x, is_first, x.get_shape().rank)
    means = -np.asarray(_TORCH_MEANS if mode == "torch" else _CAFFE_MEANS)
    x = bias_add(x, constant(means, x.dtype), "channels_first" if is_first else "channels_last")
    if mode != "torch":
        return x
    deviations = constant(np.asarray(_TORCH_DEVIATIONS), x.dtype)
    return x / (reshape(deviations, [-1, 1, 1]) if is_first else deviations)


prepare_tf_input = partial(preprocess_input, mode="tf")
prepare_torch_input = partial(preprocess_input, mode="torch")
prepare_caffe_input = partial(preprocess_input, mode="caffe")


@lru_cache(maxsize=1)
def _class_names(path: str) -> dict[str, tuple[str, str]]:
    try:
        found = json.loads(read_bytes(path))
        return {str(key): (str(first), str(second)) for key, (first, second) in found.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise DataLossError(f'"{path}" has no names of classes: {error}. Delete it, and get it anew') from error


def decode_predictions(preds: Array, top: int = 5) -> list[list[tuple[str, str, Any]]]:
    """For each row of 1000 probabilities, the likeliest classes: number in WordNet, name, and probability."""
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise InvalidArgumentError(
            "`decode_predictions` expects a batch of predictions, an array of shape (samples, 1000). Found array with "
            f"shape: {preds.shape}"
        )
    names = _class_names(get_file("imagenet_class_index.json", _NAMES, cache_subdir="models"))
    best = [row.argsort()[-top:][::-1] for row in preds]
    return [[(*names[str(at)], row[at]) for at in order] for row, order in zip(preds, best, strict=True)]
