"""Building, importing and running graphs, beside TensorFlow's `tf.compat.v1`: one program text for both.

Each number of threads needs a process of its own, for NumPy's and TensorFlow's threads are chosen at their start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.timing import Contender, Report, medians, table, take_turns

Work = Callable[[], object]

# What is measured, and how much of TensorFlow's time it may take.
BARS = {
    "run: MLP 784-256-128-10, batch 1": 0.25,
    "run: MLP 784-256-128-10, batch 32": 0.8,
    "run: chain of 1,000 small ops": 1.0,
    "train: MLP 784-256-10 with Adam, batch 32": 1.0,
    "build: 10,000 operations": 0.7,
    "import: GraphDef of 20,000 nodes": 0.7,
    "run: while_loop of 1,000 iterations": 1.5,
    "run: small conv net 28x28, batch 1": 1.0,
    "run: small conv net 28x28, batch 32": 3.0,
}


def _session(tf: Any, graph: Any, threads: int) -> Any:
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    return tf.Session(graph=graph, config=config)


def _dense(tf: Any, x: Any, units: int) -> Any:
    weights = tf.Variable(tf.random_normal([x.shape[1].value, units], stddev=0.05, seed=1))
    return tf.matmul(x, weights) + tf.Variable(tf.zeros([units]))


def mlp(tf: Any, np: Any, threads: int, batch: int) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 784])
        hidden = tf.nn.relu(_dense(tf, x, 256))
        hidden = tf.nn.relu(_dense(tf, hidden, 128))
        y = _dense(tf, hidden, 10)
        initialize = tf.global_variables_initializer()
    session = _session(tf, graph, threads)
    session.run(initialize)
    data = np.random.default_rng(0).random((batch, 784), np.float32)
    return lambda: session.run(y, {x: data})


def chain(tf: Any, np: Any, threads: int) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [10])
        y = x
        for step in range(1000):
            y = tf.tanh(y) if step % 3 == 0 else y * x if step % 3 == 1 else y + x
    session = _session(tf, graph, threads)
    data = np.linspace(0, 1, 10, dtype=np.float32)
    return lambda: session.run(y, {x: data})


def training(tf: Any, np: Any, threads: int) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.int32, [None])
        logits = _dense(tf, tf.nn.relu(_dense(tf, x, 256)), 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        step = tf.train.AdamOptimizer().minimize(loss)
        initialize = tf.global_variables_initializer()
    session = _session(tf, graph, threads)
    session.run(initialize)
    random = np.random.default_rng(0)
    feeds = {x: random.random((32, 784), np.float32), labels: random.integers(0, 10, 32).astype(np.int32)}
    return lambda: session.run([step, loss], feeds)


def _long_graph(tf: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [10])
        y = x
        for step in range(10_000):
            y = tf.add(y, x) if step % 2 else tf.multiply(y, x)
    return graph


def building(tf: Any, np: Any, threads: int) -> Work:
    return lambda: _long_graph(tf)


def importing(tf: Any, np: Any, threads: int) -> Work:
    once = _long_graph(tf).as_graph_def()
    twice = tf.GraphDef()
    twice.CopyFrom(once)
    for node in once.node:
        copy = twice.node.add()
        copy.CopyFrom(node)
        copy.name = f"b/{node.name}"
        del copy.input[:]
        copy.input.extend(f"b/{edge}" for edge in node.input)

    def work() -> object:
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(twice, name="")
        return graph.get_operations()[-1].outputs[0].shape

    return work


def loop(tf: Any, np: Any, threads: int) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        start = tf.placeholder(tf.float32, [])
        results = tf.while_loop(lambda i, a: i < 1000, lambda i, a: (i + 1, a * 1.001), [0, start])
    session = _session(tf, graph, threads)
    return lambda: session.run(results, {start: 1.0})


def conv_net(tf: Any, np: Any, threads: int, batch: int) -> Work:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 28, 28, 1])
        y = x
        for channels, filters in ((1, 32), (32, 64)):
            weights = tf.Variable(tf.random_normal([3, 3, channels, filters], stddev=0.1, seed=1))
            y = tf.nn.conv2d(y, weights, strides=[1, 1, 1, 1], padding="SAME")
            y = tf.nn.relu(tf.nn.bias_add(y, tf.Variable(tf.zeros([filters]))))
            y = tf.nn.max_pool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        y = _dense(tf, tf.reshape(y, [-1, 7 * 7 * 64]), 10)
        initialize = tf.global_variables_initializer()
    session = _session(tf, graph, threads)
    session.run(initialize)
    data = np.random.default_rng(0).random((batch, 28, 28, 1), np.float32)
    return lambda: session.run(y, {x: data})


MAKERS: dict[str, Callable[[Any, Any, int], Work]] = dict(
    zip(
        BARS,
        (
            lambda tf, np, threads: mlp(tf, np, threads, 1),
            lambda tf, np, threads: mlp(tf, np, threads, 32),
            chain,
            training,
            building,
            importing,
            loop,
            lambda tf, np, threads: conv_net(tf, np, threads, 1),
            lambda tf, np, threads: conv_net(tf, np, threads, 32),
        ),
        strict=True,
    )
)


def measure(threads: int, rounds: int, case: str = "") -> dict[str, dict[str, list[float]]]:
    """Seconds of both, in turns, for each piece of work whose name contains `case`."""
    import numpy as np
    import tensorflow.compat.v1 as original

    import tensorkeep.v1 as ours

    original.disable_v2_behavior()
    found = {}
    for name, make in MAKERS.items():
        if case not in name:
            continue
        calls = 1 if name.startswith(("build", "import")) else 50
        contenders = []
        for label, module in (("TensorFlow", original), ("tensorkeep", ours)):
            work = make(module, np, threads)
            work()
            contenders.append(Contender(label, lambda work=work, calls=calls: [work() for _ in range(calls)]))
        seconds = take_turns(contenders, rounds)
        found[name] = {label: [value / calls for value in values] for label, values in seconds.items()}
    return found


def _range(seconds: list[float]) -> str:
    return f"{min(seconds) * 1e3:.3f}-{max(seconds) * 1e3:.3f}"


def graphs(rounds: int, case: str = "") -> Report:
    reports = []
    bars: dict[str, float] = {}
    for threads in (1, 2):
        environment = {**os.environ, **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))}
        command = [sys.executable, "-m", "benchmarks.graphs", str(threads), str(rounds), case]
        result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        rows = []
        for name, seconds in json.loads(result.stdout.splitlines()[-1]).items():
            middle = medians(seconds)
            ratio = middle["tensorkeep"] / middle["TensorFlow"]
            theirs, ours = (f"{middle[label] * 1e3:.3f}" for label in ("TensorFlow", "tensorkeep"))
            rows.append([name, theirs, ours, f"{ratio:.2f}", f"{BARS[name]:.2f}", _range(seconds["tensorkeep"])])
            bars[f"{name}, {threads} thread{'s' * (threads > 1)}"] = 1 / ratio
        head = ["", "TensorFlow ms", "tensorkeep ms", "ours / TensorFlow's", "bar", "ours, ms: range"]
        reports.append(f"Graphs, {threads} thread{'s' * (threads > 1)}\n\n" + table(head, rows))
    return Report("\n\n".join(reports), bars)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])))
