# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.image import (
    angles_to_projective_transforms, compose_transforms, dense_image_warp, interpolate_bilinear, interpolate_spline,
    rotate, sparse_image_warp, transform, translate, translations_to_projective_transforms,
)

__all__ = [
    "angles_to_projective_transforms", "compose_transforms", "dense_image_warp", "interpolate_bilinear",
    "interpolate_spline", "rotate", "sparse_image_warp", "transform", "translate",
    "translations_to_projective_transforms",
]
