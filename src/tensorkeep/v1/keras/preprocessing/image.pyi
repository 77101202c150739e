# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.preprocessing.image_generators import (
    DirectoryIterator, ImageDataGenerator, Iterator, NumpyArrayIterator,
)
from tensorkeep.tf1.keras.preprocessing.images import (
    apply_affine_transform, apply_brightness_shift, apply_channel_shift, array_to_img, img_to_array, load_img,
    random_brightness, random_channel_shift, random_rotation, random_shear, random_shift, random_zoom, save_img,
)

__all__ = [
    "DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
    "apply_brightness_shift", "apply_channel_shift", "array_to_img", "img_to_array", "load_img", "random_brightness",
    "random_channel_shift", "random_rotation", "random_shear", "random_shift", "random_zoom", "save_img",
]
