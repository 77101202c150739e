"""Branches and loops, built from the same program text by TensorFlow 1 and by us: equal graphs, equal results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.proto.messages import CondContextDef, GraphDef, WhileContextDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.control import cases, control_flow, higher_order, tensor_array
from tensorkeep.tf1.functions.control.context_messages import (
    cond_context_from_proto,
    context_to_proto,
    while_context_from_proto,
)
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import reductions
from tensorkeep.tf1.functions.structures import flatten
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import Built, build, our_names, tensorflow_1
from tests.interop.running import assert_all_close

v1 = tf.compat.v1

RAW = (
    *("Tanh", "MatMul", "Identity", "GatherV2", "VariableV2", "Assign", "AssignAdd", "Switch", "Merge"),
    *("VarHandleOp", "ReadVariableOp", "AssignAddVariableOp", "ResourceGather"),
)


def our_op(name: str) -> Callable[..., Any]:
    return lambda *args, **keywords: get_op(name)(*args, **keywords)


def their_op(name: str) -> Callable[..., Any]:
    names = [arg.name for arg in get_op(name).schema.inputs]
    raw = getattr(tf.raw_ops, name)
    return lambda *args, **keywords: raw(**dict(zip(names, args, strict=False)), **keywords)


class Their:
    """TensorFlow 1, with ops by their names."""

    def __getattr__(self, name: str) -> Any:
        return their_op(name) if name in RAW else getattr(v1, name)


OURS = our_names(
    cases,
    control_flow,
    higher_order,
    reductions,
    tensor_array,
    **{name: our_op(name) for name in RAW},
    gradients=reverse_walk.gradients,
    tuple=control_flow.tuple_,
    identity=our_op("Identity"),
    TensorShape=TensorShape,
    IndexedSlices=IndexedSlices,
    SparseTensor=SparseTensor,
)
THEIRS = Their()


def built(program: Callable[[Any], Any]) -> Built:
    """Both graphs of a program, which are equal node by node."""
    return build(program, OURS, THEIRS)


def check(program: Callable[[Any], Any], *feeds: dict[str, Any]) -> Built:
    """Both graphs of a program, which are equal and give the same for all feeds."""
    both = built(program)
    mine = [leaf for leaf in flatten(both.result, expand_composites=True) if leaf is not None]
    theirs = [leaf for leaf in tf.nest.flatten(both.their_result, expand_composites=True) if leaf is not None]
    session = Session(both.graph)
    with tensorflow_1(), v1.Session(graph=both.their_graph) as oracle:
        for feed in feeds:
            named = {f"{name}:0": value for name, value in feed.items()}
            assert_all_close(session.run(mine, named), oracle.run(theirs, named))
    return both


VECTOR = np.array([1.0, -2.0, 0.5], np.float32)
MATRIX = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
SWITCH = ({"p": True}, {"p": False})
ROUNDS = (0, 1, 4)


# ---------------------------------------------------------------------------------------------------- Grouping


def test_groups_and_tuples() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/cpu:1"):
            c = tf.constant(1.0)
        several = tf.group(x, c)
        tf.group()
        tf.group(x, name="named")
        tf.group([x, {"a": c}])
        tf.tuple([x, c, None, several])
        tf.tuple([x], control_inputs=[several, c], name="gated")
        with tf.control_dependencies([x, c]), tf.control_dependencies([several]):
            tf.no_op()
            tf.identity(c)

    built(program)


# ---------------------------------------------------------------------------------------------------- Branches


def test_a_branch_lets_values_in_through_switches() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        c = tf.constant(1.0)
        y = tf.cond(p, lambda: x * 2.0, lambda: tf.Tanh(x=x) + c)
        return y, tf.gradients(y, [x, c])

    check(program, *({"x": VECTOR, **p} for p in SWITCH))


def test_branches_return_structures_operations_and_values_from_outside() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        q = tf.placeholder(tf.bool, [], name="q")
        c = tf.constant(1.0)

        def waiting() -> Any:
            with tf.control_dependencies([c]):
                return tf.constant(4.0)

        several = tf.cond(
            p,
            lambda: [x, c * 3.0, tf.constant(2)],
            lambda: [x + c, tf.cond(q, lambda: x * c, lambda: c, name="inner"), tf.constant(3)],
            name="outer",
        )
        nested = tf.cond(q, lambda: {"a": x, "b": (c,)}, lambda: {"b": (c * c,), "a": x + x}, strict=True)
        tf.cond(q, tf.no_op, lambda: tf.group(tf.identity(x)))
        with tf.control_dependencies([x]):
            constants = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.identity(c))
        return several, nested, constants, tf.cond(p, waiting, lambda: c)

    check(program, *({"x": VECTOR, "p": p, "q": q} for p in (True, False) for q in (True, False)))


def test_gradients_of_branches_in_branches_and_of_gradients() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, None], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        q = tf.placeholder(tf.bool, [], name="q")
        y = tf.cond(p, lambda: tf.cond(q, lambda: x * x, lambda: tf.Tanh(x=x)), lambda: x)
        pair = tf.cond(p, lambda: (x, x * x), lambda: (x + x, x))
        first = tf.gradients(y, x)
        return first, tf.gradients(pair[0], x), tf.gradients(first[0], x)

    check(program, *({"x": MATRIX, "p": p, "q": q} for p in (True, False) for q in (True, False)))


def test_case_and_assertions() -> None:
    def program(tf: Any) -> Any:
        a = tf.placeholder(tf.int32, [], name="a")
        x = tf.placeholder(tf.float32, [], name="x")
        small, large = a < 3, a > 5
        plain = tf.case([(small, lambda: x * 2.0), (large, lambda: x + 1.0)], default=lambda: x)
        checked = tf.case([(small, lambda: x * 2.0), (large, lambda: x + 1.0)], exclusive=True, name="checked")
        by_name = tf.case({small: lambda: x * 2.0, large: lambda: x + 1.0}, default=lambda: x, exclusive=True)
        with tf.control_dependencies([tf.Assert(a < 10, [x, a]), tf.Assert(a < 9, ["bad", a], summarize=4)]):
            after = tf.identity(x)
        return plain, checked, by_name, after, tf.gradients([plain, checked], x)

    check(program, *({"x": 0.7, "a": a} for a in (1, 7)))


def test_references_and_resources_in_branches() -> None:
    def program(tf: Any) -> Any:
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.placeholder(tf.float32, [2], name="x")
        v = tf.VariableV2(shape=[2], dtype=tf.float32, name="v")
        read = tf.Identity(v, name="v/read")
        tf.cond(p, lambda: tf.AssignAdd(v, x), lambda: v)
        tf.cond(p, lambda: tf.AssignAdd(v, x), lambda: tf.Assign(v, read))
        c = tf.cond(p, lambda: read * read, lambda: tf.identity(v))
        h = tf.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="h", name="h")
        a = tf.cond(p, lambda: tf.ReadVariableOp(h, dtype=tf.float32) * x, lambda: x)
        tf.cond(p, lambda: tf.group(tf.AssignAddVariableOp(h, x)), tf.no_op)
        return tf.gradients(c, read), tf.gradients(a, h)

    built(program)


# ---------------------------------------------------------------------------------------------------- Loops


def test_a_loop_and_its_invariants() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        shapes = [tf.TensorShape([]), tf.TensorShape([None])]
        return tf.while_loop(
            lambda i, v: i < 5, lambda i, v: (i + 1, v * x), [0, tf.constant([1.0])], shape_invariants=shapes
        )

    check(program, {"x": VECTOR})


def test_loops_in_loops_branches_in_loops_and_loops_in_branches() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        n = tf.placeholder(tf.int32, [], name="n")
        p = tf.placeholder(tf.bool, [], name="p")
        c = tf.constant(2.0)

        def body(i: Any, v: Any) -> Any:
            w = tf.while_loop(lambda j, u: j < n, lambda j, u: (j + 1, u * x + v), [0, v], name="inner")[1]
            z = tf.cond(i < 3, lambda: w * c, lambda: v + tf.constant(1.0))
            with tf.control_dependencies([c, w]):
                q = tf.identity(z)
                one = tf.constant(1)
            return i + one, q

        limited = tf.while_loop(lambda i, v: i < 5, body, (0, x), maximum_iterations=7, parallel_iterations=3)
        in_branch = tf.cond(p, lambda: tf.while_loop(lambda i: i < n, lambda i: i + 1, [0]), lambda: n)
        single = tf.while_loop(lambda i: i < n, lambda i: i + 1, [n], maximum_iterations=4)
        same = tf.while_loop(lambda i: i < n, lambda i: [i + 1], [n], maximum_iterations=4, return_same_structure=True)
        with tf.control_dependencies([x]):
            constant = tf.while_loop(lambda i: i < n, lambda i: tf.constant(3), [n])
        return limited, in_branch, single, same, constant

    check(program, *({"x": 0.5, "n": n, **p} for n in (0, 3) for p in SWITCH))


def test_composites_as_loop_variables() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        i0 = tf.placeholder(tf.int64, [2], name="i")
        p = tf.placeholder(tf.bool, [], name="p")
        slices = tf.IndexedSlices(x, i0)
        sparse = tf.SparseTensor(tf.constant([[0, 0]], tf.int64), tf.constant([1.0]), tf.constant([2, 2], tf.int64))

        def doubled(i: Any, s: Any) -> Any:
            return i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)

        y = tf.while_loop(
            lambda i, u: i < 3, lambda i, u: (i + 1, tf.IndexedSlices(u.values * 2.0, u.indices)), (0, slices)
        )
        z = tf.while_loop(lambda i, u: i < 3, doubled, (0, sparse))
        shapes = (tf.TensorShape([]), tf.TensorShape([None]))
        z2 = tf.while_loop(lambda i, u: i < 3, doubled, (0, sparse), shape_invariants=shapes)
        c = tf.cond(p, lambda: sparse, lambda: doubled(0, sparse)[1])
        c2 = tf.cond(p, lambda: [slices], lambda: [tf.IndexedSlices(x * x, i0)])
        values = [y[1].values, z[1].values, z2[1].values, c.values, c2.values]
        return values, tf.gradients(y[1].values, x), tf.gradients(c2.values, x)

    check(program, *({"x": MATRIX.reshape(2, 3), "i": [0, 2], **p} for p in SWITCH))


# ---------------------------------------------------------------------------------------------------- Loops undone


def test_gradients_of_a_loop() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        n = tf.placeholder(tf.int32, [], name="n")
        y = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf.Tanh(x=v) * x), [0, x])
        return tf.gradients(y[1], x)

    check(program, *({"x": 0.7, "n": n} for n in ROUNDS))


def test_gradients_of_loop_variables_that_depend_on_each_other() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.placeholder(tf.float32, [2, 2], name="w")
        n = tf.placeholder(tf.int32, [], name="n")
        y = tf.while_loop(lambda i, v, u: i < n, lambda i, v, u: (i + 1, tf.Tanh(x=tf.MatMul(v, w)), u * v), (0, x, x))
        return tf.gradients(y[2], [x, w]), tf.gradients(y[1], w, name="gradients_b")

    check(program, *({"x": MATRIX, "w": [[0.5, 1.0], [-1.0, 0.25]], "n": n} for n in ROUNDS))


def test_gradients_of_loops_in_loops() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        n = tf.placeholder(tf.int32, [], name="n")

        def body(i: Any, v: Any) -> Any:
            inner = tf.while_loop(lambda j, u: j < n, lambda j, u: (j + 1, u * x + tf.Tanh(x=v)), (0, v), name="inner")
            return i + 1, inner[1]

        return tf.gradients(tf.while_loop(lambda i, v: i < n, body, (0, x))[1], x)

    check(program, *({"x": 0.7, "n": n} for n in ROUNDS))


def test_gradients_of_branches_in_loops_in_branches() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3], name="x")
        n = tf.placeholder(tf.int32, [], name="n")
        p = tf.placeholder(tf.bool, [], name="p")

        def body(i: Any, v: Any) -> Any:
            return i + 1, tf.cond(i < 3, lambda: tf.Tanh(x=v) * x, lambda: v + tf.constant(1.0))

        y = tf.cond(p, lambda: tf.while_loop(lambda i, v: i < n, body, (0, x))[1], lambda: x * x)
        return tf.gradients(y, x)

    check(program, *({"x": VECTOR, "n": n, **p} for n in ROUNDS for p in SWITCH))


def test_gradients_of_everything_nested_with_unknown_shapes() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        n = tf.placeholder(tf.int32, [], name="n")

        def body(i: Any, v: Any) -> Any:
            def inner(j: Any, u: Any) -> Any:
                return j + 1, tf.cond(j < 2, lambda: u * v, lambda: tf.Tanh(x=u) + x)

            w = tf.while_loop(lambda j, u: j < n, inner, (0, v), name="inner")[1]
            return i + 1, tf.cond(i < 2, lambda: w * x, lambda: w)

        return tf.gradients(tf.while_loop(lambda i, v: i < n, body, (0, x))[1], x)

    check(program, *({"x": VECTOR, "n": n} for n in ROUNDS))


def test_gradients_of_loops_with_options() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3], name="x")
        n = tf.placeholder(tf.int32, [], name="n")

        def looped(body: Any, **options: Any) -> Any:
            return tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, body(v)), (0, x), **options)[1]

        forgetful = looped(lambda v: tf.Tanh(x=x))
        one_way = looped(lambda v: tf.Tanh(x=v), back_prop=False, parallel_iterations=1)
        swapped = looped(lambda v: tf.Tanh(x=v), parallel_iterations=1, swap_memory=True, maximum_iterations=n)
        return [tf.gradients(y, x) for y in (forgetful, one_way, swapped)]

    check(program, *({"x": VECTOR, "n": n} for n in ROUNDS))


def test_gradients_inside_a_loop() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")

        def body(i: Any, v: Any) -> Any:
            return i + 1, tf.gradients(v * v * x, v)[0] + v

        return tf.while_loop(lambda i, v: i < 3, body, (0, x))

    check(program, {"x": 0.7})


def test_a_gradient_of_a_loops_gradient_stops_at_what_was_remembered() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v), (0, x))[1]
        first = tf.gradients(y, x)[0]
        return first, tf.gradients(first, x)

    check(program, {"x": 0.7})


def test_gradients_of_slices_in_branches_and_loops() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        table = tf.placeholder(tf.float32, [5, 3], name="table")
        ids = tf.placeholder(tf.int32, [2], name="ids")
        p = tf.placeholder(tf.bool, [], name="p")

        def rows() -> Any:
            return tf.GatherV2(table, ids, 0)

        looped = tf.while_loop(lambda i, u: i < 3, lambda i, u: (i + 1, u * rows()), (0, x))[1]
        mixed = tf.cond(p, rows, lambda: x)
        sliced = tf.cond(p, rows, lambda: rows() * 2.0)
        return tf.gradients(looped, [table, x]), tf.gradients(mixed, table), tf.gradients(sliced, table)

    table = np.arange(15, dtype=np.float32).reshape(5, 3)
    check(program, *({"x": MATRIX.reshape(2, 3), "table": table, "ids": [0, 3], **p} for p in SWITCH))


def test_gradients_of_variables_in_loops() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2], name="x")
        ids = tf.placeholder(tf.int32, [2], name="ids")
        h = tf.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="h", name="h")
        table = tf.VarHandleOp(dtype=tf.float32, shape=[5, 2], shared_name="t", name="t")

        def read() -> Any:
            return tf.ReadVariableOp(h, dtype=tf.float32)

        plain = tf.while_loop(lambda i, u: i < 3, lambda i, u: (i + 1, u * read()), (0, x))[1]
        branched = tf.while_loop(
            lambda i, u: i < 3, lambda i, u: (i + 1, tf.cond(i < 2, lambda: u * read(), lambda: u)), (0, x)
        )[1]
        gathered = tf.while_loop(
            lambda i, u: i < 3, lambda i, u: (i + 1, u * tf.ResourceGather(table, ids, dtype=tf.float32)[0]), (0, x)
        )[1]
        return tf.gradients(plain, [h, x]), tf.gradients(branched, [h, x]), tf.gradients(gathered, table)

    built(program)


def test_gradients_of_switches_that_no_context_is_known_of() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        off, on = tf.Switch(x, p)
        y = tf.Merge([off * 2.0, tf.Tanh(x=on)])[0]
        return y, tf.gradients(y, x)

    check(program, *({"x": VECTOR, **p} for p in SWITCH))


# ---------------------------------------------------------------------------------------------------- Meta graphs


def loops_and_branches(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    p = tf.placeholder(tf.bool, [], name="p")

    def body(i: Any, v: Any) -> Any:
        w = tf.while_loop(lambda j, u: j < n, lambda j, u: (j + 1, u * v), (0, v), name="inner")[1]
        return i + 1, tf.cond(i < 2, lambda: w * x, lambda: tf.Tanh(x=w))

    y = tf.while_loop(lambda i, v: i < n, body, (0, x), maximum_iterations=9, name="outer")[1]
    return tf.identity(tf.cond(p, lambda: y * x, lambda: y), name="result")


@pytest.mark.parametrize("export_scope", [None, "outer"])
def test_contexts_are_the_same_messages(export_scope: str | None) -> None:
    both = built(loops_and_branches)
    for key in ("cond_context", "while_context"):
        ours = [context_to_proto(context, export_scope) for context in both.graph.collections[key]]
        theirs = [context.to_proto(export_scope) for context in both.their_graph.get_collection(key)]
        assert list(map(str, ours)) == list(map(str, theirs))


@pytest.mark.parametrize("scope", [None, "imported"])
def test_gradients_of_imported_branches_and_loops(scope: str | None) -> None:
    with tensorflow_1():
        with tf.Graph().as_default() as source:
            loops_and_branches(THEIRS)
            meta = v1.train.export_meta_graph()
        with tf.Graph().as_default() as theirs:
            v1.train.import_meta_graph(meta, import_scope=scope)
            prefix = f"{scope}/" if scope else ""
            names = (f"{prefix}result:0", f"{prefix}x:0")
            v1.gradients(*(theirs.get_tensor_by_name(name) for name in names))
    ours = Graph()
    import_graph(GraphDef.FromString(source.as_graph_def().SerializeToString()), ours, name=scope or "")
    for item in meta.collection_def["cond_context"].bytes_list.value:
        cond_context_from_proto(CondContextDef.FromString(item), scope, ours)
    for item in meta.collection_def["while_context"].bytes_list.value:
        while_context_from_proto(WhileContextDef.FromString(item), scope, ours)
    with building(ours):
        found = reverse_walk.gradients(*(ours.tensor(name) for name in names))
    assert_same_nodes(our_nodes(ours), their_nodes(theirs))
    value = Session(ours).run(found, {f"{prefix}x:0": VECTOR, f"{prefix}n:0": 3, f"{prefix}p:0": True})
    assert np.isfinite(value).all()


# ---------------------------------------------------------------------------------------------------- Refusals


def outside_a_loop(tf: Any) -> Any:
    kept: list[Any] = []
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, kept.append(v * 2.0) or v), (0, x))
    return kept[0] + 1.0


def in_another_loop(tf: Any) -> Any:
    kept: list[Any] = []
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, kept.append(v * 2.0) or v), (0, x))
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * kept[0]), (0, x))


def through_the_start_of_a_loop(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.gradients(v, x)[0]), (0, x))


def of_two_types(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.cond(x < 1.0, lambda: x, lambda: 1)


def of_no_value(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.cond(x < 1.0, lambda: x, lambda: None)


def of_two_structures(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.cond(x < 1.0, lambda: (x, x), lambda: x)


def of_a_python_bool(tf: Any) -> Any:
    return tf.cond(True, lambda: 1, lambda: 2)


def of_a_growing_shape(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.while_loop(lambda v: v < 3.0, lambda v: tf.constant([1.0]), [x])


def of_too_few_values(tf: Any) -> Any:
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1,), (0, tf.constant(1.0)))


def of_a_wrong_invariant(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    return tf.while_loop(lambda v: True, lambda v: v, [x], shape_invariants=[tf.TensorShape([3])])


@pytest.mark.parametrize(
    "program",
    [
        *(outside_a_loop, in_another_loop, through_the_start_of_a_loop, of_two_types, of_no_value),
        *(of_two_structures, of_a_python_bool, of_a_growing_shape, of_too_few_values, of_a_wrong_invariant),
    ],
)
def test_both_refuse(program: Callable[[Any], Any]) -> None:
    with tensorflow_1(), tf.Graph().as_default(), pytest.raises((TypeError, ValueError)) as theirs:
        program(THEIRS)
    with building(Graph()), pytest.raises((TypeError, ValueError)) as ours:
        program(OURS)
    assert isinstance(ours.value, theirs.type)
