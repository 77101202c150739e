"""Moving averages: the same nodes, names, collections and values as TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tensorflow.python.training import moving_averages as their_module

import tensorkeep.v1 as ours
from tensorkeep.tf1.training.optimizers import moving_averages as our_module
from tests.interop.programs import build, tensorflow_1, v1

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


def _updated(tf: Any, average: Any, *variables: Any, by: float = 1.5) -> list[Any]:
    """Moves the variables, then the averages; then all of them are read."""
    with tf.control_dependencies([variable.assign_add(variable * 0.0 + by) for variable in variables]):
        update = average()
    with tf.control_dependencies(None), tf.name_scope(None):
        tf.global_variables_initializer()
    with tf.control_dependencies([update]):
        return [tf.identity(variable.read_value()) for variable in tf.global_variables()]


@program
def two_reference_variables(tf: Any) -> Any:
    v = tf.Variable(10.0, name="v")
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="layer/w")
    average = tf.train.ExponentialMovingAverage(0.99)
    return _updated(tf, lambda: average.apply([v, w]), v, w)


@program
def resource_variables(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=tf.constant(1.0, tf.float64), use_resource=True)
    average = tf.train.ExponentialMovingAverage(0.9, name="averaged")
    return _updated(tf, lambda: average.apply([v, w]), v, w)


@program
def all_trainable_variables_by_default(tf: Any) -> Any:
    v = tf.Variable(1.0, name="v")
    tf.Variable(2.0, name="fixed", trainable=False)
    average = tf.train.ExponentialMovingAverage(0.5)
    return _updated(tf, average.apply, v)


@program
def decay_by_the_number_of_updates(tf: Any) -> Any:
    step = tf.train.get_or_create_global_step()
    v = tf.Variable([1.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([tf.assign_add(step, 1)]):
        return _updated(tf, lambda: average.apply([v]), v)


@program
def decay_by_a_python_number_of_updates(tf: Any) -> Any:
    v = tf.Variable([1.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=3)
    return _updated(tf, lambda: average.apply([v]), v)


@program
def decay_as_a_tensor(tf: Any) -> Any:
    decay = tf.Variable(0.8, name="decay", trainable=False)
    v = tf.Variable([1.0], name="v")
    average = tf.train.ExponentialMovingAverage(decay)
    return _updated(tf, lambda: average.apply([v]), v)


@program
def tensors_begin_with_zeros(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.9)
    return _updated(tf, lambda: average.apply([v, v * 2.0]), v)


@program
def tensors_without_the_bias_of_zeros(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    return _updated(tf, lambda: average.apply([v, tf.multiply(v, 2.0, name="twice"), tf.square(v)]), v)


@program
def tensors_of_a_graph_with_resource_variables(tf: Any) -> Any:
    with tf.variable_scope("net", use_resource=True):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
        return _updated(tf, lambda: average.apply([v, v * 2.0]), v)


@program
def the_second_apply_makes_no_shadows(tf: Any) -> Any:
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    average = tf.train.ExponentialMovingAverage(0.9)
    average.apply([v])
    return _updated(tf, lambda: average.apply([v, w]), v, w)


@program
def parts_of_a_variable(tf: Any) -> Any:
    with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(3)):
        table = tf.get_variable("table", initializer=tf.zeros_initializer(), shape=[5, 2])
    average = tf.train.ExponentialMovingAverage(0.9)
    parts = list(table)
    update = average.apply(parts)
    infos = [average.average(part)._get_save_slice_info() for part in parts]
    with tf.name_scope(None):
        tf.global_variables_initializer()
    for info in infos:
        tf.constant(f"{info.full_name} {info.spec}")
    with tf.control_dependencies([update]):
        return [tf.identity(average.average(part)) for part in parts]


@program
def on_a_device_and_in_scopes(tf: Any) -> Any:
    with tf.device("/cpu:0"), tf.variable_scope("outer"):
        v = tf.get_variable("v", initializer=1.0)
        with tf.name_scope("training"):
            average = tf.train.ExponentialMovingAverage(0.9)
            return _updated(tf, lambda: average.apply([v]), v)


@program
def two_averages_of_one_variable(tf: Any) -> Any:
    v = tf.Variable(1.0, name="v")
    first, second = tf.train.ExponentialMovingAverage(0.9), tf.train.ExponentialMovingAverage(0.5)
    first.apply([v])
    tf.constant([first.average_name(v), second.average_name(v)])
    result = _updated(tf, lambda: second.apply([v]), v)
    tf.constant([first.average_name(v), second.average_name(v)])
    return result


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_same_graph_collections_and_values(program: Any) -> None:
    built = build(program, ours)
    for key in ("variables", "trainable_variables", "moving_average_variables"):
        assert [v.name for v in built.graph.collections.get(key, [])] == [
            v.name for v in built.their_graph.get_collection(key)
        ]
    built.expect_same_values(4, prepare="init", tolerance=1e-6)


@pytest.mark.parametrize("zero_debias", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_assigning_to_an_average_adds_the_same_nodes(zero_debias: bool, use_resource: bool) -> None:
    def program(tf: Any) -> Any:
        module = their_module if tf is v1 else our_module
        with tf.variable_scope("a"):
            v = tf.get_variable("v", initializer=[0.0, 0.0], use_resource=use_resource)
            first = module.assign_moving_average(v, tf.constant([1.0, 2.0]), 0.9, zero_debias)
            with tf.control_dependencies([first]):
                second = module.assign_moving_average(v, tf.constant([3.0, 2.0]), 0.5, zero_debias, name="again")
        tf.global_variables_initializer()
        return [tf.identity(second)]

    build(program, ours).expect_same_values(3, prepare="init", tolerance=1e-6)


def test_what_to_restore_is_the_same_mapping() -> None:
    def program(tf: Any) -> Any:
        v = tf.Variable(1.0, name="v")
        tf.Variable(2.0, name="fixed", trainable=False)
        average = tf.train.ExponentialMovingAverage(0.9)
        before = average.variables_to_restore()
        average.apply([v])
        found = [before, average.variables_to_restore(), average.variables_to_restore([]), {"n": v}]
        tf.constant([f"{name} {value.name}" for mapping in found for name, value in sorted(mapping.items())])
        assert average.average(v).name == f"{average.average_name(v)}:0"
        assert average.average(tf.Variable(0.0)) is None

    build(program, ours)


def test_whole_numbers_have_no_moving_average() -> None:
    for tf in (ours, v1):
        with tf.Graph().as_default():
            count = tf.Variable(1, name="count")
            with pytest.raises(TypeError, match="The variables must be half, float, or double: count:0"):
                tf.train.ExponentialMovingAverage(0.9).apply([count])


def test_a_partitioned_variable_is_averaged_by_its_parts() -> None:
    with ours.Graph().as_default():
        with ours.variable_scope("", partitioner=ours.fixed_size_partitioner(2)):
            table = ours.get_variable("table", shape=[4, 2])
        with pytest.raises(TypeError, match=r"pass list\(variable\), not table"):
            ours.train.ExponentialMovingAverage(0.9).apply([table])


def test_each_restores_the_averages_that_the_other_saved(tmp_path: Path) -> None:
    for tf, other in ((ours, v1), (v1, ours)):
        prefix = str(tmp_path / tf.__name__ / "model")
        with tensorflow_1(), tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(0.0, name="v")
            average = tf.train.ExponentialMovingAverage(0.99)
            update = average.apply([v])
            session.run(tf.global_variables_initializer())
            session.run(v.assign(10.0))
            session.run(update)
            tf.train.Saver().save(session, prefix)
        for mapped in (True, False):
            with tensorflow_1(), other.Graph().as_default(), other.Session() as session:
                v = other.Variable(0.0, name="v")
                average = other.train.ExponentialMovingAverage(0.99)
                by_name = {"v/ExponentialMovingAverage": v}
                other.train.Saver(average.variables_to_restore() if mapped else by_name).restore(session, prefix)
                assert session.run(v) == pytest.approx(0.0999999)
