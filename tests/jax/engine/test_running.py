"""Sessions that run on a device of JAX: the same numbers, the same errors, and variables that everyone else sees."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import AbortedError, InvalidArgumentError, NotFoundError, PermissionDeniedError
from tensorkeep.jax.engine import device_values, parts
from tensorkeep.jax.engine.device_values import DeviceValue
from tensorkeep.jax.engine.parts import JaxPart
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.saved_model.load.engines import engine_of
from tests.support.depth import thinned

RANDOM = np.random.default_rng(5)
X, Y = RANDOM.normal(size=(16, 6)).astype(np.float32), RANDOM.integers(0, 3, 16)


@pytest.fixture(autouse=True)
def _in_own_graph() -> Any:
    with tf.Graph().as_default():
        tf.set_random_seed(11)
        yield


class Network:
    """A small network with a loss."""

    def __init__(self, *, resources: bool = True, rate: float = 0.0) -> None:
        self.x, self.y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int64, [None])
        with tf.variable_scope("net", use_resource=resources):
            hidden = tf.layers.dense(self.x, 5, activation=tf.nn.tanh)
            if rate:
                hidden = tf.nn.dropout(hidden, rate=rate, seed=3)
            self.logits = tf.layers.dense(hidden, 3)
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)

    @property
    def feeds(self) -> dict[Any, Any]:
        return {self.x: X, self.y: Y}


def parts_of(session: tf.Session) -> list[JaxPart]:
    """The parts of what was compiled last that run on the device."""
    split = list(session._core.splits.values())[-1]
    return [part.run for part in split.parts if isinstance(part.run, JaxPart)]


def variable_of(session: tf.Session, variable: Any) -> VariableResource:
    op = variable.handle.op if hasattr(variable, "handle") else variable.op
    found = session._core.lasting_resource(op)
    assert isinstance(found, VariableResource)
    return found


def trained(make: Callable[[], Any], engine: str, steps: int = 4, **options: Any) -> tuple[list[Any], list[Any]]:
    """The losses of some steps, and the values of all variables after them."""
    with tf.Graph().as_default():
        tf.set_random_seed(11)
        network = Network(**options)
        train = make().minimize(network.loss, global_step=tf.train.get_or_create_global_step())
        with tf.Session(engine=engine) as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([network.loss, train], network.feeds)[0] for _ in range(steps)]
            if engine == "jax":
                assert len(parts_of(session)) == 1
            return losses, session.run(tf.global_variables())


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: tf.train.AdamOptimizer(0.05),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.05, centered=True),
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
}
KINDS = [f"{name} of {kind}" for name in OPTIMIZERS for kind in ("resources", "references")]


@pytest.mark.parametrize("kind", thinned(KINDS, 5))
def test_training_gives_the_numbers_of_our_kernels(kind: str) -> None:
    name, resources = kind.partition(" ")[0], kind.endswith("resources")
    wanted = trained(OPTIMIZERS[name], "numpy", resources=resources, rate=0.3)
    found = trained(OPTIMIZERS[name], "jax", resources=resources, rate=0.3)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    for ours, theirs in zip(found[1], wanted[1], strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_step_is_one_call_that_is_given_the_memory_of_variables() -> None:
    network = Network()
    train = tf.train.AdamOptimizer(0.1).minimize(network.loss)
    with tf.Session(engine="jax") as session:
        session.run(tf.global_variables_initializer())
        session.run(train, network.feeds)
        (part,) = parts_of(session)
        kernel = variable_of(session, tf.trainable_variables()[0])
        first = kernel.elsewhere
        assert isinstance(first, DeviceValue)
        assert kernel.held()[0] is None, "the value is on the device alone"
        session.run(train, network.feeds)
        assert first.array.is_deleted()
        assert len(part._calls) == 1
        session.run(train, {network.x: X[:3], network.y: Y[:3]})
        session.run(train, {network.x: X[3:6], network.y: Y[3:6]})
        assert len(part._calls) == 2, "one for each shape"


def test_a_variable_is_brought_over_once_and_what_is_written_here_counts() -> None:
    weights = tf.get_variable("w", initializer=[1.0, 2.0])
    double = tf.assign(weights, weights * 2)
    fed = tf.placeholder(tf.float32, [2])
    load = tf.assign(weights, fed)
    with tf.Session(engine="jax") as session:
        session.run(weights.initializer)
        session.run(double.op)
        held = variable_of(session, weights)
        assert held.held()[0] is None
        assert session.run(weights).tolist() == [2, 4]
        copied = held.held()[0]
        assert copied is not None
        assert held.read() is copied
        assert held.elsewhere is not None
        session.run(load, {fed: [5, 6]})
        assert held.elsewhere is None
        assert session.run(double).tolist() == [10, 12]
        np.testing.assert_array_equal(copied, [2, 4])


@pytest.mark.parametrize("resources", [True, False], ids=["resources", "references"])
def test_a_step_that_fails_leaves_variables_as_they_were(resources: bool) -> None:
    network = Network(resources=resources)
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(network.loss, global_step=step)
    messages = []
    for engine in ("numpy", "jax"):
        with tf.Session(engine=engine) as session:
            session.run(tf.global_variables_initializer())
            session.run(train, network.feeds)
            before = session.run(tf.global_variables())
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(train, {network.x: X, network.y: Y + 2})
            messages.append(str(caught.value))
            if engine == "jax":
                for old, new in zip(before, session.run(tf.global_variables()), strict=True):
                    np.testing.assert_array_equal(old, new)
            session.run(train, network.feeds)
            assert session.run(step) == 2
    assert messages[0] == messages[1]


def test_errors_are_those_of_our_kernels() -> None:
    x = tf.placeholder(tf.float32)
    never = tf.get_variable("never", [2], initializer=tf.zeros_initializer())
    asserted = tf.identity(x)
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0), ["not above zero", x])]):
        asserted = tf.sqrt(x) + 1
    fetches = {
        "uninitialized": (never * 2, {}),
        "shapes": (tf.matmul(x, tf.ones([3, 4])), {x: np.ones((2, 5))}),
        "assertion": (asserted, {x: [1.0, -1.0]}),
        "not a number": (tf.check_numerics(tf.log(x), "logarithm") * 2, {x: [-1.0]}),
        "division": (7 // tf.cast(x, tf.int32) + 1, {x: [0.0]}),
        "index": (tf.gather(tf.exp(x), tf.cast(x, tf.int32)), {x: [5.0]}),
    }
    for name, (fetch, feeds) in fetches.items():
        seen = []
        for engine in ("numpy", "jax"):
            with tf.Session(engine=engine) as session, pytest.raises(tf.errors.OpError) as caught:
                session.run(fetch, feeds)
            seen.append((type(caught.value), str(caught.value)))
        assert seen[0] == seen[1], name


def test_random_numbers_are_those_of_the_stream_from_run_to_run() -> None:
    x = tf.placeholder(tf.float32, [])
    start = [0.0, tf.zeros([3])]
    drawn = [
        tf.random_uniform([5]) * x,
        tf.random_normal([7]) * x,
        tf.truncated_normal([9]) * x,
        tf.cast(tf.random_uniform([4], 2, 900, tf.int32), tf.float32) * x,
        tf.while_loop(lambda i, _: i < x, lambda i, s: (i + 1, s + tf.random_uniform([3], seed=4)), start)[1],
    ]
    seen = []
    for engine in ("numpy", "jax"):
        with tf.Session(engine=engine) as session:
            seen.append([session.run(drawn, {x: 1.0}) for _ in range(3)] + [session.run(drawn[-1], {x: 3.0})])
            seen[-1].append(session.run(drawn[0], {x: 1.0}))
    for ours, theirs in zip(jax.tree.leaves(seen[1]), jax.tree.leaves(seen[0]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)


def test_savers_averages_and_summaries_see_the_values(tmp_path: Path) -> None:
    results = []
    for engine in ("numpy", "jax"):
        with tf.Graph().as_default():
            tf.set_random_seed(2)
            network = Network()
            averages = tf.train.ExponentialMovingAverage(0.5)
            train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(network.loss)
            with tf.control_dependencies([train]):
                train = averages.apply(tf.trainable_variables())
            summary = tf.summary.merge([tf.summary.scalar("loss", network.loss),
                                        tf.summary.histogram("w", tf.trainable_variables()[0])])  # fmt: skip
            saver, part = tf.train.Saver(), tf.train.Saver(tf.trainable_variables()[:1])
            prefix = str(tmp_path / engine)
            with tf.Session(engine=engine) as session:
                session.run(tf.global_variables_initializer())
                for _ in range(3):
                    session.run(train, network.feeds)
                saver.save(session, prefix)
                text = session.run(summary, network.feeds)
                shown = [value.tag for value in tf.Summary.FromString(text).value]
                session.run(train, network.feeds)
                part.restore(session, prefix)
                session.run(train, network.feeds)
                results.append((shown, session.run(tf.global_variables()), session.run(network.loss, network.feeds)))
    assert results[0][0] == results[1][0]
    for ours, theirs in zip(results[1][1], results[0][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    with tk.open_checkpoint(tmp_path / "jax") as ours, tk.open_checkpoint(tmp_path / "numpy") as theirs:
        assert list(ours) == list(theirs)
        for name in theirs:
            np.testing.assert_allclose(ours.read(name), theirs.read(name), rtol=1e-4, atol=1e-6)


def test_what_has_no_lowering_runs_on_the_host_and_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.placeholder(tf.float32, [None])
    found, places = tf.unique(tf.round(x))
    total = tf.reduce_sum(tf.sqrt(found)) + tf.cast(tf.reduce_sum(places), tf.float32)
    with caplog.at_level(logging.WARNING, "tensorkeep"), tf.Session(engine="jax") as session:
        for _ in range(2):
            assert session.run(total, {x: [1.1, 4.0, 0.9, 4.1]}) == 3 + 2
        session.run(total * 2, {x: [1.1, 4.0]})
        assert len(parts_of(session)) == 2
    (record,) = [record for record in caplog.records if "host" in record.message]
    assert '"Unique" (Unique): Unique has no lowering to JAX' in record.message


def test_fed_numbers_that_decide_a_shape_are_known_and_loops_with_variables_work() -> None:
    rows, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])
    total = tf.get_variable("total", initializer=0.0, use_resource=True)
    added = tf.while_loop(lambda i: i < 3, lambda i: _after(tf.assign_add(total, tf.reduce_sum(x)), i + 1), [0])
    shaped = tf.reduce_sum(tf.reshape(x, tf.stack([rows, -1])), 0)
    with tf.Session(engine="jax") as session:
        session.run(total.initializer)
        for count in (2, 3):
            given = np.arange(6, dtype=np.float32)
            assert session.run(shaped, {rows: count, x: given}).tolist() == given.reshape(count, -1).sum(0).tolist()
        assert len(parts_of(session)) == 1
        session.run(added, {x: [1.0, 2.0]})
        assert session.run(total) == 9


def _after(first: Any, value: Any) -> Any:
    with tf.control_dependencies([first]):
        return tf.identity(value)


def test_an_operation_that_cannot_be_traced_stays_on_the_host(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.placeholder(tf.float32, [None])
    count = tf.while_loop(lambda n: n * n < tf.reduce_sum(x), lambda n: n + 1.0, [0.0])  # how often is not known
    made = tf.fill([tf.cast(count, tf.int32)], 2.0) + 1
    with caplog.at_level(logging.WARNING, "tensorkeep"), tf.Session(engine="jax") as session:
        for _ in range(2):
            assert session.run(made, {x: [4.0, 5.0]}).tolist() == [3, 3, 3]
    assert '"Fill"' in caplog.text


def test_a_loop_with_an_op_that_only_the_host_has_runs_there_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.placeholder(tf.float32, [None])
    weight = tf.get_variable("w", initializer=2.0, use_resource=True)
    loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.unique(a * weight)[0]), [0, x],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])  # fmt: skip
    with caplog.at_level(logging.WARNING, "tensorkeep"), tf.Session(engine="jax") as session:
        session.run(weight.initializer)
        assert session.run(loop[1], {x: [1.0, 3.0, 1.0]}).tolist() == [8, 24]
    (record,) = [record for record in caplog.records if "run on the host" in record.message]
    assert '"while/Unique" (Unique)' in record.message


def test_a_device_on_which_variables_do_not_fit_says_so_and_keeps_none(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(network.loss)
    real, calls = jax.device_put, []

    def put(*given: Any, **options: Any) -> Any:
        calls.append(given)
        if len(calls) == 3:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 120 bytes.")
        return real(*given, **options)

    with tf.Session(engine="jax") as session:
        session.run(tf.global_variables_initializer())
        before = session.run(tf.global_variables())
        held = {id(array) for array in jax.live_arrays()}
        with monkeypatch.context() as patched:
            patched.setattr(device_values.jax, "device_put", put)
            with pytest.raises(tk.ResourceExhaustedError, match=r'RESOURCE_EXHAUSTED.*where the variable "net/'):
                session.run(train, network.feeds)
        assert not [item for item in jax.live_arrays() if id(item) not in held and not item.is_deleted()]
        for value, was in zip(session.run(tf.global_variables()), before, strict=True):
            np.testing.assert_array_equal(value, was)
        session.run(train, network.feeds)  # when there is room again


def test_all_that_leaves_the_device_is_on_its_way_before_any_of_it_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = tf.placeholder(tf.float32, [None])
    results = [tf.exp(x), tf.tanh(x) + 1, tf.reduce_sum(tf.sqrt(x))]
    seen: list[str] = []
    kind, copy = type(jax.numpy.zeros(1)), parts.host_copy
    begin = kind.copy_to_host_async

    def begun(array: Any) -> None:
        seen.append("begun")
        begin(array)

    def copied(array: Any) -> Any:
        seen.append("copied")
        return copy(array)

    with tf.Session(engine="jax") as session:
        session.run(results, {x: [1.0, 4.0]})
        monkeypatch.setattr(kind, "copy_to_host_async", begun)
        monkeypatch.setattr(parts, "host_copy", copied)
        session.run(results, {x: [1.0, 4.0]})
    assert seen == ["begun"] * 3 + ["copied"] * 3


def test_embedding_rows_travel_and_the_table_stays() -> None:
    results = []
    for engine in ("numpy", "jax"):
        with tf.Graph().as_default():
            tf.set_random_seed(4)
            keys = tf.placeholder(tf.int64, [None])
            table = tf.get_embedding_variable("table", 4, initializer=tf.ones_initializer())
            rows = tf.nn.embedding_lookup(table, keys)
            dense = tf.get_variable("dense", initializer=np.ones((4, 2), np.float32))
            loss = tf.reduce_sum(tf.square(tf.matmul(rows, dense) - 1))
            train = tf.train.AdagradOptimizer(0.1).minimize(loss)
            with tf.Session(engine=engine) as session:
                session.run(tf.global_variables_initializer())
                losses = [session.run([loss, train], {keys: [3, 8, 10**12]})[0] for _ in range(4)]
                results.append((losses, session.run(rows, {keys: [3, 10**12]}), session.run(dense)))
                if engine == "jax":
                    split = list(session._core.splits.values())[1]
                    assert any("Kv" in kept.op.type for kept in split.kept)
                    assert any(op.type == "MatMul" for part in split.parts for op in part.ops)
    for ours, theirs in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_several_threads_may_train_at_once() -> None:
    network = Network()
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.01).minimize(network.loss, global_step=step)
    with tf.Session(engine="jax") as session, ThreadPoolExecutor(4) as pool:
        session.run(tf.global_variables_initializer())
        work = [pool.submit(session.run, train, network.feeds) for _ in range(24)]
        work += [pool.submit(session.run, tf.trainable_variables()) for _ in range(8)]
        for done in work:
            done.result()
        assert session.run(step) == 24


def test_variables_that_a_failing_device_takes_along_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tf.get_variable("w", initializer=[1.0, 2.0])
    double = tf.assign(weights, weights * 2)
    with tf.Session(engine="jax") as session:
        session.run(weights.initializer)
        session.run(double.op)
        (part,) = parts_of(session)
        (call,) = part._calls.values()

        def fail(given: list[Any], *_: Any) -> Any:
            given[0].delete()
            raise RuntimeError("INTERNAL: the device went away")

        call.run = fail
        with pytest.raises(AbortedError, match=r"values are lost: w\. Restore them"):
            session.run(double.op)
        session.run(weights.initializer)
        part._calls.clear()
        assert session.run(double).tolist() == [2, 4]


def test_devices_are_named_and_must_be_there() -> None:
    for named in ("jax:cpu:0", tk.JaxDevice("cpu:0"), tk.JaxDevice(jax.devices("cpu")[0], precision="default")):
        with tf.Session(engine=named) as session:
            assert session.run(tf.exp(tf.placeholder_with_default([0.0], [1]))).tolist() == [1]
    with pytest.raises(NotFoundError, match='JAX has no device "cpu:77"; it has cpu:0'):
        tf.Session(engine="jax:cpu:77")
    with pytest.raises(NotFoundError, match='JAX has no device "rocm:0"'):
        engine_of(tk.JaxDevice("rocm:0"))
    with pytest.raises(InvalidArgumentError, match="precision: one of default, high, highest, got 'most'"):
        engine_of(tk.JaxDevice(precision="most"))


def test_permissions_are_those_of_our_kernels() -> None:
    read = tf.strings.length(tf.read_file("secret")) + 1
    with tf.Session(engine="jax", allow_io=False) as session, pytest.raises(PermissionDeniedError):
        session.run(read)


def test_many_shapes_are_warned_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_MANY_SHAPES", 3)
    monkeypatch.setattr(parts, "_MOST_CALLS", 2)
    x = tf.placeholder(tf.float32, [None])
    with tf.Session(engine="jax") as session:
        for count in range(1, 6):
            assert session.run(tf.get_default_graph().get_tensor_by_name("Exp:0") if count > 1 else tf.exp(x),
                               {x: np.zeros(count)}).sum() == count  # fmt: skip
        assert len(parts_of(session)[0]._calls) <= 2
    assert "compiled for 3 different shapes" in caplog.text


def test_numpys_random_numbers_are_not_moved_on_by_asking_for_the_engine() -> None:
    np.random.seed(3)
    wanted = np.random.RandomState(3).rand()
    engine_of("jax")
    assert np.random.rand() == wanted
