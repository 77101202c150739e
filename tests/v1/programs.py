"""Programs as people wrote them for TensorFlow 1, small and seeded. Each takes the module it calls `tf`.

A program returns what it would print: numbers, arrays, names. Nothing here knows whose module it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

Program = Callable[[Any], dict[str, Any]]


def linear_regression(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(0)
    inputs = random.randn(100, 3).astype(np.float32)
    targets = inputs.dot([[1.5], [-2.0], [0.5]]) + 0.3
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
    w = tf.Variable(tf.random_normal([3, 1]), name="weights")
    b = tf.Variable(0.0, name="bias")
    cost = tf.reduce_sum(tf.pow(tf.matmul(x, w) + b - y, 2)) / (2 * 100)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            for part in zip(np.split(inputs, 4), np.split(targets, 4), strict=True):
                session.run(train, feed_dict=dict(zip((x, y), part, strict=True)))
            losses.append(session.run(cost, {x: inputs, y: targets}))
        return {"losses": losses, "weights": session.run(w), "bias": b.eval()}


def perceptron_with_layers(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(1)
    inputs, labels = random.rand(128, 64), random.randint(0, 10, 128)
    x = tf.placeholder(tf.float32, [None, 64], "x")
    y = tf.placeholder(tf.int32, [None], "y")
    hidden = tf.layers.dense(x, 32, activation=tf.nn.relu, name="first")
    hidden = tf.layers.dense(
        hidden,
        32,
        tf.nn.tanh,
        kernel_initializer=tf.truncated_normal_initializer(stddev=0.1),
        kernel_regularizer=lambda w: 1e-3 * tf.nn.l2_loss(w),
    )
    logits = tf.layers.dense(hidden, 10, name="last")
    tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
    loss = tf.losses.get_total_loss()
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(2e-2, step, 10, 0.9, staircase=True)
    with tf.control_dependencies([loss]):  # or its regularization might be that of weights already changed
        train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    correct = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32))
    feeds = {x: inputs, y: labels}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], feeds)[1] for _ in range(60)]
        return {
            "losses": losses,
            "accuracy": session.run(correct, feeds),
            "steps": tf.train.global_step(session, step),
            "rate": session.run(rate),
            "variables": [variable.name for variable in tf.global_variables()],
        }


def convolutions_with_dropout(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(1)
    inputs, labels = random.rand(8, 100).astype(np.float32), np.eye(10)[random.randint(0, 10, 8)]

    def weights(*shape: int) -> Any:
        return tf.Variable(tf.truncated_normal(shape, stddev=0.1))

    def biases(*shape: int) -> Any:
        return tf.Variable(tf.constant(0.1, shape=shape))

    def layer(image: Any, kernel: Any, bias: Any) -> Any:
        image = tf.nn.relu(tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME") + bias)
        return tf.nn.max_pool(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

    x = tf.placeholder(tf.float32, [None, 100])
    y = tf.placeholder(tf.float32, [None, 10])
    keep = tf.placeholder(tf.float32)
    image = layer(tf.reshape(x, [-1, 10, 10, 1]), weights(5, 5, 1, 8), biases(8))
    image = layer(image, weights(3, 3, 8, 16), biases(16))
    hidden = tf.nn.relu(tf.matmul(tf.reshape(image, [-1, 3 * 3 * 16]), weights(144, 32)) + biases(32))
    logits = tf.nn.xw_plus_b(tf.nn.dropout(hidden, keep), weights(32, 10), biases(10))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(1e-2).minimize(loss)
    session = tf.InteractiveSession()
    session.run(tf.global_variables_initializer())
    losses = []
    for _ in range(30):
        losses.append(loss.eval({x: inputs, y: labels, keep: 1.0}))
        train.run(feed_dict={x: inputs, y: labels, keep: 0.8})
    session.close()
    return {"losses": losses}


def batch_normalization(tf: Any) -> dict[str, Any]:
    inputs = np.random.RandomState(2).randn(16, 6, 6, 3)
    x = tf.placeholder(tf.float32, [None, 6, 6, 3])
    training = tf.placeholder(tf.bool, name="is_training")
    net = tf.layers.conv2d(x, 4, 3, use_bias=False, name="convolution")
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, momentum=0.9))
    net = tf.layers.dense(tf.layers.flatten(net), 6)
    net = tf.layers.batch_normalization(net, training=training, fused=False, name="last")
    loss = tf.reduce_mean(tf.square(net - tf.range(6, dtype=tf.float32)))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train = tf.train.RMSPropOptimizer(0.02).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], {x: inputs, training: True})[1] for _ in range(40)]
        moving = [variable for variable in tf.global_variables() if "moving" in variable.op.name]
        return {
            "losses": losses,
            "in use": session.run(loss, {x: inputs, training: False}),
            "moving": session.run(moving),
            "updates": [update.name for update in updates],
        }


def recurrent_classifier(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(2)
    inputs, labels, lengths = random.randn(6, 7, 4), random.randint(0, 3, 6), [7, 3, 5, 1, 6, 2]
    x = tf.placeholder(tf.float32, [None, 7, 4])
    y = tf.placeholder(tf.int64, [None])
    length = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(8), output_keep_prob=0.9)
    # One step after the other, or the numbers for dropout might be drawn for them in any order.
    _, state = tf.nn.dynamic_rnn(cell, x, sequence_length=length, dtype=tf.float32, parallel_iterations=1)
    logits = tf.layers.dense(state.h, 3)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train = tf.train.AdamOptimizer(0.05).apply_gradients(zip(gradients, variables, strict=True))
    feeds = {x: inputs, y: labels, length: lengths}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steps = [session.run([loss, norm, train], feeds) for _ in range(25)]
        return {"losses": [step[0] for step in steps], "norms": [step[1] for step in steps]}


def characters(tf: Any) -> dict[str, Any]:
    text = "hello world, hello tensor. " * 8
    known = sorted(set(text))
    data, size, width, length = np.array([known.index(c) for c in text]), len(known), 24, 8
    x = tf.placeholder(tf.int32, [1, None])
    y = tf.placeholder(tf.int32, [1, None])
    with tf.variable_scope("rnn"):
        table = tf.get_variable("embedding", [size, width], initializer=tf.random_uniform_initializer(-0.1, 0.1))
        cell = tf.nn.rnn_cell.BasicLSTMCell(width)
        start = cell.zero_state(1, tf.float32)
        outputs, last = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, x), initial_state=start)
    w = tf.get_variable("softmax_w", [width, size])
    b = tf.get_variable("softmax_b", [size], initializer=tf.zeros_initializer())
    logits = tf.matmul(tf.reshape(outputs, [-1, width]), w) + b
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.reshape(y, [-1])))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            state = session.run(start)
            for i in range(0, len(data) - length - 1, length):
                feeds = {x: [data[i : i + length]], y: [data[i + 1 : i + 1 + length]], start: state}
                value, state, _ = session.run([loss, last, train], feeds)
            losses.append(value)
        state, written = session.run(start), "h"
        for _ in range(30):
            feeds = {x: [[known.index(written[-1])]], start.c: state.c, start.h: state.h}
            values, state = session.run([logits, last], feeds)
            written += known[int(np.argmax(values))]
    return {"losses": losses, "written": written}


def greedy_decoder(tf: Any) -> dict[str, Any]:
    source = np.random.RandomState(0).randint(2, 8, (10, 4))
    inputs = tf.placeholder(tf.int32, [None, 4])
    targets = tf.placeholder(tf.int32, [None, 4])
    table = tf.get_variable("table", [8, 16])
    projection = tf.get_variable("projection", [16, 8])
    encoder, decoder = tf.nn.rnn_cell.GRUCell(16), tf.nn.rnn_cell.GRUCell(16)
    with tf.variable_scope("encoder"):
        _, thought = tf.nn.dynamic_rnn(encoder, tf.nn.embedding_lookup(table, inputs), dtype=tf.float32)
    count = tf.shape(inputs)[0]
    shifted = tf.concat([tf.fill([count, 1], 1), targets[:, :-1]], 1)
    with tf.variable_scope("decoder"):
        outputs, _ = tf.nn.dynamic_rnn(decoder, tf.nn.embedding_lookup(table, shifted), initial_state=thought)
    logits = tf.tensordot(outputs, projection, [[2], [0]])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits))
    train = tf.train.AdamOptimizer(0.03).minimize(loss)

    def body(i: Any, token: Any, state: Any, written: Any) -> Any:
        with tf.variable_scope("decoder/rnn", reuse=True):
            output, state = decoder(tf.nn.embedding_lookup(table, token), state)
        token = tf.cast(tf.argmax(tf.matmul(output, projection), 1), tf.int32)
        return [i + 1, token, state, written.write(i, token)]

    written = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    first = [tf.constant(0), tf.fill([count], 1), thought, written]
    *_, written = tf.while_loop(lambda i, *_: i < 4, body, first, maximum_iterations=9)
    decoded = tf.transpose(written.stack(), [1, 0])
    feeds = {inputs: source, targets: source[:, ::-1]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], feeds)[0] for _ in range(60)]
        return {"losses": losses, "decoded": session.run(decoded, {inputs: source}), "wanted": source[:, ::-1]}


def skip_grams(tf: Any) -> dict[str, Any]:
    centers = np.random.RandomState(0).randint(0, 30, (40, 16))
    center = tf.placeholder(tf.int64, [16])
    context = tf.placeholder(tf.int64, [16])
    with tf.device("/cpu:0"):
        table = tf.Variable(tf.random_uniform([30, 8], -1.0, 1.0), name="embeddings")
        weights = tf.Variable(tf.truncated_normal([30, 8], stddev=8**-0.5))
        biases = tf.Variable(tf.zeros([30]))
    vectors = tf.nn.embedding_lookup(table, center)
    sampled, _, _ = tf.nn.log_uniform_candidate_sampler(context[:, None], 1, 6, True, 30)
    true = tf.reduce_sum(vectors * tf.nn.embedding_lookup(weights, context), 1) + tf.gather(biases, context)
    noise = tf.matmul(vectors, tf.nn.embedding_lookup(weights, sampled), transpose_b=True) + tf.gather(biases, sampled)
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits
    loss = tf.reduce_mean(cross_entropy(labels=tf.ones_like(true), logits=true)) + tf.reduce_mean(
        tf.reduce_sum(cross_entropy(labels=tf.zeros_like(noise), logits=noise), 1)
    )
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    normalized = table / tf.sqrt(tf.reduce_sum(tf.square(table), 1, keep_dims=True))
    similarity = tf.matmul(tf.nn.embedding_lookup(normalized, [1, 5, 9]), normalized, transpose_b=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], {center: each, context: (each + 1) % 30})[1] for each in centers]
        return {"losses": losses, "similarity": similarity.eval()}


def wide_and_deep(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(0)
    ids = tf.sparse_placeholder(tf.int64, name="ids")
    amounts = tf.sparse_placeholder(tf.float32)
    numbers = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])
    table = tf.get_variable(
        "table", [40, 6], initializer=tf.random_normal_initializer(), partitioner=tf.fixed_size_partitioner(3)
    )
    wide = tf.get_variable("wide", [40, 1], initializer=tf.zeros_initializer())
    deep = tf.concat([tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean"), numbers], axis=1)
    logits = tf.layers.dense(tf.layers.dense(deep, 8, activation=tf.nn.relu), 1)
    logits += tf.nn.embedding_lookup_sparse(wide, ids, amounts, combiner="sum")
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    others = [variable for variable in tf.trainable_variables() if variable is not wide]
    train = tf.group(
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001).minimize(loss, var_list=[wide]),
        tf.train.AdagradOptimizer(0.1).minimize(loss, var_list=others),
    )
    places = np.array([[row, column] for row in range(10) for column in range(1 + row % 3)])
    feeds = {
        ids: tf.SparseTensorValue(places, random.randint(0, 40, len(places)), [10, 3]),
        amounts: (places, random.rand(len(places)).astype(np.float32), np.array([10, 3])),
        numbers: random.randn(10, 3),
        y: random.randint(0, 2, (10, 1)),
    }
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], feeds)[1] for _ in range(30)]
        return {"losses": losses, "variables": [variable.name for variable in tf.global_variables()]}


def variational_autoencoder(tf: Any) -> dict[str, Any]:
    data = (np.random.RandomState(0).rand(32, 20) > 0.5).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 20])
    mean, spread = tf.split(tf.layers.dense(tf.layers.dense(x, 16, tf.nn.elu), 8), 2, axis=-1)
    noise = tf.random_normal(tf.shape(mean), 0, 1, dtype=tf.float32, seed=5)
    z = mean + tf.exp(0.5 * spread) * noise
    logits = tf.layers.dense(tf.layers.dense(z, 16, tf.nn.softplus), 20)
    rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
    divergence = -0.5 * tf.reduce_sum(1 + spread - tf.square(mean) - tf.exp(spread), 1)
    loss = tf.reduce_mean(rebuilt + divergence)
    train = tf.train.AdamOptimizer(1e-2).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], {x: data})[1] for _ in range(40)]
        return {"losses": losses, "imagined": session.run(tf.sigmoid(logits), {z: np.zeros((2, 4))})}


def adversaries(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(0)

    def generator(z: Any) -> Any:
        with tf.variable_scope("generator"):
            return tf.layers.dense(tf.layers.dense(z, 16, tf.nn.leaky_relu), 2)

    def discriminator(x: Any, reuse: bool = False) -> Any:
        with tf.variable_scope("discriminator", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(x, 16, tf.nn.leaky_relu, name="hidden"), 1, name="verdict")

    z = tf.placeholder(tf.float32, [None, 4])
    real = tf.placeholder(tf.float32, [None, 2])
    fake = generator(z)
    on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits
    told = tf.reduce_mean(cross_entropy(logits=on_real, labels=tf.ones_like(on_real) * 0.9)) + tf.reduce_mean(
        cross_entropy(logits=on_fake, labels=tf.zeros_like(on_fake))
    )
    fooled = tf.reduce_mean(cross_entropy(logits=on_fake, labels=tf.ones_like(on_fake)))
    judges = [variable for variable in tf.trainable_variables() if variable.name.startswith("discriminator")]
    forgers = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
    judge = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(told, var_list=judges)
    forge = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(fooled, var_list=forgers)
    history = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            feeds = {z: random.randn(16, 4), real: random.randn(16, 2) + 3}
            told_value, _ = session.run([told, judge], feeds)
            fooled_value, _ = session.run([fooled, forge], feeds)
            history.append([told_value, fooled_value])
        return {
            "history": history,
            "made": session.run(fake, {z: random.randn(64, 4)}).mean(0),
            "variables": [[variable.name for variable in some] for some in (judges, forgers)],
        }


def target_network(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(0)

    def network(state: Any, scope: str, trainable: bool = True) -> Any:
        with tf.variable_scope(scope):
            hidden = tf.layers.dense(state, 16, tf.nn.relu, trainable=trainable)
            return tf.layers.dense(hidden, 3, trainable=trainable)

    state, following = (tf.placeholder(tf.float32, [None, 4]) for _ in range(2))
    action = tf.placeholder(tf.int32, [None])
    reward = tf.placeholder(tf.float32, [None])
    values, future = network(state, "online"), network(following, "target", trainable=False)
    online, target = (tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope) for scope in ("online", "target"))
    copy = tf.group(*[tf.assign(t, o) for t, o in zip(target, online, strict=True)])
    blend = [t.assign(0.9 * t + 0.1 * o) for t, o in zip(target, online, strict=True)]
    wanted = tf.stop_gradient(reward + 0.9 * tf.reduce_max(future, axis=1))
    chosen = tf.gather_nd(values, tf.stack([tf.range(tf.shape(action)[0]), action], axis=1))
    error = wanted - chosen
    loss = tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * tf.square(error), tf.abs(error) - 0.5))
    train = tf.train.RMSPropOptimizer(0.005, 0.95, epsilon=0.01).minimize(loss)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(copy)
        for i in range(40):
            states, actions = random.randn(16, 4), random.randint(0, 3, 16)
            rewards = states[np.arange(16), actions]
            feeds = {state: states, action: actions, reward: rewards, following: random.randn(16, 4)}
            losses.append(session.run([loss, train], feeds)[0])
            session.run(copy if i % 10 == 9 else blend)
        apart = [np.abs(o - t).max() for o, t in zip(*session.run([online, target]), strict=True)]
        return {"losses": losses, "apart": apart, "trained": [variable.name for variable in tf.trainable_variables()]}


def towers(tf: Any) -> dict[str, Any]:
    random = np.random.RandomState(0)
    inputs = random.randn(12, 5)
    feeds = {"x:0": inputs, "y:0": inputs[:, :1] * 2 - inputs[:, 1:2]}
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [12, 5], name="x")
        y = tf.placeholder(tf.float32, [12, 1], name="y")
        optimizer = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)
        gradients, losses = [], []
        with tf.variable_scope(tf.get_variable_scope()):
            for i, part in enumerate(zip(tf.split(x, 2), tf.split(y, 2), strict=True)):
                with tf.device(f"/cpu:{i}"), tf.name_scope(f"tower_{i}") as scope:
                    w = tf.get_variable("w", [5, 1], initializer=tf.glorot_uniform_initializer())
                    b = tf.get_variable("b", [1], initializer=tf.constant_initializer(0.1))
                    tf.losses.mean_squared_error(part[1], tf.matmul(part[0], w) + b)
                    tf.get_variable_scope().reuse_variables()
                    losses += tf.get_collection(tf.GraphKeys.LOSSES, scope)
                    gradients.append(optimizer.compute_gradients(losses[-1]))
        means = [
            (tf.reduce_mean(tf.concat(axis=0, values=[tf.expand_dims(g, 0) for g, _ in pairs]), 0), pairs[0][1])
            for pairs in zip(*gradients, strict=True)
        ]
        train = optimizer.apply_gradients(means)
        total = tf.add_n(losses)
        config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2})
        config.gpu_options.allow_growth = True
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            history = [session.run([total, train], feeds)[0] for _ in range(60)]
            return {"losses": history, "w": session.run(w), "devices": [loss.device for loss in losses]}


def attention(tf: Any) -> dict[str, Any]:
    inputs = np.random.RandomState(0).randn(2, 5, 8)
    x = tf.placeholder(tf.float32, [None, 5, 8])
    q, k, v = (tf.einsum("bth,hnd->bntd", x, tf.get_variable(name, [8, 2, 4])) for name in "qkv")
    scores = tf.matmul(q, k, transpose_b=True) / 2.0
    scores += (1.0 - tf.matrix_band_part(tf.ones([5, 5]), -1, 0)) * -1e9
    weights = tf.nn.softmax(scores, axis=-1)
    mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, 5, 8]) + x
    mean, variance = tf.nn.moments(mixed, axes=[-1], keep_dims=True)
    gain = tf.get_variable("gain", [8], initializer=tf.ones_initializer())
    shift = tf.get_variable("shift", [8], initializer=tf.zeros_initializer())
    out = (mixed - mean) * tf.rsqrt(variance + 1e-6) * gain + shift
    mask = tf.sequence_mask([3, 5], 5, dtype=tf.float32)
    wanted = tf.range(8, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(out - wanted) * mask[:, :, tf.newaxis]) / tf.reduce_sum(mask)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], {x: inputs})[0] for _ in range(40)]
        return {"losses": losses, "weights": session.run(weights, {x: inputs})}


def curvature(tf: Any) -> dict[str, Any]:
    x = tf.Variable([1.0, 2.0, -1.0])
    matrix = tf.constant([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    value = 0.5 * tf.reduce_sum(x * tf.squeeze(tf.matmul(matrix, x[:, None]), 1)) + tf.reduce_sum(tf.sin(x) ** 2)
    gradient = tf.gradients(value, x)[0]
    direction = tf.stop_gradient(tf.constant([1.0, 0.0, 2.0]))
    product = tf.gradients(tf.reduce_sum(gradient * direction), x)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = session.run({"gradient": gradient, "product": product, "hessian": tf.hessians(value, x)[0]})
        return {**made, "at": session.run(x)}


def frozen_graph(tf: Any) -> dict[str, Any]:
    source = tf.Graph()
    with source.as_default():
        inputs = tf.placeholder(tf.float32, [None, 2], name="input")
        tf.nn.relu(tf.matmul(inputs, tf.constant([[1.0], [2.0]], name="w")) - 1.0, name="output")
    frozen = tf.GraphDef()
    frozen.ParseFromString(source.as_graph_def().SerializeToString())
    with tf.Graph().as_default() as graph:
        mine = tf.constant([[1.0, 1.0], [0.0, 0.0]], name="mine")
        (output,) = tf.import_graph_def(frozen, {"input:0": mine}, return_elements=["output:0"], name="frozen")
        tf.import_graph_def(frozen, name="")
        product = graph.get_operation_by_name("frozen/MatMul")
        with tf.Session(graph=graph) as session:
            return {
                "mapped": session.run(output),
                "fed": session.run("output:0", {"input:0": [[3.0, 4.0]]}),
                "inputs": [tensor.name for tensor in product.inputs],
                "operations": [op.name for op in graph.get_operations()],
            }


def streaming_accuracy(tf: Any) -> dict[str, Any]:
    guesses, labels = (tf.placeholder(tf.int64, [None]) for _ in range(2))
    with tf.variable_scope("accuracy"):
        options = {"shape": [], "initializer": tf.zeros_initializer(), "trainable": False}
        right = tf.get_variable("right", collections=[tf.GraphKeys.LOCAL_VARIABLES], **options)
        total = tf.get_local_variable("total", shape=(), dtype=tf.float32, initializer=tf.zeros_initializer())
    update = tf.div(
        tf.assign_add(right, tf.reduce_sum(tf.to_float(tf.equal(guesses, labels)))),
        tf.assign_add(total, tf.to_float(tf.size(guesses))),
    )
    accuracy = tf.div_no_nan(right, total)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        before = session.run(accuracy)
        running = [session.run(update, {guesses: [0, 1, 2], labels: [0, 1, i]}) for i in range(3)]
        return {
            "before": before,
            "running": running,
            "after": session.run(accuracy),
            "local": [variable.name for variable in tf.local_variables()],
            "uninitialized": session.run(tf.report_uninitialized_variables()),
        }


def text_to_ids(tf: Any) -> dict[str, Any]:
    words = tf.constant(["the", "cat", "sat"])
    numbers = tf.constant([0, 1, 2], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(words, numbers), default_value=-1)
    inverse = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, words), default_value="?")
    lines = tf.placeholder(tf.string, [None])
    tokens = tf.string_split(lines, " ")
    ids = table.lookup(tokens.values)
    dense = tf.sparse_tensor_to_dense(tf.SparseTensor(tokens.indices, ids, tokens.dense_shape), default_value=-2)
    name = tf.string_join(["vocabulary", tf.as_string(table.size())], separator="-")
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        fetches = {"dense": dense, "words": inverse.lookup(ids), "name": name}
        return session.run(fetches, {lines: ["the cat sat", "a cat"]})


PROGRAMS: Final[dict[str, Program]] = {
    program.__name__: program
    for program in (
        linear_regression,
        perceptron_with_layers,
        convolutions_with_dropout,
        batch_normalization,
        recurrent_classifier,
        characters,
        greedy_decoder,
        skip_grams,
        wide_and_deep,
        variational_autoencoder,
        adversaries,
        target_network,
        towers,
        attention,
        curvature,
        frozen_graph,
        streaming_accuracy,
        text_to_ids,
    )
}


def outcome(program: Program, tf: Any) -> dict[str, Any]:
    """What a program returns, run on a graph of its own with a seed."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        return program(tf)
