"""A plan in three parts: the middle is all that ONNX can do at once, and the parts together do what the plan does."""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorkeep.v1 as tf
from tensorkeep.dtypes import FLOAT32, INT64, RESOURCE, STRING
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.onnx.splitting import refused_operations, split_for_onnx
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.partitions.part_graphs import graph_of_part
from tensorkeep.runtime.plans.plan import Plan, make_plan
from tensorkeep.runtime.plans.splitting import Part, Split, best_levels, split_plan
from tensorkeep.runtime.session import Session
from tests.onnx.walking import from_onnx, to_onnx
from tests.onnx.with_resources import NEWEST_THAT_RUNS
from tests.ops.embedding_graphs import graph
from tests.ops.sample import strings

OPTIONS = TranslateOptions(opset=NEWEST_THAT_RUNS)


# ------------------------------------------------------------------------------------------------ Levels


@st.composite
def weighted_graphs(draw: Any) -> Any:
    count = draw(st.integers(1, 6))
    weights = draw(st.lists(st.sampled_from([None, None, 0, 1, 1, 5]), min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = draw(st.lists(pairs.filter(lambda pair: pair[0] < pair[1]), max_size=12)) if count > 1 else []
    return weights, edges, draw(st.lists(pairs, max_size=2))


@given(weighted_graphs())
@settings(max_examples=100, deadline=None)
def test_no_other_levels_have_more_in_the_middle(found: Any) -> None:
    weights, edges, bound = found

    def weight(levels: Any) -> int:
        """Of the middle, or -1 if these are no levels."""
        rises = all(levels[here] <= levels[there] for here, there in edges)
        agrees = all(levels[here] == levels[there] for here, there in bound)
        fits = all(known is not None or level != 1 for known, level in zip(weights, levels, strict=True))
        chosen = sum(known or 0 for known, level in zip(weights, levels, strict=True) if level == 1)
        return chosen if rises and agrees and fits else -1

    best = max(map(weight, product(range(3), repeat=len(weights))))
    assert weight(best_levels(weights, edges, bound)) == best


def test_long_chains_are_divided_in_no_time() -> None:
    """Strings in front and behind, and 20,000 operations between them that each also wait for the second last."""
    count = 20_000
    weights: list[int | None] = [None if item < 30 or item >= count - 30 else 1 for item in range(count)]
    edges = [(item - back, item) for item in range(2, count) for back in (1, 2)]
    started = perf_counter()
    levels = best_levels(weights, edges)
    assert perf_counter() - started < 5
    assert levels == [0] * 30 + [1] * (count - 60) + [2] * 30


# ------------------------------------------------------------------------------------------------ Parts


def run_part(session: Session, part: Part, values: dict[Tensor, Any]) -> None:
    """Adds what a part computes to what is known."""
    outputs = session.run(list(part.outputs), {tensor: values[tensor] for tensor in part.inputs})
    values.update(zip(part.outputs, outputs, strict=True))


def check(plan: Plan, split: Split, refused: set[Operation]) -> None:
    """What every split holds."""
    parts = (split.before, split.middle, split.after)
    assert not set(split.middle.ops) & refused
    assert set(plan.ops) == {op for part in parts for op in part.ops}
    given = set(plan.feeds)
    for part in parts:
        assert set(part.inputs) <= given
        made = {tensor for op in part.ops for tensor in op.outputs}
        assert {tensor for op in part.ops for tensor in op.inputs} <= made | set(part.inputs)
        assert set(part.outputs) <= made
        given |= set(part.outputs)
    assert set(plan.fetches) <= given
    assert_no_way_back(plan, split)


def assert_no_way_back(plan: Plan, split: Split) -> None:
    """No way leads out of the middle and into it again."""
    middle = set(split.middle.ops)
    own = middle - set(split.before.ops) - set(split.after.ops)
    has_left: set[Operation] = set()
    for op in plan.ops:
        sources = [tensor.op for tensor in op.inputs]
        if op not in middle and any(source in own or source in has_left for source in sources):
            has_left.add(op)
        assert op not in own or not any(source in has_left for source in sources), op.name


@st.composite
def programs(draw: Any) -> Any:
    """What each operation takes: those before it by number, or an input (-1, -2) or a variable (-3, -4)."""
    count = draw(st.integers(1, 14))
    takes = [draw(st.tuples(st.integers(-4, i - 1), st.integers(-4, i - 1))) for i in range(count)]
    refused = draw(st.sets(st.integers(0, count - 1)))
    return takes, refused, draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3))


@given(programs())
@settings(max_examples=60, deadline=None)
def test_the_parts_one_after_the_other_do_what_the_plan_does(program: Any) -> None:
    takes, refused, fetched = program
    with graph() as made:
        feeds = [placeholder(dtype=FLOAT32, shape=[2]) for _ in range(2)]
        handles = [get_op("VarHandleOp")(dtype=FLOAT32, shape=[2], shared_name=f"v{i}".encode()) for i in range(2)]
        assigns = [get_op("AssignVariableOp")(item, np.full(2, i + 1, np.float32)) for i, item in enumerate(handles)]
        sources = [get_op("ReadVariableOp")(item, dtype=FLOAT32) for item in handles[::-1]] + feeds[::-1]
        for first, second in takes:
            sources.append(get_op("AddV2")(sources[first + 4], sources[second + 4]))
    ops = [tensor.op for tensor in sources[4:]]
    plan = make_plan([sources[4 + i] for i in sorted(fetched)], (), tuple(feeds))
    unable = {ops[i] for i in refused}
    split = split_plan(plan, lambda op: op not in unable)
    check(plan, split, unable)
    values = {feeds[0]: np.array([1, 2], np.float32), feeds[1]: np.array([-3, 4], np.float32)}
    with Session(made) as session:
        for assign in assigns:
            session.run(assign)
        expected = session.run(list(plan.fetches), dict(values))
        for part in (split.before, split.middle, split.after):
            run_part(session, part, values)
    for tensor, wanted in zip(plan.fetches, expected, strict=True):
        np.testing.assert_array_equal(values[tensor], wanted)


def test_handles_and_branches_of_tensorflow_1_are_not_cut() -> None:
    with graph():
        fed, flag = placeholder(dtype=FLOAT32, shape=[2]), placeholder(dtype=tf.bool, shape=[])
        chosen = tf.cond(flag, lambda: tf.exp(tf.square(fed)), lambda: tf.negative(fed))
        result = tf.tanh(chosen)
    plan = make_plan([result], (), (fed, flag))
    split = split_plan(plan, lambda op: op.type != "Square")
    assert [op.type for op in split.middle.ops] == ["Tanh"]
    assert {op.type for op in split.before.ops} >= {"Square", "Exp", "Neg", "Merge"}
    assert all(tensor.dtype is not RESOURCE for tensor in split.middle.inputs)


# ------------------------------------------------------------------------------------------------ Models


def _model() -> tuple[Any, Any, Any, list[Any]]:
    """Words to labels: text in front, a table behind, and weights that are read in between."""
    text = placeholder(dtype=STRING, shape=[None])
    words = get_op("HashTableV2")(key_dtype=STRING, value_dtype=INT64, shared_name=b"words")
    names = get_op("HashTableV2")(key_dtype=INT64, value_dtype=STRING, shared_name=b"names")
    rows = get_op("VarHandleOp")(dtype=FLOAT32, shape=[3, 2], shared_name=b"rows")
    setup = [
        get_op("InitializeTableV2")(words, strings([b"a", b"b"]), np.array([1, 2])),
        get_op("InitializeTableV2")(names, np.array([0, 1]), strings([b"no", b"yes"])),
        get_op("AssignVariableOp")(rows, np.arange(6, dtype=np.float32).reshape(3, 2)),
    ]
    ids = get_op("LookupTableFindV2")(words, get_op("StringStrip")(text), np.int64(0))
    weights = get_op("Identity")(get_op("ReadVariableOp")(rows, dtype=FLOAT32))
    scores = get_op("MatMul")(tf.one_hot(ids, 3), weights)
    best = get_op("Tanh")(scores)
    label = get_op("LookupTableFindV2")(names, tf.argmax(best, 1), b"?")
    return text, best, label, setup


@pytest.mark.parametrize("given_by", ["rules", "the caller"])
def test_of_a_model_with_strings_the_numbers_become_onnx(given_by: str) -> None:
    with graph() as made:
        text, best, label, setup = _model()
    plan = make_plan([best, label], (), (text,))
    with Session(made) as session:
        for op in setup:
            session.run(op)

        def resource_of(op: Operation) -> object:
            return session.run(op.outputs[0])

        if given_by == "rules":
            split = split_for_onnx(plan, resource_of, OPTIONS)
        else:
            known = {"MatMul", "Tanh", "Identity", "ReadVariableOp", "Const"}
            split = split_plan(plan, lambda op: op.type in known)
        assert "MatMul" in {op.type for op in split.middle.ops}
        assert "ReadVariableOp" in {op.type for op in split.middle.ops}
        assert "StringStrip" in {op.type for op in split.before.ops}
        assert label in split.after.outputs
        values: dict[Tensor, Any] = {text: strings([b" a", b"c", b"b\n"])}
        expected = session.run([best, label], dict(values))
        run_part(session, split.before, values)
        run_by_onnx(split.middle, resource_of, values)
        run_part(session, split.after, values)
    np.testing.assert_allclose(values[best], expected[0], rtol=1e-6)
    assert values[label].tolist() == expected[1].tolist()


def run_by_onnx(part: Part, resource_of: Any, values: dict[Tensor, Any]) -> None:
    inputs = {f"x{number}": tensor for number, tensor in enumerate(part.inputs)}
    outputs = {f"y{number}": tensor for number, tensor in enumerate(part.outputs)}
    proto = translate_graph(inputs, outputs, resource_of, OPTIONS).proto()
    engine = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    found = engine.run(list(outputs), {name: to_onnx(values[tensor], tensor.dtype) for name, tensor in inputs.items()})
    values.update((tensor, from_onnx(item, tensor.dtype)) for tensor, item in zip(part.outputs, found, strict=True))


def test_a_check_among_the_numbers_does_not_divide_them() -> None:
    with graph():
        text, best, label, _ = _model()
        check = get_op("Assert")(tf.reduce_all(best < 2.0), [strings(b"too large: "), best])
        with tf.control_dependencies([check]):
            doubled = get_op("MatMul")(best, np.ones((2, 2), np.float32))
    plan = make_plan([doubled, label], (), (text,))
    split = split_plan(plan, lambda op: op.type not in ("StringStrip", "LookupTableFindV2", "Assert"))
    assert [op.type for op in split.middle.ops].count("MatMul") == 2


def test_a_part_is_a_graph_of_its_own() -> None:
    """Whose operations wait for none of the others, and which has functions, handles and names as they were."""
    with graph() as made:
        text, best, label, setup = _model()
        with tf.control_dependencies([label.op]):
            scaled = tf.multiply(best, 2.0, name="scaled")
    plan = make_plan([scaled, label], (), (text,))
    split = split_plan(plan, lambda op: op.type not in ("StringStrip", "LookupTableFindV2"))
    values: dict[Tensor, Any] = {text: strings([b" a", b"c"])}
    with Session(made) as session:
        for op in setup:
            session.run(op)
        expected = session.run([scaled, label], dict(values))
        for part in (split.before, split.middle, split.after):
            own = graph_of_part(part, made)
            assert {op.name for op in own.graph.operations} == {
                *(op.name for op in part.ops), *(tensor.op.name for tensor in own.inputs.values())
            }  # fmt: skip
            with Session(own.graph, resources=session.resources) as run:
                fed = {own.inputs[tensor]: values[tensor] for tensor in part.inputs}
                values.update(zip(part.outputs, run.run(list(own.outputs.values()), fed), strict=True))
    np.testing.assert_array_equal(values[scaled], expected[0])
    assert values[label].tolist() == expected[1].tolist()


def test_every_operation_that_is_refused_is_told_not_only_the_first() -> None:
    with graph():
        fed = placeholder(dtype=STRING, shape=[None])
        hashed = get_op("StringToHashBucketFast")(fed, num_buckets=5)
        shown = get_op("AsString")(get_op("Tanh")(get_op("Cast")(hashed, DstT=FLOAT32)))
        stripped = get_op("EncodeBase64")(shown)
    plan = make_plan([stripped], (), (fed,))
    refused = refused_operations(plan, lambda op: None, OPTIONS)
    assert {"StringToHashBucketFast", "AsString", "EncodeBase64"} <= {op.type for op in refused}
    assert all("--split" in reason for op, reason in refused.items() if op.type != "AsString")
