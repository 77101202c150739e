"""Training steps of well-known networks: one text for TensorFlow 1 and for us. Each returns its loss.

The arguments of a program: a library with the names of `tf.compat.v1`, and how many threads it may use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

Work = Callable[[], float]


def session_of(tf: Any, threads: int) -> Any:
    """A session with so many threads, its variables initialized."""
    session = tf.Session(
        config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    )
    session.run(tf.global_variables_initializer())
    return session


def _stepping(tf: Any, threads: int, loss: Any, optimizer: Any, feeds: Any) -> Work:
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = optimizer.minimize(loss)
    session = session_of(tf, threads)
    return lambda: float(session.run([step, loss], feeds)[1])


def _dense(tf: Any, x: Any, units: int, name: str, activation: Any = None) -> Any:
    with tf.variable_scope(name):
        kernel = tf.get_variable(
            "kernel", [x.shape[-1], units], initializer=tf.truncated_normal_initializer(stddev=0.02, seed=1)
        )
        y = tf.nn.bias_add(tf.matmul(x, kernel), tf.get_variable("bias", [units], initializer=tf.zeros_initializer()))
    return y if activation is None else activation(y)


# ------------------------------------------------------------------------------------------------------------- BERT

TOKENS: Final = 128
_VOCABULARY: Final = 30_522
_MASKED: Final = 20  # tokens of each text that are predicted


def _layer_norm(tf: Any, x: Any, name: str) -> Any:
    with tf.variable_scope(name):
        gamma = tf.get_variable("gamma", [x.shape[-1]], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [x.shape[-1]], initializer=tf.zeros_initializer())
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def _gelu(tf: Any, x: Any) -> Any:
    return x * (0.5 * (1.0 + tf.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * tf.pow(x, 3)))))


def _attention(tf: Any, x: Any, bias: Any, batch: int, heads: int, width: int) -> Any:
    size = width // heads

    def apart(tensor: Any) -> Any:
        return tf.transpose(tf.reshape(tensor, [batch, TOKENS, heads, size]), [0, 2, 1, 3])

    query, key, value = (apart(_dense(tf, x, width, name)) for name in ("query", "key", "value"))
    scores = tf.matmul(query, key, transpose_b=True) * (1.0 / np.sqrt(float(size)))
    weights = tf.nn.dropout(tf.nn.softmax(scores + bias), rate=0.1)
    return tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [batch * TOKENS, width])


def bert(tf: Any, threads: int, layers: int = 12, width: int = 768, heads: int = 12, batch: int = 8) -> Work:
    """Pre-training of a BERT: masked words alone, Adam."""
    random = np.random.default_rng(0)
    ids = tf.placeholder(tf.int32, [batch, TOKENS])
    mask = tf.placeholder(tf.int32, [batch, TOKENS])
    places = tf.placeholder(tf.int32, [batch, _MASKED])
    labels = tf.placeholder(tf.int32, [batch * _MASKED])
    normal = tf.truncated_normal_initializer(stddev=0.02, seed=1)
    words = tf.get_variable("words", [_VOCABULARY, width], initializer=normal)
    kinds = tf.get_variable("kinds", [2, width], initializer=normal)
    x = tf.reshape(tf.gather(words, tf.reshape(ids, [-1])), [batch, TOKENS, width])
    x += tf.reshape(tf.matmul(tf.one_hot(tf.zeros([batch * TOKENS], tf.int32), 2), kinds), [batch, TOKENS, width])
    x += tf.get_variable("places", [TOKENS, width], initializer=normal)
    x = tf.nn.dropout(_layer_norm(tf, x, "norm"), rate=0.1)
    bias = (1.0 - tf.reshape(tf.cast(mask, tf.float32), [batch, 1, 1, TOKENS])) * -10000.0
    x = tf.reshape(x, [batch * TOKENS, width])
    for number in range(layers):
        with tf.variable_scope(f"layer_{number}"):
            attended = _dense(tf, _attention(tf, x, bias, batch, heads, width), width, "output")
            x = _layer_norm(tf, x + tf.nn.dropout(attended, rate=0.1), "norm_attention")
            inner = _dense(tf, x, 4 * width, "inner", lambda y: _gelu(tf, y))
            x = _layer_norm(tf, x + tf.nn.dropout(_dense(tf, inner, width, "outer"), rate=0.1), "norm_output")
    offsets = tf.reshape(tf.range(batch, dtype=tf.int32) * TOKENS, [-1, 1])
    chosen = tf.gather(x, tf.reshape(places + offsets, [-1]))
    chosen = _layer_norm(tf, _dense(tf, chosen, width, "transform", lambda y: _gelu(tf, y)), "norm_words")
    logits = tf.matmul(chosen, words, transpose_b=True)
    logits = tf.nn.bias_add(logits, tf.get_variable("word_bias", [_VOCABULARY], initializer=tf.zeros_initializer()))
    chances = tf.nn.log_softmax(logits, axis=-1)
    loss = -tf.reduce_mean(tf.reduce_sum(chances * tf.one_hot(labels, _VOCABULARY), axis=[-1]))
    feeds = {
        ids: random.integers(0, _VOCABULARY, (batch, TOKENS)),
        mask: np.ones((batch, TOKENS), np.int32),
        places: random.integers(0, TOKENS, (batch, _MASKED)),
        labels: random.integers(0, _VOCABULARY, batch * _MASKED),
    }
    return _stepping(tf, threads, loss, tf.train.AdamOptimizer(1e-4), feeds)


# ----------------------------------------------------------------------------------------------------------- ResNet


def _convolution(tf: Any, x: Any, filters: int, size: int, stride: int, name: str) -> Any:
    channels = int(x.shape[-1])
    kernel = tf.get_variable(
        f"{name}/kernel", [size, size, channels, filters],
        initializer=tf.truncated_normal_initializer(stddev=float(np.sqrt(2 / (size * size * channels))), seed=1),
    )  # fmt: skip
    return tf.nn.conv2d(x, kernel, strides=[1, stride, stride, 1], padding="SAME")


def _batch_norm(tf: Any, x: Any, name: str) -> Any:
    """Normalization by the batch, whose moments are kept as well, as a training step does."""
    with tf.variable_scope(name):
        size = [int(x.shape[-1])]
        gamma = tf.get_variable("gamma", size, initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", size, initializer=tf.zeros_initializer())
        moving_mean = tf.get_variable("moving_mean", size, initializer=tf.zeros_initializer(), trainable=False)
        moving_variance = tf.get_variable("moving_variance", size, initializer=tf.ones_initializer(), trainable=False)
    y, mean, variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-5, is_training=True)
    for kept, now in ((moving_mean, mean), (moving_variance, variance)):
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(kept, (kept - now) * 0.1))
    return y


def resnet(tf: Any, threads: int, blocks: int = 3, batch: int = 32) -> Work:
    """The residual network of 20 layers for pictures of 32 x 32: 16, 32 and 64 channels, momentum, decay of weights."""
    random = np.random.default_rng(0)
    pictures = tf.placeholder(tf.float32, [batch, 32, 32, 3])
    labels = tf.placeholder(tf.int32, [batch])
    x = tf.nn.relu(_batch_norm(tf, _convolution(tf, pictures, 16, 3, 1, "first"), "first"))
    for stage, filters in enumerate((16, 32, 64)):
        for block in range(blocks):
            with tf.variable_scope(f"stage_{stage}_{block}"):
                stride = 2 if stage and not block else 1
                past = x if stride == 1 else _convolution(tf, x, filters, 1, stride, "past")
                y = tf.nn.relu(_batch_norm(tf, _convolution(tf, x, filters, 3, stride, "one"), "one"))
                x = tf.nn.relu(_batch_norm(tf, _convolution(tf, y, filters, 3, 1, "two"), "two") + past)
    logits = _dense(tf, tf.reduce_mean(x, [1, 2]), 10, "logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    loss += 2e-4 * tf.add_n([tf.nn.l2_loss(variable) for variable in tf.trainable_variables()])
    feeds = {pictures: random.random((batch, 32, 32, 3), np.float32), labels: random.integers(0, 10, batch)}
    return _stepping(tf, threads, loss, tf.train.MomentumOptimizer(0.01, 0.9), feeds)


# ------------------------------------------------------------------------------------------------- networks of graphs

NODES, EDGES, FEATURES, CLASSES = 2708, 5429, 1433, 7


def _cora(random: Any) -> tuple[Any, Any, Any, Any]:
    """A graph of Cora's size: features, edges both ways and to itself, sorted, weights of edges, and labels."""
    edges = random.integers(0, NODES, (EDGES, 2))
    both = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(NODES), 2).reshape(-1, 2)])
    both = np.unique(both, axis=0).astype(np.int64)
    degrees = np.bincount(both[:, 0], minlength=NODES)
    weights = (1 / np.sqrt(degrees[both[:, 0]] * degrees[both[:, 1]])).astype(np.float32)
    features = (random.random((NODES, FEATURES)) < 0.0127).astype(np.float32)
    features /= np.maximum(features.sum(1, keepdims=True), 1)
    labels = np.eye(CLASSES, dtype=np.float32)[random.integers(0, CLASSES, NODES)]
    return features, both, weights, labels


def _masked_loss(tf: Any, logits: Any, labels: Any, mask: Any) -> Any:
    losses = tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=labels)
    mask = mask / tf.reduce_mean(mask)
    return tf.reduce_mean(losses * mask)


def _mask() -> Any:
    return (np.arange(NODES) < 140).astype(np.float32)


def gcn(tf: Any, threads: int) -> Work:
    """A graph convolutional network of two layers, 16 hidden, sparse features, dropout, decay of weights, Adam."""
    features, edges, weights, wanted = _cora(np.random.default_rng(0))
    places = np.stack(np.nonzero(features), 1)
    support = tf.sparse_placeholder(tf.float32)
    inputs = tf.sparse_placeholder(tf.float32, shape=[NODES, FEATURES])
    labels = tf.placeholder(tf.float32, [NODES, CLASSES])
    mask = tf.placeholder(tf.float32, [NODES])
    count = tf.placeholder(tf.int32, [])
    kept = tf.cast(tf.floor(0.5 + tf.random_uniform([count])), dtype=tf.bool)
    x = tf.sparse_retain(inputs, kept) * 2.0
    first = tf.get_variable("first", [FEATURES, 16], initializer=tf.glorot_uniform_initializer(seed=1))
    second = tf.get_variable("second", [16, CLASSES], initializer=tf.glorot_uniform_initializer(seed=2))
    hidden = tf.nn.relu(tf.sparse_tensor_dense_matmul(support, tf.sparse_tensor_dense_matmul(x, first)))
    logits = tf.sparse_tensor_dense_matmul(support, tf.matmul(tf.nn.dropout(hidden, rate=0.5), second))
    loss = _masked_loss(tf, logits, labels, mask) + 5e-4 * tf.nn.l2_loss(first)
    feeds = {
        support: (edges, weights, (NODES, NODES)),
        inputs: (places, features[places[:, 0], places[:, 1]], (NODES, FEATURES)),
        labels: wanted, mask: _mask(), count: len(places),
    }  # fmt: skip
    return _stepping(tf, threads, loss, tf.train.AdamOptimizer(0.01), feeds)


def _attention_head(tf: Any, x: Any, units: int, mixed: Callable[[Any, Any], Any], name: str) -> Any:
    """One head: `mixed` makes the coefficients of the neighbours of two scores for each node."""
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [1, int(x.shape[-1]), units], initializer=tf.glorot_uniform_initializer(1))
        hidden = tf.nn.conv1d(tf.nn.dropout(x, rate=0.6), kernel, 1, "VALID")
        scores = []
        for i in range(2):
            glorot = tf.glorot_uniform_initializer(2 + i)
            score = tf.nn.conv1d(hidden, tf.get_variable(f"s{i}", [1, units, 1], initializer=glorot), 1, "VALID")
            scores.append(tf.nn.bias_add(score, tf.get_variable(f"b{i}", [1], initializer=tf.zeros_initializer())))
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
    return tf.nn.bias_add(mixed(hidden, scores), bias)


def gat(tf: Any, threads: int, is_sparse: bool) -> Work:
    """A graph attention network: eight heads of eight and one of seven, dropout of 0.6, decay of weights, Adam."""
    features, edges, _, wanted = _cora(np.random.default_rng(0))
    inputs = tf.placeholder(tf.float32, [1, NODES, FEATURES])
    labels = tf.placeholder(tf.float32, [NODES, CLASSES])
    mask = tf.placeholder(tf.float32, [NODES])
    feeds = {inputs: features[None], labels: wanted, mask: _mask()}
    if is_sparse:
        near = tf.sparse_placeholder(tf.float32, shape=[NODES, NODES])
        feeds[near] = (edges, np.ones(len(edges), np.float32), (NODES, NODES))
    else:
        near = tf.placeholder(tf.float32, [1, NODES, NODES])
        dense = np.full((1, NODES, NODES), -1e9, np.float32)
        dense[0, edges[:, 0], edges[:, 1]] = 0
        feeds[near] = dense

    def mixed_sparse(hidden: Any, scores: Any) -> Any:
        ones, others = (tf.reshape(score, (NODES, 1)) for score in scores)
        logits = tf.sparse_add(near * ones, near * tf.transpose(others, [1, 0]))
        active = tf.SparseTensor(logits.indices, tf.nn.leaky_relu(logits.values), logits.dense_shape)
        chances = tf.sparse_softmax(active)
        chances = tf.SparseTensor(chances.indices, tf.nn.dropout(chances.values, rate=0.6), chances.dense_shape)
        values = tf.nn.dropout(tf.squeeze(hidden), rate=0.6)
        chances = tf.sparse_reshape(chances, [NODES, NODES])
        return tf.expand_dims(tf.sparse_tensor_dense_matmul(chances, values), 0)

    def mixed_dense(hidden: Any, scores: Any) -> Any:
        logits = scores[0] + tf.transpose(scores[1], [0, 2, 1])
        chances = tf.nn.dropout(tf.nn.softmax(tf.nn.leaky_relu(logits) + near), rate=0.6)
        return tf.matmul(chances, tf.nn.dropout(hidden, rate=0.6))

    mixed = mixed_sparse if is_sparse else mixed_dense
    heads = [tf.nn.elu(_attention_head(tf, inputs, 8, mixed, f"head_{number}")) for number in range(8)]
    logits = _attention_head(tf, tf.concat(heads, axis=-1), CLASSES, mixed, "last")
    loss = _masked_loss(tf, tf.reshape(logits, [NODES, CLASSES]), labels, mask)
    loss += 5e-4 * tf.add_n([tf.nn.l2_loss(variable) for variable in tf.trainable_variables()])
    return _stepping(tf, threads, loss, tf.train.AdamOptimizer(0.005), feeds)


# ------------------------------------------------------------------------------------------------- a model of language


def language_model(tf: Any, threads: int, is_dynamic: bool, batch: int = 20, steps: int = 20, units: int = 200) -> Work:
    """The small model of the Penn Treebank: 2 layers of 200 units, 20 steps, 10,000 words, clipped gradients."""
    words = 10_000
    random = np.random.default_rng(0)
    ids = tf.placeholder(tf.int32, [batch, steps])
    targets = tf.placeholder(tf.int32, [batch, steps])
    uniform = tf.random_uniform_initializer(-0.1, 0.1, seed=1)
    with tf.variable_scope("model", initializer=uniform):
        cell = tf.nn.rnn_cell.MultiRNNCell(
            [tf.nn.rnn_cell.BasicLSTMCell(units, forget_bias=0.0, state_is_tuple=True) for _ in range(2)],
            state_is_tuple=True,
        )
        inputs = tf.nn.embedding_lookup(tf.get_variable("embedding", [words, units]), ids)
        first = cell.zero_state(batch, tf.float32)
        if is_dynamic:
            outputs, _ = tf.nn.dynamic_rnn(cell, inputs, initial_state=first)
            output = tf.reshape(outputs, [-1, units])
        else:
            listed, _ = tf.nn.static_rnn(cell, tf.unstack(inputs, num=steps, axis=1), initial_state=first)
            output = tf.reshape(tf.concat(listed, 1), [-1, units])
        logits = tf.matmul(output, tf.get_variable("softmax_w", [units, words])) + tf.get_variable("softmax_b", [words])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(targets, [-1]), logits=logits)
    loss = tf.reduce_sum(losses) / batch
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(gradients, variables, strict=True))
    session = session_of(tf, threads)
    feeds = {ids: random.integers(0, words, (batch, steps)), targets: random.integers(0, words, (batch, steps))}
    return lambda: float(session.run([step, loss], feeds)[1])


PROGRAMS: Final[dict[str, Callable[..., Work]]] = {
    "BERT-base, 12 layers of 768, 128 tokens, batch 8": bert,
    "BERT, 2 layers of 768, 128 tokens, batch 8": partial(bert, layers=2),
    "ResNet-20, 32 x 32 pixels, batch 32": resnet,
    "GCN, 2,708 nodes, 5,429 edges, 1,433 features": gcn,
    "GAT, sparse, 2,708 nodes, 5,429 edges, 1,433 features": partial(gat, is_sparse=True),
    "GAT, dense, 2,708 nodes, 5,429 edges, 1,433 features": partial(gat, is_sparse=False),
    "LSTM, static, 2 layers of 200, 20 steps, batch 20, 10,000 words": partial(language_model, is_dynamic=False),
    "LSTM, dynamic, 2 layers of 200, 20 steps, batch 20, 10,000 words": partial(language_model, is_dynamic=True),
}  # fmt: skip
