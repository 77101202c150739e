"""Exports that are verified: what inputs are made of, and how far numbers may be off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.convert.onnx.verifying import WrongExportError


def exported(folder: Path, build: Callable[[], Any], verifies: bool = True) -> Any:
    """The export of a graph that a function makes in a session of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return tk.export_onnx(session, folder / "m.onnx", outputs=outputs, verify=verifies)


@pytest.mark.parametrize("kind", [tf.float16, tf.bfloat16])
def test_numbers_that_were_computed_in_16_bits_may_be_off_by_these(tmp_path: Path, kind: Any) -> None:
    """As layers of mixed precision do: float32 goes in and comes out."""

    def build() -> Any:
        y = tf.cast(tf.placeholder(tf.float32, [None, 64], name="x"), kind)
        for number in range(4):
            kernel = np.random.default_rng(number).normal(size=(64, 64)) / 8
            y = tf.tanh(tf.matmul(y, tf.cast(tf.constant(kernel, tf.float32), kind)))
        return [tf.cast(y, tf.float32, name="y"), tf.placeholder(tf.float32, [None], name="z") * 2]

    halves, whole = exported(tmp_path, build).verification.outputs
    assert 1e-4 < halves.relative < 1e-2
    assert whole.relative < 1e-4


def test_texts_that_are_in_a_table_are_among_those_that_a_model_is_given(tmp_path: Path) -> None:
    def build() -> Any:
        start = tf.lookup.KeyValueTensorInitializer(tf.constant(["red", "green"]), tf.constant([1, 2], tf.int64))
        table = tf.lookup.StaticHashTable(start, -1)
        found = table.lookup(tf.placeholder(tf.string, [None], name="x"))
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(found > 0), ["not there"])]):
            return [tf.identity(found, name="y")]

    assert exported(tmp_path, build).verification.runs == 3


def test_numbers_that_are_in_a_table_are_among_those_that_a_model_is_given(tmp_path: Path) -> None:
    def build() -> Any:
        start = tf.lookup.KeyValueTensorInitializer(tf.constant([500, 700], tf.int64), tf.constant([1.5, 2.5]))
        table = tf.lookup.StaticHashTable(start, -1)
        found = table.lookup(tf.placeholder(tf.int64, [None], name="x"))
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(found > 0), ["not there"])]):
            return [tf.identity(found, name="y")]

    assert exported(tmp_path, build).verification.runs == 3


def test_a_model_that_changes_its_variables_is_told_apart_from_a_mistake(tmp_path: Path) -> None:
    def build() -> Any:
        calls = tf.get_variable("calls", initializer=0.0, use_resource=True)
        return [tf.add(tf.placeholder(tf.float32, [None], name="x"), calls.assign_add(1.0), name="y")]

    with pytest.raises(WrongExportError, match=r'changes variables \("AssignAddVariableOp"\), and a file begins every'):
        exported(tmp_path, build)
    assert not list(tmp_path.iterdir())
    exported(tmp_path, build, verifies=False)
