# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.image import (
    angles_to_projective_transforms, bipartite_match, compose_transforms, dense_image_warp, interpolate_bilinear,
    interpolate_spline, matrices_to_flat_transforms, rotate, sparse_image_warp, transform, translate,
    translations_to_projective_transforms,
)

__all__ = [
    "angles_to_projective_transforms", "bipartite_match", "compose_transforms", "dense_image_warp",
    "interpolate_bilinear", "interpolate_spline", "matrices_to_flat_transforms", "rotate", "sparse_image_warp",
    "transform", "translate", "translations_to_projective_transforms",
]
