"""Batches of images, changed at random, from arrays and from folders."""

from __future__ import annotations

import posixpath
import threading
import warnings
from collections.abc import Callable, Sequence
from collections.abc import Iterator as Items
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.tf1.keras.backend.settings import chosen_data_format, floatx
from tensorkeep.tf1.keras.preprocessing import images
from tensorkeep.tf1.keras.preprocessing.images import img_to_array, load_img
from tensorkeep.tf1.keras.utils.sequences import Sequence as BatchSequence

_ENDINGS: Final = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


Images: TypeAlias = Array | Sequence[npt.ArrayLike]
Batch: TypeAlias = Array | list[Array] | tuple[Array | list[Array], ...]
"""Images, perhaps with what goes with them; or these, their labels, and perhaps the weights of these."""
Shift: TypeAlias = float | Sequence[float]


class Iterator(BatchSequence):
    """Batches of numbered images, in order or drawn anew each epoch; `next` goes on without end."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n = n
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.index_array: Any = None
        self._lock = threading.Lock()
        self._numbers = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, index: int) -> Batch:
        if index >= len(self):
            raise OutOfRangeError(f"Asked to retrieve element {index}, but the Sequence has length {len(self)}")
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        chosen = self.index_array[self.batch_size * index : self.batch_size * (index + 1)]
        return self._get_batches_of_transformed_samples(chosen)

    def on_epoch_end(self) -> None:
        self._set_index_array()

    def reset(self) -> None:
        """Starts over."""
        self.batch_index = 0

    def _flow_index(self) -> Items[Array]:
        self.reset()
        while True:
            if self.seed is not None:
                np.random.seed(self.seed + self.total_batches_seen)
            if self.batch_index == 0:
                self._set_index_array()
            if self.n == 0:
                return
            at = (self.batch_index * self.batch_size) % self.n
            self.batch_index = 0 if at + self.batch_size >= self.n else self.batch_index + 1
            self.total_batches_seen += 1
            yield self.index_array[at : at + self.batch_size]

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Batch:
        with self._lock:
            chosen = next(self._numbers)
        return self._get_batches_of_transformed_samples(chosen)

    next = __next__

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Batch:
        """The batch of these numbers."""
        raise NotImplementedError


class NumpyArrayIterator(Iterator):
    """Batches of the images of an array."""

    def __init__(
        self,
        x: Array | tuple[Array, Sequence[npt.ArrayLike]] | list[Any],
        y: Images | None,
        image_data_generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Images | None = None,
        seed: int | None = None,
        data_format: str | None = None,
        subset: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        self.dtype = floatx() if dtype is None else dtype
        others: list[Any] = []
        if isinstance(x, tuple | list):
            x, others = x[0], [np.asarray(item) for item in x[1]]
        values = np.asarray(x, dtype=self.dtype)
        for name, item in (("labels", y), ("sample_weight", sample_weight)):
            if item is not None and len(item) != len(values):
                raise InvalidArgumentError(
                    f"`x` (images) and {name} should have the same length: {len(values)}, {len(item)}"
                )
        if values.ndim != 4:
            raise InvalidArgumentError(
                f"Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape {values.shape}"
            )
        part = _subset(subset, len(values), image_data_generator.validation_split)
        self.x = values[part]
        self.x_misc = [item[part] for item in others]
        self.y = None if y is None else np.asarray(y)[part]
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)[part]
        self.image_data_generator = image_data_generator
        self.data_format = chosen_data_format(data_format)
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Any:
        made = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for place, number in enumerate(index_array):
            made[place] = self.image_data_generator.transformed(self.x[number].astype(self.dtype))
        first: Any = [made, *(item[index_array] for item in self.x_misc)] if self.x_misc else made
        if self.y is None:
            return first
        rest = [self.y[index_array]]
        if self.sample_weight is not None:
            rest.append(self.sample_weight[index_array])
        return (first, *rest)


def _subset(subset: str | None, count: int, split: float) -> slice:
    """Which items are to validate with, the first, and which to train with."""
    if subset is None:
        return slice(None)
    if subset not in ("training", "validation"):
        raise InvalidArgumentError(f'Invalid subset name: {subset}; expected "training" or "validation".')
    cut = int(count * split)
    return slice(None, cut) if subset == "validation" else slice(cut, None)


class DirectoryIterator(Iterator):
    """Batches of the images of a folder, with a folder in it for each class."""

    def __init__(
        self,
        directory: PathLike,
        image_data_generator: ImageDataGenerator,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        if class_mode not in ("categorical", "binary", "sparse", "input", None):
            raise InvalidArgumentError(f"Invalid class_mode: {class_mode}")
        self.directory = path_text(directory)
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.color_mode = color_mode
        self.class_mode = class_mode
        self.data_format = chosen_data_format(data_format)
        self.interpolation = interpolation
        self.dtype = floatx() if dtype is None else dtype
        folders = classes or sorted(
            name for name in FILES.list(self.directory) if FILES.is_directory(posixpath.join(self.directory, name))
        )
        self.class_indices = {name: number for number, name in enumerate(folders)}
        self.num_classes = len(self.class_indices)
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name, number in self.class_indices.items():
            files = sorted(_pictures(self.directory, name))
            kept = files[_subset(subset, len(files), image_data_generator.validation_split)]
            self.filenames += kept
            numbers += [number] * len(kept)
        self.classes = np.array(numbers, dtype="int32")
        self.samples = len(self.filenames)
        self.filepaths = [posixpath.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Any:
        found = []
        for number in index_array:
            image = load_img(
                self.filepaths[number],
                color_mode=self.color_mode,
                target_size=self.target_size,  # type: ignore[arg-type]
                interpolation=self.interpolation,
            )
            values = img_to_array(image, data_format=self.data_format, dtype=self.dtype)
            found.append(self.image_data_generator.transformed(values))
        batch = np.array(found, dtype=self.dtype)
        if self.class_mode is None:
            return batch
        if self.class_mode == "input":
            return batch, batch.copy()
        labels = self.classes[index_array]
        if self.class_mode == "categorical":
            return batch, np.eye(self.num_classes, dtype=self.dtype)[labels]
        return batch, labels.astype(self.dtype)


def _pictures(directory: str, folder: str) -> Items[str]:
    """The images in a folder and in those below, by their paths from the directory."""
    for name in FILES.list(posixpath.join(directory, folder)):
        path = posixpath.join(folder, name)
        if FILES.is_directory(posixpath.join(directory, path)):
            yield from _pictures(directory, path)
        elif name.lower().endswith(_ENDINGS):
            yield path


class ImageDataGenerator:
    """Changes images at random, and standardizes them."""

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Shift = 0.0,
        height_shift_range: Shift = 0.0,
        brightness_range: Sequence[float] | None = None,
        shear_range: float = 0.0,
        zoom_range: float | Sequence[float] = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[Any], Any] | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        self.featurewise_center = featurewise_center or featurewise_std_normalization or zca_whitening
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.brightness_range = brightness_range
        self.shear_range = shear_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = chosen_data_format(data_format)
        self.dtype = floatx() if dtype is None else dtype
        self.channel_axis, self.row_axis, self.col_axis = (
            (1, 2, 3) if self.data_format == "channels_first" else (3, 1, 2)
        )
        if validation_split and not 0 < validation_split < 1:
            raise InvalidArgumentError(
                f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}"
            )
        self.validation_split = validation_split
        if isinstance(zoom_range, int | float):
            self.zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) == 2:
            self.zoom_range = [zoom_range[0], zoom_range[1]]
        else:
            raise InvalidArgumentError(
                f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}"
            )
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None

    def flow(
        self,
        x: Array | tuple[Array, Sequence[npt.ArrayLike]] | list[Any],
        y: Images | None = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Images | None = None,
        seed: int | None = None,
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of the images of an array."""
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            subset=subset,
            dtype=self.dtype,
        )

    def flow_from_directory(
        self,
        directory: PathLike,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of the images of a folder, with a folder in it for each class."""
        return DirectoryIterator(
            directory,
            self,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def transformed(self, x: Array) -> Array:
        """An image, changed at random and standardized."""
        return self.standardize(self.apply_transform(x, self.get_random_transform(x.shape)))

    def standardize(self, x: Array) -> Array:
        """An image, scaled and centred as told."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * self.rescale
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        for wanted, known, what in (
            (self.featurewise_center, self.mean, "featurewise_center"),
            (self.featurewise_std_normalization, self.std, "featurewise_std_normalization"),
            (self.zca_whitening, self.principal_components, "zca_whitening"),
        ):
            if wanted and known is None:
                warnings.warn(
                    f"This ImageDataGenerator specifies `{what}`, but it hasn't been fit on any training data. Fit it "
                    "first by calling `.fit(numpy_data)`.",
                    stacklevel=2,
                )
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        if self.zca_whitening and self.principal_components is not None:
            x = (x.reshape(1, -1) @ self.principal_components).reshape(x.shape)
        return x

    def get_random_transform(self, img_shape: Sequence[int], seed: int | None = None) -> dict[str, Any]:
        """How an image of that shape is to be changed, drawn at random in Keras's order."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        flips = (np.random.random() < 0.5) * self.horizontal_flip, (np.random.random() < 0.5) * self.vertical_flip
        shift = (
            np.random.uniform(-self.channel_shift_range, self.channel_shift_range) if self.channel_shift_range else None
        )
        brightness = None
        if self.brightness_range is not None:
            brightness = np.random.uniform(self.brightness_range[0], self.brightness_range[1])
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": flips[0],
            "flip_vertical": flips[1],
            "channel_shift_intensity": shift,
            "brightness": brightness,
        }

    def apply_transform(self, x: Array, transform_parameters: dict[str, Any]) -> Array:
        """An image, changed as told."""
        told = transform_parameters
        row, column, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        steps = {
            name: told.get(name, 1 if name in ("zx", "zy") else 0)
            for name in ("theta", "tx", "ty", "shear", "zx", "zy")
        }
        x = images.apply_affine_transform(
            x,
            **steps,
            row_axis=row,
            col_axis=column,
            channel_axis=channel,
            fill_mode=self.fill_mode,
            cval=self.cval,
        )
        if told.get("channel_shift_intensity") is not None:
            x = images.apply_channel_shift(x, told["channel_shift_intensity"], channel)
        if told.get("flip_horizontal"):
            x = np.flip(x, column)
        if told.get("flip_vertical"):
            x = np.flip(x, row)
        return x if told.get("brightness") is None else images.apply_brightness_shift(x, told["brightness"])

    def random_transform(self, x: Array, seed: int | None = None) -> Array:
        """An image, changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: TensorLike, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Finds the mean, the deviation and the principal components of images."""
        values = np.array(x, dtype=self.dtype)
        if values.ndim != 4:
            raise InvalidArgumentError(f"Input to `.fit()` should have rank 4. Got array with shape: {values.shape}")
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            values = values * self.rescale
        if augment:
            values = np.array(
                [self.random_transform(image) for _ in range(rounds) for image in values], dtype=self.dtype
            )
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = values.shape[self.channel_axis]
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = np.mean(values, axis=axes).reshape(shape)
            values = values - self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(values, axis=axes).reshape(shape)
            values = values / (self.std + 1e-6)
        if self.zca_whitening:
            flat = values.reshape(len(values), -1)
            u, s, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (u * (1.0 / np.sqrt(s[np.newaxis] + self.zca_epsilon))) @ u.T


def _shift(told: Any, size: int) -> float:
    """How far an image is moved: one of some distances, fewer than so many points, or a part of its size."""
    if not np.any(told):
        return 0
    if isinstance(told, int | np.integer) or np.ndim(told):
        return float(np.random.choice(told) * np.random.choice([-1, 1]) * (size if np.max(told) < 1 else 1))
    return float(np.random.uniform(-told, told) * (size if told < 1 else 1))
