"""TensorFlow 1's sessions and defaults."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.io.machine.parallel import asked_threads, thread_limit
from tensorkeep.proto.text import parse_text
from tensorkeep.tf1.training.loops.timelines import Timeline
from tensorkeep.v1.absent import INSTEAD


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default() as graph:
        yield graph


class TestDefaults:
    def test_there_is_always_a_graph(self) -> None:
        assert isinstance(tf.get_default_graph(), tf.Graph)

    def test_graphs_nest(self, fresh_graph: tf.Graph) -> None:
        inner = tf.Graph()
        with inner.as_default():
            assert tf.get_default_graph() is inner
            assert tf.constant(1).graph is inner
        assert tf.get_default_graph() is fresh_graph

    def test_the_global_graph_can_be_reset_only_when_no_other_is_open(self) -> None:
        with pytest.raises(AssertionError, match="nested graphs"):
            tf.reset_default_graph()

    def test_the_global_graph_is_shared_by_threads_and_replaced_by_a_reset(self) -> None:
        found: list[object] = []

        def work() -> None:
            first = tf.constant(1).graph
            found.append(tf.get_default_graph() is first)
            tf.reset_default_graph()
            found.append(tf.get_default_graph() is first)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == [True, False]

    def test_without_a_session_nothing_is_evaluated(self) -> None:
        with pytest.raises(ValueError, match=r"No default session is registered.*eval\(session=sess\)"):
            tf.constant(1).eval()
        with pytest.raises(ValueError, match=r"No default session is registered.*run\(session=sess\)"):
            tf.no_op().run()

    def test_a_session_of_another_graph_is_refused(self) -> None:
        c = tf.constant(1)
        with tf.Graph().as_default(), tf.Session().as_default(), pytest.raises(ValueError, match="different"):
            c.eval()


class TestSession:
    def test_it_is_a_context_of_its_graph_and_of_itself(self) -> None:
        graph = tf.Graph()
        with tf.Session(graph=graph) as session:
            assert tf.get_default_graph() is graph
            assert tf.get_default_session() is session
            assert tf.constant(3).eval() == 3
        assert tf.get_default_session() is None
        with pytest.raises(RuntimeError, match="closed"):
            session.run(graph.get_operations()[0].outputs[0])

    def test_as_default_does_not_close(self) -> None:
        session = tf.Session()
        c = tf.constant(2)
        with session.as_default():
            assert c.eval() == 2
        assert session.run(c) == 2
        session.close()

    def test_variables_belong_to_a_session(self) -> None:
        v = tf.Variable(1.0, name="v")
        first, second = tf.Session(), tf.Session()
        first.run(v.initializer)
        first.run(tf.assign_add(v, 1.0))
        assert first.run(v) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
            second.run(v)

    def test_an_interactive_session_is_in_force_until_it_is_closed(self) -> None:
        session = tf.InteractiveSession()
        assert tf.constant(4).eval() == 4
        session.close()
        assert tf.get_default_session() is None

    def test_interactive_sessions_may_be_closed_in_any_order(self, fresh_graph: tf.Graph) -> None:
        graphs = [tf.Graph(), tf.Graph()]
        first, second = (tf.InteractiveSession(graph=graph) for graph in graphs)
        first.close()
        assert tf.get_default_graph() is graphs[1]
        assert tf.get_default_session() is second
        second.close()
        assert tf.get_default_graph() is fresh_graph
        assert tf.get_default_session() is None

    def test_a_callable_may_be_given_options(self) -> None:
        x = tf.placeholder(tf.float32)
        call = tf.Session().make_callable(x + 1.0, [x], accept_options=True)
        assert call(1.0, options=tf.RunOptions(), run_metadata=tf.RunMetadata()) == 2.0

    def test_devices_are_as_many_as_configured(self) -> None:
        with tf.device("/cpu:2"):
            a = tf.constant(1.0)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
            assert session.run(a) == 1.0
            names = [device.name for device in session.list_devices()]
            assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(3)]
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(a)

    def test_soft_placement_takes_what_there_is(self) -> None:
        with tf.device("/gpu:0"):
            a = tf.constant(1.0)
        config = tf.ConfigProto(allow_soft_placement=True)
        config.gpu_options.allow_growth = True
        assert tf.Session(config=config).run(a) == 1.0

    def test_a_reset_forgets_and_closes(self) -> None:
        v = tf.Variable(1.0)
        session = tf.Session()
        session.run(v.initializer)
        tf.Session.reset("")
        with pytest.raises(RuntimeError, match="closed"):
            session.run(v)

    def test_feeds_and_fetches_by_name(self) -> None:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.multiply(x, 2.0, name="y")
        session = tf.Session()
        assert session.run("y:0", feed_dict={"x:0": [1, 2]}).tolist() == [2, 4]
        assert session.make_callable("y:0", [x])(np.ones(2)).tolist() == [2, 2]

    def test_a_target_elsewhere_is_refused(self) -> None:
        with pytest.raises(ValueError, match="runs in this process"):
            tf.Session("grpc://somewhere")


class TestPrograms:
    def test_a_regression_learns(self) -> None:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", [2, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=step)
        data = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(100):
                session.run(train, {x: data, y: data @ [[2.0], [-1.0]]})
            np.testing.assert_allclose(session.run(w), [[2.0], [-1.0]], atol=1e-4)
            assert session.run(step) == 100

    def test_operators_and_slices(self) -> None:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        results = [x + 1, 1 - x, x * x, x / 2, x[0], x[:, 1], x[..., tf.newaxis], -x, x > 2, x**2, x @ x]
        values = tf.Session().run(results)
        a = np.array([[1, 2], [3, 4]], np.float32)
        expected = [a + 1, 1 - a, a * a, a / 2, a[0], a[:, 1], a[..., None], -a, a > 2, a**2, a @ a]
        for value, wanted in zip(values, expected, strict=True):
            np.testing.assert_array_equal(value, wanted)

    def test_loops_and_branches(self) -> None:
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(lambda i, _: i < n, lambda i, t: (i + 1, t + i), [0, 0])
        sign = tf.cond(total > 10, lambda: tf.constant("big"), lambda: tf.constant("small"))
        session = tf.Session()
        assert session.run([total, sign], {n: 5}) == [10, b"small"]
        assert session.run([total, sign], {n: 6}) == [15, b"big"]


def test_settings_are_equal_if_what_is_set_is_equal() -> None:
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
    other = tf.ConfigProto()
    assert config != other
    assert not other.gpu_options.visible_device_list  # looking does not set anything
    other.CopyFrom(config)
    assert config == other


@pytest.mark.parametrize("said_by", ["session", "run"])
def test_what_waits_longer_than_it_may_is_ended(said_by: str) -> None:
    """A program that has forgotten its queue runners would wait for ever."""
    with tf.Graph().as_default():
        element = tf.train.string_input_producer(["a"]).dequeue()
        config = tf.ConfigProto(operation_timeout_in_ms=100) if said_by == "session" else None
        options = tf.RunOptions(timeout_in_ms=100) if said_by == "run" else None
        with tf.Session(config=config) as session:
            with pytest.raises(tf.errors.DeadlineExceededError, match=r"longer than 0\.1 seconds"):
                session.run(element, options=options)
            assert session.run(tf.constant(3), options=options) == 3


def test_an_interactive_session_may_be_allowed_to_call_python() -> None:
    session = tf.InteractiveSession(allow_python=True)
    assert tf.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32).eval() == 2.0
    session.close()


class TestSettings:
    """`tf.ConfigProto` and its family are messages."""

    def test_they_are_made_when_they_are_asked_for(self):
        script = (
            "import sys, tensorkeep.v1 as tf; "
            "assert not any('session_config' in name for name in sys.modules); "
            "tf.ConfigProto(); assert 'tensorkeep.proto.session_config' in sys.modules"
        )
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_they_know_what_is_set_and_go_to_bytes_and_text_and_back(self):
        config = tf.ConfigProto(device_count={"CPU": 2}, gpu_options=tf.GPUOptions(allow_growth=True))
        config.graph_options.rewrite_options.constant_folding = tf.RewriterConfig.OFF
        config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
        assert config.HasField("gpu_options")
        assert not config.HasField("cluster_def")
        assert tf.ConfigProto.FromString(config.SerializeToString()) == config
        assert parse_text(tf.ConfigProto, str(config).encode(), "text") == config
        again = tf.ConfigProto()
        again.ParseFromString(config.SerializeToString())
        assert again.graph_options.rewrite_options.constant_folding == tf.RewriterConfig.OFF

    def test_a_setting_that_does_not_exist_is_an_error(self):
        with pytest.raises(ValueError, match="no_such_setting"):
            tf.ConfigProto(no_such_setting=1)
        with pytest.raises(AttributeError, match="no_such_setting"):
            tf.ConfigProto().no_such_setting = 1

    def test_settings_that_only_deeprec_has_are_accepted(self):
        config = tf.ConfigProto(tensor_fuse=True, executor_policy=2)
        config.graph_options.optimizer_options.do_op_fusion = True
        config.graph_options.optimizer_options.micro_batch_num = 1
        config.graph_options.optimizer_options.async_embedding_options.threads_num = 4
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            assert session.run(tf.constant(3)) == 3

    def test_a_session_has_the_devices_that_its_settings_say(self):
        with tf.Graph().as_default(), tf.device("/cpu:1"):
            x = tf.constant(3)
            with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
                assert session.run(x) == 3
            with tf.Session() as session, pytest.raises(ValueError, match="Could not satisfy explicit device"):
                session.run(x)
            with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
                assert session.run(x) == 3

    def test_what_is_no_config_is_refused(self):
        with tf.Graph().as_default(), pytest.raises(TypeError, match=r"must be a tf\.ConfigProto, but got RunOptions"):
            tf.Session(config=tf.RunOptions())

    def test_a_run_without_a_trace_leaves_its_report_empty(self):
        report = tf.RunMetadata()
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(tf.constant(1), options=tf.RunOptions(), run_metadata=report)
        assert report == tf.RunMetadata()

    def test_a_traced_run_reports_every_operation_in_its_order(self):
        report = tf.RunMetadata()
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2, 2], name="x")
            y = tf.matmul(tf.linalg.inv(x, name="inverse"), x, name="product")
            total = tf.reduce_sum(y, name="total")
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            found = session.run(total, {x: [[2.0, 0.0], [0.0, 4.0]]}, options=options, run_metadata=report)
            assert found == 2.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="inverse"):
                session.run(total, {x: [[0.0, 0.0], [0.0, 0.0]]}, options=options, run_metadata=report)
        (device,) = report.step_stats.dev_stats
        assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
        assert [node.node_name for node in device.node_stats] == ["inverse", "product", "total"]
        assert [node.timeline_label for node in device.node_stats][1] == "product = MatMul(inverse, x)"
        starts = [node.all_start_nanos for node in device.node_stats]
        assert starts == sorted(starts)
        trace = json.loads(Timeline(report.step_stats).generate_chrome_trace_format(show_memory=True))
        named = [(event["ph"], event["name"]) for event in trace["traceEvents"]]
        assert named[:2] == [("M", "process_name"), ("X", "MatrixInverse")]
        assert ("s", "inverse") in named


class TestThreads:
    @pytest.fixture(autouse=True)
    def _large_machine(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("TENSORKEEP_THREADS", "16")
        yield
        tf.config.threading.set_intra_op_parallelism_threads(0)

    @staticmethod
    def _seen():
        """A tensor of how many threads a kernel may use, and how many it was told of."""
        return tf.py_func(lambda: np.array([thread_limit(), asked_threads()], np.int64), [], tf.int64)

    def test_a_session_uses_as_many_as_its_settings_say_and_others_do_not(self) -> None:
        seen = self._seen()
        few, many = (
            tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=count), allow_python=True)
            for count in (3, 99)
        )
        with few, many:
            told = few.make_callable(seen)
            for _ in range(2):
                assert few.run(seen).tolist() == [3, 3]
                assert many.run(seen).tolist() == [16, 99]
                assert tf.Session(allow_python=True).run(seen)[0] == 16
                assert told().tolist() == [3, 3]
        assert thread_limit() == 16

    def test_a_run_that_fails_leaves_nothing_behind(self) -> None:
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=3)) as session:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(tf.linalg.inv(tf.zeros([2, 2])))
            assert thread_limit() == 16

    def test_the_program_says_it_for_sessions_without_settings(self) -> None:
        seen = self._seen()
        before = tf.Session(allow_python=True)
        tf.config.threading.set_intra_op_parallelism_threads(2)
        assert tf.Session(allow_python=True).run(seen).tolist() == [2, 2]
        assert tf.Session(config=tf.ConfigProto(), allow_python=True).run(seen)[0] == 16
        assert before.run(seen)[0] == 16

    def test_how_random_numbers_are_divided_among_threads_is_as_told(self) -> None:
        tf.set_random_seed(3)
        draws = tf.multinomial(tf.zeros([64, 500]), 300, seed=4)
        found = {}
        for count in (1, 2, 8):
            with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=count)) as session:
                found[count] = session.run(draws).tobytes()
        assert len(set(found.values())) > 1


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_a_name_that_is_not_here_says_what_to_use_instead(name):
    *modules, last = name.split(".")
    module = functools.reduce(getattr, modules, tf)
    assert not hasattr(module, last), "it is here: take its row away"
    with pytest.raises(AttributeError) as caught:
        getattr(module, last)
    assert str(caught.value) == f"module {module.__name__!r} has no attribute {last!r} (tf.{name}): {INSTEAD[name]}"


def test_a_name_that_nobody_knows_is_not_there():
    with pytest.raises(AttributeError, match=r"module 'tensorkeep\.v1' has no attribute 'nosuch'$"):
        _ = tf.nosuch


def test_views_of_dictionaries_are_fetched_as_lists() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        parts = {"a": tf.constant(1), "b": tf.constant([2, 3])}
        found = session.run([parts.values(), {parts["a"]: 0}.keys()])
    assert [[value.tolist() for value in row] for row in found] == [[1, [2, 3]], [1]]
