"""Programs of `tf.contrib.layers`, `tf.contrib.framework` and slim's networks, for us and for the port of slim.

A program takes `tf` and the names of both, and gives tensors. What it leaves in the graph is compared too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any, Any], list[Any]]
SEED = 3
IMAGES = np.linspace(-1, 1, 2 * 8 * 8 * 4).reshape(2, 8, 8, 4).astype(np.float32)
LAYERS: dict[str, Program] = {}
NETS: dict[str, Program] = {}
# What has the same values but other nodes: TensorFlow 2 builds these functions of others than TensorFlow 1 did.
OTHER_NODES = {"batch_norm_channels_first", "conv1d", "group_norm", "without_variables"}


def program(function: Program) -> Program:
    LAYERS[function.__name__] = function
    return function


def trained(tf: Any, outputs: Any) -> list[Any]:
    """Outputs, a loss, and all variables after a step of training."""
    losses = tf.losses.get_regularization_losses()
    loss = tf.reduce_sum(tf.square(outputs)) + (tf.add_n(losses) if losses else 0.0)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([step]):
        return [outputs, loss, *(tf.identity(item.read_value()) for item in tf.global_variables())]


def _convolution(**told: Any) -> Callable[[Any, Any], list[Any]]:
    def build(tf: Any, slim: Any) -> list[Any]:
        made = {key: value(tf, slim) if callable(value) else value for key, value in told.items()}
        with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(0.1)):
            return trained(tf, slim.conv2d(tf.constant(IMAGES), 5, [3, 3], outputs_collections="ends", **made))

    return build


def _normalized(**params: Any) -> Callable[[Any, Any], list[Any]]:
    def told(tf: Any, _: Any) -> dict[str, Any]:
        return {key: value(tf) if callable(value) else value for key, value in params.items()}

    return _convolution(normalizer_fn=lambda _, slim: slim.batch_norm, normalizer_params=told)


LAYERS.update(
    conv2d=_convolution(),
    conv2d_with_gaps=_convolution(rate=2, padding="VALID", biases_initializer=None, activation_fn=None),
    batch_norm=_normalized(decay=0.9, scale=True),
    batch_norm_in_use=_normalized(is_training=False),
    batch_norm_at_once=_normalized(decay=0.9, updates_collections=None),
    batch_norm_by_placeholder=_normalized(is_training=lambda tf: tf.placeholder_with_default(True, [])),
    batch_norm_unfused=_normalized(fused=False, updates_collections=None),
    batch_norm_without_bias=_normalized(zero_debias_moving_mean=True, updates_collections="mine"),
    batch_norm_of_weights=_normalized(batch_weights=lambda tf: tf.constant([1.0, 0.5])),
)


@program
def batch_norm_channels_first(tf: Any, slim: Any) -> list[Any]:
    images = tf.constant(IMAGES)
    return trained(tf, slim.batch_norm(images, data_format="NCHW", fused=False, updates_collections=None, decay=0.5))


@program
def batch_renorm(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.batch_norm(tf.constant(IMAGES), renorm=True, decay=0.5))


@program
def batch_norm_of_rank_3(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.batch_norm(tf.constant(IMAGES[0]), decay=0.5))


@program
def conv1d(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.conv1d(tf.constant(IMAGES[:, 0]), 5, 3, stride=2))


@program
def conv3d(tf: Any, slim: Any) -> list[Any]:
    volumes = tf.constant(IMAGES[..., None])
    return trained(tf, slim.conv3d(volumes, 2, 3, stride=2, weights_regularizer=slim.l1_regularizer(0.1)))


@program
def conv2d_transpose(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.conv2d_transpose(tf.constant(IMAGES), 3, 3, stride=2))


@program
def conv3d_transpose(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.conv3d_transpose(tf.constant(IMAGES[..., None]), 2, 3, stride=2, scope="mine"))


@program
def separable_conv2d(tf: Any, slim: Any) -> list[Any]:
    told = {"normalizer_fn": slim.layer_norm, "weights_regularizer": slim.l2_regularizer(0.1)}
    return trained(tf, slim.separable_conv2d(tf.constant(IMAGES), 3, 3, 2, **told))


@program
def depthwise(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.separable_conv2d(tf.constant(IMAGES), None, 3, 2))


@program
def conv2d_in_plane(tf: Any, slim: Any) -> list[Any]:
    return trained(tf, slim.conv2d_in_plane(tf.constant(IMAGES), 3))


@program
def fully_connected(tf: Any, slim: Any) -> list[Any]:
    regularizer = slim.l1_l2_regularizer(0.1, 0.2)
    rows = tf.constant(IMAGES[:, 0, 0])
    return trained(tf, slim.fully_connected(rows, 3, normalizer_fn=slim.batch_norm, weights_regularizer=regularizer))


@program
def fully_connected_of_rank_3(tf: Any, slim: Any) -> list[Any]:
    told = {"weights_regularizer": slim.l2_regularizer(0.1), "biases_regularizer": slim.l2_regularizer(0.1)}
    return trained(tf, slim.fully_connected(tf.constant(IMAGES[:, 0]), 3, variables_collections=["mine"], **told))


@program
def linear_and_legacy(tf: Any, slim: Any) -> list[Any]:
    rows = tf.constant(IMAGES[:, 0])
    return trained(tf, slim.linear(rows, 3, scope="lin") + slim.legacy_fully_connected(rows, 3))


@program
def stack_and_repeat(tf: Any, slim: Any) -> list[Any]:
    net = slim.repeat(tf.constant(IMAGES), 2, slim.conv2d, 4, [3, 3], scope="conv")
    net = slim.repeat(net, 2, slim.conv2d, 4, [3, 3])
    return trained(tf, slim.stack(slim.flatten(net), slim.fully_connected, [3, 4, 2], scope="fc"))


@program
def pools(tf: Any, slim: Any) -> list[Any]:
    images = tf.constant(IMAGES)
    return [
        slim.max_pool2d(images, 2, outputs_collections="ends", scope="p1"),
        slim.avg_pool2d(images, 2, stride=1, padding="SAME", scope="p2"),
        slim.max_pool2d(images, 2),
        slim.pool(images, 2, "MAX"),
    ]


@program
def layer_and_instance_norm(tf: Any, slim: Any) -> list[Any]:
    images = tf.constant(IMAGES)
    made = [
        slim.layer_norm(images),
        slim.layer_norm(images, begin_norm_axis=-1, activation_fn=tf.nn.relu, scope="ln"),
        slim.instance_norm(images),
        slim.instance_norm(images, data_format="NCHW"),
    ]
    return trained(tf, tf.concat(made, 0))


@program
def group_norm(tf: Any, slim: Any) -> list[Any]:
    images = tf.constant(IMAGES)
    made = [slim.group_norm(images, groups=2), slim.group_norm(images, groups=2, mean_close_to_zero=True)]
    return trained(tf, tf.concat(made, 0))


@program
def without_variables(tf: Any, slim: Any) -> list[Any]:
    images = tf.constant(IMAGES)
    sequence = slim.images_to_sequence(images)
    return [
        slim.flatten(images),
        slim.dropout(images, 0.9, seed=3),
        slim.one_hot_encoding([1, 2], 3),
        slim.softmax(images),
        slim.maxout(images, 2),
        slim.unit_norm(images, 1),
        slim.bias_add(images),
        slim.spatial_softmax(images),
        sequence,
        slim.sequence_to_images(sequence, 8),
    ]


@program
def reuse(tf: Any, slim: Any) -> list[Any]:
    told = {"scope": "c", "normalizer_fn": slim.batch_norm}
    net = slim.conv2d(tf.constant(IMAGES), 4, 3, **told)
    return trained(tf, slim.conv2d(net, 4, 3, reuse=True, **told))


@program
def optimize_loss(tf: Any, slim: Any) -> list[Any]:
    net = slim.fully_connected(tf.constant(IMAGES[:, 0, 0]), 3, activation_fn=None)
    step = tf.train.get_or_create_global_step()
    told = {"clip_gradients": 0.5, "gradient_multipliers": {"fully_connected/biases:0": 2.0}}
    decay = lambda rate, step: tf.train.exponential_decay(rate, step, 1, 0.5)  # noqa: E731 - as programs write it
    loss = slim.optimize_loss(
        tf.reduce_sum(tf.square(net)), step, 0.1, "Momentum", learning_rate_decay_fn=decay, **told
    )
    with tf.control_dependencies([loss]):
        return [loss, *(tf.identity(item.read_value()) for item in tf.global_variables())]


def _net(module: str, name: str, scope: str, size: int, **told: Any) -> Program:
    def build(tf: Any, slim: Any) -> list[Any]:
        nets = getattr(slim.nets, module)
        images = tf.placeholder_with_default(np.zeros([1, size, size, 3], np.float32), [1, size, size, 3])
        with slim.arg_scope(getattr(nets, scope)()):
            _, ends = getattr(nets, name)(images, num_classes=7, **told)
        for key, tensor in ends.items():
            tf.add_to_collection(f"end point {key}", tensor)
        return []

    return build


NETS.update(
    alexnet=_net("alexnet", "alexnet_v2", "alexnet_v2_arg_scope", 224),
    inception_v1=_net("inception", "inception_v1", "inception_v1_arg_scope", 224),
    inception_v2=_net("inception", "inception_v2", "inception_v2_arg_scope", 224, is_training=False),
    inception_v3=_net("inception", "inception_v3", "inception_v3_arg_scope", 299),
    overfeat=_net("overfeat", "overfeat", "overfeat_arg_scope", 231),
    resnet_v1_50=_net("resnet_v1", "resnet_v1_50", "resnet_arg_scope", 64),
    resnet_v2_50=_net("resnet_v2", "resnet_v2_50", "resnet_arg_scope", 65, output_stride=8, global_pool=False),
    vgg_a=_net("vgg", "vgg_a", "vgg_arg_scope", 224),
    vgg_16=_net("vgg", "vgg_16", "vgg_arg_scope", 224),
    vgg_19=_net("vgg", "vgg_19", "vgg_arg_scope", 224),
)


def observed(tf: Any, slim: Any, build: Program) -> dict[str, Any]:
    """The nodes of a program, its collections, and the values of what it gives in two runs."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(SEED)
        outputs = build(tf, slim)
        begin = [tf.global_variables_initializer(), tf.local_variables_initializer()]
        nodes = sorted((node.name, node.op) for node in graph.as_graph_def().node)
        keys = [key for key in graph.get_all_collection_keys() if not key.startswith("__")]
        collections = {key: [getattr(item, "name", str(item)) for item in tf.get_collection(key)] for key in keys}
        values: list[Any] = []
        if outputs:
            with tf.Session() as session:
                session.run(begin)
                values = [np.asarray(item) for _ in range(2) for item in session.run(outputs)]
    return {"nodes": nodes, "collections": collections, "values": values}
