"""Images as arrays: files by Pillow, and changes of them, drawn at random or told.

Turning, moving, shearing and zooming are one step from places of the result to places of the image, whose values are
interpolated between neighbours: what SciPy's `affine_transform` of order one computes, which Keras uses.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, PathLike, atomic_write, path_text
from tensorkeep.io.files.memory import bytes_written_by, file_of
from tensorkeep.tf1.keras.backend.settings import chosen_data_format, floatx
from tensorkeep.tf1.keras.utils.downloads import read_bytes

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_RESAMPLING: Final = ("bilinear", "bicubic", "box", "hamming", "lanczos", "nearest")
_MODES: Final = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise UnimplementedError("images of files need Pillow: pip install 'tensorkeep[images]'") from None
    return Image


def load_img(
    path: PathLike,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
) -> Any:
    """A file as an image of Pillow's, perhaps resized."""
    mode = "grayscale" if grayscale else color_mode
    if mode not in _MODES:
        raise InvalidArgumentError('color_mode must be "grayscale", "rgb", or "rgba"')
    if interpolation not in _RESAMPLING:
        raise InvalidArgumentError(f"Invalid interpolation method {interpolation}; supported: {', '.join(_RESAMPLING)}")
    pillow = _pillow()
    image = _read_image(pillow, path_text(path))
    if image.mode != _MODES[mode] and not (mode == "grayscale" and image.mode in ("I;16", "I")):
        image = image.convert(_MODES[mode])
    if target_size is not None and image.size != (target_size[1], target_size[0]):
        image = image.resize((target_size[1], target_size[0]), getattr(pillow, interpolation.upper()))
    return image


def _read_image(pillow: Any, path: str) -> Any:
    data = read_bytes(path)
    try:
        image = pillow.open(file_of(data))
        image.load()  # what is damaged is told of here, where its path is known
    except (OSError, ValueError, SyntaxError, EOFError, pillow.DecompressionBombError) as error:
        raise DataLossError(f'"{path}" is no image that can be read: {error}') from error
    return image


def img_to_array(
    img: npt.ArrayLike | Picture, data_format: str | None = None, dtype: npt.DTypeLike | None = None
) -> Array:
    """An image of Pillow's as an array of three axes."""
    values = np.asarray(img, dtype=floatx() if dtype is None else dtype)
    if values.ndim not in (2, 3):
        raise InvalidArgumentError(f"Unsupported image shape: {values.shape}")
    values = values[..., None] if values.ndim == 2 else values
    return values.transpose(2, 0, 1) if chosen_data_format(data_format) == "channels_first" else values


def array_to_img(
    x: npt.ArrayLike, data_format: str | None = None, scale: bool = True, dtype: npt.DTypeLike | None = None
) -> Any:
    """An array of three axes as an image of Pillow's; scaled, its numbers become 0 to 255."""
    values = np.asarray(x, dtype=floatx() if dtype is None else dtype)
    if values.ndim != 3:
        raise InvalidArgumentError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {values.shape}"
        )
    if chosen_data_format(data_format) == "channels_first":
        values = values.transpose(1, 2, 0)
    if scale:
        values = values - values.min()
        highest = values.max()
        values = values / highest * 255 if highest else values
    kinds = {1: "L", 3: "RGB", 4: "RGBA"}
    if values.shape[2] not in kinds:
        raise InvalidArgumentError(f"Unsupported channel number: {values.shape[2]}")
    plain = values[:, :, 0] if values.shape[2] == 1 else values
    return _pillow().fromarray(plain.astype("uint8"), kinds[values.shape[2]])


def save_img(
    path: PathLike,
    x: npt.ArrayLike,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: object,
) -> None:
    """Writes an array as an image, of the format that the end of the path names unless one is given."""
    place, image = path_text(path), array_to_img(x, data_format=data_format, scale=scale)
    end = posixpath.splitext(place)[1].lower()
    known = _pillow().registered_extensions()
    if file_format is None and end not in known:
        raise InvalidArgumentError(f'"{place}": "{end}" names no format of images; give one by file_format, as "png"')
    data = bytes_written_by(lambda file: image.save(file, format=file_format or known[end], **kwargs))
    atomic_write(FILES, place, data, Durability.CACHE)


# ---------------------------------------------------------------------------------------------------- Geometry


def apply_affine_transform(
    x: Array,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> Array:
    """An image turned by `theta` degrees, moved, sheared by degrees, and zoomed."""
    if order != 1:
        raise UnimplementedError(f"interpolation of order {order}: images are interpolated linearly, order=1")
    matrix = np.eye(3)
    for part in _parts(theta, tx, ty, shear, zx, zy):
        matrix = matrix @ part
    if np.array_equal(matrix, np.eye(3)):
        return x
    planes = np.moveaxis(x, (channel_axis, row_axis, col_axis), (0, 1, 2))
    height, width = planes.shape[1:]
    # Steps are told in x and y. Keras takes the middle in that order before it exchanges the two, and so do we.
    if col_axis > row_axis:
        matrix = matrix[[1, 0, 2]][:, [1, 0, 2]]
        height, width = width, height
    middle = np.array([height / 2 - 0.5, width / 2 - 0.5])
    height, width = planes.shape[1:]
    grid = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij")).reshape(2, -1)
    linear, offset = matrix[:2, :2], matrix[:2, 2]
    places = linear @ (grid - middle[:, None]) + (offset + middle)[:, None]
    found = np.stack([_interpolated_plane(plane, places, fill_mode, cval) for plane in planes])
    moved = found.reshape(planes.shape).astype(x.dtype, copy=False)
    return np.moveaxis(moved, (0, 1, 2), (channel_axis, row_axis, col_axis))


def _parts(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> list[Array]:
    """The matrices of the steps, those that change nothing left out."""
    found: list[Any] = []
    if theta:
        angle = np.deg2rad(theta)
        found.append([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    if tx or ty:
        found.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        angle = np.deg2rad(shear)
        found.append([[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        found.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    return [np.array(part, dtype=float) for part in found]


def _interpolated_plane(plane: Array, places: Array, mode: str, cval: float) -> Array:
    """The values of a plane at places between its points, along lines from neighbour to neighbour."""
    inside = [_within(place, size, mode) for place, size in zip(places, plane.shape, strict=True)]
    lows = [np.clip(np.floor(place).astype(int), 0, size - 1) for place, size in zip(inside, plane.shape, strict=True)]
    highs = [np.minimum(low + 1, size - 1) for low, size in zip(lows, plane.shape, strict=True)]
    shares = [place - low for place, low in zip(inside, lows, strict=True)]
    values = plane.astype(float)
    above = values[lows[0], lows[1]] * (1 - shares[1]) + values[lows[0], highs[1]] * shares[1]
    below = values[highs[0], lows[1]] * (1 - shares[1]) + values[highs[0], highs[1]] * shares[1]
    found = above * (1 - shares[0]) + below * shares[0]
    if mode == "constant":
        outside = [(place < 0) | (place > size - 1) for place, size in zip(places, plane.shape, strict=True)]
        found = np.where(outside[0] | outside[1], cval, found)
    return np.asarray(found)


def _within(place: Array, size: int, mode: str) -> Array:
    """Places outside of an axis, as places inside."""
    if mode in ("nearest", "constant"):
        return np.clip(place, 0, size - 1)
    if size == 1:
        return np.zeros_like(place)
    if mode == "wrap":  # with the last point the same as the first, as SciPy has it
        return np.where((place < 0) | (place > size - 1), np.mod(place, size - 1), place)
    if mode == "reflect":  # each edge twice
        turned = np.mod(place + 0.5, 2 * size)
        return np.clip(np.where(turned > size, 2 * size - turned, turned) - 0.5, 0, size - 1)
    raise InvalidArgumentError(f'fill_mode "{mode}" is not one of "nearest", "constant", "reflect", "wrap"')


def random_rotation(
    x: Array,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Array:
    """An image turned by up to `rg` degrees."""
    theta = np.random.uniform(-rg, rg)
    axes = {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}
    return apply_affine_transform(x, theta=theta, **axes, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(
    x: Array,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Array:
    """An image moved by up to these parts of its width and height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    axes = {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}
    return apply_affine_transform(x, tx=tx, ty=ty, **axes, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shear(
    x: Array,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Array:
    """An image sheared by up to `intensity` degrees."""
    shear = np.random.uniform(-intensity, intensity)
    axes = {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}
    return apply_affine_transform(x, shear=shear, **axes, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_zoom(
    x: Array,
    zoom_range: Sequence[float],
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Array:
    """An image zoomed by factors of a range."""
    if len(zoom_range) != 2:
        raise InvalidArgumentError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    axes = {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}
    return apply_affine_transform(x, zx=zx, zy=zy, **axes, fill_mode=fill_mode, cval=cval, order=interpolation_order)


# ---------------------------------------------------------------------------------------------------- Colours


def apply_channel_shift(x: Array, intensity: float, channel_axis: int = 0) -> Array:
    """All channels brighter or darker, within the range of the image."""
    return np.clip(x + intensity, x.min(), x.max())


def random_channel_shift(x: Array, intensity_range: float, channel_axis: int = 0) -> Array:
    """All channels brighter or darker by a number drawn from a range."""
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x: Array, brightness: float) -> Array:
    """An image brighter or darker by a factor, by Pillow."""
    _pillow()
    from PIL import ImageEnhance

    image = ImageEnhance.Brightness(array_to_img(x)).enhance(brightness)
    return img_to_array(image)


def random_brightness(x: Array, brightness_range: Sequence[float]) -> Array:
    """An image brighter or darker by a factor drawn from a range, by Pillow."""
    if len(brightness_range) != 2:
        raise InvalidArgumentError(
            f"`brightness_range` should be a tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))
