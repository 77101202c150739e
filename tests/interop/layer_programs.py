"""Programs that use `tf.layers`, for TensorFlow 1 and for us.

A program takes the module that it calls `tf` and returns what is to be run: three times, with placeholders fed by
`feeds`, after all variables are initialized.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 11
STEPS = 3
COLLECTIONS = ("variables", "trainable_variables", "update_ops", "regularization_losses", "model_variables", "losses")

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}


def feeds(placeholders: list[tuple[str, str, list[int | None]]], step: int) -> dict[str, Any]:
    """Values for placeholders, given by name, type and shape: the same in every process."""
    values: dict[str, Any] = {}
    for name, dtype, shape in placeholders:
        sizes = [4 if size is None else size for size in shape]
        numbers = np.random.default_rng(zlib.crc32(name.encode()) + step)
        if dtype == "bool":
            values[f"{name}:0"] = np.full(sizes, step != 1)
        elif dtype.startswith("int"):
            values[f"{name}:0"] = numbers.integers(0, 3, sizes).astype(dtype)
        else:
            values[f"{name}:0"] = numbers.normal(size=sizes).astype(dtype)
    return values


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def each(**variants: Any) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """A program for each variant, which the function takes as its second argument."""

    def register(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        for name, variant in variants.items():
            PROGRAMS[f"{function.__name__}_{name}"] = lambda tf, variant=variant: function(tf, variant)
        return function

    return register


def images(tf: Any, *shape: int | None, dtype: Any = None, name: str = "x") -> Any:
    return tf.placeholder(dtype or tf.float32, shape, name=name)


def l2(tf: Any, scale: float) -> Any:
    return lambda weights: scale * tf.nn.l2_loss(weights)


def trained(tf: Any, outputs: Any) -> list[Any]:
    """A training step on a loss of the outputs, regularization included. The step waits for the loss, which else might
    be that of variables already changed.
    """
    loss = tf.reduce_mean(tf.square(outputs)) + tf.losses.get_regularization_loss()
    with tf.control_dependencies([loss, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [train, loss]


# ---------------------------------------------------------------------------------------------------- Dense


@each(
    plain={},
    activation={"activation": "relu"},
    tanh={"activation": "tanh", "name": "hidden"},
    no_bias={"use_bias": False},
    initializers={"kernel_initializer": "he_normal", "bias_initializer": "ones"},
    not_trainable={"trainable": False},
)
def dense(tf: Any, options: Any) -> Any:
    return tf.layers.dense(images(tf, None, 3), 2, **options)


@program
def dense_of_functions(tf: Any) -> Any:
    options = {
        "kernel_initializer": tf.truncated_normal_initializer(stddev=0.1, seed=4),
        "kernel_regularizer": l2(tf, 0.1),
        "bias_regularizer": lambda b: tf.reduce_sum(tf.abs(b)),
        "activity_regularizer": l2(tf, 0.01),
    }
    return trained(tf, tf.layers.dense(images(tf, None, 3), 2, activation=tf.nn.sigmoid, **options))


@each(reference=False, resource=True)
def dense_with_constraint(tf: Any, use_resource: Any) -> Any:
    with tf.variable_scope("bounded", use_resource=use_resource):
        y = tf.layers.dense(images(tf, None, 3), 2, kernel_constraint=lambda w: tf.clip_by_value(w, -0.5, 0.5))
    return trained(tf, y)


@each(known=(4, 5, 3), batch=(None, 5, 3), four=(None, 2, None, 3))
def dense_of_more_axes(tf: Any, shape: Any) -> Any:
    return trained(tf, tf.layers.dense(images(tf, *shape), 2, activation=tf.nn.relu))


@program
def dense_of_unknown_rank_but_last(tf: Any) -> Any:
    return tf.layers.dense(tf.reshape(images(tf, 2, 6), [-1, 3]), 2)


@program
def dense_of_an_array(tf: Any) -> Any:
    return tf.layers.dense(np.ones((2, 3), np.float32), 2)


@each(half="float16", double="float64")
def dense_of_type(tf: Any, dtype: Any) -> Any:
    return tf.layers.dense(images(tf, None, 3, dtype=getattr(tf, dtype)), 2)


@program
def dense_with_another_type(tf: Any) -> Any:
    return tf.layers.Dense(2, dtype=tf.float64)(images(tf, None, 3))


@program
def dense_layers_are_numbered(tf: Any) -> Any:
    x = images(tf, None, 3)
    return tf.layers.dense(tf.layers.dense(tf.layers.dense(x, 3), 3), 2)


@program
def dense_in_scopes(tf: Any) -> Any:
    x = images(tf, None, 3)
    initializer = tf.random_normal_initializer(seed=2)
    with tf.variable_scope("a", initializer=initializer, regularizer=l2(tf, 0.5)), tf.name_scope("b"):
        y = tf.layers.dense(x, 3)
        y = tf.layers.dense(y, 3, name="named")
    with tf.variable_scope("a", reuse=True):
        y = tf.layers.dense(y, 3, name="named")
        y = tf.layers.dense(y, 3)
    return trained(tf, y)


@program
def dense_reused_by_name(tf: Any) -> Any:
    x = images(tf, None, 3)
    y = tf.layers.dense(x, 3, name="shared", kernel_regularizer=l2(tf, 0.5))
    y = tf.layers.dense(y, 3, name="shared", reuse=True, kernel_regularizer=l2(tf, 0.5))
    with tf.variable_scope("outer", reuse=tf.AUTO_REUSE):
        y = tf.layers.dense(y, 3, name="shared", kernel_regularizer=l2(tf, 0.5))
        y = tf.layers.dense(y, 3, name="shared", kernel_regularizer=l2(tf, 0.5))
    return trained(tf, y)


@program
def dense_called_twice(tf: Any) -> Any:
    layer = tf.layers.Dense(3, kernel_regularizer=l2(tf, 0.5))
    with tf.variable_scope("first"):
        y = layer(images(tf, None, 3))
    with tf.variable_scope("second"):
        y = layer.apply(y)
    return [y, *layer.losses, *layer.trainable_weights]


@program
def dense_with_partitioner(tf: Any) -> Any:
    partitioner = tf.fixed_size_partitioner(2)
    with tf.variable_scope("split", partitioner=partitioner):
        y = tf.layers.dense(images(tf, None, 4), 3, kernel_regularizer=l2(tf, 0.5))
    return trained(tf, y)


@program
def dense_with_custom_getter(tf: Any) -> Any:
    def frozen(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        kwargs["trainable"] = "bias" in name
        return getter(name, *args, **kwargs)

    with tf.variable_scope("frozen", custom_getter=frozen):
        layer = tf.layers.Dense(3)
        y = layer(images(tf, None, 4))
    return [y, *layer.trainable_weights, *layer.non_trainable_weights]


@program
def dense_with_resources(tf: Any) -> Any:
    with tf.variable_scope("resources", use_resource=True):
        y = tf.layers.dense(images(tf, None, 4), 3, kernel_regularizer=l2(tf, 0.5))
        y = tf.layers.dense(tf.layers.flatten(tf.expand_dims(y, 1)), 2, activation=tf.nn.softmax)
    return trained(tf, y)


@program
def dense_in_a_loop_and_a_branch(tf: Any) -> Any:
    x = images(tf, 2, 3)
    layer = tf.layers.Dense(3)
    y = layer(x)
    y = tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, layer(z)), (0, y))[1]
    return tf.cond(tf.reduce_sum(y) > 0, lambda: layer(y), lambda: y)


@program
def a_layer_of_layers(tf: Any) -> Any:
    class Block(tf.layers.Layer):
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.dense = tf.layers.Dense(units)
            self.dropout = tf.layers.Dropout(0.5, seed=3)

        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", [int(input_shape[-1])], initializer=tf.ones_initializer())
            self.steps = self.add_variable("steps", [], dtype=tf.int32, trainable=False)
            self.built = True

        def call(self, inputs: Any, training: Any = False) -> Any:
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            return self.dropout(self.dense(inputs * self.scale))

    block = Block(2, name="block")
    y = block(images(tf, None, 3), training=True)
    return trained(tf, block(tf.layers.dense(y, 3)))


@program
def a_network(tf: Any) -> Any:
    x = images(tf, None, 8, 8, 1)
    training = tf.placeholder(tf.bool, [], name="training")
    y = tf.layers.conv2d(x, 4, 3, padding="same", use_bias=False)
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=training))
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.conv2d(y, 4, [3, 3], strides=2, activation=tf.nn.relu, kernel_regularizer=l2(tf, 0.01))
    y = tf.layers.flatten(y)
    y = tf.layers.dropout(y, 0.25, training=training)
    y = tf.layers.dense(y, 5, activation=tf.nn.relu)
    y = tf.layers.batch_normalization(y, training=training, momentum=0.8)
    labels = tf.placeholder(tf.int32, [None], name="labels")
    logits = tf.layers.dense(y, 3, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + tf.losses.get_regularization_loss()
    with tf.control_dependencies([loss, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.train.get_or_create_global_step())
    return [train, loss]


# ---------------------------------------------------------------------------------------------------- Dropout, flatten


@each(off=False, on=True, one=1)
def dropout(tf: Any, training: Any) -> Any:
    return tf.layers.dropout(images(tf, None, 5), 0.4, training=training, seed=2)


@each(fed={}, shaped={"noise_shape": [None, 1, 5]}, named={"name": "drop", "seed": 5}, none={"rate": 0})
def dropout_by_placeholder(tf: Any, options: Any) -> Any:
    return tf.layers.dropout(images(tf, None, 3, 5), training=tf.placeholder(tf.bool, [], name="training"), **options)


@program
def dropout_of_one_layer_draws_anew(tf: Any) -> Any:
    layer = tf.layers.Dropout(0.5, seed=7)
    x = images(tf, 3, 4)
    return [layer(x, training=True), layer(x, True), layer(x)]


@program
def dropout_by_learning_phase(tf: Any) -> Any:
    with tf.name_scope("inside"):
        y = tf.layers.dropout(images(tf, 3, 4), training=None)
        return tf.layers.batch_normalization(tf.layers.dropout(y, training=None), training=None)


@each(
    known=((2, 3, 4), {}),
    batch=((None, 3, 4), {}),
    unknown=((None, None, 4), {}),
    sized=((2, None, 4), {"name": "flat"}),
    row=((None,), {}),
    first=((None, 2, 3, 4), {"data_format": "channels_first"}),
)
def flatten(tf: Any, variant: Any) -> Any:
    return tf.layers.flatten(images(tf, *variant[0]), **variant[1])


@program
def flatten_of_unknown_rank(tf: Any) -> Any:
    x = tf.placeholder_with_default(np.ones((2, 3, 4), np.float32), None)
    return tf.layers.flatten(x)


# ---------------------------------------------------------------------------------------------------- Convolutions

_WINDOWS: dict[str, Any] = {
    "plain": {},
    "same": {"padding": "same", "strides": 2},
    "dilated": {"dilation_rate": 2, "padding": "SAME"},
    "dilated_valid": {"dilation_rate": 2, "activation": "relu"},
    "no_bias": {"use_bias": False, "name": "conv"},
    "first": {"data_format": "channels_first"},
}


@each(**_WINDOWS, causal={"padding": "causal"}, causal_dilated={"padding": "causal", "dilation_rate": 2})
def conv1d(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.conv1d, images(tf, None, 9, 3), options)


@each(**_WINDOWS, sizes={"strides": (2, 1), "padding": "same", "kernel_size": (3, 2)})
def conv2d(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.conv2d, images(tf, None, 8, 9, 3), options)


@each(**_WINDOWS)
def conv3d(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.conv3d, images(tf, None, 6, 7, 6, 3), options)


@each(
    plain={},
    same={"padding": "same", "strides": 2, "depth_multiplier": 2},
    dilated={"dilation_rate": 2, "padding": "same"},
    no_bias={"use_bias": False, "activation": "relu"},
    causal={"padding": "causal"},
)
def separable_conv1d(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.separable_conv1d, images(tf, None, 9, 3), options)


@each(
    plain={},
    same={"padding": "same", "strides": 2, "depth_multiplier": 2},
    dilated={"dilation_rate": 2, "padding": "same"},
    no_bias={"use_bias": False, "activation": "relu"},
    first={"data_format": "channels_first"},
)
def separable_conv2d(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.separable_conv2d, images(tf, None, 8, 9, 3), options)


_TRANSPOSED: dict[str, Any] = {
    "plain": {},
    "same": {"padding": "same", "strides": 2},
    "valid": {"strides": 2, "activation": "relu"},
    "wide": {"strides": 4, "kernel_size": 2},
    "no_bias": {"use_bias": False},
    "first": {"data_format": "channels_first", "strides": 2},
}


@each(**_TRANSPOSED)
def conv2d_transpose(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.conv2d_transpose, images(tf, None, 4, 5, 3), options)


@each(**_TRANSPOSED)
def conv3d_transpose(tf: Any, options: Any) -> Any:
    return _convolved(tf, tf.layers.conv3d_transpose, images(tf, None, 4, 3, 5, 3), options)


def _convolved(tf: Any, layer: Any, x: Any, options: Any) -> Any:
    options = {"kernel_size": 3, **options}
    if options.get("data_format") == "channels_first":
        return layer(x, 2, **options)  # TensorFlow without a GPU has no kernels for this
    return trained(tf, layer(x, 2, **options))


@program
def convolutions_of_unknown_sizes(tf: Any) -> Any:
    x = images(tf, None, None, None, 3)
    y = tf.layers.conv2d(x, 4, 2, padding="same")
    y = tf.layers.conv2d_transpose(y, 3, 2, strides=2)
    y = tf.layers.separable_conv2d(y, 3, 2)
    return tf.layers.average_pooling2d(tf.layers.max_pooling2d(y, 2, 1), 2, 1)


@program
def convolutions_of_several_batch_axes(tf: Any) -> Any:
    x = images(tf, None, 2, 6, 5, 3)
    return [
        tf.layers.conv2d(x, 4, 2),
        tf.layers.conv1d(images(tf, 2, 3, 6, 3, name="y"), 4, 2),
        tf.layers.conv1d(images(tf, 2, None, 6, 3, name="z"), 4, 2, padding="causal"),
    ]


@program
def convolutions_with_everything(tf: Any) -> Any:
    options = {
        "bias_initializer": tf.constant_initializer(0.5),
        "bias_regularizer": l2(tf, 0.2),
        "activity_regularizer": l2(tf, 0.01),
        "bias_constraint": lambda b: tf.maximum(b, 0.0),
    }
    kernel = {"kernel_initializer": tf.glorot_normal_initializer(seed=1), "kernel_regularizer": l2(tf, 0.1)}
    x = images(tf, 2, 6, 6, 2)
    with tf.variable_scope("all", use_resource=True):
        y = tf.layers.Conv2D(3, 2, activation=tf.nn.elu, **options, **kernel)(x)
        y = tf.layers.Conv2DTranspose(3, 2, **options, **kernel)(y)
        y = tf.layers.SeparableConv2D(
            3, 2, depthwise_regularizer=l2(tf, 0.1), pointwise_initializer=tf.ones_initializer(), **options
        )(y)
    return trained(tf, y)


@each(half="float16", double="float64")
def convolution_of_type(tf: Any, dtype: Any) -> Any:
    return tf.layers.conv2d(images(tf, 2, 4, 4, 2, dtype=getattr(tf, dtype)), 2, 2)


# ---------------------------------------------------------------------------------------------------- Pools

_POOLS: dict[str, Any] = {
    "valid": {},
    "same": {"padding": "same"},
    "named": {"name": "pool"},
    "first": {"data_format": "channels_first"},
}


@each(**_POOLS)
def pooling1d(tf: Any, options: Any) -> Any:
    x = images(tf, None, 7, 3)
    return [tf.layers.max_pooling1d(x, 3, 2, **options), tf.layers.average_pooling1d(x, [2], 1, **options)]


@each(**_POOLS)
def pooling2d(tf: Any, options: Any) -> Any:
    x = images(tf, None, 7, 6, 3)
    return [tf.layers.max_pooling2d(x, 3, 2, **options), tf.layers.average_pooling2d(x, (2, 3), 1, **options)]


@each(**_POOLS)
def pooling3d(tf: Any, options: Any) -> Any:
    x = images(tf, None, 5, 6, 7, 3)
    return [tf.layers.max_pooling3d(x, 3, 2, **options), tf.layers.average_pooling3d(x, (2, 3, 1), 1, **options)]


@program
def pooling_by_classes(tf: Any) -> Any:
    x = images(tf, 2, 4, 4, 1)
    layer = tf.layers.MaxPooling2D(2, 2)
    return trained(tf, tf.layers.dense(layer(x) + tf.layers.AveragePooling2D((2, 2), 2)(x) + layer(x), 2))


# ---------------------------------------------------------------------------------------------------- Normalization

_SHAPES: dict[str, Any] = {
    "rows": (None, 3),
    "images": (None, 4, 5, 3),
    "space": (4, 2, 3, 2, 3),
    "sequences": (4, None, 3),
}
_TRAINING: dict[str, Any] = {"on": True, "off": False, "fed": None}


@each(**{f"{s}_{t}": (s, t) for s in _SHAPES for t in _TRAINING})
def batch_normalization(tf: Any, variant: Any) -> Any:
    shape, training = _SHAPES[variant[0]], _TRAINING[variant[1]]
    if training is None:
        training = tf.placeholder(tf.bool, [], name="training")
    return trained(tf, tf.layers.batch_normalization(images(tf, *shape), training=training, momentum=0.7))


@each(
    first={"axis": 1},
    middle={"axis": 2},
    axes={"axis": [1, 3]},
    not_fused={"fused": False},
    fused={"fused": True, "epsilon": 1e-2},
    no_scale={"scale": False},
    no_center={"center": False},
    neither={"center": False, "scale": False, "name": "norm"},
    not_trainable={"trainable": False},
    renorm={"renorm": True},
    renorm_clipped={
        "renorm": True,
        "renorm_clipping": {"rmin": 0.5, "rmax": 2.0, "dmax": 1.5},
        "renorm_momentum": 0.8,
    },
    virtual={"virtual_batch_size": 2},
    initialized={"beta_initializer": "ones", "moving_mean_initializer": "ones"},
)
def batch_normalization_of_images(tf: Any, options: Any) -> Any:
    x = images(tf, 4, 4, 5, 3)
    outputs = [tf.layers.batch_normalization(x, training=True, **options)]
    if "name" not in options:
        fed = tf.placeholder(tf.bool, [], name="training")
        outputs.append(tf.layers.batch_normalization(x, training=fed, **options))
        outputs.append(tf.layers.batch_normalization(x, **options))
    return [*outputs, tf.get_collection(tf.GraphKeys.UPDATE_OPS)]


@each(renorm={"renorm": True}, no_scale={"scale": False}, axis={"axis": 0}, plain={})
def batch_normalization_of_rows(tf: Any, options: Any) -> Any:
    fed = tf.placeholder(tf.bool, [], name="training")
    x = images(tf, 6, 3)
    outputs = [tf.layers.batch_normalization(x, training=training, **options) for training in (True, fed, False)]
    return [*outputs, tf.get_collection(tf.GraphKeys.UPDATE_OPS)]


@each(on=True, fed=None)
def batch_normalization_with_adjustment(tf: Any, training: Any) -> Any:
    if training is None:
        training = tf.placeholder(tf.bool, [], name="training")

    def adjustment(shape: Any) -> Any:
        return (
            tf.random_uniform(tf.concat([shape[:1], [1]], 0), 0.9, 1.1, seed=3),
            tf.random_uniform(tf.concat([shape[:1], [1]], 0), -0.1, 0.1, seed=4),
        )

    y = tf.layers.batch_normalization(images(tf, 4, 3), training=training, adjustment=adjustment)
    return [y, tf.get_collection(tf.GraphKeys.UPDATE_OPS)]


@program
def batch_normalization_with_resources(tf: Any) -> Any:
    fed = tf.placeholder(tf.bool, [], name="training")
    options = {"gamma_regularizer": l2(tf, 0.1), "beta_constraint": lambda b: tf.maximum(b, 0.0)}
    with tf.variable_scope("resources", use_resource=True):
        y = tf.layers.batch_normalization(images(tf, 4, 3, 3, 2), training=True, **options)
        y = tf.layers.batch_normalization(y, training=fed, fused=False)
        y = tf.layers.batch_normalization(tf.layers.flatten(y), training=fed, renorm=True)
    return trained(tf, y)


@program
def batch_normalization_reused(tf: Any) -> Any:
    layer = tf.layers.BatchNormalization(momentum=0.5)
    y = layer(images(tf, 4, 3), training=True)
    y = layer(y, training=True)
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        y = tf.layers.batch_normalization(y, training=True, name="shared")
        y = tf.layers.batch_normalization(y, training=False, name="shared")
    return [y, layer.updates[0]]


@program
def batch_normalization_with_partitioner(tf: Any) -> Any:
    with tf.variable_scope("split", partitioner=tf.fixed_size_partitioner(2)):
        y = tf.layers.batch_normalization(images(tf, 4, 3, 4), training=True, fused=False)
        y = tf.layers.dense(y, 2)
    return trained(tf, y)


@each(half="float16", double="float64")
def batch_normalization_of_type(tf: Any, dtype: Any) -> Any:
    x = images(tf, 4, 3, 3, 2, dtype=getattr(tf, dtype))
    flat = tf.layers.flatten(x)
    outputs = [tf.layers.batch_normalization(value, training=True) for value in (x, flat)]
    return [*outputs, tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
