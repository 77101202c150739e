"""What ONNX Runtime runs in the place of our kernels: the same answers, the same errors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter, thread_time
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tensorkeep._lazy import later
from tensorkeep.dtypes import BOOL, FLOAT32, INT32, STRING
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError, TensorKeepError, UnimplementedError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.engine import choosing
from tensorkeep.onnx.engine import engine as engine_module
from tensorkeep.onnx.engine.choosing import FasterPart
from tensorkeep.onnx.engine.engine import OnnxRuntimeEngine
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.onnx.engine.parts import VARIABLE, OnnxPart
from tensorkeep.onnx.rules.registry import RULES
from tensorkeep.runtime.limits import Limits
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.load import engines
from tensorkeep.saved_model.load.engines import engine_of
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.variables.assignments import assign, assign_add
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.scopes import get_variable

tanh, exp = get_op("Tanh"), get_op("Exp")
EVERYTHING = OnnxRuntimeEngine(OnnxRuntime(threads=1, smallest=0))


def layers(x: Tensor, count: int = 2, *, use_resource: bool = True) -> Tensor:
    """Some products with variables."""
    random = np.random.default_rng(1)
    for number in range(count):
        start = random.normal(size=(8, 8)).astype(np.float32)
        weights = get_variable(f"w{number}", initializer=start, use_resource=use_resource)
        x = tanh(matmul(x, weights))
    return x


def session_of(graph: Graph, **options: Any) -> Session:
    session = Session(graph, **{"engine": EVERYTHING, **options})
    session.run(global_variables_initializer())
    return session


def x_of(rows: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(rows).normal(size=(rows, 8)).astype(np.float32)


def ops_in_parts(session: Session) -> list[str]:
    """The types of the operations of what was compiled last that ONNX Runtime runs."""
    split = session._programs.compiled[-1].split
    return [] if split is None else sorted(op.type for part in split.parts for op in part.ops)


def is_running(session: Session) -> bool:
    """Whether ONNX Runtime still runs the parts of what was compiled last, rather than our kernels."""
    split = session._programs.compiled[-1].split
    return split is not None and all(isinstance(part.run, OnnxPart) and part.run.is_running for part in split.parts)


@pytest.fixture
def graph() -> Any:
    with building(Graph()) as made:
        yield made


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("rows", [None, 3])
def test_a_part_gives_what_our_kernels_give(graph: Graph, use_resource: bool, rows: int | None) -> None:
    x = placeholder(FLOAT32, [rows, 8])
    y = layers(x, use_resource=use_resource)
    with session_of(graph) as session, Session(graph, resources=session.resources) as ours:
        np.testing.assert_allclose(session.run(y, {x: x_of(3)}), ours.run(y, {x: x_of(3)}), rtol=1e-5, atol=1e-6)
        assert ops_in_parts(session) == ["MatMul", "MatMul", "Tanh", "Tanh"]
        assert is_running(session)
        assert "p" in session._programs.compiled[-1].text


def test_one_part_runs_for_all_sizes(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    with session_of(graph) as session, Session(graph, resources=session.resources) as ours:
        for rows in (1, 5, 0, 2):
            np.testing.assert_allclose(
                session.run(y, {x: x_of(rows)}), ours.run(y, {x: x_of(rows)}), rtol=1e-5, atol=1e-6
            )
        assert is_running(session)


def test_a_fault_in_a_rule_is_told_and_our_kernels_answer(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*_: Any, **__: Any) -> Any:
        raise KeyError("nobody thought of this")

    monkeypatch.setitem(RULES, "Tanh", replace(RULES["Tanh"], function=faulty))
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    with session_of(graph) as session, Session(graph, resources=session.resources) as ours:
        np.testing.assert_array_equal(session.run(y, {x: x_of(3)}), ours.run(y, {x: x_of(3)}))
    assert "nobody thought of this" in caplog.text


def test_what_is_empty_is_left_to_our_kernels(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of ONNX Runtime's fail then, and some end the process: those of recurrent layers."""
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    asked: list[OnnxPart] = []
    own = OnnxPart.own.fget
    monkeypatch.setattr(OnnxPart, "own", property(lambda part: asked.append(part) or own(part)))  # type: ignore[misc]
    with session_of(graph) as session:
        assert session.run(y, {x: x_of(2)}).shape == (2, 8)
        assert not asked
        assert session.run(y, {x: x_of(0)}).shape == (0, 8)
        assert asked
        assert is_running(session)


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_variable_that_is_assigned_to_is_seen(graph: Graph, use_resource: bool) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x, 1, use_resource=use_resource)
    new = placeholder(FLOAT32, [8, 8])
    with session_of(graph) as session:
        weights = get_variable_of(graph)
        change = assign(weights, new)
        for number in range(6):  # the first changes make new models, then the variable is an input
            value = np.full((8, 8), number / 10, np.float32)
            session.run(operation_of(change), {new: value})
            np.testing.assert_allclose(
                session.run(y, {x: x_of(2)}), np.tanh(x_of(2) @ value), rtol=1e-5, atol=1e-6
            )  # fmt: skip
        assert is_running(session)


def test_a_plan_that_changes_a_variable_reads_it_in_its_own_order(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    weights: Any = get_variable("w", initializer=np.eye(8, dtype=np.float32), use_resource=True)
    before = matmul(x, weights.read_value())
    with control_dependencies([before]):
        change = assign_add(weights, np.ones((8, 8), np.float32))
    with control_dependencies([operation_of(change)]):
        after = matmul(x, weights.read_value())
    with session_of(graph) as session:
        first, second = session.run([before, after], {x: x_of(2)})
        np.testing.assert_allclose(first, x_of(2), rtol=1e-6)
        np.testing.assert_allclose(second, x_of(2) @ (np.eye(8) + 1), rtol=1e-5, atol=1e-6)
        assert "ReadVariableOp" not in ops_in_parts(session)


def test_errors_are_those_of_our_kernels(graph: Graph) -> None:
    x = placeholder(FLOAT32, None)
    w = placeholder(FLOAT32, None)
    y = tanh(matmul(x, w, name="product"))
    errors = []
    for engine in (EVERYTHING, None):
        with Session(graph, engine=engine) as session, pytest.raises(TensorKeepError) as raised:
            session.run(y, {x: x_of(2), w: np.zeros((3, 3), np.float32)})
        errors.append((type(raised.value), str(raised.value)))
    assert errors[0] == errors[1]
    assert "product" in errors[0][1]


def test_a_part_goes_on_after_an_error(graph: Graph) -> None:
    x, w = placeholder(FLOAT32, [None, None]), placeholder(FLOAT32, [None, None])
    y = tanh(matmul(x, w))
    with Session(graph, engine=EVERYTHING) as session:
        for _ in range(5):
            with pytest.raises(InvalidArgumentError):
                session.run(y, {x: x_of(2), w: np.zeros((3, 3), np.float32)})
        found = session.run(y, {x: x_of(2), w: np.eye(8, dtype=np.float32)})
        np.testing.assert_allclose(found, np.tanh(x_of(2)), rtol=1e-6)
        assert is_running(session)


def test_what_has_no_rule_stays_and_what_surrounds_it_does_not(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    as_text = get_op("AsString")
    words = as_text(layers(x, 1))
    y = get_op("StringToNumber")(words, out_type=FLOAT32)
    z = tanh(matmul(y, np.eye(8, dtype=np.float32)))
    with session_of(graph) as session, Session(graph, resources=session.resources) as ours:
        np.testing.assert_allclose(session.run(z, {x: x_of(2)}), ours.run(z, {x: x_of(2)}), rtol=1e-5)
        split = session._programs.compiled[-1].split
        assert split is not None
        assert len(split.parts) == 2
        assert {kept.op.type for kept in split.kept} == {"AsString", "StringToNumber"}


def test_a_fetched_and_a_fed_tensor_in_the_middle_are_ends_of_parts(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    middle = layers(x, 1)
    y = tanh(matmul(middle, np.eye(8, dtype=np.float32)))
    with session_of(graph) as session:
        first, second = session.run([middle, y], {x: x_of(2)})
        np.testing.assert_allclose(second, np.tanh(first), rtol=1e-5)
        np.testing.assert_allclose(session.run(y, {middle: x_of(4)}), np.tanh(x_of(4)), rtol=1e-5)


def test_several_threads_may_call(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x, 3)
    with session_of(graph) as session, Session(graph, resources=session.resources) as ours:
        wanted = [ours.run(y, {x: x_of(rows)}) for rows in range(1, 9)]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda rows: session.run(y, {x: x_of(rows)}), list(range(1, 9)) * 4))
        for at, answer in enumerate(found):
            np.testing.assert_allclose(answer, wanted[at % 8], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("providers", [(), ("AzureExecutionProvider",)], ids=["processor", "elsewhere"])
def test_a_table_that_rows_are_looked_up_in_is_not_copied(graph: Graph, providers: tuple[str, ...]) -> None:
    if missing := set(providers) - set(onnxruntime.get_available_providers()):
        pytest.skip(f"this build of ONNX Runtime has no {missing}")
    x = placeholder(INT32, [None])
    table = get_variable("w", initializer=np.ones((300_000, 64), np.float32), use_resource=True)
    y = tanh(get_op("GatherV2")(table, x, np.int32(0)))
    engine = OnnxRuntimeEngine(OnnxRuntime(providers=providers, smallest=0))
    with session_of(graph, engine=engine) as session:
        np.testing.assert_allclose(session.run(y, {x: [1, 999]}), np.tanh(np.ones((2, 64))), rtol=1e-6)
        split = session._programs.compiled[-1].split
        assert split is not None
        (part,) = split.parts
        assert isinstance(part.run, OnnxPart)
        is_given = f"{VARIABLE}0" in part.run._models[0].session.inputs
        assert is_given == (not providers)  # another device keeps it: what is given is copied there in every call
        with pytest.raises(InvalidArgumentError):
            session.run(y, {x: [-1]})


def test_where_memory_is_limited_our_kernels_run(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    with session_of(graph, limits=Limits(bytes=1 << 40)) as session:
        session.run(y, {x: x_of(2)})
        assert ops_in_parts(session) == []


def test_where_shapes_are_not_trusted_our_kernels_run(graph: Graph) -> None:
    x = placeholder(FLOAT32, [3, 8])
    y = layers(x)
    with session_of(graph, trusts_shapes=False) as session:
        assert session.run(y, {x: x_of(2)}).shape == (2, 8)
        assert ops_in_parts(session) == []


def test_what_is_refused_is_refused(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    name = placeholder(STRING, [])
    with control_dependencies([get_op("WriteFile")(name, name)]):
        y = layers(x)
    with session_of(graph, allow_io=False) as session, pytest.raises(PermissionDeniedError):
        session.run(y, {x: x_of(2), name: b"file"})


def test_too_little_to_do_stays(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = tanh(x)
    with Session(graph, engine=OnnxRuntimeEngine()) as session:
        session.run(y, {x: x_of(2)})
        split = session._programs.compiled[-1].split
        assert split is not None
        assert not split.parts
        assert [(kept.op.type, kept.reason) for kept in split.kept] == [("Tanh", "too little to do")]


def test_the_faster_of_two_engines_is_found_by_the_first_calls(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "_LONGEST_PAUSE", 10)
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    engine = OnnxRuntimeEngine(OnnxRuntime(smallest=0, only_if_faster=True))
    with session_of(graph, engine=engine) as session, Session(graph, resources=session.resources) as ours:
        for _ in range(64):
            np.testing.assert_allclose(session.run(y, {x: x_of(2)}), ours.run(y, {x: x_of(2)}), rtol=1e-5, atol=1e-6)
        (part,) = session._programs.compiled[-1].split.parts  # type: ignore[union-attr]
        assert isinstance(part.run, FasterPart)
        assert len(part.run._chosen) == 1


class Disturbing:
    """A part that takes ONNX Runtime 2 seconds and our kernels 1, or 5 while its threads are still about."""

    arrays = 1

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self, *values: Any) -> Any:
        return self.results(values)

    def results(self, values: Any, at_a_time: int = 0) -> Any:
        self.now += 2
        self.calls.append("theirs")
        return values

    def rows(self, values: Any) -> int:
        return 0

    def own(self, *values: Any) -> Any:
        self.now += 5 if self.calls[-1] == "theirs" else 1
        self.calls.append("ours")
        return values


def test_engines_are_timed_without_disturbing_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    disturbing = Disturbing()
    monkeypatch.setattr(choosing, "perf_counter", lambda: disturbing.now)
    part: Any = FasterPart(disturbing)  # type: ignore[arg-type]
    for _ in range(10):
        part(x_of(2))
    assert disturbing.calls == ["theirs"] * 4 + ["ours"] * 6


def test_short_calls_are_timed_oftener(monkeypatch: pytest.MonkeyPatch) -> None:
    """What disturbs a call of a millisecond is likely to disturb three of them."""
    short = Disturbing()
    monkeypatch.setattr(choosing, "perf_counter", lambda: short.now / 1000)
    part: Any = FasterPart(short)  # type: ignore[arg-type]
    for _ in range(30):
        part(x_of(2))
    assert short.calls == ["theirs"] * 13 + ["ours"] * 17


def test_the_two_fastest_ways_are_timed_again_when_what_disturbed_them_is_over() -> None:
    """ONNX Runtime takes half of our kernels' time, but for the first calls, while the machine does something else."""
    batch = Batch({0: 0.01, -1: 0.02}, rows=1)
    busy = dict(batch.seconds)
    part: Any = FasterPart(batch, lambda: batch.now)  # type: ignore[arg-type]
    for number in range(200):
        batch.seconds = busy if number > 11 else {0: 0.05, -1: 0.02}
        part(x_of(2))
    first = batch.calls.index(-1)
    pause = batch.calls[first:].index(0)
    assert set(batch.calls[:first]) == {0}
    assert 50 < pause < 80
    assert batch.calls[-20:] == [0] * 20


class Batch:
    """A part that takes so many seconds with some rows at a time; with all of them if 0, by our kernels if -1."""

    arrays = 1

    def __init__(self, seconds: dict[int, float], rows: int = 32) -> None:
        self.seconds, self.count = seconds, rows
        self.now = 0.0
        self.calls: list[int] = []

    def results(self, values: Any, at_a_time: int = 0) -> Any:
        self.now += self.seconds[at_a_time]
        self.calls.append(at_a_time)
        return values

    def rows(self, values: Any) -> int:
        return self.count

    def own(self, *values: Any) -> Any:
        return self.results(values, -1)


@pytest.mark.parametrize("fastest", [0, 4, 1, -1])
def test_a_batch_is_run_in_the_fastest_way(fastest: int) -> None:
    batch = Batch({0: 1.0, 4: 1.0, 1: 1.0, -1: 1.0} | {fastest: 0.9})
    part: Any = FasterPart(batch, lambda: batch.now)  # type: ignore[arg-type]
    for _ in range(24):
        part(x_of(32))
    assert batch.calls == [0] * 4 + [4] * 4 + [1] * 4 + [-1] * 4 + [fastest] * 8


def test_a_way_that_is_much_slower_is_not_timed_again() -> None:
    batch = Batch({0: 1.0, 4: 0.5, 1: 2.0, -1: 3.0})
    part: Any = FasterPart(batch, lambda: batch.now)  # type: ignore[arg-type]
    for _ in range(14):
        part(x_of(32))
    assert batch.calls == [0] * 4 + [4] * 4 + [1] * 2 + [-1] * 2 + [4] * 2


@pytest.mark.parametrize(("rows", "seconds"), [(1, 1.0), (0, 1.0), (32, 0.001)])
def test_few_rows_and_short_calls_are_not_taken_apart(rows: int, seconds: float) -> None:
    batch = Batch(dict.fromkeys((0, 4, 1), seconds) | {-1: 2 * seconds}, rows)
    part: Any = FasterPart(batch, lambda: batch.now)  # type: ignore[arg-type]
    for _ in range(60):
        part(x_of(32))
    assert set(batch.calls) == {0, -1}
    assert batch.calls[-1] == 0


def test_some_rows_at_a_time_give_what_all_of_them_give(graph: Graph) -> None:
    x = placeholder(FLOAT32, [None, 8])
    y = layers(x)
    with session_of(graph) as session:
        session.run(y, {x: x_of(7)})
        (part,) = session._programs.compiled[-1].split.parts  # type: ignore[union-attr]
        assert isinstance(part.run, OnnxPart)
        held = [item for _, item in session.resources.items() if isinstance(item, VariableResource)]
        given = (x_of(7), *held)
        assert part.run.rows(given) == 7
        (whole,) = part.run.results(given)
        for count in (1, 3, 7, 9):
            (found,) = part.run.results(given, count)
            np.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-6)
        assert part.run.rows((x_of(0), *held)) == 0
        assert part.run.is_running


@pytest.mark.parametrize(("count", "options", "is_alone"), [
    (1, OnnxRuntime(), True), (2, OnnxRuntime(), False), (1, OnnxRuntime(threads=2), False),
    (1, OnnxRuntime(providers=("CUDAExecutionProvider",)), False),
])  # fmt: skip
def test_one_processor_is_asked_how_long_it_worked(
    count: int, options: OnnxRuntime, is_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not how much time passed, in which the machine may have done something else."""
    monkeypatch.setattr(engine_module, "processors", lambda: count)
    assert engine_module._clock_of(options) is (thread_time if is_alone else perf_counter)


def test_a_part_inside_one_that_our_kernels_run_is_theirs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function has parts of is not timed as our kernels' work while ONNX Runtime does it."""
    inside = Disturbing()
    monkeypatch.setattr(choosing, "perf_counter", lambda: inside.now)
    inner: Any = FasterPart(inside)  # type: ignore[arg-type]
    outer: Any = FasterPart(around := Disturbing())  # type: ignore[arg-type]
    around.results = lambda values, at_a_time=0: inside.results(values)  # type: ignore[method-assign]
    around.own = inner  # type: ignore[method-assign]
    for _ in range(12):
        outer(x_of(2))
    assert inside.calls == ["theirs"] * 4 + ["ours"] * 8
    inner(x_of(2))  # by itself it is timed anew
    assert inside.calls[-1] == "theirs"


def test_engines_have_names() -> None:
    assert engine_of("numpy") is None
    assert engine_of("onnxruntime") is not None
    assert engine_of("auto") is not None
    assert engine_of(EVERYTHING) is EVERYTHING
    with pytest.raises(InvalidArgumentError, match="there is no engine 'tensorrt'"):
        engine_of("tensorrt")
    with pytest.raises(InvalidArgumentError, match="there is no engine 5"):
        engine_of(5)  # type: ignore[arg-type]


def test_an_engine_that_is_not_installed_is_an_error_or_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(UnimplementedError, match=r'pip install "tensorkeep\[onnx\]"'):
        engine_of("onnxruntime")
    assert engine_of("auto") is None


def test_an_engine_that_cannot_be_imported_says_so(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_engine", later("tensorkeep.onnx.engine.missing"))
    with (
        Session(graph, engine=engine_of("onnxruntime")) as session,
        pytest.raises(UnimplementedError, match=r"cannot be imported.*tensorkeep\[onnx\]"),
    ):
        session.run(tanh(placeholder(FLOAT32, [])), {"Placeholder:0": 1.0})


def test_a_provider_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match=r"no NoSuchProvider; it has .*CPUExecutionProvider"):
        OnnxRuntimeEngine(OnnxRuntime(providers=("NoSuchProvider",)))


def test_a_provider_that_cannot_work_on_this_machine_is_an_error_and_not_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    for provider in ("CUDAExecutionProvider", ("CUDAExecutionProvider", {"device_id": 7})):
        with pytest.raises(InvalidArgumentError, match="cannot use CUDAExecutionProvider on this machine"):
            OnnxRuntimeEngine(OnnxRuntime(providers=(provider,)))  # type: ignore[arg-type]


def test_providers_may_have_options_of_their_own(graph: Graph) -> None:
    wanted = ("CPUExecutionProvider", {"use_arena": 0})
    options = OnnxRuntime(providers=(wanted,), smallest=0)  # type: ignore[arg-type]
    assert options.providers == (("CPUExecutionProvider", {"use_arena": "0"}),)
    with Session(graph, engine=engine_of(options)) as session:
        assert session.run(tanh(placeholder(FLOAT32, [])), {"Placeholder:0": 0.0}) == 0.0
    for wrong in (5, ("CPUExecutionProvider",), ("CPUExecutionProvider", "use_arena")):
        with pytest.raises(InvalidArgumentError, match="a name, or a pair of a name and a dictionary of options"):
            OnnxRuntime(providers=(wrong,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": 0}, {"threads": "two"}, {"threads": True}, {"threads": 10**9}, {"providers": 5},
        {"options": ["spinning"]},
    ],
)  # fmt: skip
def test_options_of_a_wrong_kind_are_an_error_before_anything_runs(wrong: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{next(iter(wrong))} of ONNX Runtime"):
        OnnxRuntime(**wrong)


def test_the_smallest_part_is_a_number() -> None:
    with pytest.raises(InvalidArgumentError, match="the smallest part of ONNX Runtime is a number of nodes, got 'x'"):
        OnnxRuntime(smallest="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a" * 3000])
def test_options_that_onnx_runtime_does_not_take_are_an_error(name: str) -> None:
    """And no reason to run the model by our kernels without a word."""
    with pytest.raises(InvalidArgumentError, match=r'ONNX Runtime does not take the option "(a{80}\.\.\.)?"'):
        OnnxRuntimeEngine(OnnxRuntime(options={name: "1"}))


def test_options_of_a_session_may_be_numbers(graph: Graph) -> None:
    options: Any = {"session.intra_op.allow_spinning": 0}
    with Session(graph, engine=engine_of(OnnxRuntime(options=options, smallest=0))) as session:
        assert session.run(tanh(placeholder(FLOAT32, [])), {"Placeholder:0": 0.0}) == 0.0


def get_variable_of(graph: Graph) -> Any:
    """The only variable of a graph."""
    (found,) = get_collection(graph, GraphKeys.GLOBAL_VARIABLES)
    return found


def operation_of(changed: Any) -> Any:
    """What assigns."""
    return getattr(changed, "op", changed)


def test_what_one_branch_makes_for_another_stays_with_our_kernels(graph: Graph) -> None:
    x, is_first = placeholder(FLOAT32, [None, 8]), placeholder(BOOL, [])
    switch, merge, add = get_op("Switch"), get_op("Merge"), get_op("AddV2")
    one = switch(x, is_first)
    made = exp(one.output_false)  # there in some runs only
    between = tanh(merge([made, tanh(one.output_true)]).output)
    other = switch(between, is_first)
    y = tanh(merge([add(other.output_false, made), other.output_true]).output)
    with session_of(graph) as session, Session(graph) as ours:
        for truth in (True, False):
            feeds = {x: x_of(3), is_first: truth}
            np.testing.assert_allclose(session.run(y, feeds), ours.run(y, feeds), rtol=1e-5, atol=1e-6)
        assert "Tanh" in ops_in_parts(session)


def test_a_variable_that_is_changed_by_another_handle_is_read_in_its_turn(graph: Graph) -> None:
    handle, other = (
        get_op("VarHandleOp")(container="", shared_name="same", dtype=FLOAT32, shape=[8, 8]) for _ in range(2)
    )
    x, new = placeholder(FLOAT32, [None, 8]), placeholder(FLOAT32, [8, 8])
    change = get_op("AssignVariableOp")(handle, new)
    read = get_op("ReadVariableOp")(other, dtype=FLOAT32)
    with control_dependencies([read.op]):
        later = get_op("AssignVariableOp")(handle, new)
    with control_dependencies([later]):
        y = matmul(x, read)
    with session_of(graph) as session:
        session.run(change, {new: np.ones((8, 8), np.float32)})
        for number in range(2, 4):
            found = session.run(y, {x: x_of(2), new: np.full((8, 8), number, np.float32)})
            np.testing.assert_allclose(found, x_of(2) @ np.full((8, 8), number - 1, np.float32), rtol=1e-5, atol=1e-6)


def test_a_variable_that_a_function_changes_by_its_name_is_read_in_its_turn(graph: Graph) -> None:
    def handle() -> Any:
        return get_op("VarHandleOp")(container="", shared_name="same", dtype=FLOAT32, shape=[8, 8])

    with building(Graph()) as body:
        given = placeholder(FLOAT32, [8, 8])
        get_op("AssignVariableOp")(handle(), given)
    graph.functions["change"] = function_def("change", body, [given], [])
    x, new = placeholder(FLOAT32, [None, 8]), placeholder(FLOAT32, [8, 8])
    start = get_op("AssignVariableOp")(handle(), new)
    read = get_op("ReadVariableOp")(handle(), dtype=FLOAT32)
    with control_dependencies([read.op]):
        change = get_op("StatefulPartitionedCall")([new], Tout=[], f=FunctionRef("change"))
    with control_dependencies([operation_of(change)]):
        y = matmul(x, read)
    with session_of(graph) as session:
        session.run(start, {new: np.ones((8, 8), np.float32)})
        for number in range(2, 4):
            found = session.run(y, {x: x_of(2), new: np.full((8, 8), number, np.float32)})
            np.testing.assert_allclose(found, x_of(2) @ np.full((8, 8), number - 1, np.float32), rtol=1e-5, atol=1e-6)


def test_a_table_that_is_also_multiplied_by_is_seen_to_change(graph: Graph) -> None:
    """Rows are looked up in what is given; the product has the table turned over as a constant."""
    x, new = placeholder(FLOAT32, [None, 64]), placeholder(FLOAT32, [512, 64])
    table = get_op("VarHandleOp")(container="", shared_name="table", dtype=FLOAT32, shape=[512, 64])
    change = get_op("AssignVariableOp")(table, new)
    rows = get_op("ResourceGather")(table, np.array([5], np.int32), dtype=FLOAT32)
    y = matmul(x, get_op("ReadVariableOp")(table, dtype=FLOAT32), transpose_b=True)
    given = np.full((1, 64), 0.01, np.float32)
    with session_of(graph) as session:
        for number in range(5):
            value = np.full((512, 64), number, np.float32)
            session.run(change, {new: value})
            found_rows, found = session.run([rows, y], {x: given})
            np.testing.assert_array_equal(found_rows, value[[5]])
            np.testing.assert_allclose(found, given @ value.T, rtol=1e-5)
        assert is_running(session)


@pytest.mark.parametrize("is_theirs", [False, True])
def test_engines_are_timed_one_after_the_other(is_theirs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of one that wait for work would slow the other down if they took turns."""
    ran: list[str] = []
    now = [0.0]
    monkeypatch.setattr("tensorkeep.onnx.engine.choosing.perf_counter", lambda: now[0])

    def run(name: str, seconds: float) -> Callable[..., list[Any]]:
        def call(*values: Any) -> list[Any]:
            ran.append(name)
            now[0] += seconds
            return []

        return call

    part = OnnxPart(1, lambda variables, constants: pytest.fail("it is not opened"), lambda: run("ours", 2.0))
    theirs = run("theirs", 1.0 if is_theirs else 3.0)
    monkeypatch.setattr(part, "results", lambda values, at_a_time=0: theirs(*values))
    monkeypatch.setattr(part, "rows", lambda values: 0)
    faster = FasterPart(part)
    for _ in range(10):
        faster(np.zeros(5))
    assert ran == ["theirs"] * 4 + (["ours"] * 2 + ["theirs"] * 4 if is_theirs else ["ours"] * 6)
