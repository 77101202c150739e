"""Moving averages in checkpoints: what TensorFlow saved, restored by the names of the averages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.support.golden import expected, expected_tensors, golden

CASE = "g16_saver_ema"


def _variables() -> dict[str, Any]:
    return {
        "v": tf.Variable(0.0, name="v"),
        "layer/w": tf.Variable(tf.zeros([2, 3]), name="layer/w"),
        "num": tf.Variable(0, name="num", trainable=False),
    }


def _names(mapping: dict[str, Any]) -> dict[str, str]:
    return {name: variable.op.name for name, variable in mapping.items()}


def test_shadows_are_named_listed_and_mapped_as_tensorflow_did() -> None:
    told = expected(CASE)
    with tf.Graph().as_default() as graph:
        variables = _variables()
        average = tf.train.ExponentialMovingAverage(0.99)
        averaged = {name: variables[name] for name in told["average_names"]}
        assert {name: average.average_name(variable) for name, variable in averaged.items()} == told["average_names"]
        average.apply(list(averaged.values())[::-1])
        assert {name: average.average_name(variable) for name, variable in averaged.items()} == told["average_names"]
        assert _names(average.variables_to_restore()) == told["variables_to_restore"]
        for key, names in told["collections"].items():
            assert sorted(variable.op.name for variable in graph.get_collection(key)) == sorted(names)


def test_variables_are_restored_from_their_averages() -> None:
    stored = expected_tensors(CASE)
    with tf.Graph().as_default(), tf.Session() as session:
        variables = _variables()
        average = tf.train.ExponentialMovingAverage(0.99)
        tf.train.Saver(average.variables_to_restore()).restore(session, str(golden(CASE) / "ema.ckpt"))
        for name in ("v", "layer/w"):
            np.testing.assert_array_equal(session.run(variables[name]), stored[f"restored_from_average:{name}"][1])
        assert session.run(variables["num"]) == stored["num"][1]


def test_variables_and_averages_are_restored_side_by_side() -> None:
    stored = expected_tensors(CASE)
    with tf.Graph().as_default(), tf.Session() as session:
        variables = _variables()
        average = tf.train.ExponentialMovingAverage(0.99)
        average.apply([variables["v"], variables["layer/w"]])
        tf.train.Saver().restore(session, str(golden(CASE) / "ema.ckpt"))
        for variable in tf.global_variables():
            np.testing.assert_array_equal(session.run(variable), stored[variable.op.name][1])


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_classic_program(tmp_path: Path, use_resource: bool) -> None:
    prefix = str(tmp_path / "model.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=0.0, use_resource=use_resource)
        average = tf.train.ExponentialMovingAverage(0.99)
        maintain = average.apply(tf.global_variables())
        session.run(tf.global_variables_initializer())
        session.run(v.assign(10.0))
        session.run(maintain)
        assert [float(value) for value in session.run([v, average.average(v)])] == [10.0, pytest.approx(0.0999999)]
        tf.train.Saver().save(session, prefix)
    mappings = (
        lambda v: {"v/ExponentialMovingAverage": v},
        lambda v: tf.train.ExponentialMovingAverage(0.99).variables_to_restore(),
    )
    for mapping in mappings:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", initializer=0.0, use_resource=use_resource)
            tf.train.Saver(mapping(v)).restore(session, prefix)
            assert session.run(v) == pytest.approx(0.0999999)
