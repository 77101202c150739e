# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.arrays.patches import extract_image_patches, extract_patches
from tensorkeep.tf1.functions.images.boxes import (
    combined_non_max_suppression, crop_and_resize, draw_bounding_boxes, extract_glimpse,
    generate_bounding_box_proposals, non_max_suppression, non_max_suppression_overlaps,
    non_max_suppression_with_scores, sample_distorted_bounding_box,
)
from tensorkeep.tf1.functions.images.colors import (
    adjust_contrast, adjust_hue, adjust_jpeg_quality, adjust_saturation, grayscale_to_rgb, hsv_to_rgb, random_contrast,
    random_hue, random_jpeg_quality, random_saturation, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv,
    yiq_to_rgb, yuv_to_rgb,
)
from tensorkeep.tf1.functions.images.files import (
    decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, decode_webp, encode_jpeg,
    encode_png, extract_jpeg_shape, is_jpeg,
)
from tensorkeep.tf1.functions.images.geometry import (
    ResizeMethod, central_crop, crop_to_bounding_box, flip_left_right, flip_up_down, pad_to_bounding_box,
    per_image_standardization, per_image_standardization as per_image_whitening, random_flip_left_right,
    random_flip_up_down, resize, resize_area, resize_bicubic, resize_bilinear, resize_image_with_crop_or_pad,
    resize_image_with_pad, resize_images, resize_nearest_neighbor, resize_with_crop_or_pad, rot90, transpose,
    transpose_image,
)
from tensorkeep.tf1.functions.images.padded_suppression import non_max_suppression_padded
from tensorkeep.tf1.functions.images.quality import (
    image_gradients, psnr, sobel_edges, ssim, ssim_multiscale, total_variation,
)
from tensorkeep.tf1.functions.ragged.dispatch import (
    adjust_brightness, adjust_gamma, convert_image_dtype, random_brightness,
)
from tensorkeep.tf1.functions.random.numbers import random_crop

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_saturation", "central_crop", "combined_non_max_suppression", "convert_image_dtype", "crop_and_resize",
    "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "decode_webp", "draw_bounding_boxes", "encode_jpeg", "encode_png", "extract_glimpse",
    "extract_image_patches", "extract_jpeg_shape", "extract_patches", "flip_left_right", "flip_up_down",
    "generate_bounding_box_proposals", "grayscale_to_rgb", "hsv_to_rgb", "image_gradients", "is_jpeg",
    "non_max_suppression", "non_max_suppression_overlaps", "non_max_suppression_padded",
    "non_max_suppression_with_scores", "pad_to_bounding_box", "per_image_standardization", "per_image_whitening",
    "psnr", "random_brightness", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down",
    "random_hue", "random_jpeg_quality", "random_saturation", "resize", "resize_area", "resize_bicubic",
    "resize_bilinear", "resize_image_with_crop_or_pad", "resize_image_with_pad", "resize_images",
    "resize_nearest_neighbor", "resize_with_crop_or_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv",
    "rot90", "sample_distorted_bounding_box", "sobel_edges", "ssim", "ssim_multiscale", "total_variation", "transpose",
    "transpose_image", "yiq_to_rgb", "yuv_to_rgb",
]
