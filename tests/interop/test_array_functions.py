"""Shapes, joins and fillings beside TensorFlow's: the same program gives the same nodes, shapes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.arrays import patches, shapes, slicing
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import quantization
from tests.interop.programs import build, our_names, v1

assert operators.__name__  # importing it installs what operators do

OURS = our_names(shapes, slicing, patches, quantization, gradients=reverse_walk.gradients)
NAMES = {
    "extract_patches": v1.image.extract_patches,
    "quantize_and_dequantize": v1.quantization.quantize_and_dequantize,
    "quantize_and_dequantize_v2": v1.quantization.quantize_and_dequantize_v2,
}


class Theirs:
    """compat.v1, with the functions of its submodules under our names."""

    def __getattr__(self, name: str) -> Any:
        return NAMES.get(name) or getattr(v1, name)


Program = Callable[[Any], Any]
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def check(program: Program, feeds: dict[str, Any] | None = None) -> None:
    built = build(program, OURS, Theirs())
    for mine, other in zip(_flat(built.result), _flat(built.their_result), strict=True):
        if hasattr(mine, "static_shape"):
            shape = None if other.shape.rank is None else tuple(other.shape.as_list())
            assert mine.static_shape.dims == shape, f"{mine} beside {other}"
    for ours, theirs in built.run(feeds=feeds):
        for mine, other in zip(_flat(ours), _flat(theirs), strict=True):
            mine, other = np.asarray(mine), np.asarray(other)
            if other.dtype.kind in "OSU":
                assert mine.tolist() == other.tolist()
                continue
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def matrix(tf: Any, shape: Any = (2, 3)) -> Any:
    return tf.placeholder(tf.float32, shape, name="x")


X = {"x:0": MATRIX}
SHAPES = [(2, 3), (None, 3), (None, None), None]

ONE_INPUT: dict[str, Callable[[Any, Any], Any]] = {
    "shape": lambda tf, x: [tf.shape(x), tf.shape(x, name="s", out_type=tf.int64), tf.shape_n([x, x])],
    "size": lambda tf, x: [tf.size(x), tf.size(x, out_type=tf.int64)],
    "rank": lambda tf, x: tf.rank(x),
    "reshape": lambda tf, x: [tf.reshape(x, [3, -1]), tf.reshape(x, [-1]), tf.reshape(x, tf.shape(x))],
    "expand_dims": lambda tf, x: [tf.expand_dims(x, 0), tf.expand_dims(x, axis=-1, name="e"), tf.expand_dims(x, dim=1)],
    "squeeze": lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), squeeze_dims=[1]),
    "squeeze axis": lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), axis=1),
    "stack": lambda tf, x: [tf.stack([x, x]), tf.stack([x, x], axis=-1, name="s"), tf.stack([1, 2])],
    "packed": lambda tf, x: tf.stack([tf.size(x), 7, 8]),
    "nested": lambda tf, x: tf.stack([[tf.size(x), 7], [8, tf.rank(x)]]),
    "concat": lambda tf, x: [tf.concat([x, x], 0), tf.concat([x, x], axis=-1, name="c"), tf.concat([x], 0)],
    "split": lambda tf, x: [tf.split(x, 3, axis=1), tf.split(x, [1, 2], 1), tf.split(x, [1, -1], 1, name="s")],
    "transpose": lambda tf, x: [tf.transpose(x), tf.transpose(x, [1, 0], name="t"), tf.matrix_transpose(x)],
    "conjugate": lambda tf, x: tf.transpose(x, conjugate=True),
    "zeros_like": lambda tf, x: [tf.zeros_like(x), tf.zeros_like(x, tf.int32, "z"), tf.zeros_like(x, optimize=False)],
    "ones_like": lambda tf, x: [tf.ones_like(x), tf.ones_like(x, tf.int64, "o"), tf.ones_like(x, optimize=False)],
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x, [4, 2, 3]),
    "pad": lambda tf, x: [tf.pad(x, [[1, 0], [0, 2]]), tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC", constant_values=0)],
    "pad with a value": lambda tf, x: tf.pad(x, [[1, 0], [0, 2]], constant_values=7.0, name="p"),
    "pad with a tensor": lambda tf, x: tf.pad(x, [[1, tf.rank(x)], [0, 2]]),
    "reflect": lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], mode="reflect"),
    "reverse": lambda tf, x: [tf.reverse(x, [0]), tf.reverse_v2(x, axis=[-1], name="r")],
    "roll": lambda tf, x: tf.roll(x, shift=1, axis=1),
    "identity": lambda tf, x: [tf.identity(x), tf.identity(x, name="i"), tf.stop_gradient(x), tf.identity_n([x, x])],
    "where": lambda tf, x: [tf.where(x > 2), tf.where(x > 2, x, -x), tf.where_v2(x > 2, x, 0.0)],
    "one_hot": lambda tf, x: tf.one_hot(tf.where(x > 2), 3),
    "meshgrid": lambda tf, x: tf.meshgrid(tf.reshape(x, [-1]), tf.constant([1.0, 2.0])),
    "meshgrid by row": lambda tf, x: tf.meshgrid(tf.reshape(x, [-1]), [1.0, 2.0], [3.0], indexing="ij", name="m"),
    "check_numerics": lambda tf, x: tf.check_numerics(x, "is bad"),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [None, 3]),
    "bitcast": lambda tf, x: tf.bitcast(x, tf.int32),
    "guarantee_const": lambda tf, x: tf.guarantee_const(x),
    "placeholder_with_default": lambda tf, x: tf.placeholder_with_default(x, [None, None], name="d"),
    "broadcast_dynamic_shape": lambda tf, x: tf.broadcast_dynamic_shape(tf.shape(x), tf.constant([2, 1])),
    "space_to_depth": lambda tf, x: tf.space_to_depth(tf.reshape(x, [1, 2, 3, 1])[:, :, :2], 2),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", sorted(ONE_INPUT))
def test_functions_of_one_tensor_equal_tensorflows(name: str, shape: Any) -> None:
    if name in ("split", "unstack") and shape is None:
        shape = (None, None)
    check(lambda tf: ONE_INPUT[name](tf, matrix(tf, shape)), X)


@pytest.mark.parametrize("function", ["zeros", "ones"])
def test_fillings_are_constants_below_a_thousand_elements(function: str) -> None:
    def program(tf: Any) -> Any:
        fill = getattr(tf, function)
        n = tf.placeholder(tf.int32, [], name="n")
        v = tf.placeholder(tf.int32, None, name="v")
        return [
            fill([2, 3]),
            fill((2, 3), tf.int32),
            fill([], tf.float64),
            fill(3, name="three"),
            fill([0], tf.bool),
            fill([10, 100]),
            fill([1001], tf.int64, "big"),
            fill([999]),
            fill(tf.constant([2, 2])),
            fill([n, 2]),
            fill(n),
            fill(v),
            fill(np.array([2, 2])),
            fill(tf.shape(fill([2, 3])), tf.complex64),
        ]

    check(program, {"n:0": 3, "v:0": [2, 1]})


def test_zeros_may_be_strings() -> None:
    check(lambda tf: [tf.zeros([2], tf.string), tf.fill([2], "x"), tf.zeros_like(tf.constant(["a", "b"]))])


def test_one_hot_takes_its_type_from_its_values() -> None:
    check(
        lambda tf: [
            tf.one_hot([0, 2], 3),
            tf.one_hot([0, 2], 3, on_value=5, off_value=1),
            tf.one_hot([0, 2], 3, on_value=5.0),
            tf.one_hot([[0, 2]], 3, axis=1, dtype=tf.int64, name="h"),
            tf.one_hot([0, 2], 3, True, False),
            tf.one_hot(0, tf.constant(4), off_value=tf.constant(2, tf.int64), dtype=tf.int64),
        ]
    )


def test_joins_of_plain_values_equal_tensorflows() -> None:
    check(
        lambda tf: [
            tf.stack([[1, 2], [3, 4]], axis=1),
            tf.stack([1.0, 2.0], name="s"),
            tf.concat([[1], [2, 3]], 0),
            tf.concat([[[1]], tf.constant([[2]])], axis=1),
            tf.unstack([[1, 2], [3, 4]]),
            tf.unstack([[1, 2], [3, 4]], num=2, axis=1, name="u"),
            tf.unstack(tf.constant([[1, 2]]), axis=-1),
            tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]]),
            tf.dynamic_partition([1.0, 2.0, 3.0], [0, 1, 0], 2),
            tf.invert_permutation([1, 2, 0]),
            tf.reverse_sequence([[1, 2, 3]], [2], seq_axis=1, batch_axis=0),
            tf.reverse_sequence([[1, 2, 3]], [2], seq_dim=1, batch_dim=0, name="q"),
            list(tf.unique([3, 1, 3])),
            list(tf.unique_with_counts([3, 1, 3], tf.int64)),
            list(tf.setdiff1d([1, 2, 3], [2])),
        ]
    )


def test_parallel_stack_equals_tensorflows() -> None:
    check(lambda tf: tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4]), tf.constant([5, 6])]))


def test_static_shapes_broadcast() -> None:
    check(lambda tf: tf.zeros(tf.broadcast_static_shape(tf.zeros([2, 1]).shape, tf.zeros([3]).shape)))


def test_sparse_placeholders_equal_tensorflows() -> None:
    def program(tf: Any) -> Any:
        named = tf.sparse_placeholder(tf.float32, [None, 3], "s")
        bare = tf.sparse_placeholder(tf.int64)
        return [tf.shape(named), tf.size(named), tf.rank(named), tf.identity(named).values, tf.rank(bare)]

    feeds = {"s/indices:0": [[0, 1]], "s/values:0": [5.0], "s/shape:0": [2, 3], "Placeholder:0": [2]}
    check(program, feeds)


def test_blocks_equal_tensorflows() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
        n = tf.placeholder(tf.int32, [2], name="n")
        apart = tf.space_to_batch(x, [[0, 0], [0, 0]], 2)
        paddings, crops = tf.required_space_to_batch_paddings(n, [2, 3])
        return [
            apart,
            tf.batch_to_space(apart, [[0, 0], [0, 0]], 2, name="b"),
            tf.space_to_batch_nd(x, [2], [[0, 0]]),
            tf.batch_to_space_nd(apart, [2, 2], [[0, 1], [1, 0]]),
            tf.depth_to_space(tf.space_to_depth(x, 2), 2, name="d"),
            paddings,
            crops,
            list(tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0], [0, 1]], name="r")),
            tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
            tf.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
            tf.gradients(tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), x),
        ]

    check(program, {"x:0": np.arange(32, dtype=np.float32).reshape(2, 4, 4, 1), "n:0": [5, 7]})


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_volume_patches_equal_tensorflows(padding: str) -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3, 4, 5, 2], name="x")
        return tf.extract_volume_patches(x, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], padding)

    check(program, {"x:0": np.arange(240, dtype=np.float32).reshape(2, 3, 4, 5, 2)})


def test_gradients_of_volume_patches_are_tensorflows() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3, 4, 5, 2], name="x")
        return tf.gradients(tf.extract_volume_patches(x, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "SAME") ** 2, x)

    build(program, OURS, Theirs())


def test_quantisation_equals_tensorflows() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        low, high = tf.constant(-1.5), tf.constant(2.5)
        channels = tf.constant([-1.0, -2.0, 0.0]), tf.constant([1.0, 0.5, 3.0])
        fake = tf.fake_quant_with_min_max_vars(x, low, high)
        wide = tf.fake_quant_with_min_max_vars_per_channel(x, *channels)
        return [
            tf.fake_quant_with_min_max_args(x, -1, 2, name="a"),
            fake,
            wide,
            tf.quantize_and_dequantize(x, -1.0, 2.0, range_given=True),
            tf.quantize_and_dequantize_v2(x, -1.0, 2.0, range_given=True, axis=None),
            tf.gradients(tf.fake_quant_with_min_max_args(x), x),
            tf.gradients(fake, [x, low, high]),
            tf.gradients(wide, [x, *channels]),
        ]

    check(program, X)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        *((kind, mode) for kind in ("qint8", "quint8") for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")),
        ("qint32", "MIN_FIRST"),  # in the other modes TensorFlow lets the largest numbers overflow
    ],
)
def test_quantised_numbers_equal_tensorflows(kind: str, mode: str) -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        dtype = getattr(tf, kind)
        plain = {"qint8": tf.int8, "quint8": tf.uint8, "qint32": tf.int32}[kind]
        found = []
        for low, high in ((-1.5, 4.0), (0.0, 6.0), (2.0, 2.0)):
            output, bottom, top = tf.quantize(x, low, high, dtype, mode)
            found += [tf.bitcast(output, plain), bottom, top, tf.dequantize(output, bottom, top, mode)]
        if mode == "SCALED":
            rounding = {"mode": mode, "round_mode": "HALF_TO_EVEN", "narrow_range": True}
            output, bottom, top = tf.quantize_v2(x, -1.0, 4.0, dtype, **rounding)
            found += [tf.bitcast(output, plain), bottom, top]
        return found

    check(program, {"x:0": np.array([[-2, -0.5, 0], [1.3, 2.5, 5]], np.float32)})


GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda tf, x: tf.reshape(x, [3, 2]),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 1),
    "squeeze": lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), [1]),
    "transpose": lambda tf, x: tf.transpose(x),
    "stack": lambda tf, x: tf.stack([x, x * 2], axis=1),
    "unstack": lambda tf, x: tf.unstack(x, num=3, axis=1)[1],
    "concat": lambda tf, x: tf.concat([x, x * 2.0], 1),
    "concat many": lambda tf, x: tf.concat([x] * 17, 0),
    "split": lambda tf, x: tf.split(x, 3, 1)[2],
    "split sizes": lambda tf, x: tf.split(x, [1, 2], 1)[1],
    "split one": lambda tf, x: tf.split(x, 1, 1)[0],
    "slice": lambda tf, x: tf.slice(x, [0, 1], [2, 1]),
    "strided_slice": lambda tf, x: x[::-1, 1:],
    "fill": lambda tf, x: tf.fill([2, 2], x[1, 1]),
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x, [2, 2, 3]),
    "pad": lambda tf, x: tf.pad(x, [[1, 0], [0, 2]]),
    "pad value": lambda tf, x: tf.pad(x, [[1, 0], [0, 2]], constant_values=1.0),
    "mirror": lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"),
    "reverse": lambda tf, x: tf.reverse(x, [0]),
    "roll": lambda tf, x: tf.roll(x, 1, 0),
    "reverse_sequence": lambda tf, x: tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0),
    "check_numerics": lambda tf, x: tf.check_numerics(x, "bad"),
    "gather": lambda tf, x: tf.gather(x, [1, 0, 1]),
    "gather of many": lambda tf, x: tf.gather(x * 2.0, [[1, 0], [0, 0]]),
    "gather axis": lambda tf, x: tf.gather(x, [2, 0, 0], axis=1),
    "gather batch": lambda tf, x: tf.gather(x, [[2, 0], [0, 1]], batch_dims=1),
    "gather_nd": lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]),
    "gather_nd rows": lambda tf, x: tf.gather_nd(x, [[0], [1], [1]]),
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, [True, False]),
    "scatter_nd": lambda tf, x: tf.scatter_nd([[1], [3]], x, [5, 3]),
    "scatter update": lambda tf, x: tf.tensor_scatter_nd_update(x, [[0, 1]], [9.0]),
    "scatter add": lambda tf, x: tf.tensor_scatter_nd_add(x, [[0], [0]], x),
    "scatter sub": lambda tf, x: tf.tensor_scatter_nd_sub(x, [[0], [0]], x),
    "scatter max": lambda tf, x: tf.tensor_scatter_nd_max(x, [[0], [1]], x[::-1]),
    "scatter min": lambda tf, x: tf.tensor_scatter_nd_min(x, [[0], [1]], x[::-1]),
    "dynamic_stitch": lambda tf, x: tf.dynamic_stitch([[0, 1], [3, 2]], [x, x * 2.0]),
    "dynamic_partition": lambda tf, x: tf.dynamic_partition(x, [1, 0], 2)[0],
    "where": lambda tf, x: tf.where(x > 2, x, -x),
    "rows of rows": lambda tf, x: tf.gather(tf.concat([x, x], 0), [1, 3]),
    "columns of rows": lambda tf, x: tf.gather(tf.concat([x, x], 1), [1]),
    "rows of tiles": lambda tf, x: tf.gather(tf.tile(x, [2, 2]), [1, 3]),
    "rows of reshaped": lambda tf, x: tf.gather(tf.reshape(x, [3, 2]), [1, 2]),
    "rows of stitched": lambda tf, x: tf.gather(tf.dynamic_stitch([[0, 1], [3, 2]], [x, x]), [1, 3]),
}


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (None, None)])
@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients_add_tensorflows_nodes(name: str, shape: Any) -> None:
    def program(tf: Any) -> Any:
        x = matrix(tf, shape)
        (found,) = tf.gradients(GRADIENTS[name](tf, x), x)
        return [found.values, found.indices, found.dense_shape] if hasattr(found, "indices") else found

    check(program, X)
