"""Functions of `keras.ops` that compute with matrices, signals, images and networks: their rows of the sweep."""

from __future__ import annotations

from typing import Any

import keras

from tests.interop.keras_op_rows import COMPLEX, FLOATS, GRID, IMAGE, SQUARE, VOLUME, rows, with_options
from tests.interop.keras_sweep import below, between, chosen, floats

ops = keras.ops

# Matrices
rows("matmul", GRID, floats(None, 6, 3))
rows("matmul", GRID, floats(6))
rows("matmul", below(9, -9)(None, 4, 6, dtype="int8"), below(9, -9)(6, 2, dtype="int8"))
rows("dot", GRID, floats(6, 3))
rows("inner", FLOATS, FLOATS)
rows("outer", FLOATS, floats(4))
rows("tensordot", GRID, floats(6, 3), call=lambda op, *x: op(*x, axes=1))
rows("tensordot", GRID, floats(4, 6, 3), call=lambda op, *x: [op(*x), op(*x, axes=[[1], [0]])])
rows("einsum", GRID, floats(6, 3), call=lambda op, *x: [op("bij,jk->bik", *x), op("bij,jk->ki", *x)])
rows("einsum", GRID, GRID, call=lambda op, *x: [op("bij,bkj->bik", *x), op("bij,bij->b", *x)])
rows("cross", floats(None, 3), floats(None, 3))
rows("correlate", floats(7), floats(3), call=lambda op, *x: [op(*x, mode=mode) for mode in ("valid", "same", "full")])
rows("cdist", floats(None, 5, 3), floats(None, 4, 3))


def definite(x: Any) -> Any:
    """Symmetric matrices whose eigenvalues are positive and apart."""
    return ops.matmul(x, ops.transpose(x, (0, 2, 1))) + ops.diag([1.0, 2.0, 3.0, 4.0])


rows("cholesky det inv logdet slogdet", SQUARE, call=lambda op, x: op(definite(x)))
rows("cholesky", SQUARE, call=lambda op, x: op(definite(x), upper=True))
rows(
    "cholesky_inverse",
    SQUARE,
    call=lambda op, x: [op(ops.cholesky(definite(x))), op(ops.cholesky(definite(x), upper=True), upper=True)],
)
rows("det inv slogdet", SQUARE)
rows("eigh", SQUARE, call=lambda op, x: [op(definite(x))[0], ops.abs(op(definite(x))[1])])
rows("eig", SQUARE, call=lambda op, x: ops.sort(ops.real(op(definite(x))[0])))
rows("lu_factor", floats(4, 4))
rows("norm", GRID, call=lambda op, x: [op(x, axis=-1), op(x, ord=1, axis=1), op(x, axis=(1, 2), keepdims=True)])
rows("norm", floats(4, 6))
rows("norm", GRID, call=lambda op, x: [op(x, ord=order, axis=(1, 2)) for order in ("fro", "nuc", 1, -1, 2, -2)])
rows("norm", GRID, call=lambda op, x: [op(x, ord=order, axis=1) for order in (0, 3, float("inf"), -float("inf"))])
rows(
    "qr", GRID, call=lambda op, x: [ops.abs(part) for mode in ("reduced", "complete") for part in op(x, mode=mode)[:1]]
)
rows("solve", SQUARE, floats(None, 4, 2), call=lambda op, a, b: op(definite(a), b))
rows("solve", SQUARE, floats(None, 4), call=lambda op, a, b: op(definite(a), b))
rows(
    "solve_triangular",
    SQUARE,
    floats(None, 4, 2),
    call=lambda op, a, b: [op(definite(a), b), op(definite(a), b, lower=True)],
)
rows("svd", GRID, call=lambda op, x: [op(x, compute_uv=False), *[ops.abs(part) for part in op(x, full_matrices=False)]])
rows("lstsq", floats(5, 3), floats(5, 2))
rows("matrix_rank", GRID)
rows("pinv", GRID)

# Signals
rows("fft", *COMPLEX, call=lambda op, *x: op(x))
rows("fft2 ifft2", GRID, GRID, call=lambda op, *x: op(x))
with_options("rfft", floats(None, 8), options=[{}, {"fft_length": 12}, {"fft_length": 5}])
rows("irfft", floats(None, 5), floats(None, 5), call=lambda op, *x: [op(x), op(x, fft_length=12)])
rows("view_as_complex", floats(None, 4, 2))
rows("view_as_real", floats(None, 4, 2), call=lambda op, x: op(ops.view_as_complex(x)))
rows("polar", between(0, 2)(None, 5), FLOATS)
rows("real imag angle conj conjugate abs isreal", floats(None, 4, 2), call=lambda op, x: op(ops.view_as_complex(x)))
rows("extract_sequences", floats(None, 20), call=lambda op, x: op(x, 5, 3))
for _window in ("hann", "hamming", None):
    rows("stft", floats(None, 40), ours_alone=(0,), call=lambda op, x, w=_window: op(x, 12, 5, 16, window=w))
rows("stft", floats(None, 40), call=lambda op, x: op(x, 12, 5, 16, center=False))
rows(
    "istft",
    floats(None, 40),
    ours_alone=(0,),
    call=lambda op, x: [op(ops.stft(x, 12, 3, 16), 12, 3, 16), op(ops.stft(x, 12, 3, 16), 12, 3, 16, length=30)],
)

# Networks
for _name in ("average_pool", "max_pool"):
    for _shape, _size in ((floats(None, 7, 4), 2), (IMAGE, (2, 3)), (VOLUME, 2)):
        rows(_name, _shape, call=lambda op, x, s=_size: [op(x, s), op(x, s, strides=1, padding="same")])
    rows(f"adaptive_{_name}", IMAGE, call=lambda op, x: [op(x, (2, 3)), op(x, (4, 2))])
rows("conv", IMAGE, floats(3, 3, 3, 4), call=lambda op, *x: [op(*x), op(*x, strides=2, padding="same")])
rows("conv", IMAGE, floats(3, 3, 3, 4), call=lambda op, *x: [op(*x, dilation_rate=2), op(*x, padding="same")])
rows("depthwise_conv", IMAGE, floats(3, 3, 3, 2), call=lambda op, *x: [op(*x), op(*x, strides=2, padding="same")])
rows("separable_conv", IMAGE, floats(3, 3, 3, 2), floats(1, 1, 6, 4))
rows("conv_transpose", IMAGE, floats(3, 3, 4, 3), call=lambda op, *x: [op(*x, strides=2), op(*x, 2, "same")])
CHANNELS = between(0.5, 2)(3)
rows(
    "batch_normalization",
    IMAGE,
    CHANNELS,
    call=lambda op, x, c: [op(x, c, c * 2, -1, scale=c), op(x, c, c, 3, offset=c)],
)
rows("layer_normalization", GRID, call=lambda op, x: [op(x), op(x, axis=(1, 2))])
rows("rms_normalization", GRID, call=lambda op, x: [op(x), op(x, axis=1)])
HEADS = (floats(None, 5, 2, 4), floats(None, 7, 2, 4), floats(None, 7, 2, 4))
rows("dot_product_attention", *HEADS, call=lambda op, *x: [op(*x), op(*x, scale=0.3)])
rows("dot_product_attention", *HEADS[1:], call=lambda op, k, v: op(k, k, v, is_causal=True))
rows(
    "dot_product_attention",
    *HEADS,
    chosen(False, True, dtype="bool")(None, 2, 5, 7),
    call=lambda op, q, k, v, mask: op(q, k, v, mask=mask, bias=ops.ones((2, 5, 7))),
)
PROBABILITIES = between(0.05, 0.95)(None, 5)
rows("binary_crossentropy categorical_crossentropy", PROBABILITIES, PROBABILITIES)
rows(
    "binary_crossentropy categorical_crossentropy", PROBABILITIES, FLOATS, call=lambda op, *x: op(*x, from_logits=True)
)
rows("sparse_categorical_crossentropy", below(5)(None), PROBABILITIES)
rows("sparse_categorical_crossentropy", below(5)(None), FLOATS, call=lambda op, *x: op(*x, from_logits=True))
LABELS, LOGITS, LENGTHS = below(5, 1)(None, 3), floats(None, 9, 5), below(10, 7)(None)
rows("ctc_loss", LABELS, LOGITS, below(4, 1)(None), LENGTHS, refused=(0,))
rows("ctc_decode", LOGITS, LENGTHS, refused=(0,), call=lambda op, *x: [op(*x), op(*x, merge_repeated=False)])
rows(
    "ctc_decode",
    LOGITS,
    LENGTHS,
    refused=(0,),
    call=lambda op, *x: op(*x, strategy="beam_search", beam_width=6, top_paths=2),
)
rows("psnr", IMAGE, IMAGE, call=lambda op, *x: op(*x, 1.0), batches=(1, 3))
rows("unfold", floats(2, 3, 8, 9), call=lambda op, x: [op(x, 2), op(x, (3, 2), dilation=2, padding=1, stride=2)])
rows("fold", floats(None, 12, 20), call=lambda op, x: op(x, (5, 6), 2))
rows("depth_to_space", floats(None, 3, 4, 8), call=lambda op, x: op(x, 2))
rows("space_to_depth", floats(None, 4, 6, 3), call=lambda op, x: op(x, 2))

# Flow
rows("map", GRID, call=lambda op, x: op(lambda row: ops.sum(row) * row, x))
rows("vectorized_map", GRID, call=lambda op, x: op(lambda row: ops.matmul(row, ops.transpose(row)), x))
rows("scan", GRID, call=lambda op, x: op(lambda c, row: (c + row, c * row), ops.zeros((4, 6)), x))
rows("scan", GRID, call=lambda op, x: op(lambda c, row: (c * row, c), ops.ones((4, 6)), x, reverse=True))
rows("associative_scan", floats(5, 3), call=lambda op, x: [op(ops.add, x), op(ops.multiply, x, reverse=True)])
rows("cond", FLOATS, call=lambda op, x: op(ops.sum(x) > 0, lambda: x * 2, lambda: x - 1))
rows("switch", FLOATS, call=lambda op, x: op(ops.shape(x)[0] % 3, [lambda y: y, lambda y: y * 2, lambda y: -y], x))
rows(
    "while_loop",
    FLOATS,
    call=lambda op, x: op(
        lambda i, y: i < 4, lambda i, y: (i + 1, y * 1.5), (ops.convert_to_tensor(0), x), maximum_iterations=3
    ),
)
rows("fori_loop", FLOATS, call=lambda op, x: op(0, 3, lambda i, y: y + ops.cast(i, "float32"), x))

# Images
rows("image.rgb_to_grayscale image.rgb_to_hsv image.hsv_to_rgb", IMAGE)
rows("image.sobel_edges", IMAGE, ours_alone=(0,))
for _way in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", "area"):
    rows("image.resize", IMAGE, call=lambda op, x, w=_way: [op(x, (5, 12), w), op(x, (5, 12), w, antialias=True)])
rows(
    "image.resize",
    IMAGE,
    call=lambda op, x: [op(x, (4, 4), crop_to_aspect_ratio=True), op(x, (4, 4), pad_to_aspect_ratio=True)],
)
for _fill in ("constant", "nearest", "wrap", "reflect"):
    rows(
        "image.affine_transform",
        IMAGE,
        floats(None, 8),
        call=lambda op, x, t, f=_fill: op(
            x,
            ops.convert_to_tensor([1.0, 0, 1, 0, 1, -1, 0, 0]) + 0.1 * ops.tanh(t) * [1.0, 1, 1, 1, 1, 1, 0, 0],
            fill_mode=f,
        ),
    )
    rows(
        "image.map_coordinates",
        floats(8, 9),
        between(-3, 11)(2, 5, 4),
        call=lambda op, x, c, f=_fill: [op(x, c, 1, fill_mode=f), op(x, c, 0, fill_mode=f)],
    )
rows("image.crop_images", IMAGE, call=lambda op, x: op(x, 1, 2, target_height=5, target_width=4))
rows("image.pad_images", IMAGE, call=lambda op, x: op(x, 1, 2, target_height=12, target_width=14))
rows("image.extract_patches", IMAGE, call=lambda op, x: [op(x, 3), op(x, (2, 3), strides=1, padding="same")])
rows("image.extract_patches", IMAGE, call=lambda op, x: op(x, 2, strides=1, dilation_rate=2))
rows("image.extract_patches_3d", VOLUME, call=lambda op, x: [op(x, 2), op(x, 2, strides=1, padding="same")])
rows("image.gaussian_blur", IMAGE, call=lambda op, x: op(x, (3, 3), (1.0, 0.7)))
rows(
    "image.perspective_transform",
    IMAGE,
    between(-1, 1)(None, 4, 2),
    call=lambda op, x, moved: op(
        x,
        ops.convert_to_tensor([[0.0, 0], [8, 0], [0, 7], [8, 7]]) + moved * 0,
        ops.convert_to_tensor([[0.0, 0], [8, 0], [0, 7], [8, 7]]) + moved,
    ),
)
rows(
    "image.scale_and_translate",
    IMAGE,
    call=lambda op, x: op(
        x, (ops.shape(x)[0], 6, 12, 3), ops.array([0.7, 1.4]), ops.array([0.3, -0.5]), (1, 2), "linear"
    ),
)
rows(
    "image.scale_and_translate",
    floats(8, 9, 3),
    call=lambda op, x: [
        op(x, (6, 12, 3), ops.array([0.7, 1.4]), ops.array([0.3, -0.5]), (0, 1), way)
        for way in ("linear", "cubic", "lanczos3", "lanczos5")
    ],
)
rows("image.ssim", between(0, 1)(None, 16, 16, 3), between(0, 1)(None, 16, 16, 3))
rows("image.elastic_transform", IMAGE, refused=(0,), call=lambda op, x: op(x, alpha=3.0, sigma=2.0, seed=3))
