"""The classic programs' checkpoints, saved by either library, read by both: readers and `inspect_checkpoint`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tensorflow.python.tools import inspect_checkpoint as their_tool

import tensorkeep.v1 as tk1
from tensorkeep.tools import inspect_checkpoint as our_tool
from tests.interop.programs import tensorflow_1, v1
from tests.interop.test_checkpoint_readers import outcome


def two_variables(tf: Any, save: Callable[..., str]) -> list[str]:
    tf.Variable([1.0], name="v1")
    tf.Variable([2.0], name="v2", use_resource=True)
    return [save(tf.train.Saver())]


def one_of_two(tf: Any, save: Callable[..., str]) -> list[str]:
    first = tf.Variable([1.0], name="v1")
    tf.Variable([2.0], name="v2")
    return [save(tf.train.Saver([first])), save(tf.train.Saver({"other-v1": first}), "renamed")]


def moving_average(tf: Any, save: Callable[..., str]) -> list[str]:
    value = tf.Variable(10.0, name="v")
    average = tf.train.ExponentialMovingAverage(0.99)
    average.apply([value])
    return [save(tf.train.Saver())]


def many_steps(tf: Any, save: Callable[..., str]) -> list[str]:
    tf.Variable([1.0], name="v1")
    tf.train.create_global_step()
    saver = tf.train.Saver(max_to_keep=2)
    return [save(saver, global_step=step) for step in (1, 2, 3, 4)][-2:]


def sharded_and_partitioned(tf: Any, save: Callable[..., str]) -> list[str]:
    for number in range(3):
        with tf.device(f"/cpu:{number}"):
            tf.get_variable(f"w{number}", initializer=tf.zeros([2, number + 1]))
    tf.get_variable("cut", [7, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(4))
    return [save(tf.train.Saver(sharded=True)), save(tf.train.Saver(), "whole")]


def old_format(tf: Any, save: Callable[..., str]) -> list[str]:
    tf.Variable([[1.0, 2.0]], name="w")
    tf.Variable(7, name="count")
    options = {"write_version": tf.train.SaverDef.V1}
    return [save(tf.train.Saver(**options)), save(tf.train.Saver(sharded=True, **options), "sharded")]


PROGRAMS = (two_variables, one_of_two, moving_average, many_steps, sharded_and_partitioned, old_format)


def run_program(program: Callable[..., list[str]], tf_module: Any, folder: Path) -> list[str]:
    def save(saver: Any, name: str = "model.ckpt", **arguments: Any) -> str:
        config = tf_module.ConfigProto(device_count={"CPU": 3})
        with tf_module.Session(config=config) as session:
            session.run(tf_module.global_variables_initializer())
            return str(saver.save(session, str(folder / name), write_meta_graph=False, **arguments))

    with tf_module.Graph().as_default():
        return program(tf_module, save)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_are_described_and_printed_alike_whoever_saved_them(program, tmp_path, capsys):
    (tmp_path / "theirs").mkdir()
    with tensorflow_1():
        theirs = run_program(program, v1, tmp_path / "theirs")
    ours = run_program(program, tk1, tmp_path / "ours")
    assert [Path(path).name for path in ours] == [Path(path).name for path in theirs]
    for path in (*ours, *theirs):
        mine, other = tk1.train.NewCheckpointReader(path), v1.train.NewCheckpointReader(path)
        assert mine.debug_string() == other.debug_string()
        assert list(mine.get_variable_to_shape_map().items()) == list(other.get_variable_to_shape_map().items())
        for name in other.get_variable_to_shape_map():
            assert outcome(partial(mine.get_tensor, name)) == outcome(partial(other.get_tensor, name))
        printed = []
        for tool in (our_tool, their_tool):
            for asked in ((None, False), (None, True), ("v1", False)):
                tool.print_tensors_in_checkpoint_file(path, *asked)
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]
    for folder in ("ours", "theirs"):
        found = tk1.train.latest_checkpoint(tmp_path / folder)
        assert found == tf.train.latest_checkpoint(str(tmp_path / folder)) is not None
