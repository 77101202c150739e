"""Training programs of TensorFlow 1, the same text under both: they save, stop and resume alike, and take over from
each other.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tensorkeep.proto.messages import MetaGraphDef
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.meta_graphs import assert_same
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1
BOTH = pytest.mark.parametrize("tf", [ours, theirs], ids=["ours", "theirs"])


@pytest.fixture(autouse=True)
def as_the_first_version() -> Iterator[None]:
    with tensorflow_1():
        yield
        for tf in (ours, theirs):
            tf.summary.FileWriterCache.clear()


# ---------------------------------------------------------------------------------------------------- The model


def model(tf: Any) -> Any:
    """A line fitted to a point: an operation that takes a step and then gives the step and all variables."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=[1.0, -2.0])
    b = tf.get_variable("b", initializer=0.5, use_resource=True)
    seen = tf.get_variable("seen", initializer=0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    loss = tf.reduce_sum(tf.square(tf.reduce_sum(w * [1.0, 2.0]) + b - 3.0))
    tf.summary.scalar("loss", loss)
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    with tf.control_dependencies([train, tf.assign_add(seen, 1)]):
        return [tf.identity(value.read_value()) for value in (step, w, b, seen)]


def plain(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


# ---------------------------------------------------------------------------------------------------- Comparing


def files(folder: Path) -> list[str]:
    """The files of a folder; those of events as one, since their names hold a time, which two of TensorFlow's share."""
    return sorted({re.sub(r"tfevents\..*", "tfevents", path.name) for path in folder.iterdir()})


def state(folder: Path) -> str:
    return (folder / "checkpoint").read_text().replace(str(folder), "FOLDER")


def events(tf: Any, folder: Path) -> list[tuple[str, int, Any]]:
    """What the events of a folder report: of which kind, at which step, under which tags."""
    found = []
    for path in sorted(folder.glob("events.*")):
        for event in tf.train.summary_iterator(str(path)):
            kind = event.WhichOneof("what")
            detail: Any = None
            if kind == "summary":
                detail = [value.tag for value in event.summary.value]
            elif kind == "session_log":
                detail = (event.session_log.status, event.session_log.checkpoint_path.replace(str(folder), "FOLDER"))
            elif kind == "file_version":
                detail = (event.file_version, event.source_metadata.writer)
            found.append((kind, event.step, detail))
    return found


def collections(graph: Any) -> dict[str, list[str]]:
    keys = sorted(key for key in graph.get_all_collection_keys() if graph.get_collection(key))
    return {key: [getattr(item, "name", type(item).__name__) for item in graph.get_collection(key)] for key in keys}


def assert_same_graphs(mine: Any, other: Any) -> None:
    """Equal nodes in equal order, equal collections."""
    our, their = our_nodes(mine), their_nodes(other)
    assert_same_nodes(our, their)
    assert list(our) == list(their)
    assert collections(mine) == collections(other)


Program = Callable[[Any, Path], tuple[Any, Any]]


def compare(program: Program, tmp_path: Path) -> tuple[Path, Path]:
    """Runs a program twice under each: equal results, graphs, files and states. It gives its graph and results."""
    folders = tmp_path / "ours", tmp_path / "theirs"
    for _ in range(2):
        (graph, result), (their_graph, their_result) = (
            program(tf, folder) for tf, folder in zip((ours, theirs), folders, strict=True)
        )
        for tf in (ours, theirs):
            tf.summary.FileWriterCache.clear()
        assert_close(result, their_result)
        assert_same_graphs(graph, their_graph)
        assert files(folders[0]) == files(folders[1])
        assert state(folders[0]) == state(folders[1])
        assert_same_graph_files(*folders)
    return folders


def assert_same_graph_files(mine: Path, other: Path) -> None:
    """The graph as text is the same, letter by letter, and so is what every checkpoint says of it."""
    assert (mine / "graph.pbtxt").read_text() == (other / "graph.pbtxt").read_text()
    for path in mine.glob("*.meta"):
        assert_same(*(MetaGraphDef.FromString((at / path.name).read_bytes()) for at in (mine, other)))


def assert_close(mine: Any, other: Any) -> None:
    if isinstance(mine, list | tuple):
        assert len(mine) == len(other)
        for one, two in zip(mine, other, strict=True):
            assert_close(one, two)
    elif isinstance(mine, float):
        assert mine == pytest.approx(other, rel=1e-5)
    else:
        assert mine == other


# ---------------------------------------------------------------------------------------------------- Programs


def monitored(tf: Any, folder: Path, num_steps: int = 5, **options: Any) -> tuple[Any, Any]:
    """The usual program: it resumes, takes some steps, and saves on the way and at the end."""
    with tf.Graph().as_default() as graph:
        values = model(tf)
        results = []
        options.setdefault("save_checkpoint_steps", 2)
        hooks = [tf.train.StopAtStepHook(num_steps=num_steps), *options.pop("hooks", [])]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(folder), hooks=hooks, save_summaries_steps=1, log_step_count_steps=1, **options
        ) as session:
            while not session.should_stop():
                results.append(plain(session.run(values)))
    return graph, results


def test_saving_is_told_in_the_same_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    told = []
    for tf, name in ((ours, "tensorkeep"), (theirs, "tensorflow")):
        caplog.clear()
        with caplog.at_level(logging.INFO, name):
            monitored(tf, tmp_path / name)
        lines = [record.getMessage() for record in caplog.records if "heckpoint" in record.getMessage()]
        told.append([line.replace(str(tmp_path / name), "FOLDER") for line in lines])
    assert "Calling checkpoint listeners before saving checkpoint 0..." in told[0]
    assert told[0] == told[1]


def test_a_monitored_session_saves_stops_and_resumes_alike(tmp_path: Path) -> None:
    our_folder, their_folder = compare(monitored, tmp_path)
    assert state(our_folder).startswith('model_checkpoint_path: "FOLDER/model.ckpt-10"')
    mine, other = events(ours, our_folder), events(theirs, their_folder)
    # TensorFlow writes over the events of a program that began in the same second; ours are all there.
    assert mine[-len(other) :] == other
    assert ("session_log", 10, (3, "FOLDER/model.ckpt")) in mine


@pytest.mark.parametrize(("first", "second"), [(ours, theirs), (theirs, ours)], ids=["ours first", "theirs first"])
def test_each_resumes_what_the_other_has_begun(tmp_path: Path, first: Any, second: Any) -> None:
    _, whole = monitored(first, tmp_path / "whole", 8)
    _, begun = monitored(first, tmp_path / "shared", 3)
    _, resumed = monitored(second, tmp_path / "shared", 5)
    restarted = [[*values[:3], values[3] - 3] for values in whole[3:]]  # local variables are not saved
    assert_close(begun + resumed, whole[:3] + restarted)
    assert_close(monitored(first, tmp_path / "shared", 1)[1][0][0], 9)


@BOTH
def test_the_events_of_both_are_read_by_both(tmp_path: Path, tf: Any) -> None:
    monitored(tf, tmp_path)
    tf.summary.FileWriterCache.clear()
    assert events(ours, tmp_path) == events(theirs, tmp_path)
    assert len(events(ours, tmp_path)) > 8


def test_a_supervisor_saves_and_resumes_alike(tmp_path: Path) -> None:
    def program(tf: Any, folder: Path) -> tuple[Any, Any]:
        with tf.Graph().as_default() as graph:
            values = model(tf)
            supervisor = tf.train.Supervisor(logdir=str(folder), save_model_secs=0, save_summaries_secs=0)
            results = []
            with supervisor.managed_session() as session:
                for _ in range(3):
                    results.append(plain(session.run(values)))
                supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
                assert not supervisor.should_stop()
            assert supervisor.should_stop()
        return graph, results

    our_folder, _ = compare(program, tmp_path)
    assert state(our_folder).startswith('model_checkpoint_path: "FOLDER/model.ckpt-6"')


def test_a_supervisors_threads_save_and_summarize(tmp_path: Path) -> None:
    def tags() -> set[str]:
        try:
            return {tag for kind, _, found in events(ours, tmp_path) if kind == "summary" for tag in found}
        except ours.errors.DataLossError:  # of an event that is not wholly written yet
            return set()

    wanted = {"loss", "global_step/sec"}
    with ours.Graph().as_default():
        values = model(ours)
        supervisor = ours.train.Supervisor(logdir=str(tmp_path), save_model_secs=0.05, save_summaries_secs=0.05)
        with supervisor.managed_session() as session:
            saved = tmp_path / "checkpoint"
            while not supervisor.should_stop() and not (saved.exists() and tags() >= wanted):
                session.run(values)
    found = events(theirs, tmp_path)
    assert wanted <= {tag for kind, _, tags in found if kind == "summary" for tag in tags}
    assert ("session_log", 0, (2, "")) in found  # that it stopped
    assert theirs.train.latest_checkpoint(str(tmp_path)) is not None


def test_a_scaffold_takes_what_a_program_gives_it_and_makes_the_rest_alike(tmp_path: Path) -> None:
    def program(tf: Any, folder: Path) -> tuple[Any, Any]:
        with tf.Graph().as_default() as graph:
            values = model(tf)
            w = tf.global_variables("w")[0]
            value = tf.placeholder(tf.float32, [2], name="value")
            assign = w.assign(value)
            called: list[int] = []

            def init_fn(scaffold: Any, session: Any) -> None:
                called.append(1)
                session.run(assign, {value: [7.0, 8.0]})

            saver = tf.train.Saver(max_to_keep=2, name="mine")
            scaffold = tf.train.Scaffold(init_fn=init_fn, saver=saver, summary_op=tf.summary.merge_all())
            hook = tf.train.CheckpointSaverHook(str(folder), save_steps=1, scaffold=scaffold, checkpoint_basename="m")
            creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(folder))
            with tf.train.MonitoredSession(creator, hooks=[hook, tf.train.StopAtStepHook(num_steps=3)]) as session:
                results = []
                while not session.should_stop():
                    results.append(plain(session.run(values)))
            assert not graph.finalized
        return graph, [called, results]

    our_folder, _ = compare(program, tmp_path)
    assert [path.name for path in sorted(our_folder.glob("m-*.index"))] == ["m-5.index", "m-6.index"]


def test_scaffolds_with_everything_in_the_graph_make_the_same_nodes() -> None:
    graphs = []
    for tf in (ours, theirs):
        with tf.Graph().as_default() as graph:
            model(tf)
            tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, tf.no_op(name="table"))
            tf.train.Scaffold().finalize()
            graphs.append(graph)
    assert_same_graphs(*graphs)


def test_an_empty_graph_has_a_scaffold_too() -> None:
    graphs = []
    for tf in (ours, theirs):
        with tf.Graph().as_default() as graph:
            tf.train.Scaffold().finalize()
            graphs.append(graph)
    assert_same_graphs(*graphs)


def test_queues_are_filled_alike_until_their_input_ends(tmp_path: Path) -> None:
    def program(tf: Any) -> Any:
        with tf.Graph().as_default() as graph:
            source = tf.get_variable("source", initializer=0)
            queue = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
            limited = source.count_up_to(7)
            runner = tf.train.QueueRunner(queue, [queue.enqueue([limited])])
            tf.train.add_queue_runner(runner)
            item = queue.dequeue()
            init = tf.global_variables_initializer()
            with tf.Session() as session:
                session.run(init)
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
                found = []
                try:
                    while not coordinator.should_stop():
                        found.append(int(session.run(item)))
                except tf.errors.OutOfRangeError as error:
                    coordinator.request_stop(error)
                coordinator.join(threads)
            assert len(threads) == 2
            assert runner.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
        return graph, found, runner.to_proto().SerializeToString()

    (graph, found, proto), (their_graph, their_found, their_proto) = program(ours), program(theirs)
    assert found == their_found == list(range(7))
    assert proto == their_proto
    assert_same_graphs(graph, their_graph)


@BOTH
def test_a_monitored_session_ends_with_its_input(tmp_path: Path, tf: Any) -> None:
    with tf.Graph().as_default():
        source = tf.get_variable("source", initializer=0)
        queue = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([source.count_up_to(4)])]))
        item = queue.dequeue()
        found = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(int(session.run(item)))
    assert found == [0, 1, 2, 3]


def test_queue_runners_travel_in_meta_graphs(tmp_path: Path) -> None:
    for tf, other in ((ours, theirs), (theirs, ours)):
        file = str(tmp_path / f"{tf.__name__}.meta")
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(3, [tf.float32], shapes=[[]])
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([2.5])] * 2))
            tf.identity(queue.dequeue(), name="item")
            tf.train.export_meta_graph(file)
        with other.Graph().as_default() as graph:
            other.train.import_meta_graph(file, import_scope="below")
            with other.Session() as session:
                coordinator = other.train.Coordinator()
                threads = other.train.start_queue_runners(session, coordinator)
                assert [session.run(graph.get_tensor_by_name("below/item:0")) for _ in range(5)] == [2.5] * 5
                coordinator.request_stop()
                coordinator.join(threads)


# ---------------------------------------------------------------------------------------------------- Failures


@BOTH
def test_a_lost_session_is_replaced_from_the_last_checkpoint(tmp_path: Path, tf: Any) -> None:
    class Crash(tf.train.SessionRunHook):
        """The fifth run is lost, once, and so are all steps since the last checkpoint."""

        runs = 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1
            if self.runs == 5:
                raise tf.errors.AbortedError(None, None, "the machine is gone")

    _, results = monitored(tf, tmp_path, 8, hooks=[Crash()], save_checkpoint_steps=3)
    steps = [values[0] for values in results]
    assert steps == [1, 2, 3, 4, 4, 5, 6, 7, 8]  # the last checkpoint before the loss was that of step 3
    assert state(tmp_path).startswith('model_checkpoint_path: "FOLDER/model.ckpt-8"')


def test_a_lost_session_is_replaced_at_the_same_step(tmp_path: Path) -> None:
    def program(tf: Any, folder: Path) -> tuple[Any, Any]:
        class Crash(tf.train.SessionRunHook):
            runs = 0

            def before_run(self, run_context: Any) -> None:
                self.runs += 1
                if self.runs in (5, 6, 9):
                    raise tf.errors.UnavailableError(None, None, "the machine is gone")

        return monitored(tf, folder, 8, hooks=[Crash()], save_checkpoint_steps=3)

    compare(program, tmp_path)


@BOTH
def test_other_errors_end_training_and_nothing_is_saved_on_the_way_out(tmp_path: Path, tf: Any) -> None:
    class Fail(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        monitored(tf, tmp_path, hooks=[Fail()], save_checkpoint_steps=100)
    assert state(tmp_path).startswith('model_checkpoint_path: "FOLDER/model.ckpt-0"')


@BOTH
def test_a_failing_input_thread_ends_training(tmp_path: Path, tf: Any) -> None:
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
        broken = tf.constant([1, 2])[tf.placeholder(tf.int32, [], name="never_fed")]
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([broken])]))
        item = queue.dequeue()

        def train() -> None:
            with tf.train.MonitoredSession() as session:
                while not session.should_stop():
                    session.run(item)

        with pytest.raises(tf.errors.InvalidArgumentError, match="never_fed"):
            train()


@BOTH
def test_a_loss_that_is_not_a_number_ends_training(tmp_path: Path, tf: Any) -> None:
    for fails in (True, False):
        with tf.Graph().as_default():
            loss = tf.placeholder(tf.float32, [])
            hook = tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)
            runs = []

            def train(session: Any, loss: Any = loss, runs: list[int] = runs) -> None:
                for value in (1.0, float("nan"), 2.0):
                    if session.should_stop():
                        break
                    runs.append(session.run(loss, {loss: value}))

            with tf.train.MonitoredSession(hooks=[hook]) as session:
                if fails:
                    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
                        train(session)
                else:
                    train(session)
            assert len(runs) == (1 if fails else 2)


@BOTH
def test_variables_that_nobody_initializes_are_named(tf: Any) -> None:
    with tf.Graph().as_default():
        tf.get_variable("known", initializer=1.0)
        tf.get_variable("forgotten", initializer=1.0)
        scaffold = tf.train.Scaffold(init_op=tf.global_variables("known")[0].initializer)
        with pytest.raises(RuntimeError, match="Variables not initialized: forgotten"):
            tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold))


# ---------------------------------------------------------------------------------------------------- Hooks


class Clock:
    """A clock that goes on by so many seconds at each step of a program."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_checkpoints_by_the_clock_come_at_the_same_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorflow.python.training import basic_session_run_hooks as their_hooks

    clock = Clock()
    monkeypatch.setattr(ours.train.SecondOrStepTimer, "clock", staticmethod(clock))
    monkeypatch.setattr(their_hooks.time, "time", clock)
    saved: dict[Any, list[Any]] = {}
    for tf in (ours, theirs):
        clock.now = 1000.0
        noted: list[Any] = saved.setdefault(tf, [])

        class Listener(tf.train.CheckpointSaverListener):  # type: ignore[misc, name-defined]
            def __init__(self, noted: list[Any]) -> None:
                self.noted = noted

            def begin(self) -> None:
                self.noted.append("begin")

            def before_save(self, session: Any, global_step_value: int) -> None:
                self.noted.append(("before", int(global_step_value)))

            def after_save(self, session: Any, global_step_value: int) -> bool:
                self.noted.append(("after", int(global_step_value)))
                return global_step_value >= 9

            def end(self, session: Any, global_step_value: int) -> None:
                self.noted.append(("end", int(global_step_value)))

        with tf.Graph().as_default():
            values = model(tf)
            scaffold = tf.train.Scaffold()
            hook = tf.train.CheckpointSaverHook(
                str(tmp_path / tf.__name__), save_secs=25, scaffold=scaffold, listeners=[Listener(noted)]
            )
            with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks=[hook]) as session:
                while not session.should_stop():
                    clock.now += 10.0
                    session.run(values)
    assert saved[ours] == saved[theirs]
    assert [entry[1] for entry in saved[ours] if entry[0] == "before"] == [0, 3, 6, 9]


@BOTH
def test_a_hook_sees_runs_as_they_are(tf: Any) -> None:
    seen: list[Any] = []

    class Hook(tf.train.SessionRunHook):
        def begin(self) -> None:
            self.extra = tf.constant(5.0, name="extra")
            seen.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            seen.append(("created", session.run(self.extra), isinstance(coord, tf.train.Coordinator)))

        def before_run(self, run_context: Any) -> Any:
            seen.append(("before", run_context.original_args.fetches.name, run_context.original_args.feed_dict))
            return tf.train.SessionRunArgs({"extra": self.extra, "list": [self.extra]}, feed_dict={"x:0": 3.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(("after", run_values.results, run_context.session.graph is tf.get_default_graph()))
            run_context.request_stop()

        def end(self, session: Any) -> None:
            seen.append(("end", session.run("extra:0")))

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.add(x, 1.0, name="y")
        with tf.train.SingularMonitoredSession(hooks=[Hook()]) as session:
            assert session.run(y) == 4.0
            assert session.should_stop()
            with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
                session.run(y)
            assert session.raw_session().run(y, {x: 1.0}) == 2.0
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="already closed"):
            session.close()
    assert seen == [
        "begin",
        ("created", 5.0, True),
        ("before", "y:0", None),
        ("after", {"extra": 5.0, "list": [5.0]}, True),
        ("end", 5.0),
    ]


@BOTH
def test_a_tensor_may_not_be_fed_twice(tf: Any) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        hook = tf.train.FeedFnHook(lambda: {x: 1.0})
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert session.run(x) == 1.0
            with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
                session.run(x, {x: 2.0})
        twice = tf.train.MonitoredSession(hooks=[hook, tf.train.FeedFnHook(lambda: {x: 1.0})])
        with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks"):
            twice.run(x)


@BOTH
def test_a_step_function_runs_with_and_without_hooks(tf: Any) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count = step.assign_add(1)
        with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=10)]) as session:

            def step_fn(step_context: Any) -> Any:
                step_context.session.run(count)
                return step_context.run_with_hooks(count)

            assert session.run_step_fn(step_fn) == 2
            assert session.run_step_fn(lambda step_context: 7) == 7
            with pytest.raises(ValueError, match="`step_fn` may either have one"):
                session.run_step_fn(lambda other: None)
            session.run_step_fn(lambda step_context: step_context.request_stop())


@BOTH
def test_final_operations_are_computed_at_the_end(tf: Any) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count = step.assign_add(1)
        hook = tf.train.FinalOpsHook({"step": step}, None)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(count)
            session.run(count)
        assert hook.final_ops_values == {"step": 2}


def test_hooks_refuse_the_same_arguments_in_the_same_words() -> None:
    def attempts(tf: Any) -> list[Callable[[], Any]]:
        train = tf.train
        return [
            lambda: train.SecondOrStepTimer(),
            lambda: train.SecondOrStepTimer(1, 1),
            lambda: train.StopAtStepHook(),
            lambda: train.StopAtStepHook(1, 1),
            lambda: train.LoggingTensorHook(["a"]),
            lambda: train.LoggingTensorHook(["a"], every_n_iter=0),
            lambda: train.CheckpointSaverHook("d", saver=1, scaffold=1, save_steps=1),
            lambda: train.StepCounterHook(None, None),
            lambda: train.SummarySaverHook(save_steps=1),
            lambda: train.StopAtStepHook(1).begin(),
            lambda: train.StepCounterHook(1).begin(),
            lambda: train.SessionManager(ready_for_local_init_op="x"),
            lambda: train.LooperThread("nobody", 1),
            lambda: train.LooperThread(train.Coordinator(), 1, args=[1]),
            lambda: train.QueueRunner(),
            lambda: train.start_queue_runners(),
            lambda: train.Scaffold(copy_from_scaffold=3),
        ]

    told: list[list[tuple[list[str], str]]] = []
    for tf in (ours, theirs):
        with tf.Graph().as_default():
            told.append([])
            for attempt in attempts(tf):
                with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
                    attempt()
                bases = [kind.__name__ for kind in (ValueError, TypeError, RuntimeError) if caught.errisinstance(kind)]
                told[-1].append((bases[-1:], str(caught.value)))
    assert told[0] == told[1]


@pytest.mark.parametrize("every", [{"every_steps": 3}, {"every_secs": 25.0}])
def test_timers_trigger_alike(monkeypatch: pytest.MonkeyPatch, every: dict[str, Any]) -> None:
    from tensorflow.python.training import basic_session_run_hooks as their_hooks

    clock = Clock()
    monkeypatch.setattr(ours.train.SecondOrStepTimer, "clock", staticmethod(clock))
    monkeypatch.setattr(their_hooks.time, "time", clock)
    mine, other = ours.train.SecondOrStepTimer(**every), theirs.train.SecondOrStepTimer(**every)
    generator = np.random.default_rng(3)
    step = 0
    for _ in range(100):
        assert mine.should_trigger_for_step(step) == other.should_trigger_for_step(step)
        assert mine.last_triggered_step() == other.last_triggered_step()
        if mine.should_trigger_for_step(step):
            assert mine.update_last_triggered_step(step) == other.update_last_triggered_step(step)
        step += int(generator.integers(0, 3))
        clock.now += float(generator.integers(0, 20))
        if generator.integers(0, 20) == 0:
            mine.reset()
            other.reset()


# ---------------------------------------------------------------------------------------------------- Events


def test_writers_write_the_same_events(tmp_path: Path) -> None:
    found = []
    for tf in (ours, theirs):
        folder = tmp_path / tf.__name__
        with tf.Graph().as_default() as graph:
            tf.summary.scalar("half", tf.constant(0.5))
            tf.summary.histogram("many", tf.constant([1.0, 2.0, 2.0]))
            merged = tf.summary.merge_all()
            with tf.Session() as session, tf.summary.FileWriter(str(folder), graph, filename_suffix=".s") as writer:
                assert writer.get_logdir() == str(folder)
                for step in range(3):
                    writer.add_summary(session.run(merged), step)
                writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP, msg="done"), 9)
                writer.add_event(tf.Event(wall_time=3.0, step=10))
                writer.flush()
        (file,) = folder.iterdir()
        assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.s", file.name)
        kept = list(theirs.train.summary_iterator(str(file)))
        for event in kept[:-1]:
            event.ClearField("wall_time")
        found.append(kept)
    mine, other = found
    assert [event.WhichOneof("what") for event in mine] == [event.WhichOneof("what") for event in other]
    for one, two in zip(mine, other, strict=True):
        if one.WhichOneof("what") == "graph_def":
            assert theirs.GraphDef.FromString(one.graph_def) == theirs.GraphDef.FromString(two.graph_def)
        elif one.WhichOneof("what") == "meta_graph_def":
            assert_same(*(MetaGraphDef.FromString(event.meta_graph_def) for event in (one, two)))
        else:
            assert one == two


def test_writers_of_a_session_add_the_same_operations_and_write_the_same_events(tmp_path: Path) -> None:
    found, graphs = [], []
    for tf, nodes in ((ours, our_nodes), (theirs, their_nodes)):
        folder = tmp_path / tf.__name__
        with tensorflow_1(), tf.Graph().as_default() as graph:
            merged = tf.summary.scalar("half", tf.constant(0.5))
            with tf.Session() as session:
                writer = tf.summary.FileWriter(f"{folder}/..", session=session)
                other = tf.summary.FileWriter(str(folder), session=session, filename_suffix=".s", flush_secs=7)
                shared = tf.summary.FileWriter(str(folder), session=session)
                other.add_summary(session.run(merged), 1)
                shared.add_summary(session.run(merged), 2)
                other.flush()
                other.close()
                other.reopen()
                other.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP, msg="done"), 9)
                other.close()
                writer.close()
            graphs.append(nodes(graph))
            created = [op.name for op in graph.get_collection("_SUMMARY_WRITER_V2")]
        files = sorted(folder.iterdir(), key=lambda path: int(path.name.split(".")[-2]))
        assert all(re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.s", file.name) for file in files)
        kept = [list(theirs.train.summary_iterator(str(file))) for file in files]
        described = [[(e.step, e.file_version, e.summary, e.session_log) for e in events] for events in kept]
        found.append((described, created))
    for name, node in graphs[1].items():
        for attribute in ("value", "shared_name"):  # folders of their own
            for other_node in (node, graphs[0][name]):
                if str(tmp_path) in str(other_node.attr[attribute]):
                    del other_node.attr[attribute]
    assert_same_nodes(*graphs)
    assert list(graphs[0]) == list(graphs[1])
    assert str(found[0]) == str(found[1])
    assert len(found[0][0]) == 2


# ---------------------------------------------------------------------------------------------------- Signatures

CLASSES = [
    "ChiefSessionCreator",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "Coordinator",
    "ExponentialMovingAverage",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "LooperThread",
    "MonitoredSession",
    "NanTensorHook",
    "ProfilerHook",
    "QueueRunner",
    "Scaffold",
    "SecondOrStepTimer",
    "SessionCreator",
    "SessionManager",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "SingularMonitoredSession",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "Supervisor",
    "WorkerSessionCreator",
]
FUNCTIONS = [
    "MonitoredTrainingSession",
    "add_queue_runner",
    "basic_train_loop",
    "batch",
    "batch_join",
    "input_producer",
    "limit_epochs",
    "match_filenames_once",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "range_input_producer",
    "shuffle_batch",
    "shuffle_batch_join",
    "slice_input_producer",
    "start_queue_runners",
    "string_input_producer",
    "summary_iterator",
]


# Arguments that TensorFlow does not have, by name only: DeepRec's, and ours for metrics of checkpoints.
MORE = (
    "incr_saver",
    "incremental_save_restore",
    "incremental_save_secs",
    "metrics",
    "save_checkpoint_metrics",
    "save_incremental_checkpoint_secs",
    "target_nodes_or_tensors",
)


def arguments(function: Any) -> list[tuple[str, Any]]:
    """The names of arguments with their defaults, as far as these are plain."""
    found = inspect.signature(function).parameters.items()
    plain_types = (int, float, str, bool, type(None), type)
    return [
        (name, item.default if isinstance(item.default, plain_types) else "other")
        for name, item in found
        if name not in MORE or item.kind is not inspect.Parameter.KEYWORD_ONLY
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_the_same_arguments(name: str) -> None:
    assert arguments(getattr(ours.train, name)) == arguments(getattr(theirs.train, name))


@pytest.mark.parametrize(
    "kind", [*(f"train.{name}" for name in CLASSES), "summary.FileWriter", "summary.FileWriterCache"]
)
def test_a_class_has_the_same_methods_with_the_same_arguments(kind: str) -> None:
    module, _, name = kind.partition(".")
    mine, other = getattr(getattr(ours, module), name), getattr(getattr(theirs, module), name)
    assert arguments(mine) == arguments(other)
    for member in vars(other):
        if not member.startswith("_"):
            assert hasattr(mine, member)
            if inspect.isfunction(getattr(other, member)):
                assert arguments(getattr(mine, member)) == arguments(getattr(other, member)), member
