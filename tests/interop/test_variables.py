"""Variables and their scopes beside TensorFlow's: the same program text, the same nodes, the same results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from enum import EnumMeta
from typing import Any

import numpy as np
import pytest

from tensorkeep.graph import building, collections
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.control import control_flow
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.random import numbers as random_functions
from tensorkeep.tf1.variables import assignments, global_step, initializers, listing, partitioned, partitioners, scopes
from tensorkeep.tf1.variables.variable import Variable
from tests.interop.programs import Built, build, our_names, tensorflow_1, v1

tk = our_names(
    assignments,
    initializers,
    listing,
    partitioned,
    partitioners,
    scopes,
    Variable=Variable,
    colocate_with=building.colocate_with,
    init_scope=building.init_scope,
    container=building.container,
    group=control_flow.group,
    set_random_seed=random_functions.set_random_seed,
    gradients=reverse_walk.gradients,
    add_to_collection=lambda name, value: collections.add_to_collection(building.current_graph(), name, value),
    IndexedSlices=IndexedSlices,
    TensorShape=TensorShape,
    identity=shapes.identity,
    cond=control_flow.cond,
    train=our_names(global_step),
    initializers=our_names(initializers, identity=initializers.identity_initializer),
)


def program_id(program: Callable[..., Any]) -> str:
    return program.__name__


PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


@program
def reference_variable_of_a_value(tf: Any) -> Any:
    w = tf.Variable([1.0, 2.0], name="w")
    return [w.initializer]


@program
def reference_variable_without_a_name(tf: Any) -> Any:
    return [tf.Variable(1).initializer, tf.Variable(2.0).initializer]


@program
def reference_variable_of_a_function(tf: Any) -> Any:
    return [tf.Variable(lambda: tf.constant([1, 2]), name="w", dtype=tf.int32).initializer]


@program
def reference_variable_of_a_tensor(tf: Any) -> Any:
    with tf.name_scope("outer"):
        start = tf.constant([[1.0], [2.0]], name="start")
        w = tf.Variable(start, name="w", trainable=False)
    return [w.initializer]


@program
def reference_variable_on_a_device(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        w = tf.Variable(1.0, name="w", caching_device="/cpu:0")
        v = tf.Variable(lambda: tf.constant(1.0), name="v")
    return [w.initializer, v.initializer]


@program
def reference_variable_without_a_shape(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, name="x")
    return [tf.Variable(x, validate_shape=False, name="w").assign([1.0, 2.0])]


@program
def resource_variable_of_a_value(tf: Any) -> Any:
    return [tf.Variable([1.0, 2.0], name="w", use_resource=True).initializer]


@program
def resource_variable_of_a_function(tf: Any) -> Any:
    return [tf.Variable(lambda: tf.constant([1, 2]), name="w", use_resource=True).initializer]


@program
def resource_variable_on_a_device(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        w = tf.Variable(1.0, name="w", use_resource=True, caching_device="/cpu:0")
        w.assign_add(1.0)
        w.assign(2.0)
        w.assign_sub(3.0)
        w.read_value()
        w.value()
        return [w.initializer]


@program
def resource_variable_in_a_container(tf: Any) -> Any:
    with tf.container("box"):
        w = tf.Variable(1.0, name="w", use_resource=True)
        v = tf.Variable(1.0, name="v")
    return [w.initializer, v.initializer]


@program
def variables_under_control_dependencies(tf: Any) -> Any:
    with tf.control_dependencies([tf.constant(1.0, name="before")]):
        w = tf.Variable(1.0, name="w")
        r = tf.Variable(lambda: tf.constant(1.0), name="r", use_resource=True)
        r.read_value()
        w.read_value()
        return [w.assign(3.0), r.assign(3.0)]


@program
def changes_of_reference_variables(tf: Any) -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    with tf.control_dependencies([w.initializer]):
        first = w.assign_add([[1.0, 1.0], [1.0, 1.0]])
    with tf.control_dependencies([first]):
        second = w.assign_sub([[0.5, 0.5], [0.5, 0.5]], name="less", use_locking=True)
    with tf.control_dependencies([second]):
        third = tf.scatter_add(w, [0, 0], [[1.0, 2.0], [3.0, 4.0]])
    with tf.control_dependencies([third]):
        fourth = tf.scatter_nd_update(w, [[0, 1]], [9.0])
    tf.assign(w, [[0.0, 0.0], [0.0, 0.0]], validate_shape=False, name="last")
    with tf.control_dependencies([fourth]):
        return [w.read_value()]


@program
def changes_of_resource_variables(tf: Any) -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w", use_resource=True)
    with tf.control_dependencies([w.initializer]):
        first = w.assign_add([[1.0, 1.0], [1.0, 1.0]])
    second = first.assign_sub([[0.5, 0.5], [0.5, 0.5]], name="less")
    with tf.control_dependencies([second]):
        third = tf.scatter_add(w, [0, 0], [[1.0, 2.0], [3.0, 4.0]])
    with tf.control_dependencies([third]):
        fourth = tf.scatter_nd_update(w, [[0, 1]], [9.0])
    with tf.control_dependencies([fourth]):
        return [w.read_value(), w.sparse_read([1, 0]), w.gather_nd([[0, 0]]), w.value()]


@program
def counting(tf: Any) -> Any:
    w = tf.Variable(3, name="w")
    r = tf.Variable(3, name="r", use_resource=True)
    with tf.control_dependencies([w.initializer, r.initializer]):
        first = [w.count_up_to(5), r.count_up_to(5)]
    with tf.control_dependencies(first):
        return [tf.count_up_to(w, 9), tf.count_up_to(r, 9, name="up")]


@program
def initializing_everything(tf: Any) -> Any:
    tf.Variable(1.0, name="a")
    with tf.device("/cpu:0"):
        tf.Variable(2.0, name="b", use_resource=True)
    tf.get_local_variable("c", initializer=3.0)
    empty = tf.variables_initializer([], name="nothing")
    return [tf.global_variables_initializer(), tf.local_variables_initializer(), empty]


@program
def found_again_in_scopes(tf: Any) -> Any:
    with tf.variable_scope("a"):
        one = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        with tf.variable_scope("b"):
            tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
            tf.constant(1.0, name="inner")
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is one
        tf.constant(1.0, name="again")
        with tf.variable_scope("b") as b:
            tf.get_variable("w")
    with tf.variable_scope(b):
        tf.constant(2.0, name="inner")
    with tf.variable_scope(b, auxiliary_name_scope=False):
        tf.constant(2.0, name="outside")
        with tf.name_scope(b.original_name_scope):
            tf.constant(2.0, name="original")
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        tf.get_variable("w", [2])
        tf.get_variable("v", [], initializer=tf.ones_initializer())
    return [tf.global_variables_initializer()]


@program
def scopes_with_default_names(tf: Any) -> Any:
    for _ in range(3):
        with tf.variable_scope(None, "layer"):
            tf.get_variable("w", [1], initializer=tf.zeros_initializer())
            with tf.variable_scope(None, "inner", [tf.constant(1.0)]):
                tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    with tf.variable_scope("layer"), tf.variable_scope(None, "inner"):
        tf.constant(1.0)
    with tf.name_scope("named"), tf.variable_scope(None, default_name="layer"):
        tf.get_variable("w", [1], initializer=tf.zeros_initializer())
        tf.constant(1.0)
    with tf.variable_scope("", "unused"):
        tf.get_variable("root", [1], initializer=tf.zeros_initializer())
    return [tf.global_variables_initializer()]


@program
def one_scope_object_entered_twice(tf: Any) -> Any:
    scope = tf.variable_scope("s", reuse=tf.AUTO_REUSE)
    for _ in range(2):
        with scope:
            tf.get_variable("w", [1], initializer=tf.zeros_initializer())
            tf.constant(1.0, name="c")
    with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
        tf.get_variable("top", [1], initializer=tf.zeros_initializer())
        tf.constant(1.0, name="c")
    return [tf.global_variables_initializer()]


@program
def what_scopes_hand_down(tf: Any) -> Any:
    with tf.variable_scope("a", initializer=tf.constant_initializer(3.0), dtype=tf.float64, use_resource=True) as a:
        tf.get_variable("w", [2])
        with tf.variable_scope("b", initializer=tf.ones_initializer(), use_resource=False):
            tf.get_variable("w", [2])
            tf.get_variable("i", [2], tf.int32)
        with tf.variable_scope("c", caching_device="/cpu:0"):
            tf.get_variable("w", [2])
            tf.get_variable("r", [2], use_resource=False)
    a.set_dtype(tf.float32)
    a.set_use_resource(False)
    with tf.variable_scope(a):
        tf.get_variable("x", [2])
    return [tf.global_variables_initializer()]


@program
def custom_getters(tf: Any) -> Any:
    def renamed(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(name + "_x", *args, **kwargs)

    def small(getter: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs["shape"] = [1]
        return getter(*args, **kwargs)

    with tf.variable_scope("a", custom_getter=renamed, initializer=tf.zeros_initializer()):
        tf.get_variable("w", [3])
        with tf.variable_scope("b", custom_getter=small):
            tf.get_variable("w", [3])
        tf.get_variable("v", [3], custom_getter=small)
    return [tf.global_variables_initializer()]


@program
def variable_creators(tf: Any) -> Any:
    def resource(next_creator: Any, **kwargs: Any) -> Any:
        kwargs["use_resource"] = True
        return next_creator(**kwargs)

    def renamed(next_creator: Any, **kwargs: Any) -> Any:
        kwargs["name"] = kwargs["name"] + "_made"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(resource):
        tf.Variable(1.0, name="a")
        with tf.variable_creator_scope(renamed):
            tf.Variable(1.0, name="b")
            tf.get_variable("c", initializer=2.0)
    tf.Variable(1.0, name="d")
    return [tf.global_variables_initializer()]


@program
def partitioned_variables(tf: Any) -> Any:
    with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(3), initializer=tf.zeros_initializer()):
        w = tf.get_variable("w", [7, 2])
        tf.get_variable("scalar", [])
        tf.get_variable("r", [4, 2], use_resource=True)
    with tf.variable_scope("emb", reuse=True):
        assert tf.get_variable("w") is w
    tf.get_variable("t", initializer=tf.constant([[1.0], [2.0]]), partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("single", [4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(1))
    return [tf.global_variables_initializer()]


@program
def partitioned_variables_of_old(tf: Any) -> Any:
    parts = tf.create_partitioned_variables([4, 6], [1, 2], tf.constant_initializer(2.0), name="parts")
    unnamed = tf.create_partitioned_variables([4], [4], tf.zeros_initializer())
    assert len(parts) == 2
    assert len(unnamed) == 4
    return [tf.global_variables_initializer()]


@program
def the_global_step(tf: Any) -> Any:
    with tf.name_scope("elsewhere"):
        step = tf.train.get_or_create_global_step()
        assert tf.train.get_or_create_global_step() is step
    return [step.initializer]


@program
def random_initializers(tf: Any) -> Any:
    tf.set_random_seed(7)
    shape = [3, 4]
    tf.get_variable("default", shape)
    tf.get_variable("uniform", shape, initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=3))
    tf.get_variable("ints", shape, tf.int32, tf.random_uniform_initializer(0, 9))
    tf.get_variable("normal", shape, initializer=tf.random_normal_initializer(1.0, 2.0))
    tf.get_variable("truncated", shape, initializer=tf.truncated_normal_initializer(stddev=0.1))
    tf.get_variable("unit", shape, initializer=tf.uniform_unit_scaling_initializer(factor=1.5))
    tf.get_variable("glorot", [5, 3, 2], initializer=tf.glorot_normal_initializer())
    tf.get_variable("kernel", [3, 3, 2, 4], initializer=tf.variance_scaling_initializer(2.0, "fan_out", "uniform"))
    tf.get_variable("untruncated", [6], initializer=tf.variance_scaling_initializer(distribution="untruncated_normal"))
    tf.get_variable("class", shape, initializer=tf.glorot_uniform_initializer)
    tf.get_variable("parts", [4, 4], partitioner=tf.fixed_size_partitioner(2))
    init = tf.global_variables_initializer()
    with tf.control_dependencies([init]):
        return [v.read_value() for v in tf.global_variables()]


@program
def other_initializers(tf: Any) -> Any:
    tf.get_variable("zeros", [30, 40])
    tf.get_variable("large_zeros", [30, 40], initializer=tf.zeros_initializer())
    tf.get_variable("ones", [3], tf.int64, tf.ones_initializer())
    tf.get_variable("flags", [3], tf.bool)
    tf.get_variable("words", [3], tf.string)
    tf.get_variable("values", [2, 2], initializer=tf.constant_initializer([1, 2, 3, 4]))
    tf.get_variable("number", initializer=3)
    tf.get_variable("function", initializer=lambda: tf.constant([5.0]))
    return [tf.global_variables_initializer()]


@program
def initial_values_of_other_variables(tf: Any) -> Any:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(tf.identity(a, name="copy"), name="b")
    c = tf.Variable(b.initialized_value(), name="c")
    tf.Variable(lambda: tf.identity(tf.identity(c)), name="d")
    tf.global_variables_initializer()
    with tf.control_dependencies([a.initializer, b.initializer]):
        return [a.read_value(), b.read_value()]


@program
def initial_values_that_read_resource_variables(tf: Any) -> Any:
    a = tf.Variable([1.0, 2.0], name="a", use_resource=True)
    b = tf.Variable(tf.identity(a), name="b", use_resource=True)
    c = tf.Variable(lambda: tf.identity(b), name="c")
    assert c is not None
    return [a.initializer]


@program
def variables_made_in_branches(tf: Any) -> Any:
    def make() -> Any:
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        r = tf.get_variable("r", [2], initializer=tf.ones_initializer(), use_resource=True)
        with tf.control_dependencies([tf.identity(w), r.assign([3.0, 3.0])]):
            return r.read_value()

    chosen = tf.cond(tf.constant(True), make, lambda: tf.constant([5.0, 5.0]))
    init = tf.global_variables_initializer()
    assert chosen is not None
    return [init]


@program
def asking_for_uninitialized_variables(tf: Any) -> Any:
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", use_resource=True)
    tf.get_local_variable("c", initializer=2.0)
    tf.assert_variables_initialized()
    tf.assert_variables_initialized([a])
    asked = [tf.is_variable_initialized(a), tf.is_variable_initialized(b)]
    return [tf.report_uninitialized_variables(), tf.report_uninitialized_variables([a], name="one"), asked]


@program
def nothing_to_initialize(tf: Any) -> Any:
    assert tf.assert_variables_initialized() is None
    return [tf.report_uninitialized_variables(), tf.report_uninitialized_variables([])]


@program
def partitioned_variables_as_tensors(tf: Any) -> Any:
    with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        one = tf.get_variable("one", [2, 1], initializer=tf.ones_initializer())
    with tf.control_dependencies([tf.global_variables_initializer()]):
        changed = w.assign(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    with tf.control_dependencies(changed):
        more = w.assign_add([tf.constant([[1.0, 1.0], [1.0, 1.0]]), [[2.0], [2.0]]])
    with tf.control_dependencies(more):
        parts = [part.read_value() for part in w]
    tf.identity(w, name="whole")
    tf.identity(one.as_tensor(), name="of_one")
    w.assign_sub(w, read_value=True)
    return parts


@program
def regularized_variables(tf: Any) -> Any:
    def regularizer(v: Any) -> Any:
        return tf.identity(v, name="loss")

    with tf.variable_scope("a", regularizer=regularizer):
        tf.get_variable("w", initializer=2.0)
        tf.get_variable("v", initializer=3.0, regularizer=tf.no_regularizer)
        tf.get_variable("u", initializer=4.0, use_resource=True)
    (first, second) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.name_scope("total"):
        together = [tf.identity(first), tf.identity(second)]
    assert together
    return [tf.global_variables_initializer()]


@program
def parts_assigned(tf: Any) -> Any:
    w = tf.Variable([[1, 2, 3], [4, 5, 6]], name="w")
    r = tf.Variable([[1, 2, 3], [4, 5, 6]], name="r", use_resource=True)
    with tf.control_dependencies([w.initializer, r.initializer]):
        first = [w[0, 1:].assign([7, 8]), r[:, 0].assign([9, 10])]
    with tf.control_dependencies(first):
        return [w.read_value(), r.read_value()]


@program
def scattered_by_methods(tf: Any) -> Any:
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 0]))
    names = ("add", "sub", "mul", "div", "min", "max", "update")
    changed = []
    for kind in (False, True):
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w", use_resource=kind)
        last = w.initializer
        for name in names:
            with tf.control_dependencies([last]):
                last = getattr(w, f"scatter_{name}")(slices)
        for name in ("add", "sub", "update", "min", "max"):
            with tf.control_dependencies([last]):
                last = getattr(w, f"scatter_nd_{name}")([[0, 0]], [3.0])
        changed.append(last)
    with tf.control_dependencies(changed):
        return [tf.constant(1.0)]


@program
def scattered_in_batches(tf: Any) -> Any:
    w = tf.Variable([[1, 2, 3], [4, 5, 6]], name="w")
    r = tf.Variable([[1, 2, 3], [4, 5, 6]], name="r", use_resource=True)
    with tf.control_dependencies([w.initializer, r.initializer]):
        slices = tf.IndexedSlices(tf.constant([[7, 8], [9, 10]]), tf.constant([[0, 2], [1, 0]]))
        changed = [w.batch_scatter_update(slices), tf.batch_scatter_update(r, [[0, 2], [1, 0]], [[7, 8], [9, 10]])]
    with tf.control_dependencies(changed):
        return [w.read_value(), r.read_value()]


@program
def special_matrices(tf: Any) -> Any:
    tf.set_random_seed(3)
    tf.get_variable("square", [3, 3], initializer=tf.initializers.identity())
    tf.get_variable("tall", [4, 3], initializer=tf.initializers.identity(gain=2.0))
    tf.get_variable("parts", [4, 4], initializer=tf.initializers.identity(), partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("orthogonal", [4, 3], initializer=tf.orthogonal_initializer())
    tf.get_variable("wide", [2, 2, 6], initializer=tf.orthogonal_initializer(gain=0.5, seed=4))
    tf.get_variable("he", [4, 3], initializer=tf.initializers.he_normal(1))
    tf.get_variable("lecun", [4, 3], initializer=tf.initializers.lecun_uniform(1))
    return [tf.global_variables_initializer()]


@program
def arithmetic_with_variables(tf: Any) -> Any:
    results = []
    for kind in (False, True):
        w = tf.Variable([1.0, 2.0], name="w", use_resource=kind)
        with tf.control_dependencies([w.initializer]):
            v = w.read_value()
        results += [v + 1.0, -v, v[0]]
        _ = [w + 1.0, 2.0 * w, w - w, w / 3.0, 1.0 / w, w**2.0, -w, abs(w), w > 1.0, w[1], w // 2.0, w % 2.0]
    return results


@program
def gradients_of_variables(tf: Any) -> Any:
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0, 4.0], name="b", use_resource=True)
    with tf.control_dependencies([a.initializer, b.initializer]):
        y = tf.identity(a.read_value() * b.read_value())
    tf.gradients(a * b, [a, b], name="of_handles")
    tf.gradients(b.sparse_read([0, 0]), b)
    return [y, *tf.gradients(y, [b])]


@program
def changes_of_changed_resource_variables(tf: Any) -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w", use_resource=True)
    with tf.control_dependencies([w.initializer]):
        changed = w.assign([[5.0, 6.0], [7.0, 8.0]])
    changed = changed.assign_add([[1.0, 1.0], [1.0, 1.0]])
    changed = changed.assign([[0.0, 1.0], [2.0, 3.0]], name="again")
    changed = changed.scatter_sub(tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([1])))
    changed = changed.scatter_nd_add([[0, 0]], [9.0])
    changed = changed.assign_sub([[1.0, 1.0], [1.0, 1.0]], read_value=True)
    tf.scatter_add(changed, [0], [[1.0, 1.0]])
    tf.identity(changed)
    return [changed, changed + 1.0, changed.read_value()]


@program
def numbers_of_numpy_beside_variables(tf: Any) -> Any:
    results = []
    for kind in (False, True):
        w = tf.Variable([1.0, 2.0], name="w", use_resource=kind)
        with tf.control_dependencies([w.initializer]):
            results.append(w.read_value() * np.float32(2.0))
        _ = [np.float32(2.0) * w, np.array([1.0, 2.0], np.float32) - w, w + np.float32(1.0)]
    return results


@program
def global_step_counted(tf: Any) -> Any:
    step = tf.train.create_global_step()
    with tf.control_dependencies([step.initializer]):
        return [tf.assign_add(step, 1)]


@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_programs_build_tensorflows_graph_and_give_its_values(program: Callable[[Any], Any]) -> None:
    built: Built = build(program, tk)
    if "placeholder" not in program.__code__.co_names:
        built.expect_same_values()


def test_special_matrices_have_tensorflows_values() -> None:
    def program(tf: Any) -> Any:
        special_matrices(tf)
        with tf.control_dependencies([tf.global_variables_initializer()]):
            return [variable.read_value() for variable in tf.global_variables()]

    for ours, theirs in build(program, tk).run():
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------------------------------------- Errors


def _existing(tf: Any) -> Any:
    tf.get_variable("w", [1], use_resource=True)
    return tf.get_variable("w", [1])


def _reused(tf: Any, **arguments: Any) -> Any:
    with tf.variable_scope("s"):
        tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer(), use_resource=True)
    with tf.variable_scope("s", reuse=True):
        return tf.get_variable(**{"name": "w", **arguments})


def _reused_parts(tf: Any, **arguments: Any) -> Any:
    halves = tf.fixed_size_partitioner(2)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.get_variable("p", [4], initializer=tf.zeros_initializer(), partitioner=halves)
        tf.get_variable("whole", [4], initializer=tf.zeros_initializer())
        return tf.get_variable(**{"name": "p", "shape": [4], **arguments})


def _nested(tf: Any) -> Any:
    with tf.variable_scope("a"):
        other = tf.variable_scope("b")
        other.__enter__()
        with tf.variable_scope("c") as scope:
            assert scope.name == "a/b/c"
            other.__exit__(None, None, None)


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "a name twice": _existing,
    "a name that does not exist": lambda tf: _reused(tf, name="none"),
    "another shape": lambda tf: _reused(tf, shape=[3, 2]),
    "another type": lambda tf: _reused(tf, dtype=tf.float64),
    "reuse without a name": lambda tf: tf.variable_scope(None, "a", reuse=True).__enter__(),
    "neither a name nor a default": lambda tf: tf.variable_scope(None),
    "a scope that is a number": lambda tf: tf.variable_scope(3).__enter__(),
    "reuse of some other kind": lambda tf: tf.variable_scope("a", reuse=3),
    "an auxiliary name scope of some other kind": lambda tf: tf.variable_scope("a", auxiliary_name_scope=None),
    "improper nesting": _nested,
    "no shape": lambda tf: tf.get_variable("w"),
    "a shape and a value": lambda tf: tf.get_variable("w", [1], initializer=tf.constant([1.0])),
    "a value of another type": lambda tf: tf.get_variable("w", dtype=tf.int32, initializer=1.0),
    "a shape that is not known": lambda tf: tf.get_variable("w", [None, 2]),
    "a type without an initializer": lambda tf: tf.get_variable("w", [2], tf.complex64),
    "no initial value": lambda tf: tf.Variable(),
    "no initial value of a resource": lambda tf: tf.Variable(use_resource=True),
    "collections that are text": lambda tf: tf.Variable(1.0, collections="abc"),
    "a constraint that is none": lambda tf: tf.Variable(1.0, constraint=3),
    "an unknown shape": lambda tf: tf.Variable(tf.placeholder(tf.float32, name="x")),
    "an odd aggregation": lambda tf: tf.Variable(1.0, aggregation=17, name="w"),
    "an odd synchronization": lambda tf: tf.Variable(1.0, synchronization=17, name="w", use_resource=True),
    "another shape than told": lambda tf: tf.Variable([1.0], shape=[2], use_resource=True),
    "an assignment of another shape": lambda tf: tf.Variable([1.0], name="w", use_resource=True).assign([1.0, 2.0]),
    "a resource added to in place": lambda tf: tf.Variable(1.0, use_resource=True).__iadd__(1.0),
    "slices that are none": lambda tf: tf.Variable([1.0]).scatter_add([1.0]),
    "slices that are none, of a resource": lambda tf: tf.Variable([1.0], use_resource=True).scatter_add(3),
    "a custom getter that is none": lambda tf: tf.get_variable("w", [1], custom_getter=3),
    "a partitioner that is none": lambda tf: tf.get_variable("w", [1], partitioner=3),
    "parts of a scalar": lambda tf: tf.create_partitioned_variables([], [], tf.zeros_initializer()),
    "parts of two axes": lambda tf: tf.create_partitioned_variables([4, 4], [2, 2], tf.zeros_initializer()),
    "no parts": lambda tf: tf.create_partitioned_variables([4, 4], [1, 0], tf.zeros_initializer()),
    "parts of too few axes": lambda tf: tf.create_partitioned_variables([4, 4], [2], tf.zeros_initializer()),
    "other parts": lambda tf: _reused_parts(tf, partitioner=tf.fixed_size_partitioner(4)),
    "parts of another type": lambda tf: _reused_parts(tf, partitioner=tf.fixed_size_partitioner(2), dtype=tf.float64),
    "parts of another shape": lambda tf: _reused_parts(tf, partitioner=tf.fixed_size_partitioner(2), shape=[8]),
    "parts as a whole": lambda tf: _reused_parts(tf),
    "a whole as parts": lambda tf: _reused_parts(tf, name="whole", partitioner=tf.fixed_size_partitioner(2)),
    "a partitioner's text": lambda tf: tf.get_variable("w", [4], partitioner=lambda shape, dtype: 3),
    "a partitioner's length": lambda tf: tf.get_variable("w", [4], partitioner=lambda shape, dtype: [1, 1]),
    "a scale of nothing": lambda tf: tf.variance_scaling_initializer(scale=0.0),
    "an odd mode": lambda tf: tf.variance_scaling_initializer(mode="fan"),
    "an odd distribution": lambda tf: tf.variance_scaling_initializer(distribution="flat"),
    "an initializer of objects": lambda tf: tf.constant_initializer(object),
    "an orthogonal vector": lambda tf: tf.orthogonal_initializer()([3]),
    "normal whole numbers": lambda tf: tf.random_normal_initializer(dtype=tf.int32),
    "two global steps": lambda tf: (tf.train.create_global_step(), tf.train.create_global_step()),
    "a global step with a fraction": lambda tf: tf.train.assert_global_step(tf.constant(1.0)),
    "a global step of several": lambda tf: tf.train.assert_global_step(tf.constant([1, 2])),
    "a global step that is text": lambda tf: tf.train.assert_global_step("a"),
    "shards of nothing": lambda tf: tf.variable_axis_size_partitioner(0),
}


@pytest.mark.parametrize("what", list(MISTAKES))
def test_mistakes_are_refused_in_tensorflows_words(what: str) -> None:
    with building.building(Graph()), pytest.raises((ValueError, TypeError, RuntimeError)) as mine:
        MISTAKES[what](tk)
    with (
        tensorflow_1(),
        v1.Graph().as_default(),
        pytest.raises((ValueError, TypeError, RuntimeError)) as theirs,
    ):
        MISTAKES[what](v1)
    assert isinstance(mine.value, type(theirs.value))
    assert str(mine.value) == str(theirs.value)


# ---------------------------------------------------------------------------------------------------- Handles


def _some_variables(tf: Any) -> dict[str, Any]:
    with tf.variable_scope("scope"):
        return {
            "reference": tf.Variable([1.0, 2.0], name="a", trainable=False),
            "resource": tf.Variable(lambda: tf.constant([[1], [2]]), name="b", use_resource=True),
            "cached reference": tf.Variable(1.0, name="c", caching_device="/cpu:0"),
            "cached resource": tf.Variable(1.0, name="d", caching_device="/cpu:0", use_resource=True),
            "of no particular shape": tf.Variable([1.0], validate_shape=False, name="e"),
            "of no particular shape, resource": tf.Variable(
                [1.0], shape=tf.TensorShape(None), name="f", use_resource=True
            ),
            "part": list(tf.get_variable("g", [5, 2], partitioner=tf.fixed_size_partitioner(2)))[1],
            "resource part": list(
                tf.get_variable("h", [5, 2], partitioner=tf.fixed_size_partitioner(2), use_resource=True)
            )[1],
            "the global step": tf.train.get_or_create_global_step(),
            "read when written": tf.Variable(
                1.0,
                name="i",
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            ),
            "changed": tf.Variable(1.0, name="j", use_resource=True).assign(2.0),
            "of text": tf.get_variable("k", initializer="word"),
        }


VARIABLES = [
    "reference",
    "resource",
    "cached reference",
    "cached resource",
    "of no particular shape",
    "of no particular shape, resource",
    "part",
    "resource part",
    "the global step",
    "read when written",
    "changed",
    "of text",
]


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    with tensorflow_1(), building.building(Graph()), v1.Graph().as_default():
        yield _some_variables(tk), _some_variables(v1)


def test_every_variable_of_the_sample_is_looked_at(both: Any) -> None:
    assert list(both[0]) == VARIABLES


@pytest.mark.parametrize("what", VARIABLES)
def test_properties_are_tensorflows(what: str, both: Any) -> None:
    mine, theirs = both[0][what], both[1][what]
    for name in ("name", "device", "trainable", "constraint", "_shared_name"):
        if name != "_shared_name" or ":" in theirs.name:
            assert getattr(mine, name) == getattr(theirs, name), name
    assert mine.dtype.name == theirs.dtype.name
    assert str(mine.shape) == str(mine.get_shape()) == str(theirs.shape)
    assert mine.synchronization.value == theirs.synchronization.value
    assert mine.aggregation.value == theirs.aggregation.value
    assert mine.op.name == theirs.op.name
    assert repr(mine) == repr(theirs)
    if what != "changed":
        assert mine.initializer.name == theirs.initializer.name
        assert mine.initial_value.name == theirs.initial_value.name
    assert mine._as_graph_element().name == theirs._as_graph_element().name
    assert (mine._get_save_slice_info() is None) == (theirs._get_save_slice_info() is None)
    if theirs._get_save_slice_info() is not None:
        assert mine._get_save_slice_info().spec == theirs._get_save_slice_info().spec


@pytest.mark.parametrize("what", [name for name in VARIABLES if name != "changed"])
@pytest.mark.parametrize("scope", [None, "scope", "elsewhere"])
def test_variable_defs_are_tensorflows_byte_for_byte(what: str, scope: str | None, both: Any) -> None:
    mine, theirs = both[0][what].to_proto(scope), both[1][what].to_proto(scope)
    if theirs is None:
        assert mine is None
    else:
        assert mine.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True)


@pytest.mark.parametrize("what", [name for name in VARIABLES if name != "changed"])
def test_a_variable_made_of_a_variable_def_has_the_same_nodes(what: str, both: Any) -> None:
    original = both[0][what]
    again = Variable.from_proto(original.to_proto())
    assert again is not original
    assert type(again) is type(original)
    assert again.to_proto() == original.to_proto()
    assert again.initializer is original.initializer
    assert again._as_graph_element() is original._as_graph_element()
    assert again.shape == original.shape
    assert again.dtype is original.dtype


def test_an_imported_variable_is_found_below_its_scope() -> None:
    graph = Graph()
    with building.building(graph):
        inner = {
            name: variable.to_proto()
            for name, variable in _some_variables(tk).items()
            if name not in ("changed", "the global step")
        }
        proto = export_graph(graph)
    other = Graph()
    with building.building(other):
        import_graph(proto, other, name="imported")
        for name, variable_def in inner.items():
            found = Variable.from_proto(variable_def, import_scope="imported")
            assert found.name == f"imported/{variable_def.variable_name}", name
            assert found.op.graph is other
            exported = found.to_proto(export_scope="imported")
            assert exported == variable_def


# ---------------------------------------------------------------------------------------------------- Signatures


def _plain(value: Any) -> Any:
    return getattr(value, "name", value) if not isinstance(value, int | float | str | bool) else value


def _parameters(function: Any) -> list[tuple[str, Any]]:
    return [(name, _plain(found.default)) for name, found in inspect.signature(function).parameters.items()]


def _public_functions() -> list[tuple[str, Any, Any]]:
    modules = (assignments, initializers, listing, partitioners, scopes, global_step)
    names = [(name, getattr(module, name)) for module in modules for name in module.__all__]
    spaces = (v1, v1.train, v1.initializers)
    found = []
    for name, ours in names:
        theirs = next((getattr(space, name) for space in spaces if hasattr(space, name)), None)
        if callable(ours) and theirs is not None and not isinstance(ours, EnumMeta):
            found.append((name, ours, theirs))
    return found


@pytest.mark.parametrize(
    ("name", "ours", "theirs"), _public_functions(), ids=lambda item: item if isinstance(item, str) else ""
)
def test_signatures_are_tensorflows(name: str, ours: Any, theirs: Any) -> None:
    assert _parameters(ours) == _parameters(theirs)


def test_methods_of_variables_take_what_tensorflows_take() -> None:
    with tensorflow_1(), building.building(Graph()), v1.Graph().as_default():
        for kind in (False, True):
            mine, theirs = tk.Variable(1.0, use_resource=kind), v1.Variable(1.0, use_resource=kind)
            absent = ("numpy",) if kind else ("gather_nd", "sparse_read")  # refused by TensorFlow's when called
            public = [name for name in dir(theirs) if not name.startswith("_") and name not in absent]
            assert [name for name in public if not hasattr(mine, name)] == []
            for name in public:
                if callable(getattr(type(theirs), name, None)) and name != "SaveSliceInfo":
                    assert _parameters(getattr(mine, name)) == _parameters(getattr(theirs, name)), name


# ---------------------------------------------------------------------------------------------------- Generated


class ScopeProgram:
    """A program that opens scopes and makes variables as random numbers say; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, tf: Any) -> None:
        self._tf = tf
        self._random = np.random.default_rng(self._seed)
        self._scopes: list[Any] = []
        self._objects: list[Any] = []
        self._block(0)

    def _choice(self, *options: Any) -> Any:
        return options[int(self._random.integers(len(options)))]

    def _block(self, depth: int) -> None:
        for _ in range(int(self._random.integers(1, 5))):
            action = self._choice(self._variable, self._constant, self._scope, self._scope, self._again, self._named)
            action(depth)

    def _variable(self, depth: int) -> None:
        tf, name = self._tf, self._choice("w", "v", "W", "deep/w")
        kind = self._choice(None, None, False, True)
        initializer = self._choice(tf.zeros_initializer(), tf.ones_initializer())
        try:
            tf.get_variable(name, [2], initializer=initializer, use_resource=kind)
        except ValueError:
            tf.constant(0.0, name="refused")

    def _constant(self, depth: int) -> None:
        self._tf.constant(1.0, name=self._choice("c", "w", "layer"))

    def _named(self, depth: int) -> None:
        if depth < 4:
            with self._tf.name_scope(self._choice("n", "layer", "a")):
                self._block(depth + 1)

    def _scope(self, depth: int) -> None:
        if depth >= 4:
            return
        tf = self._tf
        reuse = self._choice(None, None, True, False, tf.AUTO_REUSE)
        auxiliary = self._choice(True, True, True, False)
        if self._choice(True, False):
            opened = tf.variable_scope(self._choice("a", "b", "a/b", ""), reuse=reuse, auxiliary_name_scope=auxiliary)
        else:
            opened = tf.variable_scope(None, self._choice("a", "layer"), auxiliary_name_scope=auxiliary)
        with opened as scope:
            self._scopes.append(scope)
            self._block(depth + 1)
        self._objects.append(opened)

    def _again(self, depth: int) -> None:
        if depth >= 4 or not self._objects:
            return
        tf = self._tf
        if self._choice(True, False):
            scope = self._scopes[int(self._random.integers(len(self._scopes)))]
            with tf.variable_scope(scope, reuse=self._choice(None, True, tf.AUTO_REUSE)) as entered:
                tf.constant(0.0, name=f"{entered.name.replace('/', '.') or 'root'}.{entered.reuse is True}")
                self._block(depth + 1)
        else:
            with self._objects[-1] as entered:
                tf.constant(0.0, name=f"{entered.name.replace('/', '.') or 'root'}.{entered.reuse is True}")
                self._variable(depth)


@pytest.mark.parametrize("seed", range(60))
def test_generated_programs_of_scopes_build_tensorflows_graph(seed: int) -> None:
    build(ScopeProgram(seed), tk)
