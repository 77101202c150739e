# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.image import (
    angles_to_projective_transforms, bipartite_match, compose_transforms, dense_image_warp, interpolate_bilinear,
    interpolate_spline, matrices_to_flat_transforms, rotate, sparse_image_warp, transform, translate,
    translations_to_projective_transforms,
)
from tensorkeep.tf1.contrib.image_values import adjust_hsv_in_yiq, connected_components, random_hsv_in_yiq

__all__ = [
    "adjust_hsv_in_yiq", "angles_to_projective_transforms", "bipartite_match", "compose_transforms",
    "connected_components", "dense_image_warp", "interpolate_bilinear", "interpolate_spline",
    "matrices_to_flat_transforms", "random_hsv_in_yiq", "rotate", "sparse_image_warp", "transform", "translate",
    "translations_to_projective_transforms",
]
