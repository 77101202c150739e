"""Programs for the parts of `tf.keras` besides layers and models; each takes TensorFlow and Keras, ours or theirs.

`observed` runs all of them; what it gives is plain values, which two processes can compare.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

_DRAW = np.random.RandomState(0)


def _numbers(*shape: int) -> Any:
    return _DRAW.randn(*shape).astype("float32")


A, B, C = _numbers(3, 4), _numbers(3, 4), _numbers(3, 4, 5)
IMAGES, VOLUMES = _numbers(2, 6, 6, 3), _numbers(2, 4, 4, 4, 2)
KERNEL, WIDE, LOCAL = _numbers(3, 3, 3, 2), _numbers(3, 5, 6), _numbers(16, 27, 2)
MASK = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 0]], bool)
P = np.abs(_numbers(3, 8, 4)) + 0.1
P /= P.sum(-1, keepdims=True)
Y = np.eye(4, dtype="float32")[_DRAW.randint(0, 4, (3, 8))]
ONE, TRUTH = np.abs(_numbers(3, 8, 1)) % 1, _DRAW.randint(0, 2, (3, 8, 1)).astype("float32")
WEIGHTS = np.abs(_numbers(3, 8))
CLASSES = Y.argmax(-1)[..., None].astype("float32")

# ---------------------------------------------------------------------------------------------------- Optimizers

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda k: k.optimizers.SGD(0.1),
    "nesterov": lambda k: k.optimizers.SGD(0.1, momentum=0.9, nesterov=True, decay=0.1),
    "rmsprop": lambda k: k.optimizers.RMSprop(0.01),
    "rmsprop_centered": lambda k: k.optimizers.RMSprop(0.01, centered=True),
    "rmsprop_momentum": lambda k: k.optimizers.RMSprop(0.01, momentum=0.5),
    "rmsprop_both": lambda k: k.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "adagrad": lambda k: k.optimizers.Adagrad(0.1),
    "adadelta": lambda k: k.optimizers.Adadelta(1.0),
    "adam": lambda k: k.optimizers.Adam(0.01, clipnorm=0.5),
    "amsgrad": lambda k: k.optimizers.Adam(0.01, amsgrad=True, clipvalue=0.1),
    "adamax": lambda k: k.optimizers.Adamax(0.01),
    "nadam": lambda k: k.optimizers.Nadam(0.01),
    "ftrl": lambda k: k.optimizers.Ftrl(0.1, l1_regularization_strength=0.01),
    "ftrl_shrinking": lambda k: k.optimizers.Ftrl(0.1, l2_shrinkage_regularization_strength=0.01),
    "exponential": lambda k: k.optimizers.Adam(k.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)),
    "piecewise": lambda k: k.optimizers.SGD(k.optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2, 0.3])),
    "polynomial": lambda k: k.optimizers.SGD(k.optimizers.schedules.PolynomialDecay(0.1, 2)),
    "inverse": lambda k: k.optimizers.SGD(k.optimizers.schedules.InverseTimeDecay(0.1, 2, 0.3, staircase=True)),
}


def _optimized(tf: Any, keras: Any, make: Callable[[Any], Any]) -> Any:
    """Four steps of a dense variable, and of one that is looked up; the names of all variables."""
    with tf.Graph().as_default():
        dense = tf.get_variable("dense/kernel", initializer=A[:, :2], use_resource=True)
        table = tf.get_variable("table", initializer=B, use_resource=True)[:, :2]
        table = tf.get_variable("rows", initializer=np.arange(8.0).reshape(4, 2).astype("f") / 8, use_resource=True)
        optimizer = make(keras)
        product = tf.matmul(tf.gather(table, [1, 3, 1]), dense, transpose_b=True)
        step = optimizer.get_updates(tf.reduce_sum(tf.square(product - 1.0)), [dense, table])
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(step)
        with session.as_default():
            config = {name: value for name, value in optimizer.get_config().items() if name != "beta"}
        names = sorted(item.name for item in tf.global_variables() if item.name != "Ftrl/beta:0")
        values = session.run([dense, table, *optimizer.weights])
        return [names, [item.name for item in optimizer.weights], _plain(config)], values


# ---------------------------------------------------------------------------------------------------- Losses

LOSSES = """
    mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error hinge
    squared_hinge categorical_hinge logcosh categorical_crossentropy binary_crossentropy kullback_leibler_divergence
    poisson cosine_similarity
""".split()  # noqa: SIM905 - so that it can be read
LOSS_CLASSES: dict[str, dict[str, Any]] = {
    "MeanSquaredError": {},
    "MeanAbsoluteError": {"reduction": "sum"},
    "BinaryCrossentropy": {"label_smoothing": 0.1},
    "CategoricalCrossentropy": {"from_logits": True, "label_smoothing": 0.2, "reduction": "none"},
    "CosineSimilarity": {},
    "Huber": {"delta": 0.3},
    "KLDivergence": {"name": "divergence"},  # which has had other names since
    "LogCosh": {"name": "logarithms"},
    "Hinge": {},
}


def _losses(tf: Any, keras: Any) -> Any:
    with tf.Graph().as_default():
        labels, predictions = tf.constant(Y[0]), tf.constant(P[0])
        made = [getattr(keras.losses, name)(labels, predictions) for name in LOSSES]
        for name, arguments in LOSS_CLASSES.items():
            loss = getattr(keras.losses, name)(**arguments)
            made += [loss(labels, predictions), loss(labels, predictions, sample_weight=tf.constant(WEIGHTS[0]))]
        sparse = keras.losses.SparseCategoricalCrossentropy()
        made.append(sparse(tf.constant(CLASSES[0]), predictions))
        return [item.name.split(":")[0].split("/")[0] for item in made[len(LOSSES) :]], tf.Session().run(made)


def _small(tf: Any, keras: Any) -> Any:
    """Activations, regularizers and constraints."""
    names = "elu exponential hard_sigmoid linear relu selu sigmoid softmax softplus softsign tanh".split()  # noqa: SIM905 - as above
    with tf.Graph().as_default():
        x = tf.constant(A)
        made = [keras.activations.get(name)(x) for name in names]
        made.append(keras.activations.softmax(tf.constant(C), axis=1))
        made += [function(x) for function in (keras.regularizers.l1(0.1), keras.regularizers.l2(0.2))]
        made.append(keras.regularizers.l1_l2(0.1, 0.2)(x))
        held = ["MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm"]
        made += [getattr(keras.constraints, name)()(x * 3) for name in held]
        made.append(keras.constraints.RadialConstraint()(tf.constant(_ringed(5))))  # of even sizes Keras fails here
        config = [keras.constraints.get("max_norm").get_config(), keras.constraints.MinMaxNorm().get_config()]
        return config, tf.Session().run(made)


def _ringed(size: int) -> Any:
    return np.arange(size * size * 2.0).reshape(size, size, 1, 2).astype("float32")


# ---------------------------------------------------------------------------------------------------- Metrics

_CATEGORICAL = """
    CategoricalAccuracy CosineSimilarity MeanAbsoluteError MeanSquaredError MeanSquaredLogarithmicError Hinge
    SquaredHinge CategoricalHinge LogCoshError Poisson KLDivergence RootMeanSquaredError CategoricalCrossentropy
    Precision Recall AUC BinaryAccuracy BinaryCrossentropy
""".split()  # noqa: SIM905 - so that it can be read
_BINARY = """
    FalsePositives FalseNegatives TruePositives TrueNegatives Precision Recall AUC BinaryAccuracy
""".split()  # noqa: SIM905 - so that it can be read
METRICS: list[tuple[str, dict[str, Any], str]] = [
    *((name, {}, "categorical") for name in _CATEGORICAL),
    *((name, {}, "binary") for name in _BINARY),
    ("AUC", {"curve": "PR"}, "binary"),
    ("AUC", {"curve": "PR", "summation_method": "majoring"}, "binary"),
    ("AUC", {"summation_method": "minoring", "thresholds": [0.2, 0.7]}, "binary"),
    ("Accuracy", {}, "classes"),
    ("MeanIoU", {"num_classes": 4}, "classes"),
    ("MeanRelativeError", {"normalizer": [1.0, 2.0, 3.0, 4.0]}, "categorical"),
    ("Precision", {"class_id": 1, "thresholds": 0.3}, "categorical"),
    ("Precision", {"thresholds": [0.3, 0.6]}, "binary"),
    ("Recall", {"top_k": 2}, "categorical"),
    ("SparseCategoricalAccuracy", {}, "sparse"),
    ("SparseCategoricalCrossentropy", {}, "sparse"),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, "sparse"),
    ("TopKCategoricalAccuracy", {"k": 2}, "categorical"),
    ("TruePositives", {"thresholds": [0.2, 0.5]}, "binary"),
]
_DATA = {
    "binary": (TRUTH, ONE),
    "categorical": (Y, P),
    "classes": (CLASSES[..., 0], P.argmax(-1).astype("float32")),
    "sparse": (CLASSES, P),
}


def _measured(tf: Any, keras: Any) -> Any:
    """Three batches, without weights and with them: the names of the variables and all results."""
    with tf.Graph().as_default():
        wanted: list[Any] = []
        variables: list[Any] = []
        feeds: list[dict[Any, Any]] = [{}, {}, {}]
        for name, arguments, kind in METRICS:
            labels, predictions = (tf.placeholder("float32", item.shape[1:]) for item in _DATA[kind])
            weights = tf.placeholder("float32", (8,))
            for at, feed in enumerate(feeds):
                feed.update({labels: _DATA[kind][0][at], predictions: _DATA[kind][1][at], weights: WEIGHTS[at]})
            for given in (None, weights):
                metric = getattr(keras.metrics, name)(name=f"{name}_{len(wanted)}", **arguments)
                wanted.append(metric(labels, predictions, sample_weight=given))
                variables += metric.weights
        for name in ("Mean", "Sum", "MeanTensor"):
            values = tf.placeholder("float32", (8, 4))
            for at, feed in enumerate(feeds):
                feed[values] = P[at]
            metric = getattr(keras.metrics, name)()
            wanted.append(metric(values))
            variables += metric.weights
        session = tf.Session()
        session.run([item.initializer for item in variables])
        return [item.name for item in variables], [session.run(wanted, feed) for feed in feeds]


# ---------------------------------------------------------------------------------------------------- Backend

BACKEND: dict[str, Callable[[Any], Any]] = {
    "batch_dot": lambda k: k.batch_dot(k.constant(A), k.constant(B)),
    "batch_dot of matrices": lambda k: k.batch_dot(k.constant(C), k.constant(WIDE)),
    "batch_dot along others": lambda k: k.batch_dot(k.constant(C), k.constant(A), axes=(1, 1)),
    "batch_dot along one": lambda k: k.batch_dot(k.constant(C), k.constant(C), axes=1),
    "batch_normalization": lambda k: k.batch_normalization(
        k.constant(A), k.constant(A[0]), k.constant(A[1] ** 2), k.constant(A[2]), k.constant(B[0])
    ),
    "bias_add": lambda k: k.bias_add(k.constant(IMAGES), k.constant(A[0, :3])),
    "bias_add at places": lambda k: k.bias_add(k.constant(IMAGES), k.constant(IMAGES[0])),
    "bias_add to first channels": lambda k: k.bias_add(
        k.constant(IMAGES), k.constant(IMAGES[0, :, 0, 0]), data_format="channels_first"
    ),
    "any": lambda k: k.any(k.constant(A) > 1, axis=0),
    "arange": lambda k: k.arange(2, 7, 2),
    "batch_flatten": lambda k: k.batch_flatten(k.constant(C)),
    "clip": lambda k: k.clip(k.constant(A), None, 0.3),
    "concatenate": lambda k: k.concatenate([k.constant(A), k.constant(B)]),
    "conv1d": lambda k: k.conv1d(k.constant(C), k.constant(WIDE[:2]), padding="causal", dilation_rate=2),
    "conv2d": lambda k: k.conv2d(k.constant(IMAGES), k.constant(KERNEL), strides=(2, 2), padding="same"),
    "conv2d_transpose": lambda k: k.conv2d_transpose(
        k.constant(IMAGES[..., :2]), k.constant(KERNEL), (2, 12, 12, 3), strides=(2, 2), padding="same"
    ),
    "conv3d": lambda k: k.conv3d(k.constant(VOLUMES), k.constant(VOLUMES[0, :2, :2, :2, :, None])),
    "ctc_batch_cost": lambda k: k.ctc_batch_cost(
        k.constant([[0, 1, 0], [2, 1, 2]]), k.constant(P[:2]), k.constant([[8], [7]]), k.constant([[2], [3]])
    ),
    "ctc_decode by beams": lambda k: k.ctc_decode(k.constant(P[:2]), k.constant([8, 7]), greedy=False, beam_width=5)[1],
    "cumsum": lambda k: k.cumsum(k.constant(A), 1),
    "depthwise_conv2d": lambda k: k.depthwise_conv2d(k.constant(IMAGES), k.constant(KERNEL)),
    "dot": lambda k: k.dot(k.constant(C), k.constant(WIDE[0])),
    "dot of more": lambda k: k.dot(k.constant(C), k.constant(WIDE)),
    "elu": lambda k: k.elu(k.constant(A), 0.3),
    "eye": lambda k: k.eye(3),
    "foldl": lambda k: k.foldl(lambda a, b: a + b, k.constant(A)),
    "hard_sigmoid": lambda k: k.hard_sigmoid(k.constant(A)),
    "in_train_phase": lambda k: k.in_train_phase(k.constant(A), k.constant(B)),
    "l2_normalize": lambda k: k.l2_normalize(k.constant(A), axis=1),
    "local_conv1d": lambda k: k.local_conv1d(
        k.constant(C), k.constant(LOCAL.ravel()[:180].reshape(3, 10, 6)), (2,), (1,), "channels_last"
    ),
    "local_conv2d": lambda k: k.local_conv2d(
        k.constant(IMAGES), k.constant(LOCAL), (3, 3), (1, 1), (4, 4), "channels_last"
    ),
    "mean": lambda k: k.mean(k.constant(A) > 0, axis=1),
    "normalize_batch": lambda k: k.normalize_batch_in_training(k.constant(A), k.constant(A[0]), k.constant(A[1]), [0])[
        0
    ],
    "one_hot": lambda k: k.one_hot(k.constant([1, 2], dtype="int32"), 4),
    "pool2d": lambda k: k.pool2d(k.constant(IMAGES), (2, 2), strides=(2, 2), pool_mode="avg"),
    "pool3d": lambda k: k.pool3d(k.constant(VOLUMES), (2, 2, 2), strides=(2, 2, 2)),
    "relu": lambda k: k.relu(k.constant(A), alpha=0.1, max_value=1.0, threshold=0.2),
    "relu to six": lambda k: k.relu(k.constant(A * 5), max_value=6),
    "repeat": lambda k: k.repeat(k.constant(A), 3),
    "repeat_elements": lambda k: k.repeat_elements(k.constant(A), 3, 1),
    "resize_images": lambda k: k.resize_images(k.constant(IMAGES), 2, 3, "channels_last"),
    "resize_volumes": lambda k: k.resize_volumes(k.constant(VOLUMES), 2, 1, 2, "channels_last"),
    "separable_conv2d": lambda k: k.separable_conv2d(
        k.constant(IMAGES), k.constant(KERNEL), k.constant(KERNEL.ravel()[:24].reshape(1, 1, 6, 4))
    ),
    "sparse_categorical_crossentropy": lambda k: k.sparse_categorical_crossentropy(
        k.constant([[1, 2, 3, 0]] * 3), k.constant(np.abs(C))
    ),
    "spatial_2d_padding": lambda k: k.spatial_2d_padding(k.constant(IMAGES), ((1, 2), (0, 1))),
    "sqrt": lambda k: k.sqrt(k.constant(A)),
    "std": lambda k: k.std(k.constant(A), axis=0, keepdims=True),
    "switch": lambda k: k.switch(k.constant(A) > 0, k.constant(A), k.constant(B)),
    "var": lambda k: k.var(k.constant(A)),
    "zeros": lambda k: k.zeros((2, 3)),
    "cross entropy by logits": lambda k: k.categorical_crossentropy(k.constant(np.abs(A)), k.softmax(k.constant(B))),
    "cross entropy of one": lambda k: k.binary_crossentropy(k.constant((A > 0) * 1.0), k.sigmoid(k.constant(B))),
    **{
        f"rnn {unroll} {masked} {backwards}": lambda k, u=unroll, m=masked, b=backwards: _recurrent(k, u, m, b)
        for unroll in (False, True)
        for masked in (None, "held", "zero")
        for backwards in (False, True)
        if not (unroll and masked == "zero" and backwards)  # Keras forgets there to reverse the mask
    },
}


def _recurrent(k: Any, unroll: bool, masked: str | None, backwards: bool) -> Any:
    def step(item: Any, states: Any) -> Any:
        output = k.tanh(item + k.dot(states[0], k.constant(np.eye(5) / 2)))
        return output, [output, states[1] + 1.0]

    mask = {} if masked is None else {"mask": k.constant(MASK, dtype="bool"), "zero_output_for_mask": masked == "zero"}
    first = [k.constant(np.zeros((3, 5))), k.constant(np.zeros((3, 1)))]
    last, outputs, states = k.rnn(step, k.constant(C), first, go_backwards=backwards, unroll=unroll, **mask)
    return k.concatenate([k.flatten(item) for item in (last, outputs, *states)], axis=0)


def _computed(tf: Any, keras: Any) -> Any:
    k = keras.backend
    shapes, values = [], []
    with tf.Graph().as_default():
        session = tf.Session()
        k.set_session(session)
        with session.as_default():
            for build in BACKEND.values():
                made = build(k)
                shapes.append(k.int_shape(made))
                values.append(made)
            values = [k.eval(item) for item in values]
            place, count = k.placeholder((None, 2)), k.variable(np.ones(2))
            function = k.function(
                [place], [k.sum(place * count), k.shape(place)], updates=[k.update_add(count, [1.0, 1.0])]
            )
            values += [function([np.ones((3, 2))]), function([np.ones((4, 2))]), k.get_value(count)]
            k.set_value(count, [5.0, 6.0])
            values.append(k.get_value(count))
    return shapes, values


def _plain(config: Any) -> Any:
    """A configuration with numbers as Python has them."""
    if isinstance(config, dict):
        return {name: _plain(value) for name, value in config.items() if name not in ("module", "registered_name")}
    return float(config) if isinstance(config, float | np.floating) else config


def observed(tf: Any, keras: Any) -> dict[str, Any]:
    """What each program gives: names and the like, which are equal, and numbers, which are close."""
    found = {f"optimizer {name}": _optimized(tf, keras, make) for name, make in OPTIMIZERS.items()}
    parts = SimpleNamespace(losses=_losses, small=_small, metrics=_measured, backend=_computed)
    return {**found, **{name: build(tf, keras) for name, build in vars(parts).items()}}
