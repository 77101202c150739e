"""Sessions: fetches, feeds, errors, threads, what they refuse."""

from __future__ import annotations

import gc
from collections import OrderedDict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import numpy as np
import pytest

from tensorkeep.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    WrongTypeError,
)
from tensorkeep.graph import building as build
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.runtime.placement import Devices
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.functions import composites
from tensorkeep.tf1.functions.constants import constant

assert composites  # registers what sparse values are made of

plus = op("TestPlus(x: T, y: T) -> z: T", "T: type")
plus.kernel(np.add)

both = op("TestBoth(x: float) -> parts: N * float, rest: float", "N: int")


@both.kernel
def both_kernel(x, *, N):  # noqa: N803
    return [x * i for i in range(N)], -x


count = op("TestCount() -> n: int32", "stateful")


@count.stateful_kernel
def count_kernel(ctx):
    box = ctx.keep("count", list)
    box.append(1)
    return np.int32(len(box))


crash = op("TestCrash(x: float) -> y: float")


@crash.kernel
def crash_kernel(x):
    raise RuntimeError("boom")


shout = op("TestShout(x: float) -> y: float", needs=Capability.PRINTS)
shout.kernel(np.negative)

words = op("TestWords(x: string) -> y: string")


@words.kernel
def words_kernel(x):
    return x[0]


for spec in (plus, both, count, crash, shout, words):
    spec.shape_rule = None


@pytest.fixture
def graph():
    graph = Graph()
    with build.building(graph):
        yield graph


@pytest.fixture
def session(graph: Graph) -> Session:
    return Session(graph)


def test_a_placeholder_must_be_fed(session: Session) -> None:
    x = placeholder(dtype="float32", shape=[2], name="x")
    with pytest.raises(InvalidArgumentError, match="You must feed a value for placeholder tensor 'x' with dtype float"):
        session.run(identity(x))
    assert session.run(identity(x), {x: [1, 2]}).tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [np.asmatrix, np.ma.asarray])
def test_kinds_of_arrays_that_compute_otherwise_are_fed_as_plain_ones(session: Session, kind) -> None:
    x, text = placeholder(dtype="float64", shape=[2, 2]), placeholder(dtype="string", shape=[1, 2])
    found = session.run(identity(x), {x: kind(np.ones((2, 2)))})
    assert type(found) is np.ndarray
    assert session.run(identity(text), {text: kind(np.array([["a", "b"]]))}).tolist() == [[b"a", b"b"]]


class TestFetches:
    def test_results_have_the_structure_of_the_fetches(self, session: Session) -> None:
        a, b = constant(1.0, name="a"), constant([1, 2], name="b")
        point = namedtuple("point", "x y")
        result = session.run({"list": [a, (b, a)], "point": point(a, "b:0"), "op": a.op, "ordered": OrderedDict(z=a)})
        assert result["list"][0] == 1.0
        assert isinstance(result["list"][1], tuple)
        assert result["point"].y.tolist() == [1, 2]
        assert result["op"] is None
        assert isinstance(result["ordered"], OrderedDict)

    def test_composite_values_come_back_as_such(self, session: Session) -> None:
        indices, values, shape = constant([[0, 1]], "int64"), constant([5.0]), constant([2, 2], "int64")
        sparse = session.run(SparseTensor(indices, values, shape))
        assert (sparse.indices.tolist(), sparse.values.tolist(), sparse.dense_shape.tolist()) == (
            [[0, 1]],
            [5.0],
            [2, 2],
        )
        assert session.run(IndexedSlices(values, indices)).dense_shape is None

    def test_scalars_come_as_numpy_scalars_and_strings_as_bytes(self, session: Session) -> None:
        number, text = session.run([constant(1.5), constant("abc")])
        assert type(number) is np.float32
        assert text == b"abc"

    def test_lists_of_outputs_are_taken_apart(self, session: Session) -> None:
        parts, rest = both(constant(2.0), N=3)
        assert session.run([parts, rest]) == [[0.0, 2.0, 4.0], -2.0]

    def test_a_string_result_stays_an_array_inside_a_run(self, session: Session) -> None:
        inner = words(constant([b"ab", b"c"]))
        assert session.run(identity(inner)) == b"ab"

    @pytest.mark.parametrize("fetch", [None, 3, [None], "nosuch", "nosuch:0", {"a": 1.5}])
    def test_what_cannot_be_fetched_is_refused(self, session: Session, fetch: object) -> None:
        with pytest.raises((InvalidArgumentError, WrongTypeError), match="Fetch argument"):
            session.run(fetch)

    def test_a_tensor_of_another_graph_is_refused(self, session: Session) -> None:
        with build.building(Graph()):
            other = constant(1)
        with pytest.raises(InvalidArgumentError, match="not an element of this graph"):
            session.run(other)

    def test_a_result_belongs_to_the_caller(self, session: Session) -> None:
        c = constant([1, 2])
        first = session.run(c)
        first[0] = 99
        assert session.run(c).tolist() == [1, 2]


class TestFeeds:
    def test_any_tensor_may_be_fed(self, session: Session) -> None:
        a = constant(1.0)
        b = plus(a, a)
        c = plus(b, a)
        assert session.run(c) == 3.0
        assert session.run(c, {b: 10.0}) == 11.0
        assert session.run([a, b], {a: 5.0}) == [5.0, 10.0]
        assert session.run(c, {b.name: 0.0}) == 1.0

    def test_feeds_are_converted_and_checked(self, session: Session) -> None:
        x = placeholder(dtype="int32", shape=[None, 2], name="x")
        assert session.run(identity(x), {x: [[1, 2]]}).dtype == np.int32
        with pytest.raises(
            InvalidArgumentError, match=r"Cannot feed value of shape \(2,\) for Tensor x:0, .*\(\?, 2\)"
        ):
            session.run(identity(x), {x: [1, 2]})
        with pytest.raises(WrongTypeError, match=r"cannot be a tf\.Tensor"):
            session.run(identity(x), {x: constant(1)})
        with pytest.raises(InvalidArgumentError):
            session.run(identity(x), {x: [["a", "b"]]})

    def test_a_key_that_is_no_tensor_is_refused(self, session: Session) -> None:
        with pytest.raises(WrongTypeError, match=r"feed_dict key as Tensor: .*nosuch:0"):
            session.run(constant(1), {"nosuch:0": 1})
        with pytest.raises(WrongTypeError, match=r"feed_dict key as Tensor: .*int"):
            session.run(constant(1), {3: 1})
        with pytest.raises(WrongTypeError, match=r"refers to an Operation"):
            session.run(constant(1, name="c"), {"c": 1})

    def test_a_feed_that_is_no_array_is_named(self, session: Session) -> None:
        x = placeholder(dtype="int32", name="ids")
        with pytest.raises(InvalidArgumentError, match=r"\[\[1, 2\], \[3\]\] for Tensor ids:0 as int32.*: pad them"):
            session.run(identity(x), {x: [[1, 2], [3]]})
        with pytest.raises(InvalidArgumentError, match=r"cannot feed list \[.{190,210}… for Tensor ids:0"):
            session.run(identity(x), {x: [["a"] * 1000]})

    def test_feeds_that_are_no_mapping_are_refused(self, session: Session) -> None:
        with pytest.raises(WrongTypeError, match=r"feeds are a mapping of tensors to values, got list \[1\]"):
            session.run(constant(1), [1])  # type: ignore[arg-type]

    def test_tuples_of_tensors_are_fed_by_tuples_of_values(self, session: Session) -> None:
        Pair = namedtuple("Pair", "first second")
        x, y, z = (placeholder(dtype="float32", shape=[]) for _ in range(3))
        nested = Pair(x, (y, z))
        assert session.run(plus(x, plus(y, z)), {nested: Pair(1.0, [2.0, 3.0])}) == 6.0
        with pytest.raises(InvalidArgumentError, match="a feed of 2 tensors takes as many values, got tuple"):
            session.run(x, {nested: (1.0,)})

    def test_text_is_fed_as_bytes(self, session: Session) -> None:
        x = placeholder(dtype="string")
        assert session.run(identity(x), {x: ["é", b"\xff"]}).tolist() == ["é".encode(), b"\xff"]

    @pytest.mark.parametrize("value", [[["a"], ["b", "c"]], [1, 2], "\ud800"])
    def test_what_is_no_text_is_not_fed_as_text(self, session: Session, value: object) -> None:
        x = placeholder(dtype="string")
        with pytest.raises(InvalidArgumentError, match="as a string"):
            session.run(identity(x), {x: value})

    @pytest.mark.parametrize(("dtype", "value", "kept"), [("int32", 1.5, 1), ("bool", 0.5, True)])
    def test_a_fraction_is_dropped_and_told_once(
        self, session: Session, dtype: str, value: float, kept: object, caplog: pytest.LogCaptureFixture
    ) -> None:
        x = placeholder(dtype=dtype, name="x")
        with caplog.at_level("WARNING", "tensorkeep"):
            assert [session.run(x, {x: value}), session.run(x, {x: value})] == [kept, kept]
        assert caplog.messages == [f'{value} is fed to "x:0" as {dtype}: the fraction is dropped']

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [
            *(("int32", value) for value in (float("nan"), float("inf"), 2**31)),
            *(("int8", value) for value in (300, [1, 300], [[1], [-129]], (2**70,))),
            ("bool", 2),
        ],
    )
    def test_a_number_that_would_be_cut_off_is_refused(self, session: Session, dtype: str, value: object) -> None:
        x = placeholder(dtype=dtype)
        with pytest.raises(InvalidArgumentError):
            session.run(identity(x), {x: value})

    def test_of_two_values_for_a_tensor_the_last_counts(self, session: Session) -> None:
        x = placeholder(dtype="float32", shape=[], name="x")
        assert session.run(identity(x), {x: 1.0, "x:0": 2.0}) == 2.0

    def test_sparse_tensors_are_fed_whole(self, session: Session) -> None:
        parts = [placeholder(dtype=dtype) for dtype in ("int64", "float32", "int64")]
        sparse = SparseTensor(*parts)
        result = session.run(sparse, {sparse: ([[0]], [1.0], [3])})
        assert result.dense_shape.tolist() == [3]

    def test_what_is_marked_as_not_feedable_is_refused(self, session: Session, graph: Graph) -> None:
        x = placeholder(dtype="float32")
        graph.unfeedable.add(x)
        with pytest.raises(InvalidArgumentError, match="may not be fed"):
            session.run(identity(x), {x: 1.0})


class TestRunning:
    def test_shapes_that_do_not_go_together_are_shown_as_tensorflow_shows_them(self, session: Session) -> None:
        x, y = placeholder(dtype="float32"), placeholder(dtype="float32")
        with pytest.raises(InvalidArgumentError, match=r"^Incompatible shapes: \[2,3\] vs. \[4\]\n.*node both"):
            session.run(plus(x, y, name="both"), {x: np.ones((2, 3)), y: np.ones(4)})

    def test_only_what_is_needed_runs(self, session: Session) -> None:
        crash(constant(1.0))
        assert session.run(constant(2.0)) == 2.0

    def test_control_inputs_run_first(self, session: Session) -> None:
        first = count()
        with build.control_dependencies([first]):
            after = identity(constant(1.0))
        session.run(after)
        assert session.run(first) == 2

    def test_what_an_operation_keeps_lasts_from_run_to_run_in_one_session(self, session: Session, graph: Graph) -> None:
        counter = count()
        assert [session.run(counter) for _ in range(3)] == [1, 2, 3]
        assert Session(graph).run(counter) == 1

    def test_an_operation_runs_once_however_often_it_is_fetched(self, session: Session) -> None:
        counter = count()
        assert session.run([counter, counter, identity(counter)]) == [1, 1, 1]

    def test_the_graph_may_grow_and_change_between_runs(self, session: Session) -> None:
        a, b = constant(1.0), constant(5.0)
        c = identity(plus(a, a))
        assert session.run(c) == 2.0
        c.op.set_input(0, b)
        assert session.run(c) == 5.0
        assert session.run(plus(c, b)) == 10.0

    def test_a_long_chain_needs_no_deep_stack(self, session: Session) -> None:
        x = placeholder(dtype="float32", shape=[])
        total = x
        for _ in range(5000):
            total = plus(total, x)
        assert session.run(total, {x: 1.0}) == 5001.0

    def test_a_callable_takes_values_in_order(self, session: Session) -> None:
        x, y = placeholder(dtype="float32"), placeholder(dtype="float32")
        add = session.make_callable(plus(x, y), [x, y])
        assert add(1.0, 2.0) == 3.0
        with pytest.raises(InvalidArgumentError, match="takes 2 values"):
            add(1.0)

    def test_a_callable_takes_each_tensor_once_and_nothing_but_tensors(self, session: Session) -> None:
        x = placeholder(dtype="float32", name="x")
        with pytest.raises(InvalidArgumentError, match="fed twice: x:0, x:0"):
            session.make_callable(x, [x, x])
        with pytest.raises(WrongTypeError, match="refers to an Operation"):
            session.make_callable(x, [x.op])

    def test_threads_share_a_session(self, session: Session) -> None:
        x = placeholder(dtype="float32", shape=[None])
        y = plus(x, x)
        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(session.run, y, {x: np.full(50, i, np.float32)}) for i in range(200)]
            for i, future in enumerate(futures):
                assert (future.result() == 2 * i).all()

    def test_a_closed_session_runs_nothing(self, session: Session) -> None:
        with session:
            pass
        with pytest.raises(FailedPreconditionError, match="closed"):
            session.run(constant(1))

    def test_a_closed_session_keeps_no_resources_but_those_it_was_given(self, graph: Graph) -> None:
        shared = ResourceManager()
        for own, expected in ((Session(graph), None), (Session(graph, resources=shared), [1])):
            own.resources.get_or_create("", "thing", list, lambda: [1])
            own.close()
            assert own.resources.find("", "thing") == expected

    def test_a_closed_session_keeps_nothing_that_was_compiled_whoever_has_a_callable_of_it(self, graph: Graph) -> None:
        session = Session(graph)
        x = placeholder(dtype="float32", shape=[2])
        call = session.make_callable(plus(x, x), [x])
        assert call(np.ones(2, np.float32)).tolist() == [2, 2]
        program = ref(session._programs.compiled[0])
        session.close()
        gc.collect()
        assert program() is None
        with pytest.raises(FailedPreconditionError, match="closed"):
            call(np.ones(2, np.float32))


class TestErrors:
    def test_a_kernels_error_names_the_operation(self, session: Session) -> None:
        with build.name_scope("deep"):
            bad = crash(constant(1.0), name="bad")
        with pytest.raises(InternalError, match=r"boom\n\t \[\[node deep/bad \(TestCrash\)\]\]") as caught:
            session.run(identity(bad))
        assert caught.value.op is bad.op

    def test_numpys_complaint_about_shapes_is_an_invalid_argument(self, session: Session) -> None:
        x = placeholder(dtype="float32")
        with pytest.raises(InvalidArgumentError, match=r"node TestPlus"):
            session.run(plus(x, constant([1.0, 2.0])), {x: [1.0, 2.0, 3.0]})

    def test_an_op_without_a_kernel_is_named(self, session: Session) -> None:
        lacking = op("TestLacking() -> y: float")
        lacking.shape(lambda: UNKNOWN_SHAPE)
        with pytest.raises(UnimplementedError, match="TestLacking cannot be run: tensorkeep has no kernel"):
            session.run(lacking())

    def test_a_session_for_strangers_refuses_what_does_more_than_compute(self, graph: Graph) -> None:
        loud = shout(constant(1.0), name="loud")
        with pytest.raises(PermissionDeniedError, match=r'"loud" \(TestShout\) prints'):
            Session(graph, allow_io=False).run(loud)
        assert Session(graph).run(loud) == -1.0

    def test_results_that_no_memory_is_left_for_are_an_error_of_ours(self, session: Session) -> None:
        huge = constant(1.0, shape=[1 << 39])
        with pytest.raises(ResourceExhaustedError):
            session.run(huge)


class TestDevices:
    def test_an_operation_on_a_device_that_is_not_there_is_refused_unless_placement_is_soft(self, graph: Graph) -> None:
        with build.device("/gpu:0"):
            a = constant(1.0, name="a")
        hard = Session(graph, devices=Devices({"CPU": 1}, soft=False))
        with pytest.raises(InvalidArgumentError, match=r"Cannot assign a device for operation a.*/device:GPU:0"):
            hard.run(a)
        assert Session(graph).run(a) == 1.0

    def test_there_are_as_many_devices_as_asked_for(self, graph: Graph) -> None:
        with build.device("/cpu:2"):
            a = constant(1.0)
        devices = Devices({"CPU": 3}, soft=False)
        assert Session(graph, devices=devices).run(a) == 1.0
        assert devices.names()[-1] == "/job:localhost/replica:0/task:0/device:CPU:2"
        with pytest.raises(InvalidArgumentError):
            Session(graph, devices=Devices({"CPU": 2}, soft=False)).run(a)

    def test_placement_is_logged_when_asked_for(self, graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
        a = constant(1.0, name="a")
        with caplog.at_level("INFO", "tensorkeep"):
            Session(graph, logs_placement=True).run(a)
        assert "a: (Const): /job:localhost/replica:0/task:0/device:CPU:0" in caplog.text
