"""What networks are told, how they begin and end, and the files of their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError, MissingFileError
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.tf1.keras import activations
from tensorkeep.tf1.keras.backend.settings import image_data_format
from tensorkeep.tf1.keras.engine.input_layer import Input
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.nodes import get_source_inputs
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.keras.layers.convolutional import Conv2D
from tensorkeep.tf1.keras.layers.core import Activation, Dense
from tensorkeep.tf1.keras.layers.normalization import BatchNormalization
from tensorkeep.tf1.keras.layers.pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from tensorkeep.tf1.keras.utils.downloads import get_file
from tensorkeep.tf1.layers.arguments import ActivationLike

_PLACE: Final = "https://storage.googleapis.com/tensorflow/keras-applications/"

ImageShape: TypeAlias = Sequence[int | None] | None
"""Rows, columns and channels of an image, or the channels first; None for what a network has by itself."""


@dataclass(frozen=True)
class Options:
    """What a program tells all networks."""

    include_top: bool
    weights: str | None
    input_tensor: Tensor | None
    input_shape: ImageShape
    pooling: str | None
    classes: int
    classifier_activation: ActivationLike


@dataclass(frozen=True)
class StoredWeights:
    """A file of weights that Keras offers: where it is, under which name it is kept, and its MD5."""

    origin: str
    name: str
    file_hash: str | None = None

    @classmethod
    def of(cls, folder: str, name: str, file_hash: str | None = None, kept_as: str | None = None) -> StoredWeights:
        return cls(f"{_PLACE}{folder}/{name}", kept_as or name, file_hash)


@dataclass(frozen=True)
class Beginning:
    """The inputs of a network, their shape, and the file that its weights come from."""

    tensor: Any
    shape: tuple[Any, ...]
    weights_path: str | None
    options: Options


def begin(
    options: Options, default_size: int, min_size: int, stored: Callable[[tuple[Any, ...]], StoredWeights]
) -> Beginning:
    """Sees that what a network is told fits together, and makes its inputs."""
    _check_weights(options)
    shape = _input_shape(options, default_size, min_size)
    path = options.weights
    if path == "imagenet":
        told = stored(shape)
        path = get_file(told.name, told.origin, cache_subdir="models", file_hash=told.file_hash)
    given = options.input_tensor
    if given is None:
        tensor = Input(shape=shape)
    else:
        tensor = given if history_of(given) is not None else Input(tensor=given, shape=shape)
    return Beginning(tensor, shape, path, options)


def _check_weights(options: Options) -> None:
    weights = options.weights
    if weights not in (None, "imagenet") and not FILES.exists(weights):
        raise MissingFileError(
            f'"{weights}" does not exist: `weights` should be None (drawn at random), "imagenet", or the path of a file'
        )
    if weights == "imagenet" and options.include_top and options.classes != 1000:
        raise InvalidArgumentError(
            f'With weights="imagenet" and include_top, `classes` should be 1000, not {options.classes}'
        )
    if options.pooling not in (None, "avg", "max"):
        raise InvalidArgumentError(f'`pooling` should be None, "avg" or "max", not {options.pooling!r}')
    if weights is None or not options.include_top:
        return
    if activations.get(options.classifier_activation) not in (activations.get("softmax"), activations.get(None)):
        raise InvalidArgumentError(
            "With weights that are loaded, `classifier_activation` can only be None or softmax: "
            f"{options.classifier_activation!r}"
        )


def _input_shape(options: Options, default_size: int, min_size: int) -> tuple[Any, ...]:
    """The shape of the images; the default one where the end of the network needs to know it."""
    is_first = image_data_format() == "channels_first"
    given = None if options.input_shape is None else tuple(options.input_shape)
    if given is not None and len(given) != 3:
        raise InvalidArgumentError(f"`input_shape` must be a tuple of three integers: {given}")
    is_stored = options.weights == "imagenet"
    channels = 3 if given is None or is_stored else given[0 if is_first else -1]

    def shaped(size: int | None) -> tuple[Any, ...]:
        return (channels, size, size) if is_first else (size, size, channels)

    default = shaped(default_size)
    if is_stored and given is not None:
        if options.include_top and given != default:
            raise InvalidArgumentError(
                f'With include_top and weights="imagenet", `input_shape` should be {default}, not {given}'
            )
        if given[0 if is_first else -1] != 3:
            raise InvalidArgumentError(f'With weights="imagenet", images must have 3 channels: input_shape={given}')
    if given is None:
        return default if options.include_top else shaped(None)
    sizes = given[1:] if is_first else given[:2]
    if any(size is not None and size < min_size for size in sizes):
        raise InvalidArgumentError(f"Input size must be at least {min_size}x{min_size}: input_shape={given}")
    if options.include_top and None in given:
        raise InvalidArgumentError(f"With include_top, `input_shape` must be known: {given}")
    return given


def finish(beginning: Beginning, x: Tensor, name: str) -> Model:
    """The model, with the weights that it was told to have."""
    given = beginning.options.input_tensor
    inputs = beginning.tensor if given is None else get_source_inputs(beginning.tensor)
    if isinstance(inputs, list) and len(inputs) == 1:
        inputs = inputs[0]
    model = Model(inputs, x, name=name)
    if beginning.weights_path is not None:
        model.load_weights(beginning.weights_path)
    return model


def pool_channels(x: Tensor, options: Options, means: str | None = None, maxima: str | None = None) -> Tensor:
    """The end of a network without classes: all of it, or a number for each channel."""
    if options.pooling == "avg":
        x = GlobalAveragePooling2D(name=means)(x)
    elif options.pooling == "max":
        x = GlobalMaxPooling2D(name=maxima)(x)
    return x


def classify(
    x: Tensor, options: Options, top: str | None = "avg_pool", means: str | None = None, maxima: str | None = None
) -> Tensor:
    """The end of most networks: classes by the means of the channels; or without classes."""
    if not options.include_top:
        return pool_channels(x, options, means, maxima)
    x = GlobalAveragePooling2D(name=top)(x)
    found: Tensor = Dense(options.classes, activation=options.classifier_activation, name="predictions")(x)
    return found


# ---------------------------------------------------------------------------------------------------- Parts


def channel_axis() -> int:
    """The axis of channels of batches of images."""
    return 1 if image_data_format() == "channels_first" else 3


def normalize(x: Tensor, name: str | None = None, **options: Any) -> Tensor:
    """Batch normalization of channels."""
    found: Tensor = BatchNormalization(axis=channel_axis(), name=name, **options)(x)
    return found


def rectify(x: Tensor, name: str | None = None) -> Tensor:
    """`relu`: numbers below zero become zero."""
    found: Tensor = Activation("relu", name=name)(x)
    return found


def convolve(x: Tensor, filters: int, size: int | Sequence[int], **options: Any) -> Tensor:
    """A convolution without a bias."""
    found: Tensor = Conv2D(filters, size, use_bias=False, **options)(x)
    return found


def size_before_strides(x: Any, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """What to pad before a window of that size goes in steps of two: zeros as "same" would add them."""
    first = 2 if image_data_format() == "channels_first" else 1
    sizes = x.get_shape().as_list()[first : first + 2]
    adjust = [1 if sizes[0] is None else 1 - length % 2 for length in sizes]
    half = size // 2
    return ((half - adjust[0], half), (half - adjust[1], half))
