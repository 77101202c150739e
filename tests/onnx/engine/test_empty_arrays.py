"""Arrays that become empty inside of a part never reach an operator that would end the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.engine.empty_arrays import FilledValues, why_dangerous
from tensorkeep.onnx.engine.engine import OnnxRuntimeEngine
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.onnx.rules.registry import RULES
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tests.onnx.engine.empty_walk import (
    Case,
    Stop,
    case_of,
    cases,
    neighbour_cases,
    operators_after_optimizing,
    sample_values,
    walk,
)
from tests.ops.sample import all_samples
from tests.ops.walking import import_all_ops
from tests.support.depth import thinned

import_all_ops()
EVERYTHING = OnnxRuntimeEngine(OnnxRuntime(threads=1, smallest=0))
NAMES = sorted(RULES.keys() & all_samples().keys())


@pytest.mark.parametrize("name", thinned(NAMES, 5))
def test_what_is_said_to_have_elements_has_some(name: str) -> None:
    """For every sample of every op: each value of its model, with what ONNX Runtime computes for it."""
    for sample in [sample for sample in all_samples()[name] if not sample.fails][:8]:
        made = sample_values(name, sample, "rank")
        if made is None:
            continue
        translated, values = made
        filled = FilledValues()
        filled.dangers(translated.model.graph)
        for node in translated.model.graph:
            for value in node.outputs:
                if isinstance(array := values.get(value.name or ""), np.ndarray) and filled.is_filled(value):
                    assert array.size, f"{name}: {node.op_type} gives {value.name} without elements"


@pytest.mark.deep
def test_what_ends_a_process_is_never_given_to_it() -> None:
    """For each stop of the walk: if those arrays may be empty, something in the model is not run."""
    stops = walk([*cases(), *recurrent_cases(), *neighbour_cases()])
    known = {"Conv", "Einsum", "GRU", "LSTM", "SkipLayerNormalization", "Unique"}
    assert known <= {stop.case.operator for stop in stops}
    assert [message for stop in stops if (message := unguarded(stop))] == []


def unguarded(stop: Stop) -> str:
    """What is wrong if something that ended a process would be run."""
    graph = ir.from_proto(onnx.ModelProto.FromString(stop.case.model)).graph
    empty = [value for value in graph.inputs if int((value.name or "").removeprefix("in")) in stop.empty]
    return "" if FilledValues(empty).dangers(graph) else f"{stop.case.operator} with {sorted(stop.empty)} empty"


@pytest.mark.parametrize("case", neighbour_cases(), ids=lambda case: case.operator)
def test_neighbours_are_run_by_the_operator_that_they_are_here_for(case: Case, tmp_path: Path) -> None:
    assert case.operator in operators_after_optimizing(case, tmp_path)


def recurrent_cases() -> list[Case]:
    """The recurrent layers, which rules only write for whole loops."""
    found = []
    for name, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        shapes = ((5, 2, 3), (1, gates * 6, 3), (1, gates * 6, 6), (1, gates * 12))
        node = helper.make_node(name, [f"x{at}" for at in range(4)], ["y"], hidden_size=6)
        found.append(case_of(node, [np.ones(shape, np.float32) for shape in shapes]))
    return found


def test_what_may_be_empty_is_left_to_our_kernels_where_it_would_end_the_process() -> None:
    with building(Graph()) as graph:
        x = placeholder(FLOAT32, [None])
        places = get_op("Where")(get_op("Greater")(get_op("Neg")(x), 0.0))
        y, _ = get_op("UniqueV2")(get_op("Reshape")(places, [-1]), np.array([0], np.int32))
    with Session(graph, engine=EVERYTHING) as session:
        for given, wanted in (([1, -2, 1, -2], [1, 3]), ([1, 1], [])):
            found = session.run(y, {x: np.array(given, np.float32)})
            np.testing.assert_array_equal(found, np.array(wanted, np.int64))
        split = session._programs.compiled[-1].split
        assert split is not None
        reasons = {kept.op.type: kept.reason for kept in split.kept}
        assert "may end the process where Unique is given" in reasons["UniqueV2"]
        assert {"Neg", "Where"} <= {op.type for part in split.parts for op in part.ops}


def graph_of(text: str) -> ir.Graph:
    """A graph of ONNX's own language, in a model."""
    return ir.from_onnx_text(f'<ir_version: 9, opset_import: ["": 20]>\n{text}').graph


HEAD = "g (float[N, T, 3] x, float[1, 8, 3] w, float[1, 8, 2] r) => (float[T, 1, N, 2] y)"


@pytest.mark.parametrize(
    ("nodes", "is_safe"),
    [
        ("a = Relu(x)", True),
        ("a = Transpose <perm = [1, 0, 2]> (x)", True),
        ("s = Shape(x) a = Expand(x, s)", True),
        ("one = Constant <value_ints = [1]> () a = Concat <axis = 0> (x, x)", True),
        ("z = NonZero(x) f = Cast <to = 1> (z) t = Transpose(f) a = Unsqueeze(t, t)", False),
        ("c, d = Split <num_outputs = 2, axis = 1> (x) a = Identity(d)", False),
    ],
)
def test_a_recurrent_layer_is_only_given_what_has_elements(nodes: str, is_safe: bool) -> None:
    dangers = FilledValues().dangers(graph_of(f"{HEAD} {{ {nodes} y = LSTM <hidden_size = 2> (a, w, r) }}"))
    assert [node.op_type for node in dangers] == ([] if is_safe else ["LSTM"])


LOOP = """g (float[N] x, int64 n, bool c) => (float[M] z) {{
    y = Loop (n, c, x) <body = b (int64 i, bool go, float[K] a) => (bool on, float[L] e) {{
        on = Identity(go)
        e = {step}
    }}>
    z, p, q, k = Unique (y)
}}"""


@pytest.mark.parametrize(("step", "is_safe"), [("Exp(a)", True), ("Compress(a, go)", False), ("Add(a, x)", True)])
def test_rounds_of_a_loop_may_empty_what_they_hand_on(step: str, is_safe: bool) -> None:
    dangers = FilledValues().dangers(graph_of(LOOP.format(step=step)))
    assert [node.op_type for node in dangers] == ([] if is_safe else ["Unique"])
    assert all("Unique is given an array without elements" in why_dangerous(node) for node in dangers)


@pytest.mark.parametrize(
    ("nodes", "is_safe"),
    [
        ("s = Add(x, z)", True),
        ("a = Exp(z) b = Add(x, a) s = Add(b, x)", True),
        ("a = Compress <axis = 0> (z, c) s = Add(x, a)", False),
        ("a = Compress <axis = 0> (z, c) b = Add(a, z) s = Add(x, b)", False),
        ("a = Compress <axis = 0> (z, c) s = Mul(x, a)", True),
    ],
)
def test_a_layer_is_only_normalised_if_all_terms_of_its_sum_have_elements(nodes: str, is_safe: bool) -> None:
    """ONNX Runtime makes one operator of the two, which ends the process where one term is empty."""
    head = "g (float[N, T, 4] x, float[N, T, 4] z, bool[N] c, float[4] f) => (float[N, T, 4] y)"
    dangers = FilledValues().dangers(graph_of(f"{head} {{ {nodes} y = LayerNormalization <axis = -1> (s, f, f) }}"))
    assert [why_dangerous(node).partition(" is given")[0] for node in dangers] == (
        [] if is_safe else ["ONNX Runtime may end the process where LayerNormalization after Add"]
    )


def test_an_operator_in_a_branch_is_looked_at() -> None:
    text = """g (float[N] x, bool c) => (float[M] z) {
        z = If (c) <then_branch = t () => (float[A] a) { n = NonZero(x) f = Cast <to = 1> (n) a, i, j, k = Unique(f) },
                    else_branch = e () => (float[B] b) { b = Identity(x) }>
    }"""
    dangers = FilledValues().dangers(graph_of(text))
    assert [why_dangerous(node).partition(" is given")[0] for node in dangers] == [
        "ONNX Runtime may end the process where an operator in its If"
    ]


def test_slices_that_keep_something_of_any_axis_are_safe() -> None:
    def verdict(start: int, end: int, step: int) -> Any:
        text = f"""g (float[N] x) => (float[M] z) <int64[1] s = {{{start}}}, int64[1] e = {{{end}}}, int64[1] a = {{0}},
            int64[1] t = {{{step}}}> {{ y = Slice(x, s, e, a, t) z, p, q, k = Unique(y) }}"""
        return not FilledValues().dangers(graph_of(text))

    assert all(verdict(*cut) for cut in ((0, 5, 1), (-1, 1 << 62, 1), (-1, -(1 << 62), -1)))
    assert not any(verdict(*cut) for cut in ((1, 5, 1), (0, -1, 1), (0, 0, 1)))
