"""Damaged Examples beside TensorFlow: what it accepts is accepted, with the same values, and nothing else is."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import FLOAT32, INT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.parsing.examples import parse_example_v2_kernel
from tensorkeep.shapes import Shape
from tests.ops.samples.parsing.examples import BARE, FOREIGN, FULL, LOOSE, MIXED, example, texts

SEEDS = [FULL, BARE, MIXED, LOOSE, FOREIGN, FULL + BARE, example(f=[1.0, 2.0], i=[1, 2], s=[b"a"])]
INSERTED = [b"\x0a", b"\0", b"\x80", b"\x12\0", b"\x0a\x01f", b"\x8a\0"]


def damaged(generator: random.Random) -> bytes:
    data = bytearray(generator.choice(SEEDS))
    for _ in range(generator.choice([1, 1, 1, 2, 3])):
        place = generator.randrange(len(data) + 1)
        kind = generator.randrange(4)
        if kind == 0:
            data[place : place + 1] = bytes([generator.randrange(128)])
        elif kind == 1:
            del data[place : place + generator.choice([1, 1, 2, 5])]
        elif kind == 2:
            data[place:place] = generator.choice(INSERTED)
        else:
            del data[place:]
    return bytes(data)


def theirs(serialized: Any) -> list[Any] | None:
    try:
        outputs = tf.raw_ops.ParseExampleV2(
            serialized=serialized,
            names=tf.constant([], tf.string),
            sparse_keys=["i", "s", "absent"],
            dense_keys=["f", "name", "mat"],
            ragged_keys=["one"],
            dense_defaults=[tf.constant([0.5, 0.25]), tf.constant([], tf.string), tf.constant(0.0)],
            num_sparse=3,
            sparse_types=[tf.int64, tf.string, tf.float32],
            ragged_value_types=[tf.int64],
            ragged_split_types=[tf.int32],
            dense_shapes=[[2], [1], [None, 2]],
        )
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError):  # of a message that shows the bytes
        return None
    return [tensor.numpy() for group in outputs for tensor in group]


def ours(serialized: Any) -> list[Any] | None:
    try:
        outputs = parse_example_v2_kernel(
            np.array(serialized, object),
            texts(),
            texts(b"i", b"s", b"absent"),
            texts(b"f", b"name", b"mat"),
            texts(b"one"),
            [np.array([0.5, 0.25], np.float32), texts(), np.float32(0)],
            Tdense=[FLOAT32, STRING, FLOAT32],
            sparse_types=[INT64, STRING, FLOAT32],
            ragged_value_types=[INT64],
            ragged_split_types=[INT32],
            dense_shapes=[Shape((2,)), Shape((1,)), Shape((None, 2))],
        )
    except InvalidArgumentError:
        return None
    return [np.asarray(tensor) for group in outputs for tensor in group]


@pytest.mark.parametrize("form", ["single", "batch of one", "last of ten"])
def test_damaged_examples_parse_as_in_tensorflow(form: str) -> None:
    generator = random.Random(form)
    accepted = 0
    for _ in range(500):
        data = damaged(generator)
        batch = {"single": data, "batch of one": [data], "last of ten": [BARE] * 9 + [data]}[form]
        mine, other = ours(batch), theirs(batch)
        assert (mine is None) == (other is None), data
        for first, second in zip(mine or [], other or [], strict=True):
            accepted += 1
            assert first.shape == second.shape, data
            np.testing.assert_array_equal(first, second, err_msg=repr(data))
    assert accepted
